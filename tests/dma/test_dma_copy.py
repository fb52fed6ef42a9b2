# SPDX-License-Identifier: Apache-2.0
"""mae_dma_copy: rows come back as they went in, and only its one operation is taken."""

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.dma.rings import Status
from tests.support import bench
from tests.support.stream import Sink, Source, start

PAYLOAD = ("ctx", "data", "bytes", "last")


async def begin(dut) -> None:
    """Reset with idle inputs."""
    inputs = {f"row_{name}_i": 0 for name in (*PAYLOAD, "valid", "ready")}
    await start(dut, cfg_valid_i=0, cfg_op_i=0, **inputs)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def rows_return(dut) -> None:
    """Every row with its context, length and end, in order, whichever side stalls."""
    await begin(dut)
    rng = random.Random(1)
    width = len(dut.row_data_i)
    for in_stall, out_stall in ((0.0, 0.0), (0.6, 0.0), (0.0, 0.6), (0.4, 0.4)):
        rows = [
            (rng.randrange(256), rng.getrandbits(width), 1 + rng.randrange(width // 8), i % 2)
            for i in range(100)
        ]
        cocotb.start_soon(Source(dut, "row", in_stall, seed=3, payload=PAYLOAD).send(rows))
        assert await Sink(dut, "row", out_stall, seed=4, payload=PAYLOAD).receive(100) == rows


@cocotb.test(timeout_time=200, timeout_unit="us")
async def one_operation(dut) -> None:
    """A job is answered in the clock in which it is offered; other operations are refused."""
    await begin(dut)
    own = bench.parameters().get("Op", 0)
    room = (1 << len(dut.client_room_o)) - 1
    for op in range(256):
        dut.cfg_valid_i.value = 1
        dut.cfg_op_i.value = op
        await Timer(1, "ns")
        assert int(dut.cfg_ready_o.value) == 1
        assert int(dut.cfg_status_o.value) == (Status.OK if op == own else Status.BAD_OP)
        assert int(dut.client_room_o.value) == room


@pytest.mark.parametrize(
    "parameters",
    [{"DataWidth": 128, "Contexts": 1}, {"DataWidth": 512, "Contexts": 64, "Op": 127}],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma_copy(parameters: dict) -> None:
    """All of the above for the ends of the range."""
    bench.run("mae_dma_copy", parameters=parameters)

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_copy_client: it returns rows unchanged and accepts only the copy operation."""

import random

import cocotb
import pytest
from cocotb.triggers import Timer

from tests.dma.rings import FINAL, Desc, Status
from tests.support import bench
from tests.support.stream import Sink, Source, start

PAYLOAD = ("ctx", "data", "bytes", "last")


async def begin(dut) -> None:
    """Resets mae_dma_copy_client with idle inputs."""
    inputs = {f"row_{name}_i": 0 for name in (*PAYLOAD, "valid", "ready")}
    await start(dut, cfg_valid_i=0, cfg_desc_i=0, **inputs)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def rows_return(dut) -> None:
    """mae_dma_copy_client returns all rows unchanged and in order, with and without stalls."""
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


async def verdict(dut, **fields) -> Status:
    """Offers a job to mae_dma_copy_client; returns the status that it gives."""
    desc = Desc(**{"cookie": 1, "context": 0, "src": 1, "dst": 2, "length": 3, **fields})
    dut.cfg_valid_i.value = 1
    dut.cfg_desc_i.value = int.from_bytes(desc.pack(), "little")
    await Timer(1, "ns")
    assert int(dut.cfg_ready_o.value) == 1
    assert int(dut.client_room_o.value) == (1 << len(dut.client_room_o)) - 1
    return Status(int(dut.cfg_status_o.value))


@cocotb.test(timeout_time=200, timeout_unit="us")
async def one_operation(dut) -> None:
    """mae_dma_copy_client accepts its own operation only, without tag, phase or empty length."""
    await begin(dut)
    own = bench.parameters().get("Op", 0)
    for op in range(256):
        assert await verdict(dut, op=op) == (Status.OK if op == own else Status.BAD_OP)
    assert await verdict(dut, op=own, flags=255 & ~FINAL, key_slot=9, iv=bytes(range(16))) == 0
    assert await verdict(dut, op=own, length=0) == Status.BAD_LENGTH
    for field in (
        {"flags": FINAL},
        {"phase": 1},
        {"tag_bytes": 128},
        {"nonce": bytes(11) + b"\x80"},
        {"nonce": b"\x01" + bytes(11)},
    ):
        assert await verdict(dut, op=own, **field) == Status.BAD_OP


@pytest.mark.parametrize(
    "parameters",
    [{"DataWidth": 128, "Contexts": 1}, {"DataWidth": 512, "Contexts": 64, "Op": 127}],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma_copy_client(parameters: dict) -> None:
    """Builds mae_dma_copy_client with extreme parameters and runs this file's tests."""
    bench.run("mae_dma_copy_client", parameters=parameters)

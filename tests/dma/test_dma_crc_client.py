# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_crc_client: rows return unchanged, and each job's CRC-32C is reported."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.dma.rings import FINAL, Desc, Status
from tests.support import bench
from tests.support.crc32c import VECTORS, crc32c
from tests.support.stream import Sink, Source, start

PAYLOAD = ("ctx", "data", "bytes", "last")


async def begin(dut) -> None:
    """Resets mae_dma_crc_client with idle inputs."""
    inputs = {f"row_{name}_i": 0 for name in (*PAYLOAD, "valid", "ready")}
    await start(dut, cfg_valid_i=0, cfg_desc_i=0, **inputs)


def cut(data: bytes, context: int, size: int) -> list[tuple]:
    """Cuts a job's data to rows of a size for mae_dma_crc_client; rubbish follows the last."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    rubbish = int.from_bytes(b"\xa5" * size, "little")
    rows = []
    for i, piece in enumerate(pieces):
        word = int.from_bytes(piece, "little") | rubbish >> 8 * len(piece) << 8 * len(piece)
        rows.append((context, word, len(piece), int(i == len(pieces) - 1)))
    return rows


def shuffled(jobs: list[list[tuple]], rng: random.Random) -> list[tuple]:
    """Mixes the rows of jobs of different contexts, each job's rows in order."""
    left, mixed = [list(rows) for rows in jobs], []
    while any(left):
        mixed.append(rng.choice([rows for rows in left if rows]).pop(0))
    return mixed


class Reports:
    """Collects the reports of mae_dma_crc_client: contexts and tags."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.found: list[tuple[int, int]] = []

    async def watch(self) -> None:
        """Appends each report; its status is OK."""
        while True:
            await RisingEdge(self.dut.clk_i)
            if int(self.dut.report_valid_o.value):
                word = int(self.dut.report_o.value)
                assert word >> 128 & 0xFF == Status.OK
                self.found.append((word >> 136, word & (1 << 128) - 1))


async def send(dut, rows: list[tuple], stalls: tuple[float, float], seed: int) -> None:
    """Sends rows through mae_dma_crc_client; asserts that they return unchanged."""
    source = Source(dut, "row", stalls[0], seed=seed, payload=PAYLOAD)
    cocotb.start_soon(source.send(rows))
    sink = Sink(dut, "row", stalls[1], seed=seed + 1, payload=PAYLOAD)
    assert await sink.receive(len(rows)) == rows
    await Timer(200, "ns")


@cocotb.test(timeout_time=400, timeout_unit="us")
async def published_vectors(dut) -> None:
    """mae_dma_crc_client reports the CRCs of RFC 3720 §B.4."""
    await begin(dut)
    reports, size = Reports(dut), len(dut.row_data_i) // 8
    watching = cocotb.start_soon(reports.watch())
    for data, printed in VECTORS:
        await send(dut, cut(data, 0, size), (0.0, 0.0), 1)
        assert reports.found.pop()[1].to_bytes(16, "little") == bytes.fromhex(printed) + bytes(12)
    watching.cancel()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def every_length_mixed(dut) -> None:
    """mae_dma_crc_client is right for all lengths of a last row, jobs mixed, with stalls."""
    await begin(dut)
    reports, size = Reports(dut), len(dut.row_data_i) // 8
    watching = cocotb.start_soon(reports.watch())
    rng = random.Random(2)
    contexts = int(bench.parameters()["Contexts"])
    lengths = [*range(1, 2 * size + 2), *(rng.randrange(1, 20 * size) for _ in range(30))]
    for lot in range(0, len(lengths), contexts):
        data = [rng.randbytes(length) for length in lengths[lot : lot + contexts]]
        rows = shuffled([cut(text, i, size) for i, text in enumerate(data)], rng)
        stalls = rng.choice(((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.3, 0.3)))
        await send(dut, rows, stalls, lot)
        assert sorted(reports.found) == [(i, crc32c(text)) for i, text in enumerate(data)]
        reports.found.clear()
    watching.cancel()


@cocotb.test(timeout_time=200, timeout_unit="us")
async def one_operation(dut) -> None:
    """mae_dma_crc_client announces a report and accepts its own operation only."""
    await begin(dut)
    own = bench.parameters()["Op"]
    for fields, want in (
        ({"op": own}, Status.OK),
        ({"op": own ^ 1}, Status.BAD_OP),
        ({"op": own, "flags": FINAL}, Status.BAD_OP),
        ({"op": own, "length": 0}, Status.BAD_LENGTH),
    ):
        desc = Desc(**{"cookie": 1, "context": 0, "src": 1, "dst": 2, "length": 3, **fields})
        dut.cfg_valid_i.value = 1
        dut.cfg_desc_i.value = int.from_bytes(desc.pack(), "little")
        await Timer(1, "ns")
        assert int(dut.cfg_ready_o.value) == 1
        assert Status(int(dut.cfg_status_o.value)) == want
        assert int(dut.cfg_accept_o.value) == 2  # reports, does not sink


@pytest.mark.parametrize(
    "parameters",
    [
        {"DataWidth": 128, "Contexts": 1, "Op": 7},
        {"DataWidth": 512, "Contexts": 64, "Op": 7},
        {"DataWidth": 1024, "Contexts": 3, "Op": 0},
    ],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma_crc_client(parameters: dict) -> None:
    """Builds mae_dma_crc_client with extreme parameters and runs this file's tests."""
    bench.run("mae_dma_crc_client", parameters=parameters)

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_zero_fill: rows of zeros for a job's destination, between client rows.

Tests mae_dma_zero_fill.
"""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.dma.rings import run_seed
from tests.support import bench
from tests.support.stream import start

PAYLOAD = ("ctx", "data", "bytes", "last")


class Bench:
    """Models the client and the write engine on both sides of mae_dma_zero_fill."""

    def __init__(self, dut, rng: random.Random, gap=0.3, stall=0.3, room=0.7, want=0.05) -> None:
        self.dut, self.rng = dut, rng
        self.gap, self.stall, self.room, self.want = gap, stall, room, want
        self.contexts = len(dut.room_i)
        self.row_bytes = len(dut.row_data_i) // 8
        self.offered: tuple | None = None  # the client's row
        self.sent: list[tuple] = []
        self.came: list[tuple] = []
        self.scrubs: list[list[int]] = []  # context, bytes left
        self.size = 0  # of every job, if it is not random
        self.ordered = 0
        self.rooms = 0
        self.ready = self.asked = 0
        self.held: tuple | None = None  # the client's row, shown and not taken
        self.clock = self.waited = self.zeros = 0

    def drive(self) -> None:
        """Sets all inputs of mae_dma_zero_fill for the next clock."""
        dut, rng = self.dut, self.rng
        if self.offered is None and rng.random() >= self.gap:
            last = rng.randrange(4) == 0
            count = rng.randint(1, self.row_bytes) if last else self.row_bytes
            data = rng.getrandbits(8 * self.row_bytes)
            self.offered = (rng.randrange(self.contexts), data, count, int(last))
            for name, value in zip(PAYLOAD, self.offered, strict=True):
                getattr(dut, f"row_{name}_i").value = value
        dut.row_valid_i.value = int(self.offered is not None)
        self.ready = int(rng.random() >= self.stall)
        dut.row_ready_i.value = self.ready
        self.rooms = sum(1 << c for c in range(self.contexts) if rng.random() < self.room)
        dut.room_i.value = self.rooms
        self.asked = 0
        if rng.random() < self.want:
            sizes = (1, self.row_bytes, rng.randint(1, 12 * self.row_bytes))
            self.asked = self.size or rng.choice(sizes)
            self.at = rng.randrange(self.contexts)
            dut.scrub_ctx_i.value = self.at
            dut.scrub_bytes_i.value = self.asked
        dut.scrub_valid_i.value = int(bool(self.asked))

    async def step(self) -> None:
        """Runs one clock of mae_dma_zero_fill and checks the row that it sends."""
        dut = self.dut
        self.drive()
        await RisingEdge(dut.clk_i)
        self.clock += 1
        open_job = self.scrubs[-1] if self.scrubs and self.scrubs[-1][1] else None
        idle = int(dut.scrub_ready_o.value)
        assert idle == (open_job is None), "one job at a time"
        taken = int(dut.row_ready_o.value) and self.offered is not None
        if int(dut.row_valid_o.value):
            row = tuple(int(getattr(dut, f"row_{name}_o").value) for name in PAYLOAD)
            if taken or not self.from_scrub(row, open_job):
                assert row == self.offered, "the client's row, whole"
                self.held = None if self.ready else row
                assert taken == self.ready
            else:
                assert self.held is None, "a row that was shown stays"
                if self.ready:
                    open_job[1] -= row[2]
                    self.zeros += 1
        else:
            assert self.offered is None and not taken, "a client's row does not wait for nothing"
        if self.offered is not None:
            self.waited = 0 if taken else self.waited + self.ready
            assert self.waited <= 1, "every second row is the client's"
            if taken:
                self.sent.append(self.offered)
                self.offered = None
        if self.asked and idle:
            self.scrubs.append([self.at, self.asked])
            self.ordered += 1

    def from_scrub(self, row: tuple, job: list[int] | None) -> bool:
        """Returns true if the RTL's row is the next row of zeros that the job needs."""
        if job is None or not self.rooms >> job[0] & 1 or row == self.offered:
            return False
        count = min(self.row_bytes, job[1])
        assert row == (job[0], 0, count, int(count == job[1]))
        return True


async def begin(dut, seed: int, **options: float) -> Bench:
    """Resets mae_dma_zero_fill with idle inputs; returns the model around it."""
    names = "scrub_valid scrub_ctx scrub_bytes room row_valid row_ready"
    names += " row_ctx row_data row_bytes row_last"
    await start(dut, **{f"{name}_i": 0 for name in names.split()})
    return Bench(dut, random.Random(run_seed(seed)), **options)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def zeros_between_rows(dut) -> None:
    """mae_dma_zero_fill sends exactly a job's bytes as zeros; client rows pass unchanged."""
    for seed, options in enumerate(
        ({}, {"gap": 0, "stall": 0}, {"gap": 0.9, "room": 0.2}, {"stall": 0.8, "want": 0.5})
    ):
        tester = await begin(dut, seed, **options)
        for _ in range(2500):
            await tester.step()
        assert tester.ordered >= 20 and len(tester.sent) > 100


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def every_second_clock(dut) -> None:
    """mae_dma_zero_fill sends a row of zeros every second clock."""
    for gap in (0, 1):
        tester = await begin(dut, 9, gap=gap, stall=0, room=1, want=0)
        await tester.step()
        rows = 20
        tester.want, tester.size = 1, rows * tester.row_bytes - 3
        await tester.step()
        tester.want = 0
        job = tester.scrubs[-1]
        before = tester.clock
        while job[1]:
            await tester.step()
        assert tester.zeros == rows and tester.clock - before <= 2 * rows + 1
        assert len(tester.sent) >= (0 if gap else rows)


@pytest.mark.parametrize(
    "parameters",
    [{"DataWidth": 128, "Contexts": 1}, {"DataWidth": 512, "Contexts": 7}],
    ids=lambda p: "-".join(f"{k}{v}" for k, v in p.items()),
)
def test_dma_zero_fill(parameters: dict) -> None:
    """Builds mae_dma_zero_fill with extreme parameters and runs this file's tests."""
    bench.run("mae_dma_zero_fill", parameters=parameters)

# SPDX-License-Identifier: Apache-2.0
"""Tests the model of a DRAM's time (sim/memory/dram.h) against sums of its timing parameters."""

import functools
import pathlib
import subprocess

import pytest

from maeslant import paths

DELAY, COLUMN, ROW, PRECHARGE, TURN, REFRESH, INTERVAL = 40, 3, 3, 3, 3, 70, 1560
ROW_BYTES, BANKS, BATCH = 8192, 16, 16
SPAN = ROW_BYTES * BANKS  # bytes of one row in every bank


@pytest.fixture(scope="module")
def dram(tmp_path_factory: pytest.TempPathFactory):  # noqa: ANN201 - a function
    """Returns a function that gives the clocks in which the model answers accesses."""
    program = tmp_path_factory.mktemp("dram") / "trace"
    sources = [
        pathlib.Path(__file__).with_name("dram_trace.cpp"),
        paths.ROOT / "sim" / "memory" / "dram.cpp",
    ]
    command = ["g++", "-std=c++20", "-O1", f"-I{paths.ROOT / 'sim'}", *map(str, sources)]
    subprocess.run([*command, "-o", str(program)], check=True)

    def answers(*accesses: tuple[str, int, int, int]) -> list[int]:
        text = "".join(f"{k} {address} {size} {now}\n" for k, address, size, now in accesses)
        run = functools.partial(subprocess.run, capture_output=True, text=True, check=True)
        return [int(word) for word in run([str(program)], input=text).stdout.split()]

    return answers


def test_rows(dram) -> None:  # noqa: ANN001 - a function
    """A read takes longer if it opens a row, and longest if another row is open."""
    other = SPAN + ROW_BYTES  # another row of the same bank: banks are permuted by the row
    first, hit, conflict, bank = dram(
        ("r", 0, 64, 10), ("r", 64, 64, 200), ("r", other, 64, 400), ("r", 2 * ROW_BYTES, 64, 600)
    )
    assert first == 10 + DELAY + ROW + COLUMN
    assert hit == 200 + DELAY + COLUMN
    assert conflict == 400 + DELAY + PRECHARGE + ROW + COLUMN
    assert bank == 600 + DELAY + ROW + COLUMN


def test_bandwidth(dram) -> None:  # noqa: ANN001 - a function
    """Consecutive reads move 64 bytes a clock but for refresh; conflicts of a bank cost more."""
    clocks = 8 * INTERVAL
    rows = [("r", 512 * i, 512, 8 * i) for i in range(clocks // 8)]
    taken = dram(*rows)[-1] + 8 - DELAY
    assert 8 * REFRESH <= taken - clocks <= 9 * REFRESH + 30
    bad = [("r", (SPAN + ROW_BYTES) * (i % 2), 64, i) for i in range(100)]
    assert dram(*bad)[-1] > 100 * (PRECHARGE + ROW + COLUMN)


def test_refresh(dram) -> None:  # noqa: ANN001 - a function
    """A read in a refresh waits for its end, and all rows are closed then."""
    _, late, again = dram(("r", 0, 64, 10), ("r", 64, 64, INTERVAL), ("r", 128, 64, INTERVAL + 500))
    assert late == INTERVAL + REFRESH + DELAY // 2 + ROW + COLUMN
    assert again == INTERVAL + 500 + DELAY + COLUMN


def test_writes(dram) -> None:  # noqa: ANN001 - a function
    """A write is acknowledged at once; a batch of them takes the bus from reads, and a turn."""
    writes = [("w", 64 * i, 64, 10 + i) for i in range(BATCH)]
    assert dram(*writes) == [10 + i + DELAY for i in range(BATCH)]
    before = ("r", 0, 64, 0)
    alone = dram(before, ("r", 64 * BATCH, 64, 10 + BATCH))[-1]
    behind = dram(before, *writes, ("r", 64 * BATCH, 64, 10 + BATCH))[-1]
    assert behind - alone == BATCH + TURN - 1  # the batch began a clock earlier, on an idle bus
    # The next batch is not acknowledged before the first is written.
    slow = [("w", (SPAN + ROW_BYTES) * (i % 2), 64, 10) for i in range(2 * BATCH)]
    assert dram(*slow)[-1] > 10 + DELAY + BATCH * (PRECHARGE + ROW)

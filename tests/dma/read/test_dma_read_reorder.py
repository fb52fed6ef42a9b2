# SPDX-License-Identifier: Apache-2.0
"""Tests mae_dma_read_reorder: buffer position and strobes of each read beat, order of commits."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from tests.support import bench
from tests.support.stream import start

BYTES, CONTEXTS, ROWS, BEATS, IDS = 16, 3, 8, 4, 8  # the sizes of read_land_bench, two pages
COUNT = 64  # rows are counted modulo this
FIELDS = "id ctx pages row offset first last stop_row"
WRITE = "ctx pages row offset strobe data resp"


class Burst:
    """Models a read burst that was issued and whose beats arrive at the RTL one by one."""

    def __init__(self, row: int) -> None:
        self.pages, self.beats = random.getrandbits(6), random.randint(1, BEATS)
        self.came, self.whole = 0, False
        self.row, self.offset = random.randrange(ROWS), random.randrange(BYTES)
        self.first, self.last = random.randrange(BYTES), random.randrange(BYTES)
        if self.beats == 1:
            self.first, self.last = sorted((self.first, self.last))
        self.stop = (row + random.randrange(BEATS)) % COUNT

    def beat(self) -> tuple[int, int, int, int, int]:
        """Returns the burst's next beat: last flag, pages, row, offset and byte strobes."""
        low = self.first if self.came == 0 else 0
        self.came += 1
        end = self.came == self.beats
        high = self.last if end else BYTES - 1
        strobe = sum(1 << lane for lane in range(low, high + 1))
        return int(end), self.pages, (self.row + self.came - 1) % ROWS, self.offset, strobe


@cocotb.test(timeout_time=200, timeout_unit="us")
async def lands_in_any_order(dut) -> None:
    """mae_dma_read_reorder stores interleaved read beats and commits their bursts in order."""
    inputs = [f"burst_{name}_i" for name in ["valid", *FIELDS.split()]]
    inputs += [f"r_{name}_i" for name in ("valid", "id", "data", "resp", "last")]
    await start(dut, **dict.fromkeys([*inputs, "row_ctx_i"], 0))
    queues: list[list[Burst]] = [[] for _ in range(CONTEXTS)]  # not committed, oldest first
    rows, quiet = [0] * CONTEXTS, [0] * CONTEXTS
    under_way: dict[int, tuple[int, Burst]] = {}
    expected = landed = None
    held: dict[int, tuple[int, Burst]] = {}  # IDs whose bursts came and are not committed
    overtook = several = 0
    for _ in range(4000):
        id_, ctx = random.randrange(IDS), random.randrange(CONTEXTS)
        used = id_ in under_way or id_ in held
        issue = not used and random.random() < 0.6
        dut.burst_valid_i.value, dut.burst_id_i.value = int(issue), id_
        burst = Burst(queues[ctx][-1].stop if queues[ctx] else rows[ctx])
        if issue:
            values = [burst.pages, burst.row, burst.offset, burst.first, burst.last, burst.stop]
            for name, value in zip(FIELDS.split()[1:], [ctx, *values], strict=True):
                getattr(dut, f"burst_{name}_i").value = value
        answer = random.choice([*under_way, None])
        dut.r_valid_i.value = int(answer is not None)
        coming = ended = None
        if answer is not None:
            owner, found = under_way[answer]
            end, *place = found.beat()
            data, resp = random.getrandbits(128), random.randrange(4)
            dut.r_id_i.value, dut.r_last_i.value = answer, end
            dut.r_data_i.value, dut.r_resp_i.value = data, resp
            coming, ended = [owner, *place, data, resp], under_way[answer] if end else None
        looked = random.randrange(CONTEXTS)
        dut.row_ctx_i.value = looked
        await RisingEdge(dut.clk_i)
        assert int(dut.id_busy_o.value) == int(used)
        assert int(dut.row_o.value) == rows[looked]
        assert int(dut.open_o.value) == sum(bool(queue) << i for i, queue in enumerate(queues))
        assert int(dut.wr_valid_o.value) == int(expected is not None)
        if expected:
            assert [int(getattr(dut, f"wr_{n}_o").value) for n in WRITE.split()] == expected
        else:
            assert int(dut.wr_data_o.value) == 0, "nothing stays"
        commits = int(dut.commit_o.value)
        assert commits.bit_count() <= 1
        for owner, queue in enumerate(queues):
            if commits >> owner & 1:
                oldest = queue.pop(0)
                assert oldest.whole, "committed in order, and not before it has come"
                rows[owner] = oldest.stop
                held = {id__: item for id__, item in held.items() if item[1] is not oldest}
            whole = bool(queue) and queue[0].whole
            several += whole and commits >> owner & 1
            quiet[owner] = quiet[owner] + 1 if whole else 0
            assert quiet[owner] <= 4 * CONTEXTS, "what has come is committed at once"
        if landed:  # the burst is complete in the buffer with this clock
            owner, found = landed
            found.whole = True
            overtook += found is not queues[owner][0]
        expected, landed = coming, ended
        if ended:
            held[answer] = under_way.pop(answer)
        if issue:
            under_way[id_] = ctx, burst
            queues[ctx].append(burst)
    assert min(overtook, several) > 50, "the draw missed a case"


def test_dma_read_reorder() -> None:
    """Builds mae_dma_read_reorder in read_land_bench and runs this file's test."""
    bench.run("read_land_bench", sources=["tests/dma/read/read_land_bench.sv"])

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_mailbox against a model: writes after a doorbell do not change the request."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.support.bench import run

QUEUES, DOORBELL, ROWS = 3, 0x420, 66


class Box:
    """Models the mailbox memory and the status of one request queue."""

    def __init__(self) -> None:
        self.data = bytearray(128 * 16)
        self.ready, self.rung, self.next, self.blocks = True, False, 1, 0


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def traffic(dut) -> None:
    """The mailbox returns each request's rows as they were at its doorbell, under random writes."""
    generator = random.Random(1)
    Clock(dut.clk_i, 10, "ns").start()
    for name in "clear_i open_i write_valid_i request_ready_i done_i row_queue_i row_i".split():
        getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    boxes, busy, taken = [Box() for _ in range(QUEUES)], 128 * QUEUES, []
    seen = {"word": 0, "dropped": 0, "doorbell": 0, "request": 0}
    for _ in range(30000):
        queue = generator.randrange(4)
        offset = generator.choice((DOORBELL, 4 * generator.randrange(1024), 0x41C, 0, 0x424, 0x422))
        data, valid = generator.randrange(1 << 32), generator.random() < 0.9
        opened, ready = generator.random() < 0.9, generator.random() < 0.3
        clear = generator.random() < 0.0005
        done = [q for q in taken if generator.random() < 0.05]
        dut.write_valid_i.value, dut.write_queue_i.value = int(valid), queue
        dut.write_offset_i.value, dut.write_data_i.value = offset, data
        dut.open_i.value, dut.request_ready_i.value = int(opened), int(ready)
        dut.clear_i.value = int(clear)
        dut.done_i.value = sum(1 << q for q in done)
        place = generator.randrange(QUEUES), generator.randrange(ROWS)
        dut.row_queue_i.value, dut.row_i.value = place
        await Timer(1, "ns")
        assert bool(dut.busy_o.value) == (busy > 0)
        box = boxes[queue] if queue < QUEUES else None
        able = valid and box is not None and not busy and box.ready
        word = able and offset < 16 * ROWS and offset % 4 == 0
        rings = able and opened and offset == DOORBELL
        assert bool(dut.write_dropped_o.value) == (valid and not word and not rings), hex(offset)
        for q, each in enumerate(boxes):
            assert dut.ready_o.value[q] == (each.ready and not busy)
            assert int(dut.next_o.value) >> 64 * q & (1 << 64) - 1 == each.next
        assert bool(dut.request_valid_o.value) == any(each.rung for each in boxes)
        if dut.request_valid_o.value:
            q = int(dut.request_queue_o.value)
            assert boxes[q].rung
            assert int(dut.request_number_o.value) == boxes[q].next - 1
            assert int(dut.request_blocks_o.value) == boxes[q].blocks
            if ready:
                boxes[q].rung = False
                taken.append(q)
                seen["request"] += 1
        row = bytes(boxes[place[0]].data[16 * place[1] :][:16])
        if word:
            box.data[offset : offset + 4] = data.to_bytes(4, "little")
        if rings:
            box.ready, box.rung, box.blocks, box.next = False, True, data, box.next + 1
        for q in done:
            taken.remove(q)
            boxes[q].ready = True
        seen["word"] += bool(word)
        seen["doorbell"] += bool(rings)
        seen["dropped"] += valid and not word and not rings
        busy = max(0, busy - 1)
        if clear:
            boxes, busy, taken = [Box() for _ in range(QUEUES)], 128 * QUEUES, []
        await FallingEdge(dut.clk_i)
        if not busy and not clear:
            assert int(dut.row_o.value).to_bytes(16) == row
    assert min(seen.values()) > 300, seen


def test_guard_mailbox() -> None:
    """Builds mae_guard_mailbox for three queues and runs this file's simulation test on it."""
    run("mae_guard_mailbox", parameters={"Queues": QUEUES})

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_operation_check against the card model, with values at each rule's limits."""

import random

import cocotb
from cocotb.triggers import Timer

from maeslant.protected.model import wire
from maeslant.protected.model.constants import KERNEL, Op
from maeslant.protected.model.device import Device
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.queues import Request
from tests.support.bench import run

QUEUES = 5


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def checks(dut) -> None:
    """mae_guard_operation_check gives the card model's status for random register operations."""
    r = random.Random(1)
    device = Device(Capabilities(queues=QUEUES))
    seen: dict[int, int] = {}
    for _ in range(20000):
        queue, number = r.randrange(QUEUES), r.choice((1, 2, 1 << 40))
        offsets = (r.randrange(8), 4 * r.randrange(40), r.randrange(1 << 32), KERNEL, QUEUES)
        values = (
            0,
            1,
            number - 1,
            number,
            number + 1,
            1 << 32,
            (1 << 32) - 1,
            r.randrange(1 << 64),
        )
        op = r.choice((1, 2, 3))
        width = r.choice((2, 3)) if op < 3 else 0
        fields = [op, width, r.choice((*offsets[1:2], queue, KERNEL)), r.choice(values), 0]
        if op == Op.READ:
            fields[3] = 0
        for index, wrong in enumerate((r.randrange(256), r.randrange(12), r.choice(offsets))):
            if r.random() < 0.1:
                fields[index] = wrong
        if r.random() < 0.1:
            fields[3] = r.choice(values)
        operation = wire.Operation(*fields[:4], zero=r.randrange(1 << 16))
        dut.operation_i.value = int.from_bytes(operation.pack())
        dut.queue_i.value, dut.number_i.value = queue, number
        await Timer(1, "ns")
        width = 1 << int(dut.check_log2_width_o.value)
        op = Op.WRITE if dut.check_write_o.value else Op.READ
        assert int(dut.check_offset_o.value) == operation.offset
        dut.check_legal_i.value = int(device.kernel.legal(op, operation.offset, width))
        await Timer(1, "ns")
        want = device._operation(device.queues[queue], Request(number, 0), operation)
        assert int(dut.status_o.value) == want, operation
        assert bool(dut.is_read_o.value) == (operation.op == Op.READ)
        seen[want] = seen.get(want, 0) + 1
    assert len(seen) == 4 and min(seen.values()) > 500, seen


def test_guard_operation_check() -> None:
    """Builds mae_guard_operation_check for five queues and runs this file's test on it."""
    run("mae_guard_operation_check", parameters={"Queues": QUEUES})

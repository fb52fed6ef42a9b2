# SPDX-License-Identifier: Apache-2.0
"""Tests mae_card_memory against a byte array: arbitration, order of reads, refusals, clears."""

import collections
import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from tests.support.bench import parameters, run

ROW, PART = 64, 16


class Port:
    """Holds a port's request to the card memory until the RTL accepts it."""

    def __init__(self) -> None:
        self.request: tuple | None = None
        self.waited = 0


def merge(old: bytes, strobes: int, data: bytes) -> bytes:
    """Returns old data with new bytes where the write strobe is set."""
    return bytes(data[i] if strobes >> i & 1 else old[i] for i in range(len(old)))


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def traffic(dut) -> None:
    """All ports of mae_card_memory return a byte array's data under random requests and clears."""
    chooser = random.Random(1)
    bits = int(parameters()["MemoryBits"])
    granules = 1 << bits - 6
    Clock(dut.clk_i, 10, "ns").start()
    names = "clear_i write_valid_i scrub_valid_i read_valid_i kernel_valid_i judge_fault_i"
    names += " kernel_wide_i kernel_row_i"
    for name in names.split():
        getattr(dut, name).value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    memory = [bytes(ROW)] * granules
    busy, refused_granule, share = granules, 0, 0.5
    write, scrub, read, kernel = Port(), Port(), Port(), Port()
    # Due answers, by clock: (data) of the DMA; (data or None, fault) of the kernel.
    latency = int(parameters().get("Latency", 2))
    due_read: collections.deque = collections.deque([None] * latency)
    due_kernel: collections.deque = collections.deque([None] * latency)
    seen: collections.Counter = collections.Counter()
    for clock in range(20000):
        if clock % 500 == 0:
            share, refused_granule = chooser.choice((0.2, 0.7, 1.0)), chooser.randrange(granules)
        for port in (write, scrub, read, kernel):
            if port.request is None and chooser.random() < share:
                granule = chooser.choice((chooser.randrange(granules), chooser.randrange(2)))
                if port is write:
                    strobes = chooser.choice(((1 << 64) - 1, chooser.getrandbits(64), 1, 1 << 63))
                    port.request = granule, strobes, chooser.randbytes(ROW)
                elif port is kernel:
                    strobes = chooser.choice((0xFFFF, chooser.getrandbits(16)))
                    part, writes = chooser.randrange(4), chooser.random() < 0.5
                    port.request = granule, part, writes, strobes, chooser.randbytes(PART)
                else:
                    port.request = (granule,)
        clear = chooser.random() < 0.001
        dut.clear_i.value = int(clear)
        dut.write_valid_i.value = int(write.request is not None)
        if write.request:
            dut.write_granule_i.value = write.request[0]
            dut.write_strb_i.value = write.request[1]
            dut.write_data_i.value = int.from_bytes(write.request[2], "little")
        dut.scrub_valid_i.value = int(scrub.request is not None)
        dut.scrub_granule_i.value = scrub.request[0] if scrub.request else 0
        dut.read_valid_i.value = int(read.request is not None)
        dut.read_granule_i.value = read.request[0] if read.request else 0
        dut.kernel_valid_i.value = int(kernel.request is not None)
        if kernel.request:
            granule, part, writes, strobes, data = kernel.request
            word = (int(writes) << 32 | granule * ROW + part * PART) << 16 | strobes
            dut.kernel_request_i.value = word << 128 | int.from_bytes(data, "little")
        await Timer(1, "ns")
        refuses = {False: False, True: False}
        if kernel.request:
            address = kernel.request[0] * ROW + kernel.request[1] * PART
            assert int(dut.judge_address_o.value) == address << 64 | address
            assert int(dut.judge_write_o.value) == 2
            # Reads and writes are refused apart from each other.
            refuses = {w: kernel.request[0] == (refused_granule + w) % granules for w in refuses}
        dut.judge_fault_i.value = refuses[True] << 1 | refuses[False]
        await Timer(1, "ns")
        assert bool(dut.busy_o.value) == (busy > 0)
        closed = busy > 0 or clear
        took = {
            port: port.request is not None and bool(ready.value)
            for port, ready in (
                (write, dut.write_ready_o),
                (scrub, dut.scrub_ready_o),
                (read, dut.read_ready_o),
                (kernel, dut.kernel_ready_o),
            )
        }
        assert not closed or not any(took.values())
        writers = [took[write], took[scrub], took[kernel] and kernel.request[2]]
        wants = write.request or scrub.request or (kernel.request and kernel.request[2])
        assert sum(writers) == (0 if closed or not wants else 1)
        assert closed or not read.request or took[read]
        # What was asked before the latency.
        answer = due_read.popleft()
        assert bool(dut.read_rvalid_o.value) == (answer is not None)
        if answer is not None:
            assert int(dut.read_rdata_o.value) == int.from_bytes(answer, "little")
        answer = due_kernel.popleft()
        data, fault = answer or (None, False)
        assert bool(dut.kernel_rvalid_o.value) == (data is not None)
        assert bool(dut.kernel_fault_o.value) == fault
        if data is not None:
            assert int(dut.kernel_rdata_o.value) == int.from_bytes(data, "little")
        # What is asked now.
        due_read.append(memory[read.request[0]] if took[read] else None)
        effect = None
        if took[kernel]:
            granule, part, writes, strobes, data = kernel.request
            refused = refuses[writes]
            old = memory[granule][PART * part :][:PART]
            due_kernel.append((None if writes else bytes(PART) if refused else old, refused))
            seen[f"kernel {writes} {refused}"] += 1
            if writes and not refused:
                row = bytearray(memory[granule])
                row[PART * part : PART * part + PART] = merge(old, strobes, data)
                effect = granule, bytes(row)
        else:
            due_kernel.append(None)
        if took[write]:
            granule, strobes, data = write.request
            effect = granule, merge(memory[granule], strobes, data)
        if took[scrub]:
            effect = scrub.request[0], bytes(ROW)
        if effect:
            memory[effect[0]] = effect[1]
        for port, name in ((write, "write"), (scrub, "scrub"), (read, "read"), (kernel, "kernel")):
            seen[name] += took[port]
            port.waited = 0 if took[port] or closed else port.waited + (port.request is not None)
            assert port.waited < 3, name
            if took[port]:
                port.request = None
        busy = max(0, busy - 1)
        if clear:
            busy, memory = granules, [bytes(ROW)] * granules
            due_read = collections.deque(None if d is None else bytes(ROW) for d in due_read)
            due_kernel = collections.deque(
                None if d is None else (None if d[0] is None else bytes(PART), d[1])
                for d in due_kernel
            )
            seen["clear"] += 1
            for port in (write, scrub, read, kernel):
                port.request = None
        await FallingEdge(dut.clk_i)
        if clear:
            left = (dut.read_row_q, dut.kernel_row_q, dut.read_rdata_o, dut.kernel_rdata_o)
            assert not any(int(signal.value) for signal in left)
    assert min(seen.values()) > 3 and seen.total() > 20000, seen


@pytest.mark.parametrize("bits", [7, pytest.param(10, marks=pytest.mark.slow)])
def test_card_memory(bits: int) -> None:
    """Builds mae_card_memory with a few granules and runs this file's test."""
    run("mae_card_memory", parameters={"MemoryBits": bits})


@pytest.mark.parametrize("latency", [50, 3])
def test_far_memory(latency: int) -> None:
    """Builds mae_card_memory with a latency like DRAM's and runs this file's test."""
    run("mae_card_memory", parameters={"MemoryBits": 7, "Latency": latency})

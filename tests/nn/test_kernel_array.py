# SPDX-License-Identifier: Apache-2.0
"""Tests mae_kernel_array (neural-network layers) against NumPy sums and exact fractions.

Covers mae_nn_address_gen, mae_nn_weights, mae_nn_macs, mae_nn_requant and mae_nn_output. Layers of
random sizes and data, at the ends of their ranges; memory latency, stalls, refusals, illegal
commands, clearing; clocks.
"""

import dataclasses
import fractions
import os
import re

import cocotb
import numpy as np
import pytest
from cocotb.triggers import ClockCycles, RisingEdge

from maeslant.nn.commands import OP_MAC, OP_MAX, Command, Shape, scale_word
from tests.cipher.leaks import signals
from tests.fhe.wide_memory import WideMemory
from tests.support import bench
from tests.support.stream import start

VALUES = {"Lanes": 8, "Columns": 2, "Depth": 32, **bench.parameters()}
SHAPE = Shape(VALUES["Lanes"], VALUES["Columns"])
LIST, SOURCE, PARAMS, OUT = 0x1000, 0x10000, 0x100000, 0x200000


async def begin(dut, **options) -> WideMemory:
    """Resets mae_kernel_array; returns the memory model at its port."""
    idle = dict(clear_i=0, start_i=0, list_i=0, mem_ready_i=0, mem_rvalid_i=0)
    await start(dut, **idle, mem_rdata_i=0, mem_fault_i=0, mem_settled_i=1)
    memory = WideMemory(dut, **options)
    while dut.busy_o.value:
        await RisingEdge(dut.clk_i)
    return memory


async def go(dut, address: int = LIST, limit: int = 100_000) -> tuple[bool, int]:
    """Runs mae_kernel_array on a command list; returns fault_o and the clocks taken."""
    dut.start_i.value, dut.list_i.value = 1, address
    await RisingEdge(dut.clk_i)
    dut.start_i.value, dut.list_i.value = 0, 0xFFFFFFFF
    edge = RisingEdge(dut.clk_i)
    for count in range(1, limit):
        await edge
        if dut.done_o.value:
            return bool(dut.fault_o.value), count
        assert dut.busy_o.value and not dut.fault_o.value
    raise AssertionError("not done")


@dataclasses.dataclass
class Case:
    """Holds a layer for mae_kernel_array: command, input, parameters, expected result."""

    command: Command
    source: bytes
    params: bytes
    result: np.ndarray  # int8 (channel, line, column)


def scaled(sums: np.ndarray, multipliers: list, shifts: list, command: Command) -> np.ndarray:
    """Scales int32 sums and rounds them to int8 by exact fractions, ties to even."""
    wrapped = sums.astype(np.uint32).astype(np.int32)
    result = np.empty(sums.shape, np.int8)
    for place in np.ndindex(*sums.shape):
        exact = fractions.Fraction(
            int(wrapped[place]) * multipliers[place[0]], 1 << shifts[place[0]]
        )
        result[place] = min(max(round(exact) + command.zero, command.low), command.high)
    return result


def windows(source: np.ndarray, command: Command) -> list[list[np.ndarray]]:
    """Returns, for each row and column of the kernel window, the input that each pixel meets."""
    height, width = command.height_out, command.width_out
    high = command.stride_y * height + command.kernel_y
    wide = command.stride_x * width + command.kernel_x
    padded = np.full((source.shape[0], high, wide), command.pad_value, np.int64)
    lines, columns = min(command.height, high - command.pad_y), min(command.width, wide)
    columns = min(columns, wide - command.pad_x)
    if lines > 0 and columns > 0:
        area = (slice(command.pad_y, command.pad_y + lines),)
        area += (slice(command.pad_x, command.pad_x + columns),)
        padded[(slice(None), *area)] = source[:, :lines, :columns]
    return [
        [
            padded[
                :,
                y : y + command.stride_y * height : command.stride_y,
                x : x + command.stride_x * width : command.stride_x,
            ]
            for x in range(command.kernel_x)
        ]
        for y in range(command.kernel_y)
    ]


def random_case(rng: np.random.Generator, extreme: bool) -> Case:
    """Returns a random layer with its input and expected result, also at its limits."""

    def values(*shape: int) -> np.ndarray:
        if extreme:
            return rng.choice(np.array([-128, -127, -1, 0, 1, 127], np.int8), shape)
        return rng.integers(-128, 128, shape, np.int8)

    def pick(*numbers: int) -> int:
        return int(rng.choice(numbers))

    lanes, kind = SHAPE.lanes, pick(0, 0, 1, 2)
    channels = pick(1, lanes - 1, lanes, lanes + 1, 3 * lanes)
    made = pick(1, lanes, lanes + 1, 2 * lanes, 3 * lanes) if kind == 0 else channels
    columns = pick(1, SHAPE.columns) if kind == 0 else 1
    kernel_y, kernel_x = pick(1, 2, 3, 5), pick(1, 3)
    height, width = pick(1, 2, 5, 7), pick(1, 3, 4, 9)
    if kind == 2:
        kernel_y = kernel_x = 1
    stride_y, stride_x = pick(1, 2, 3), pick(1, 1, 2)
    pad_y, pad_x = int(rng.integers(0, kernel_y)), int(rng.integers(0, kernel_x))
    height_out = max(1, (height + 2 * pad_y - kernel_y) // stride_y + 1)
    width_out = max(1, (width + 2 * pad_x - kernel_x) // stride_x + 1)
    planes = SHAPE.planes(channels)
    size = SHAPE.plane_bytes(height, width)
    command = Command(
        OP_MAX if kind == 1 else OP_MAC,
        height,
        width,
        height_out,
        width_out,
        planes if kind == 0 else kind,
        SHAPE.planes(made),
        SOURCE,
        OUT,
        size if kind == 0 else size * planes,
        SHAPE.plane_bytes(height_out, width_out),
        0 if kind == 1 else PARAMS,
        0 if kind == 0 else size,
        kernel_y,
        kernel_x,
        stride_y,
        stride_x,
        pad_y,
        pad_x,
        -128 if kind == 1 else pick(-128, -3, 0, 127),
        pick(-128, 0, 5, 127),
        pick(-128, -128, -5, 0),
        pick(127, 127, 100),
        columns,
        True,
    )
    source = values(channels, height, width)
    if kind == 1:
        parts = [part for line in windows(source, command) for part in line]
        return Case(command, SHAPE.pack_map(source), b"", np.max(parts, axis=0).astype(np.int8))
    multipliers = [pick(0, 1, 3, 2**23, 2**24 - 1, int(rng.integers(2**24))) for _ in range(made)]
    shifts = [pick(0, 1, 24, 30, 40, 62, int(rng.integers(20, 36))) for _ in range(made)]
    wide = (
        rng.integers(-(2**31), 2**31, made) if extreme else rng.integers(-999, 999, made)
    ).astype(np.int64)
    if not extreme:  # sums of layers: the result uses its range
        multipliers = [int(rng.integers(2**22, 2**24)) for _ in range(made)]
        shifts = [pick(30, 32, 34) for _ in range(made)]
        if rng.integers(3) == 0:  # ties
            multipliers, shifts = [1] * made, [pick(1, 4, 7)] * made
    scales = np.array([scale_word(m, s) for m, s in zip(multipliers, shifts, strict=True)])
    sums = np.zeros((made, height_out, width_out), np.int64) + wide[:, None, None]
    if kind == 0:
        weights = values(made, channels, kernel_y, kernel_x)
        for y, line in enumerate(windows(source, command)):
            for x, part in enumerate(line):
                sums += np.tensordot(weights[:, :, y, x].astype(np.int64), part, 1)
        data, maps = SHAPE.pack_parameters(weights, wide, scales, columns), source
    else:  # an addition: each step reads two planes, with weights on their diagonals
        other = values(channels, height, width)
        factors = values(2, channels)
        maps = [SHAPE.pack_map(source), SHAPE.pack_map(other)]
        weights = np.zeros((planes * lanes, 2 * lanes, 1, 1), np.int8)
        for channel in range(channels):
            weights[channel, channel % lanes] = factors[0, channel]
            weights[channel, lanes + channel % lanes] = factors[1, channel]
        spare = planes * lanes - channels
        data = SHAPE.pack_parameters(
            weights, np.pad(wide, (0, spare)), np.pad(scales, (0, spare)), 1
        )
        for one, factor in zip((source, other), factors, strict=True):
            (part,), *_ = windows(one, command)
            sums += factor[:, None, None].astype(np.int64) * part
        result = scaled(sums, multipliers, shifts, command)
        return Case(command, b"".join(maps), data, result)
    return Case(command, SHAPE.pack_map(source), data, scaled(sums, multipliers, shifts, command))


def put(memory: WideMemory, case: Case, at: int = LIST) -> None:
    """Writes a layer's command, parameters and input to the modelled memory."""
    memory.load(at, case.command.encode())
    memory.load(SOURCE, case.source)
    memory.load(PARAMS, case.params)


def expect(memory: WideMemory, before: dict, case: Case) -> None:
    """Asserts that the layer's output is as expected and nothing else was written."""
    size = case.command.planes_out * case.command.plane_out
    found = SHAPE.unpack_map(memory.read(OUT, size), *case.result.shape[1:])
    assert (found[: len(case.result)] == case.result).all(), case.command
    rows = {OUT // 64 + i for i in range(size // 64)}
    assert {row for row in memory.rows if memory.rows[row] != before.get(row)} <= rows


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def layers_equal_the_reference(dut) -> None:
    """mae_kernel_array computes random layers right, with any memory latency and stalls."""
    for number in range(int(os.environ.get("ARRAY_LAYERS", "60"))):
        rng = np.random.default_rng(number)
        stall, slow = ((0, 0), (0.5, 0), (0, 0.5), (0.3, 0.3))[number % 4]
        memory = await begin(
            dut, stall=stall, slow=slow, answer=int(rng.choice([1, 3, 60])), seed=number
        )
        case = random_case(rng, number % 3 == 0)
        put(memory, case)
        before = dict(memory.rows)
        fault, _ = await go(dut)
        assert not fault
        expect(memory, before, case)
        memory.stop()


def convolution(size: int, channels: int, made: int, kernel: int = 3) -> Case:
    """Returns a convolution layer of a square map with fixed random data."""
    rng = np.random.default_rng(7)
    plane = SHAPE.plane_bytes(size, size)
    planes, columns = SHAPE.planes(channels), min(SHAPE.columns, SHAPE.planes(made))
    command = Command(
        OP_MAC,
        *[size] * 4,
        planes,
        SHAPE.planes(made),
        SOURCE,
        OUT,
        plane,
        plane,
        params=PARAMS,
        kernel_y=kernel,
        kernel_x=kernel,
        pad_y=kernel // 2,
        pad_x=kernel // 2,
        columns=columns,
        last=True,
    )
    source = rng.integers(-128, 128, (channels, size, size), np.int8)
    weights = rng.integers(-128, 128, (made, channels, kernel, kernel), np.int8)
    scales, biases = np.full(made, scale_word(1, 9)), np.zeros(made, np.int64)
    sums = np.zeros((made, size, size), np.int64)
    for y, line in enumerate(windows(source, command)):
        for x, part in enumerate(line):
            sums += np.tensordot(weights[:, :, y, x].astype(np.int64), part, 1)
    result = scaled(sums, [1] * made, [9] * made, command)
    data = SHAPE.pack_parameters(weights, biases, scales, columns)
    return Case(command, SHAPE.pack_map(source), data, result)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def takes_the_stated_clocks(dut) -> None:
    """mae_kernel_array needs a clock per pixel and pass for a large layer, within 10 %."""
    lanes, depth = SHAPE.lanes, VALUES["Depth"]
    size = 8
    case = convolution(size, 2 * lanes, lanes * SHAPE.columns)
    memory = await begin(dut, answer=20)
    put(memory, case)
    before = dict(memory.rows)
    fault, taken = await go(dut)
    assert not fault
    expect(memory, before, case)
    rows = lanes * lanes * SHAPE.columns // 64
    reads = rows + depth * lanes // 64 + 1
    bound = 18 * (size * size // depth) * max(depth, reads)
    assert bound < taken < 1.1 * bound + 200, (taken, bound)
    memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def stops_at_every_refusal(dut) -> None:
    """If a memory access is refused, mae_kernel_array stops with fault_o; the next run works."""
    case = convolution(3, SHAPE.lanes + 1, SHAPE.lanes + 1, 1)
    for stall, slow, answer in ((0, 0, 1), (0.3, 0.3, 9)):
        memory = await begin(dut, stall=stall, slow=slow, answer=answer)
        put(memory, case)
        assert not (await go(dut))[0]
        total = memory.accesses
        for number in (*range(0, total, max(1, total // 12)), total - 1):
            memory.accesses, memory.refuse = 0, number
            fault, _ = await go(dut)
            assert fault == (memory.accesses > number), number  # stalls change what is read ahead
            memory.refuse, memory.refused = None, False
        before = dict(memory.rows)
        memory.load(OUT, b"\xee" * case.command.plane_out)
        assert not (await go(dut))[0]
        expect(memory, before, case)
        memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def hears_of_a_late_refusal(dut) -> None:
    """A late error response to the kernel's last write still ends its run with fault_o."""
    command = dataclasses.replace(
        convolution(1, 1, 1, 1).command, op=OP_MAX, sources=1, params=0, columns=1
    )
    case = Case(command, bytes(64), b"", np.zeros((1, 1, 1), np.int8))
    memory = await begin(dut, answer=60)
    memory.late = True
    put(memory, case)
    assert not (await go(dut))[0]
    memory.accesses, memory.refuse = 0, memory.last_write
    assert (await go(dut))[0]
    memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def waits_until_writes_settled(dut) -> None:
    """A run of mae_kernel_array does not end before its writes have settled; a fault ends it."""
    case = convolution(1, 1, 1, 1)
    memory = await begin(dut, answer=3)
    put(memory, case)
    for faulty in (False, True):
        dut.mem_settled_i.value = 0
        dut.start_i.value, dut.list_i.value = 1, LIST
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        for _ in range(600):
            await RisingEdge(dut.clk_i)
            assert dut.busy_o.value and not dut.done_o.value
        memory.stop()
        dut.mem_fault_i.value = int(faulty)
        await RisingEdge(dut.clk_i)
        dut.mem_fault_i.value, dut.mem_settled_i.value = 0, 1
        while not dut.done_o.value:
            await RisingEdge(dut.clk_i)
        assert bool(dut.fault_o.value) == faulty
        memory = WideMemory(dut, answer=3)
        put(memory, case)
    memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def passes_of_one_pixel(dut) -> None:
    """Maximum pooling of one window gives the right pixel; nothing else in memory changes."""
    rng = np.random.default_rng(3)
    for kernel_y, kernel_x in ((1, 3), (3, 3), (2, 5)):
        command = dataclasses.replace(
            convolution(1, 1, 1, 1).command,
            op=OP_MAX,
            sources=1,
            params=0,
            columns=1,
            kernel_y=kernel_y,
            kernel_x=kernel_x,
            height=kernel_y,
            width=kernel_x,
            plane_in=SHAPE.plane_bytes(kernel_y, kernel_x),
        )
        source = rng.integers(-128, 128, (SHAPE.lanes, kernel_y, kernel_x), np.int8)
        result = source.max(axis=(1, 2))[:, None, None]
        case = Case(command, SHAPE.pack_map(source), b"", result)
        memory = await begin(dut)
        put(memory, case)
        before = dict(memory.rows)
        assert not (await go(dut))[0]
        expect(memory, before, case)
        memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def refuses_illegal_commands(dut) -> None:
    """mae_kernel_array refuses illegal commands and list addresses with fault_o, unwritten."""
    memory = await begin(dut)
    case = convolution(3, 1, 1, 1)
    put(memory, case)
    wrong = {"op": (0, 3, 255), "columns": (0, 3, 2 * SHAPE.columns), "kernel_y": (0, 16)}
    wrong |= {"kernel_x": (0, 16), "stride_y": (0, 16), "stride_x": (0, 255), "pad_y": (16,)}
    wrong |= {name: (0, 4096) for name in ("height", "width", "height_out", "width_out")}
    wrong |= {name: (0, 4096) for name in ("sources", "planes_out")}
    wrong |= {name: (32,) for name in ("source", "destination", "params", "plane_in", "plane_out")}
    wrong |= {"pad_x": (16,), "step_in": (1,)}
    for name, values in wrong.items():
        for value in values:
            memory.load(LIST, dataclasses.replace(case.command, **{name: value}).encode())
            writes = memory.read(OUT, 64)
            assert (await go(dut))[0], (name, value)
            assert memory.read(OUT, 64) == writes
    for place in (1, 49, 63):
        raw = bytearray(case.command.encode())
        raw[place] |= 0x80
        memory.load(LIST, bytes(raw))
        assert (await go(dut))[0], place
    assert (await go(dut, LIST + 32))[0]
    end = (1 << 32) - 64
    memory.load(end, dataclasses.replace(case.command, last=False).encode())
    assert (await go(dut, end))[0]
    put(memory, case)
    assert not (await go(dut))[0]
    memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def clears(dut) -> None:
    """After clear_i mae_kernel_array makes no access, reports no end; the next run works."""
    case = convolution(4, 2 * SHAPE.lanes, 2 * SHAPE.lanes)
    for clocks in (1, 4, 9, 30, 100, 200, 400):
        memory = await begin(dut, answer=7, slow=0.2, seed=clocks)
        put(memory, case)
        dut.start_i.value, dut.list_i.value = 1, LIST
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        await ClockCycles(dut.clk_i, clocks)
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        while True:
            await RisingEdge(dut.clk_i)
            assert not dut.mem_valid_o.value and not dut.done_o.value
            if not dut.busy_o.value:
                break
        before = dict(memory.rows)
        assert not (await go(dut))[0]
        expect(memory, before, case)
        memory.stop()


def held(dut) -> set[str]:
    """Returns the registers and memories of mae_kernel_array that are not zero."""
    names = {}
    for signal in signals(dut):
        name = signal._path.partition(".")[2]
        if re.search(r"_q(\[|$)", name) and not re.search(r"(state|begin)_q$|u_uses", name):
            names[name] = int(signal.value)
    return {name for name, value in names.items() if value}


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def erases(dut) -> None:
    """After clear_i no register of mae_kernel_array holds data of the layer."""
    case = convolution(6, 2 * SHAPE.lanes, 2 * SHAPE.lanes)
    seen = set()
    for clocks in (60, 400, 900):
        memory = await begin(dut, answer=7)
        assert not held(dut)
        put(memory, case)
        dut.start_i.value, dut.list_i.value = 1, LIST
        await RisingEdge(dut.clk_i)
        dut.start_i.value, dut.list_i.value = 0, 0
        await ClockCycles(dut.clk_i, clocks)
        seen |= {name.rpartition("[")[0] or name for name in held(dut)}
        dut.clear_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.clear_i.value = 0
        await RisingEdge(dut.clk_i)
        while dut.busy_o.value:
            await RisingEdge(dut.clk_i)
        assert not held(dut), (clocks, sorted(held(dut)))
        memory.stop()
    wanted = {f"u_macs.{name}" for name in ("u_sums.words_q", "weights_q", "params_q", "sums_q")}
    assert wanted | {"u_weights.weights_q", "u_macs.u_rows.store_q"} <= seen, wanted - seen


@pytest.mark.full
def test_array_erases() -> None:
    """Builds mae_kernel_array with all signals visible and runs the erasure test."""
    parameters = {"Lanes": 8, "Columns": 2, "Depth": 32, "Outstanding": 32}
    bench.run("mae_kernel_array", parameters=parameters, test_filter="erases$", visible=True)


@pytest.mark.parametrize("lanes,columns", [(8, 2), (16, 1), (32, 1)])
def test_kernel_array(lanes: int, columns: int) -> None:
    """Builds mae_kernel_array in three sizes and runs this file's tests but erasure."""
    parameters = {
        "Lanes": lanes,
        "Columns": columns,
        "Depth": 32,
        "Outstanding": 32 if lanes < 32 else 128,
    }
    bench.run("mae_kernel_array", parameters=parameters, test_filter="^(?!.*erases$)")

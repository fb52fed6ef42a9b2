# SPDX-License-Identifier: Apache-2.0
"""Tests mae_kernel_int8_nn (int8 neural networks) against maeslant/protected/network.

Covers its parts mae_kernel_address_gen and mae_kernel_mac_lanes.
Layers of random sizes and data, at the ends of their ranges; stalls, refusals, illegal commands,
clearing; the clocks; then whole digits.
"""

import dataclasses
import os
import random

import cocotb
import numpy as np
import pytest
from cocotb.triggers import ClockCycles, RisingEdge

from maeslant.protected.network import clocks, digits, layers, memory
from tests.kernel.device_memory import DeviceMemory
from tests.support import bench
from tests.support.stream import start

LIST, SOURCE, PARAMS, OUT = 0x100, 0x10000, 0x40000, 0x80000


async def begin(dut, **options) -> DeviceMemory:
    """Resets mae_kernel_int8_nn; returns the memory model at its port."""
    idle = dict(clear_i=0, start_i=0, list_i=0, mem_ready_i=0, mem_rvalid_i=0)
    await start(dut, **idle, mem_rdata_i=0, mem_fault_i=0)
    return DeviceMemory(dut, **options)


async def go(dut, address: int = LIST, limit: int = 200_000) -> tuple[bool, int]:
    """Runs mae_kernel_int8_nn on a command list; returns fault_o and the clocks taken."""
    dut.start_i.value, dut.list_i.value = 1, address
    await RisingEdge(dut.clk_i)
    dut.start_i.value, dut.list_i.value = 0, 0xFFFFFFFF
    edge = RisingEdge(dut.clk_i)
    for count in range(1, limit):
        await edge
        if dut.done_o.value:
            assert not dut.busy_o.value
            return bool(dut.fault_o.value), count
        assert dut.busy_o.value and not dut.fault_o.value
    raise AssertionError("not done")


def random_layer(rng: np.random.Generator, extreme: bool = False) -> tuple:
    """Returns a random neural-network layer and an input for it."""

    def values(*shape: int) -> np.ndarray:
        if extreme:
            return rng.choice(np.array([-128, -127, -1, 0, 1, 127], np.int8), shape)
        return rng.integers(-128, 128, shape, np.int8)

    kind = rng.integers(0, 5)
    relu = bool(rng.integers(0, 2))
    height, width = (int(n) for n in rng.integers(1, 6, 2))
    channels = int(rng.choice([1, 2, 15, 16, 17, 33]))
    if kind == 0:
        return layers.Pool(relu), values(height + 1, width + 1, channels)
    made = int(rng.choice([1, 10, 16, 17, 40]))
    kernel, pad = 1, 0
    if kind == 1:
        height = width = 1
        channels = int(rng.integers(1, 100))
    else:
        kernel = int(rng.integers(1, 5))
        pad = int(rng.integers(0, kernel))
        height, width = (max(n, kernel - 2 * pad) for n in (height, width))
    biases = rng.integers(-(2**31), 2**31, made) if extreme else rng.integers(-9999, 9999, made)
    multiplier, shift = int(rng.integers(0, 2**16)), int(rng.integers(16, 30))
    if extreme:
        multiplier = int(rng.choice([0, 1, 2, 3, 2**15, 2**16 - 1]))
        shift = int(rng.choice([0, 1, 2, 31, 40, 46, 47]))
    kind = layers.Full if kind == 1 else layers.Convolution
    weights = values(made, kernel, kernel, channels)
    layer = kind(weights, biases.astype(np.int32), multiplier, shift, relu, pad)
    return layer, values(height, width, channels)


def put(
    device: DeviceMemory, layer: layers.Layer, source: np.ndarray, at: int = LIST, last: bool = True
) -> memory.Command:
    """Writes a layer's command, parameters and input to the modelled memory."""
    params = isinstance(layer, layers.Convolution)
    command = memory.command(layer, source.shape, SOURCE, OUT, PARAMS if params else 0)
    command.last = last
    device.load(at, command.encode())
    device.load(SOURCE, memory.pack_map(source))
    if params:
        device.load(PARAMS, memory.pack_parameters(layer))
    return command


def expect(device: DeviceMemory, before: dict, layer: layers.Layer, source: np.ndarray) -> None:
    """Asserts that a layer's output equals the Python layer's and nothing else was written."""
    wanted = layer.run(source)
    packed = memory.pack_map(wanted)
    if isinstance(layer, layers.Convolution) or layer.relu or wanted.shape[2] % 16 == 0:
        assert device.read(OUT, len(packed)) == packed, (layer, source)
    rows = {OUT // 16 + i for i in range(len(packed) // 16)}
    assert {row for row in device.rows if device.rows[row] != before.get(row)} <= rows
    assert sorted(device.writes) == [16 * row for row in sorted(rows)]


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def layers_equal_the_reference(dut) -> None:
    """mae_kernel_int8_nn computes random layers as the Python layers do, with stalls."""
    for number in range(int(os.environ.get("KERNEL_LAYERS", "60"))):
        rng = np.random.default_rng(number)
        stall, slow = ((0, 0), (0.5, 0), (0, 0.5), (0.3, 0.3))[number % 4]
        device = await begin(
            dut, stall=stall, slow=slow, answer=int(rng.choice([1, 3, 20])), seed=number
        )
        layer, source = random_layer(rng, extreme=number % 3 == 0)
        put(device, layer, source)
        before = dict(device.rows)
        fault, _ = await go(dut)
        assert not fault
        expect(device, before, layer, source)
        device.stop()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def widest_and_largest(dut) -> None:
    """mae_kernel_int8_nn computes the widest kernels, maps and channel counts right."""
    rng = np.random.default_rng(8)

    def convolution(made: int, kernel: int, channels: int, pad: int) -> layers.Convolution:
        weights = rng.integers(-128, 128, (made, kernel, kernel, channels), np.int8)
        return layers.Convolution(weights, np.arange(made, dtype=np.int32), 777, 22, False, pad)

    def source(*shape: int) -> np.ndarray:
        return rng.integers(-128, 128, shape, np.int8)

    cases = [
        (convolution(1, 15, 1, 14), source(2, 1, 1)),
        (convolution(1, 15, 1, 7), source(1, 255, 1)),
        (convolution(3, 1, 700, 0), source(1, 2, 700)),
        (layers.Pool(), source(2, 255, 1)),
        (layers.Pool(), source(255, 3, 16)),
        (convolution(300, 1, 2, 0), source(2, 1, 2)),
    ]
    for layer, data in cases:
        device = await begin(dut)
        put(device, layer, data)
        before = dict(device.rows)
        assert not (await go(dut))[0]
        expect(device, before, layer, data)
        device.stop()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def takes_the_stated_clocks(dut) -> None:
    """mae_kernel_int8_nn takes exactly the clocks of maeslant/protected/network/clocks.py."""
    for answer in (1, 2, 14):
        for number in range(16):
            device = await begin(dut, answer=answer)
            layer, source = random_layer(np.random.default_rng(1000 + number))
            command = put(device, layer, source)
            fault, taken = await go(dut)
            assert not fault
            assert taken == clocks.run([command], answer), (answer, command)
            device.stop()


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def stops_at_every_refusal(dut) -> None:
    """If a memory access is refused, mae_kernel_int8_nn stops with fault_o; the next run works."""
    rng = np.random.default_rng(5)

    def values(*shape: int) -> np.ndarray:
        return rng.integers(-128, 128, shape, np.int8)

    network = [
        layers.Convolution(values(2, 3, 3, 1), np.array([5, -7], np.int32), 999, 15, False, 1),
        layers.Pool(),
        layers.Full(values(3, 1, 1, 2), np.array([0, 1, 2], np.int32), 999, 15),
    ]
    plan = memory.place(network, values(1, 2, 2, 1))
    for stall, slow, answer in ((0, 0, 1), (0.3, 0.4, 3)):
        device = await begin(dut, stall=stall, slow=slow, answer=answer)

        async def once(refuse: int | None, device: DeviceMemory = device) -> list:
            device.rows.clear()
            for address, data in plan.loads:
                device.load(address, data)
            device.accesses, device.refuse, device.refused_at = 0, refuse, None
            device.writes = []
            assert (await go(dut, plan.start))[0] == (refuse is not None)
            await ClockCycles(dut.clk_i, 8 if refuse is None else 40)  # and nothing comes later
            assert not dut.busy_o.value and not dut.mem_valid_o.value
            return [(at, device.rows[at // 16]) for at in device.writes]

        good = await once(None)
        total = device.accesses
        output = plan.outputs(device.read(plan.results, 16))[0]
        wanted = network[2].run(network[1].run(network[0].run(plan_image(plan))))
        assert (output == wanted).all()
        for number in range(total):
            found = await once(number)
            assert found == good[: len(found)] and len(found) < len(good) + (number == total - 1)
            assert device.accesses <= total
            if number % 7 == 0:
                assert await once(None) == good
        assert await once(None) == good
        device.stop()


def plan_image(plan: memory.Plan) -> np.ndarray:
    """Returns a memory plan's input image, which has 2 x 2 pixels and one channel."""
    return memory.unpack_map(plan.images[1], 2, 2, 1)


def broken(good: memory.Command) -> list[memory.Command]:
    """Returns illegal commands: the given legal one with one field changed in each."""
    changes: list[dict[str, int]] = [
        *({"op": op} for op in (0, 2, 3, 4, 255)),
        *({"height": n} for n in (0, 1)),
        *({"width": n} for n in (0, 1)),
        {"in_channels": 0},
        {"out_channels": 0},
        *({"kernel": n} for n in (0, 5, 16, 255)),
        *({"pad": n} for n in (2, 255)),
        *({"shift": n} for n in (48, 255)),
        {"kernel": 15, "pad": 5},
        *({name: 0x1008} for name in ("source", "destination", "params")),
    ]
    return [dataclasses.replace(good, **change) for change in changes]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def refuses_illegal_commands(dut) -> None:
    """mae_kernel_int8_nn refuses each illegal command with a fault and writes nothing."""
    rng = np.random.default_rng(3)
    weights = rng.integers(-128, 128, (2, 2, 2, 5), np.int8)
    layer = layers.Convolution(weights, np.zeros(2, np.int32), 1, 4)
    source = rng.integers(-128, 128, (4, 3, 5), np.int8)
    device = await begin(dut)
    good = put(device, layer, source)
    texts = [command.encode() for command in broken(good)]
    full = memory.Command(memory.OP_FULL, 1, 1, 5, 2, SOURCE, OUT, 1, 0, PARAMS, 1, 4)
    changes = {"height": 2, "width": 2, "kernel": 2, "pad": 1, "shift": 48, "out_channels": 0}
    texts += [dataclasses.replace(full, **{k: v}).encode() for k, v in changes.items()]
    pool = memory.Command(memory.OP_POOL, 4, 3, 5, 5, SOURCE, OUT)
    changes = {"out_channels": 6, "kernel": 1, "pad": 1, "shift": 1, "multiplier": 1}
    changes |= {"params": 16, "height": 1, "width": 1, "in_channels": 0}
    texts += [dataclasses.replace(pool, **{k: v}).encode() for k, v in changes.items()]
    bits = [8 + n for n in range(2, 8)] + [8 * n for n in (13, 15, 28, 31, 32, 47, 48, 63)]
    for bit in [*bits, 511]:
        texts.append((int.from_bytes(good.encode(), "little") ^ (1 << bit)).to_bytes(64, "little"))
    for text in texts:
        device.load(LIST, text)
        before = dict(device.rows)
        fault, _ = await go(dut, limit=2000)
        assert fault, text.hex()
        assert device.rows == before
    assert device.accesses == 4 * len(texts)  # the commands alone were read
    for legal in (good, full, pool):
        device.load(LIST, dataclasses.replace(legal, last=True).encode())
        assert not (await go(dut))[0]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def stops_at_the_end_of_the_address_space(dut) -> None:
    """mae_kernel_int8_nn refuses lists and data that wrap around the address space."""
    device = await begin(dut)
    top = 1 << 32
    layer = layers.Convolution(np.ones((17, 1, 1, 1), np.int8), np.zeros(17, np.int32), 1, 0)
    for name, address, rows in (
        ("source", top - 32, 2),
        ("destination", top - 64, 4),
        ("params", top - 160, 10),
    ):
        for less in (0, 16):
            good = put(device, layer, np.ones((1, 2, 1), np.int8))
            device.load(LIST, dataclasses.replace(good, **{name: address + less}).encode())
            device.writes = []
            fault, _ = await go(dut)
            assert fault == (less != 0), (name, rows)
            assert all(write >= OUT for write in device.writes)
    command = put(device, layers.Pool(), np.ones((2, 2, 1), np.int8), last=False).encode()
    device.load(top - 64, command)
    device.load(0, command)
    assert (await go(dut, top - 64))[0]
    for low in range(1, 16):
        assert (await go(dut, LIST + low))[0]
    device.load(
        top - 64, dataclasses.replace(memory.Command(3, 2, 2, 1, 1, 0, 0), last=True).encode()
    )
    assert not (await go(dut, top - 64))[0]


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def start_while_busy_is_ignored(dut) -> None:
    """start_i during a run of mae_kernel_int8_nn has no effect."""
    device = await begin(dut, stall=0.2, slow=0.2)
    layer, source = random_layer(np.random.default_rng(12))
    put(device, layer, source)
    before = dict(device.rows)

    async def disturb() -> None:
        await ClockCycles(dut.clk_i, 3)
        while dut.busy_o.value:
            dut.start_i.value = random.randrange(2)
            await RisingEdge(dut.clk_i)
            dut.start_i.value = 0
            await ClockCycles(dut.clk_i, 3)

    task = cocotb.start_soon(disturb())
    fault, _ = await go(dut)
    task.cancel()
    dut.start_i.value = 0
    assert not fault
    expect(device, before, layer, source)


# Registers that hold data or commands, in the kernel and its parts.
DATA = ("command_rows_q", "slot_q", "slot_valid_q")
LANES = ("data_q", "biases_q", "sums_q", "input_q", "valid_q")
REQUANT = ("sums_q", "product_q", "row_q", "row_valid_q")
WALK = ("line_step_q", "origin_q", "pixel_q", "input_q", "params_q", "out_q", "write_row_q")


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def clear_erases(dut) -> None:
    """clear_i or reset at any clock stops mae_kernel_int8_nn and erases its data."""
    holders = [getattr(dut, name) for name in DATA]
    for part, names in ((dut.u_lanes, LANES), (dut.u_requant, REQUANT), (dut.u_walk, WALK)):
        holders += [getattr(part, name) for name in names]
    seen = set()
    rng = np.random.default_rng(21)
    weights = rng.integers(-128, 128, (16, 2, 2, 3), np.int8)
    biases = rng.integers(1, 99, 16).astype(np.int32)
    layer = layers.Convolution(weights, biases, 9999, 18, False, 1)
    source = rng.integers(-128, 128, (2, 2, 3), np.int8)
    for number, at in enumerate(range(1, 230, 3)):
        device = await begin(dut, slow=0.1 * (number % 3), answer=1 + number % 4, seed=number)
        put(device, layer, source)
        clean = dict(device.rows)
        dut.start_i.value, dut.list_i.value = 1, LIST
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        await ClockCycles(dut.clk_i, at)
        seen |= {holder._path for holder in holders if int(holder.value)}
        signal, active = (dut.rst_ni, 0) if number % 5 == 4 else (dut.clear_i, 1)
        signal.value = active
        if signal is dut.rst_ni:  # resets the memory too
            device.stop()
            dut.mem_rvalid_i.value, dut.mem_fault_i.value = 0, 0
        await RisingEdge(dut.clk_i)
        signal.value = 1 - active
        await RisingEdge(dut.clk_i)
        for holder in holders:
            assert int(holder.value) == 0, (holder._path, at)
        if signal is dut.rst_ni:
            continue
        writes = len(device.writes)
        if number % 3:
            device.refuse_waiting()  # which then concerns nobody
        wait = 60 if number % 2 else 0  # or the next start comes as soon as it may
        while wait or dut.busy_o.value:
            assert not dut.done_o.value
            await RisingEdge(dut.clk_i)
            wait = max(wait - 1, 0)
        assert not dut.busy_o.value
        assert len(device.writes) == writes
        for holder in holders:
            assert int(holder.value) == 0, (holder._path, at)
        device.rows, device.writes, device.refused_at = dict(clean), [], None
        assert not (await go(dut))[0]
        expect(device, clean, layer, source)
        device.stop()
    assert len(seen) == len(holders), {h._path for h in holders} - seen  # each held something


@cocotb.test(timeout_time=2000, timeout_unit="ms")
async def reads_digits(dut) -> None:
    """mae_kernel_int8_nn classifies digits as the Python network does."""
    network = digits.load()
    count = int(os.environ.get("KERNEL_DIGITS", "3"))
    pixels, wanted = (part[:count] for part in digits.held_out())
    plan = memory.place(network, pixels, base=0x4000)
    device = await begin(dut, answer=4)
    for address, data in plan.loads:
        device.load(address, data)
    before = dict(device.rows)
    fault, taken = await go(dut, plan.start, limit=20_000 * count)
    assert not fault
    results = device.read(plan.results, plan.result_bytes * count)
    for output, image in zip(plan.outputs(results), pixels, strict=True):
        assert (output == layers.run(network, image)).all()
    assert plan.labels(results) == digits.labels(network, pixels)
    assert all(plan.results <= 16 * row < plan.end for row in device.rows.keys() - before.keys())
    sent = plan.commands[1]
    listed = [memory.Command.decode(sent[i : i + 64]) for i in range(0, len(sent), 64)]
    assert taken == clocks.run(listed, 4)
    right = sum(a == b for a, b in zip(plan.labels(results), wanted, strict=True))
    print(f"{right} of {count} right, {taken / count:.0f} clocks an image")


FILTERS = {2: "layers_equal|stops_at_every", 16: "^(?!.*(clear_erases|reads_digits))"}


@pytest.mark.parametrize("outstanding", FILTERS)
def test_kernel_int8_nn(outstanding: int) -> None:
    """Builds mae_kernel_int8_nn with 2 and 16 outstanding reads and runs this file's tests."""
    parameters = {"Outstanding": outstanding}
    bench.run("mae_kernel_int8_nn", parameters=parameters, test_filter=FILTERS[outstanding])


@pytest.mark.full
def test_kernel_clears() -> None:
    """Builds mae_kernel_int8_nn with all signals visible and runs the clear test."""
    bench.run("mae_kernel_int8_nn", test_filter="clear_erases", visible=True)


@pytest.mark.full
def test_kernel_digits() -> None:
    """Builds mae_kernel_int8_nn and classifies three digits."""
    bench.run("mae_kernel_int8_nn", parameters={"Outstanding": 16}, test_filter="reads_digits")


@pytest.mark.slow
def test_kernel_digits_all() -> None:
    """Builds mae_kernel_int8_nn, classifies all held-out digits and runs 600 random layers."""
    env = {"KERNEL_DIGITS": str(digits.HELD_OUT), "KERNEL_LAYERS": "600"}
    tests = "reads_digits|layers_equal"
    bench.run("mae_kernel_int8_nn", parameters={"Outstanding": 16}, test_filter=tests, env=env)

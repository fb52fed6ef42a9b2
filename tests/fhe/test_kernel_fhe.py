# SPDX-License-Identifier: Apache-2.0
"""Tests mae_kernel_fhe and its part mae_fhe_transfer against SEAL, in small rings and its own.

Each operation of SEAL's at both levels, its bytes; stalls, refusals, illegal instructions,
coefficients out of range, clearing.
"""

import dataclasses

import cocotb
import numpy as np
import pytest
import seal
from cocotb.triggers import ClockCycles, RisingEdge

from maeslant.fhe import instructions, seal_bytes
from maeslant.fhe.instructions import BYTES, CONSTANT, Instruction, Op, Part
from maeslant.fhe.program import Program
from tests.fhe.rings import RINGS
from tests.fhe.wide_memory import WideMemory
from tests.support import bench
from tests.support.stream import start

RING = RINGS[bench.parameters().get("LogN", min(RINGS))]
POLY = RING.poly_bytes
SETUP, KEYS, IN, OUT, LIST = (count * POLY for count in (0, 8, 128, 192, 248))
KEY_BYTES = 12 * POLY
STEPS = (1, 7, 0)  # rotations, and 0: the conjugation
# A transform from slot 1: the slot that its first stage writes is the other one.
TURN = Part(True, dst=1, u=2, v=1) if RING.log_n % 2 == 0 else Part(True, dst=2, u=1, v=1)


class Client:
    """Holds SEAL keys and encrypts for the tests of mae_kernel_fhe."""

    def __init__(self) -> None:
        context = RING.context
        generator = seal.KeyGenerator(context)
        self.galois = seal.GaloisKeys()
        generator.create_galois_keys(list(STEPS), self.galois)
        self.relin = generator.create_relin_keys()
        self.evaluator = seal.Evaluator(context)
        self.encryptor = seal.Encryptor(context, generator.create_public_key())
        self.encoder = seal.CKKSEncoder(context)
        self.elements = [pow(3, s, 2 * RING.n) if s else RING.conjugation for s in STEPS]
        keys = seal_bytes.galois_keys(self.galois, RING)
        parts = [keys[element] for element in self.elements]
        parts.append(seal_bytes.relin_key(self.relin, RING))
        self.keys = b"".join(part.tobytes() for part in parts)

    def encrypt(self, seed: int, level: int) -> seal.Ciphertext:
        """Returns a SEAL ciphertext of random numbers at level 1 or 2."""
        values = np.random.default_rng(seed).uniform(-1, 1, RING.slots)
        found = self.encryptor.encrypt(self.encoder.encode(values, 2.0**RING.log_scale))
        if level == 1:
            self.evaluator.mod_switch_to_next_inplace(found)
        return found


def data(found: seal.Ciphertext) -> np.ndarray:
    """Returns the polynomial coefficients of a SEAL ciphertext."""
    return seal_bytes.parse_ciphertext(found.to_string(), RING).data


async def begin(dut, **options) -> WideMemory:
    """Resets mae_kernel_fhe; returns a memory model with the ring's constants and tables."""
    idle = dict(clear_i=0, start_i=0, list_i=0, mem_ready_i=0, mem_rvalid_i=0)
    await start(dut, **idle, mem_rdata_i=0, mem_fault_i=0)
    memory = WideMemory(dut, **options)
    setup = [RING.constants(e).tobytes() + RING.table(e).tobytes() for e in range(3)]
    memory.load(SETUP, b"".join(setup))
    while dut.busy_o.value:
        await RisingEdge(dut.clk_i)
    return memory


async def go(dut, address: int = LIST) -> tuple[bool, int]:
    """Runs mae_kernel_fhe on the program at an address; returns fault_o and the clocks."""
    dut.start_i.value, dut.list_i.value = 1, address
    await RisingEdge(dut.clk_i)
    dut.start_i.value, dut.list_i.value = 0, 0xFFFFFFFF
    for count in range(1, 100_000):
        await RisingEdge(dut.clk_i)
        if dut.done_o.value:
            assert not dut.busy_o.value
            return bool(dut.fault_o.value), count
        assert dut.busy_o.value and not dut.fault_o.value
    raise AssertionError("not done")


async def listed(dut, memory: WideMemory, *given: Instruction) -> tuple[bool, int]:
    """Writes instructions to memory and runs mae_kernel_fhe on them."""
    every = [*given, Instruction(Op.END)]
    memory.load(LIST, b"".join(instruction.encode() for instruction in every))
    return await go(dut)


async def computed(dut, memory: WideMemory, make, *inputs: np.ndarray) -> np.ndarray:
    """Runs a program on ciphertexts in mae_kernel_fhe; returns the resulting polynomials."""
    program = Program(RING)
    operands, at = [], IN
    for given in inputs:
        memory.load(at, given.tobytes())
        level = given.shape[1]
        operands.append([program.load(at + i * level * POLY, level) for i in range(len(given))])
        at += given.nbytes
    results = make(program, *operands)
    level = len(results[0])
    for i, poly in enumerate(results):
        program.store(poly, OUT + i * level * POLY)
    memory.load(LIST, program.encode())
    fault, _ = await go(dut)
    assert not fault
    size = len(results) * level * POLY
    return np.frombuffer(memory.read(OUT, size), "<u8").reshape(len(results), level, RING.n)


def multiply(program: Program, a: list, b: list) -> list:
    """Appends the instructions that multiply two ciphertexts to a program."""
    b = [program.to_montgomery(poly) for poly in b]
    middle = program.multiply(a[1], b[0], program.multiply(a[0], b[1]))
    return [program.multiply(a[0], b[0]), middle, program.multiply(a[1], b[1])]


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def operations(dut) -> None:
    """CKKS operations on mae_kernel_fhe give SEAL's ciphertexts, byte for byte."""
    client = Client()
    ev = client.evaluator
    conditions = (dict(stall=0.3, slow=0.3), dict(), dict(stall=0.5), dict(slow=0.5, answer=9))
    # A netlist of its own rings does some hundred clocks a second.
    for number, options in enumerate(conditions[: 1 if bench.is_netlist() else None]):
        memory = await begin(dut, seed=number, **options)
        memory.load(KEYS, client.keys)
        program = Program(RING)
        program.setup(SETUP)
        memory.load(LIST, program.encode())
        assert not (await go(dut))[0]
        for level in (2, 1):
            a, b = client.encrypt(number, level), client.encrypt(9 + number, level)
            product = ev.multiply(a, b)
            plain = client.encoder.encode(np.arange(9.0) + number, 2.0**RING.log_scale)
            ev.mod_switch_to_inplace(plain, a.parms_id())
            coded = seal_bytes.parse_plaintext(plain.to_bytes(), RING).data
            cases = [
                (lambda p, x, y: [p.add(*z) for z in zip(x, y, strict=True)], ev.add(a, b), a, b),
                (
                    lambda p, x, y: [p.subtract(*z) for z in zip(x, y, strict=True)],
                    ev.sub(a, b),
                    a,
                    b,
                ),
                (multiply, product, a, b),
                (
                    lambda p, x: p.relinearize(x, KEYS + len(STEPS) * KEY_BYTES),
                    ev.relinearize(product, client.relin),
                    product,
                ),
            ]
            for place, (steps, element) in enumerate(zip(STEPS, client.elements, strict=True)):
                key = KEYS + place * KEY_BYTES
                wanted = (
                    ev.rotate_vector(a, steps, client.galois)
                    if steps
                    else ev.complex_conjugate(a, client.galois)
                )
                cases.append((lambda p, x, g=element, k=key: p.rotate(x, g, k), wanted, a))
            if level == 2:
                cases.append((lambda p, x: p.rescale(x), ev.rescale_to_next(product), product))
            for place, (make, wanted, *inputs) in enumerate(cases):
                found = await computed(dut, memory, make, *(data(x) for x in inputs))
                assert (found == data(wanted)).all(), (number, level, place)

            def by_plain(program: Program, x: list, y: list) -> list:
                factor = program.to_montgomery(y[0])
                return [program.multiply(poly, factor) for poly in x]

            found = await computed(dut, memory, by_plain, data(a), coded)
            assert (found == data(ev.multiply_plain(a, plain))).all()
        memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def damaged(dut) -> None:
    """mae_kernel_fhe stops with a fault at coefficients, constants or primes out of range."""
    memory = await begin(dut)
    setup = [
        Instruction(Op.CONSTANTS, engine=0, address=SETUP),
        Instruction(Op.TABLE, engine=0, address=SETUP + BYTES),
    ]
    assert not (await listed(dut, memory, *setup))[0]
    load = Instruction(Op.LOAD, engine=0, slot=1, address=IN)
    store = Instruction(Op.STORE, engine=0, slot=1, address=OUT)
    q, width = RING.primes[0], bench.parameters()["Width"]
    good = np.full(RING.n, q - 1, np.uint64)
    memory.load(IN, good.tobytes())
    assert not (await listed(dut, memory, load, store))[0]
    assert memory.read(OUT, POLY) == good.tobytes()
    for place in (0, 7, 8, 500, RING.n - 1):
        for value in (q, (1 << width) - 1, 1 << width, 1 << 63):
            bad = good.copy()
            bad[place] = value
            memory.load(IN, bad.tobytes())
            memory.load(OUT, bytes(POLY))
            fault, _ = await listed(dut, memory, load, store)
            assert fault and memory.read(OUT, POLY) == bytes(POLY), (place, value)
    for word, value in ((0, q + 2), (0, 0), (0, 1), (0, q | 1 << width), (3, q), (7, 1 << 62)):
        block = RING.constants(0)
        block[word] = value
        memory.load(IN, block.tobytes())
        bad_block = dataclasses.replace(setup[0], address=IN)
        assert (await listed(dut, memory, bad_block))[0], (word, value)
    memory.load(IN, good.tobytes())
    assert not (await listed(dut, memory, load, store))[0]  # the constants stand


def illegal() -> list[bytes]:
    """Returns encoded instructions that mae_kernel_fhe must refuse."""
    fine = Part(True, dst=1, u=2, v=3, w=CONSTANT)
    load = Instruction(Op.LOAD, engine=0, slot=1, address=IN)
    change = dataclasses.replace

    def one(op: Op, part: Part, **fields: int) -> Instruction:
        return Instruction(op, (part, Part(), Part()), **fields)

    slots = bench.parameters()["Slots"]
    wrong = [
        *(
            change(load, **{k: v})
            for k, v in (("engine", 3), ("slot", slots), ("address", IN + 32))
        ),
        change(load, engine=2, slot=bench.parameters()["KeySlots"]),
        Instruction(Op.STORE, montgomery=True),
        *(one(Op.PASS, change(fine, **{k: slots})) for k in ("dst", "u", "v", "w")),
        one(Op.PASS, change(fine, w=CONSTANT | 8)),
        one(Op.PASS, change(fine, source=3)),
        one(Op.PASS, change(fine, permute=True), galois=2),
        one(Op.PASS, fine, galois=2 * RING.n + 1),
        one(Op.PASS, fine, address=64),
        one(Op.TRANSFORM, change(TURN, u=TURN.dst)),
        one(Op.TRANSFORM, change(TURN, v=2)),
        one(Op.TRANSFORM, change(TURN, u=CONSTANT)),
        one(Op.TRANSFORM, change(TURN, permute=True), galois=3),
    ]
    encoded = [instruction.encode() for instruction in wrong]
    for place in (1, 16 - 1, 32, 63):  # flags that do not exist, bytes that must be zero
        raw = bytearray(one(Op.PASS, fine).encode())
        raw[place] |= 0x80
        encoded.append(bytes(raw))
    encoded += [bytes([op]) + bytes(63) for op in (7, 255)]
    return encoded


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def refused(dut) -> None:
    """mae_kernel_fhe stops with a fault at illegal instructions, addresses or refused accesses."""
    memory = await begin(dut)
    for number, raw in enumerate(illegal()):
        memory.load(LIST, raw + Instruction(Op.END).encode())
        assert (await go(dut))[0], number
    assert (await go(dut, LIST + 32))[0]
    end = (1 << 32) - BYTES
    memory.load(end, Instruction(Op.PASS, (Part(),) * 3).encode())
    assert (await go(dut, end))[0]
    beyond = Instruction(Op.STORE, engine=0, slot=0, address=end)
    assert (await listed(dut, memory, beyond))[0]
    memory.stop()
    for number in range(5):
        memory = await begin(dut, stall=0.2, slow=0.2, answer=3, seed=number)
        granules = POLY // BYTES
        memory.refuse = (0, 1, granules // 2, granules + 5, 2 * granules + 3)[number]
        load = Instruction(Op.CONSTANTS, engine=0, address=SETUP)
        store = Instruction(Op.STORE, engine=1, slot=0, address=OUT)
        fault, _ = await listed(dut, memory, load, store, store)
        assert fault
        memory.refuse, memory.refused = None, False
        assert not (await listed(dut, memory, load, store))[0]
        memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def cleared(dut) -> None:
    """After clear_i mae_kernel_fhe makes no access, reports no end and holds no data."""
    for clocks in (1, 5, 30, 150, 400):
        memory = await begin(dut, answer=3)
        load = Instruction(Op.CONSTANTS, engine=0, address=SETUP)
        memory.load(IN, np.full(RING.n, 5, np.uint64).tobytes())
        fill = Instruction(Op.LOAD, engine=0, slot=1, address=IN)
        store = Instruction(Op.STORE, engine=0, slot=1, address=OUT)
        assert not (await listed(dut, memory, load, fill))[0]
        work = Instruction(Op.TRANSFORM, (TURN, Part(), Part()))
        memory.load(LIST, b"".join(i.encode() for i in (fill, work, store, Instruction(Op.END))))
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
        memory.load(OUT, b"\xff" * POLY)
        assert not (await listed(dut, memory, store))[0]
        assert memory.read(OUT, POLY) == bytes(POLY)
        memory.stop()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def both_at_work(dut) -> None:
    """mae_kernel_fhe overlaps a memory transfer and a transform that use different slots."""
    memory = await begin(dut)
    load = Instruction(Op.CONSTANTS, engine=0, address=SETUP)
    turn = Instruction(Op.TRANSFORM, (TURN, Part(), Part()))
    fill = Instruction(Op.LOAD, engine=0, slot=3, address=IN)
    assert not (await listed(dut, memory, load))[0]
    _, nothing = await listed(dut, memory)
    _, alone = await listed(dut, memory, turn)
    _, move = await listed(dut, memory, fill)
    _, beside = await listed(dut, memory, turn, fill)
    _, behind = await listed(dut, memory, turn, dataclasses.replace(fill, slot=2))
    _, after = await listed(dut, memory, dataclasses.replace(fill, slot=1), turn)
    assert beside < alone + 12
    assert min(behind, after) > alone + move - nothing - 12
    width, lanes = bench.parameters()["Width"], bench.parameters()["Lanes"]
    tail = 2 * -(-width // (RING.log_n + 1)) + 3 + 6
    assert alone - nothing <= RING.log_n * RING.n // 2 // lanes + tail
    assert move - nothing <= RING.n // 8 + 20


@pytest.mark.parametrize(
    "log_n,width,lanes",
    [
        (10, 24, 8),
        (11, 24, 16),
        pytest.param(11, 24, 32, marks=pytest.mark.slow),
        pytest.param(12, 37, 32, marks=pytest.mark.slow),
        pytest.param(13, 54, 32, marks=pytest.mark.slow),
    ],
)
def test_kernel_fhe(log_n: int, width: int, lanes: int) -> None:
    """Builds mae_kernel_fhe for rings of rings.py and runs this file's tests."""
    parameters = {"LogN": log_n, "Width": width, "Lanes": lanes, "Slots": 32, "KeySlots": 8}
    bench.run("mae_kernel_fhe", parameters=parameters)


def stored(program: list[Instruction]) -> dict[int, object]:
    """Runs FHE instructions symbolically; returns the expression stored at each address."""
    slots: dict[tuple[int, int], object] = {}
    memory = {}
    for one in program:
        if one.op == Op.LOAD:
            slots[one.engine, one.slot] = ("load", one.address, one.montgomery)
        elif one.op == Op.STORE:
            memory[one.address] = slots[one.engine, one.slot]
        else:
            read = {(e, s): slots.get((e, s), s) for e in range(3) for s in range(256)}
            for e, part in enumerate(one.parts):
                if part.active:
                    flags = (one.op, part.gs, part.minus, part.permute and one.galois)
                    v = read[part.source, one.parts[part.source].v]
                    rest = () if one.op == Op.TRANSFORM else (read[e, part.u], read[e, part.w])
                    if one.op == Op.TRANSFORM:
                        slots[e, part.u] = "half transformed"
                    slots[e, part.dst] = hash((flags, v, rest))
    return memory


def chained(count: int) -> Program:
    """Returns an FHE program of several rotations, each of the previous result."""
    program = Program(RING)
    a = [program.load(IN + i * 2 * POLY, 2) for i in (0, 1)]
    for step in range(count):
        a = program.rotate(a, 3, KEYS)
        for i, poly in enumerate(a):
            program.store(poly, OUT + (2 * step + i) * 2 * POLY)
    return program


def test_order() -> None:
    """instructions.schedule reorders a program without a change of its stored results."""
    program = chained(3)
    order = instructions.schedule(program.list, RING.log_n)
    assert stored(order) == stored(program.list)
    assert len(stored(order)) == 12
    moves = [[one for one in found if one.moves] for found in (order, program.list)]
    assert sorted(map(id, moves[0])) == sorted(map(id, moves[1]))


@pytest.mark.parametrize("count", (1, 4))
def test_transforms_of_a_chain(count: int) -> None:
    """A chain of rotations needs five NTT instructions for each rotation, and one more."""
    order = instructions.schedule(chained(count).list, RING.log_n, 16)
    assert sum(one.op == Op.TRANSFORM for one in order) == 5 * count + 1

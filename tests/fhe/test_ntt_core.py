# SPDX-License-Identifier: Apache-2.0
"""Tests mae_ntt_core, mae_ntt_twiddles, mae_poly_control and mae_poly_engine against SEAL.

Transforms both ways equal SEAL's; passes equal numpy's; clocks are what the header says.
"""

import random

import cocotb
import numpy as np
import pytest
from cocotb.triggers import FallingEdge, RisingEdge

from maeslant.fhe import instructions, sets
from maeslant.fhe.instructions import CONSTANT, Part
from tests.fhe import rings
from tests.fhe.test_automorphism import sources
from tests.support import bench
from tests.support.stream import start


def pack(values: np.ndarray, width: int) -> int:
    """Packs a polynomial value for each lane into one integer."""
    return sum(int(value) << width * lane for lane, value in enumerate(values))


class Engine:
    """Drives ntt_bench, the polynomial engine with its control."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.width, self.lanes = bench.parameters()["Width"], bench.parameters()["Lanes"]
        self.params = rings.RINGS[bench.parameters()["LogN"]]
        self.idle = dict.fromkeys(
            ("slot_write_i", "table_write_i", "constants_write_i", "read_i", "clear_i", "start_i"),
            0,
        )

    async def begin(self, engine: int) -> None:
        """Resets the polynomial engine and loads constants and twiddle factors of a prime."""
        zeros = ("slot_i", "word_i", "data_i", "constants_i", "part_i", "galois_i", "transform_i")
        await start(self.dut, **self.idle, **dict.fromkeys(zeros, 0))
        await FallingEdge(self.dut.clk_i)
        self.dut.clear_i.value = 1
        for word in range(self.params.n // self.lanes):
            self.dut.word_i.value = word
            await FallingEdge(self.dut.clk_i)
        self.dut.clear_i.value = 0
        self.dut.constants_i.value = pack(self.params.constants(engine), self.width)
        self.dut.constants_write_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.constants_write_i.value = 0
        await self.put(self.params.table(engine), "table_write_i")

    async def put(self, values: np.ndarray, where: str = "slot_write_i", slot: int = 0) -> None:
        """Writes a polynomial into a slot of the polynomial engine, or its twiddle table."""
        dut = self.dut
        getattr(dut, where).value, dut.slot_i.value = 1, slot
        for word in range(self.params.n // self.lanes):
            dut.word_i.value = word
            part = values[word * self.lanes : (word + 1) * self.lanes]
            dut.data_i.value = pack(part, self.width)
            await FallingEdge(dut.clk_i)
        getattr(dut, where).value = 0

    async def get(self, slot: int) -> np.ndarray:
        """Returns the polynomial in a slot of the polynomial engine."""
        dut, found = self.dut, []
        dut.slot_i.value, dut.read_i.value = slot, 1
        for word in range(self.params.n // self.lanes):
            dut.word_i.value = word
            await FallingEdge(dut.clk_i)
            value = int(dut.fetched_o.value)
            found += [
                value >> self.width * lane & (1 << self.width) - 1 for lane in range(self.lanes)
            ]
        dut.read_i.value = 0
        return np.array(found, np.uint64)

    async def run(self, part: Part, transform: bool = False, galois: int = 1) -> int:
        """Runs an instruction on the polynomial engine; returns the clocks taken."""
        dut = self.dut
        dut.part_i.value = int.from_bytes(part.encode(), "little")
        dut.transform_i.value, dut.galois_i.value = int(transform), galois
        dut.start_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        clocks = 1
        while dut.busy_o.value:
            await RisingEdge(dut.clk_i)
            await FallingEdge(dut.clk_i)
            clocks += 1
        return clocks

    def clocks(self, transform: bool) -> int:
        """Returns the clocks of an instruction that the header of mae_poly_control states."""
        digit = self.params.log_n + 1
        tail = 2 * -(-self.width // digit) + 3 + 3
        n, stages = self.params.n, self.params.log_n
        return (stages * n // 2 if transform else n) // self.lanes + tail


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def transforms(dut) -> None:
    """NTT and inverse NTT on the polynomial engine equal SEAL's for both primes."""
    engine = Engine(dut)
    odd = engine.params.log_n % 2
    for prime, (values, coefficients) in enumerate(rings.transformed(engine.params)):
        await engine.begin(prime)
        await engine.put(coefficients, slot=1)
        clocks = await engine.run(Part(True, dst=2, u=3, v=1), True)
        assert clocks == engine.clocks(True)
        assert (await engine.get(2) == values).all()
        assert (await engine.get(1) == coefficients).all()
        dst, by = (0, 2) if odd else (2, 0)
        await engine.run(Part(True, gs=True, dst=dst, u=by, v=2), True)
        assert (await engine.get(dst) == coefficients).all()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def passes(dut) -> None:
    """Sums, products, constants and automorphisms on the polynomial engine equal NumPy's."""
    engine = Engine(dut)
    params = engine.params
    await engine.begin(0)
    q, radix = params.primes[0], params.radix
    inverse, constants = pow(radix, -1, q), params.constants(0)
    chooser = random.Random(5)
    corners = [0, 1, q - 1, q // 2]
    polys = []
    for slot in range(3):
        values = [chooser.choice((*corners, chooser.randrange(q))) for _ in range(params.n)]
        polys.append(np.array(values, object))
        await engine.put(polys[-1], slot=slot)
    a, b, c = polys
    one, k = CONSTANT | sets.ONE, CONSTANT | sets.TIMES_SPECIAL
    factor = int(constants[sets.TIMES_SPECIAL])
    wanted = {
        Part(True, u=0, v=1, w=2): (a + b * c * inverse) % q,
        Part(True, u=0, v=1, w=2, minus=True): (a - b * c * inverse) % q,
        Part(True, u=0, v=1, w=2, gs=True): (b - a) * c * inverse % q,
        Part(True, u=k, v=1, w=one): (factor + b) % q,
        Part(True, u=0, v=0, w=k): (a + a * factor * inverse) % q,
        Part(True, v=2, w=2): c * c * inverse % q,
    }
    for part, values in wanted.items():
        part = Part(**{**part.__dict__, "dst": 3})
        assert await engine.run(part) == engine.clocks(False)
        assert (await engine.get(3) == values).all(), part
    for galois in (3, 2 * params.n - 1):
        await engine.run(Part(True, permute=True, dst=3, u=0, v=1, w=one), galois=galois)
        assert (await engine.get(3) == (a + b[sources(galois, params.log_n)]) % q).all()
    before = await engine.get(3)
    await engine.run(Part(False, dst=3, u=0, v=1, w=one))
    assert (await engine.get(3) == before).all()


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def cleared(dut) -> None:
    """A clear of the polynomial engine zeroes all slots, twiddle factors and constants."""
    engine = Engine(dut)
    await engine.begin(0)
    ones = np.ones(engine.params.n, np.uint64)
    for slot in range(4):
        await engine.put(ones, slot=slot)
    dut.clear_i.value = 1
    for word in range(engine.params.n // engine.lanes):
        dut.word_i.value = word
        await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    for slot in range(4):
        assert not (await engine.get(slot)).any()
    await engine.put(ones, slot=0)
    dut.constants_i.value = pack(engine.params.constants(0), engine.width)
    dut.constants_write_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.constants_write_i.value = 0
    await engine.run(Part(True, dst=2, u=3, v=0), True)
    assert (await engine.get(2) == 1).all()  # all powers are zero: only u stays


@pytest.mark.parametrize("log_n,lanes", [(10, 8), (12, 8), (12, 16), (11, 32), (12, 32), (13, 32)])
def test_ntt_core(log_n: int, lanes: int) -> None:
    """Builds ntt_bench for a small ring and both parameter sets and runs this file's tests."""
    width = {10: 24, 11: 24, 12: 37, 13: 54}[log_n]
    bench.run(
        "ntt_bench",
        parameters={"LogN": log_n, "Width": width, "Lanes": lanes},
        sources=["tests/fhe/ntt_bench.sv"],
    )


def test_encoding() -> None:
    """The Python encoding of an FHE instruction equals that of mae_fhe_pkg."""
    assert Part(True, dst=1, u=2, v=3, w=4).encode().hex() == "0100010203040000"
    assert len(instructions.Instruction(instructions.Op.END).encode()) == instructions.BYTES

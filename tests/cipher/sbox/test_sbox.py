# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sbox: all implementations, kinds and register settings, for every byte value.

Tests each mae_sbox_* that sbox_impl_e names.
"""

import re

import cocotb
from cocotb.triggers import RisingEdge, Timer

from maeslant import paths
from tests.cipher import fips197
from tests.cipher.leaks import registers_left
from tests.support import bench
from tests.support.stream import start

PACKAGE = (paths.RTL / "cipher" / "mae_aes_pkg.sv").read_text()
# Of sbox_impl_e: the name and its number.
IMPLEMENTATIONS = {int(n): name for name, n in re.findall(r"\b(Sbox\w+)\s*= 3'd(\d)", PACKAGE)}
ENCRYPT, DECRYPT, BOTH = 1, 2, 3


def expected(kind: int, inverse: bool, x: int) -> int:
    """Returns the AES S-box's output byte for a kind, direction and input byte."""
    backward = kind == DECRYPT or (kind == BOTH and inverse)
    return (fips197.INV_SBOX if backward else fips197.SBOX)[x]


@cocotb.test(timeout_time=100, timeout_unit="us")
async def equals_the_definition(dut) -> None:
    """Every S-box gives the FIPS 197 output for all 256 bytes in each direction."""
    fips197.check_against_openssl()
    await start(dut, en_i=1, inverse_i=0, in_i=0)
    inputs = [(bool(n & 1), n >> 1) for n in range(512)]
    before = None
    for inverse, x in [*inputs, inputs[0]]:
        dut.inverse_i.value = inverse
        dut.in_i.value = x
        await Timer(1, "ns")
        out = int(dut.out_o.value).to_bytes(6 * len(IMPLEMENTATIONS), "little")
        for i, value in enumerate(out):
            kind, registered = i % 3 + 1, i // 3 % 2
            at = before if registered else (inverse, x)
            if at is not None:
                name = f"{IMPLEMENTATIONS[i // 6]}, register {registered}, kind {kind}, byte {at}"
                assert value == expected(kind, *at), name
        await RisingEdge(dut.clk_i)
        before = (inverse, x)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def idle_registers_are_empty(dut) -> None:
    """A registered S-box holds zero one clock after en_i falls."""
    await start(dut, en_i=1, inverse_i=0, in_i=0x5A)
    await RisingEdge(dut.clk_i)
    await Timer(1, "ns")
    assert len(registers_left(dut)) > 10  # at least one for each registered S-box
    dut.en_i.value = 0
    await RisingEdge(dut.clk_i)
    await Timer(1, "ns")
    assert registers_left(dut) == []


def test_sbox() -> None:
    """Builds sbox_all with all implementations of mae_sbox and runs this file's tests."""
    assert sorted(IMPLEMENTATIONS) == list(range(len(IMPLEMENTATIONS))) and len(IMPLEMENTATIONS) > 4
    bench.run(
        "sbox_all",
        sources=["tests/cipher/sbox/sbox_all.sv"],
        parameters={"Implementations": len(IMPLEMENTATIONS)},
        visible=True,
    )


def test_register_description() -> None:
    """The enumeration of S-boxes in regs/mae_common.rdl equals sbox_impl_e in the RTL."""
    text = (paths.ROOT / "regs" / "mae_common.rdl").read_text()
    body = re.search(r"enum mae_sbox_e \{(.*?)\n\};", text, re.DOTALL)[1]
    named = {int(n): name for name, n in re.findall(r"(\w+)\s*= 4'd(\d+)", body)}
    assert named.keys() == IMPLEMENTATIONS.keys()
    for number, name in named.items():
        assert name.replace("_", "").startswith(IMPLEMENTATIONS[number][4:].lower())


def test_definition() -> None:
    """The AES of fips197.py, with its computed S-box, equals OpenSSL's."""
    fips197.check_against_openssl()

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_pkg: its functions of modes, counters and tweaks give OpenSSL's results."""

import pathlib
import random

import cocotb
from cocotb.triggers import Timer
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.device import oracle
from tests.mode import engine
from tests.support import bench

WRAPPER = pathlib.Path(__file__).with_name("mode_pkg_wrapper.sv")


def number(block: bytes) -> int:
    """Returns an AES block as the integer of a block_t port."""
    return int.from_bytes(block, "big")


def block_of(signal) -> bytes:
    """Returns the AES block on a block_t port."""
    return int(signal.value).to_bytes(16, "big")


def times_alpha(tweak: bytes, steps: int) -> bytes:
    """Multiplies an XTS tweak by alpha^steps in GF(2^128) (IEEE 1619)."""
    value = int.from_bytes(tweak, "little")
    for _ in range(steps):
        value <<= 1
        if value >> 128:
            value ^= 1 << 128 | 0x87
    return value.to_bytes(16, "little")


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def table(dut):
    """The input and mask that mae_mode_pkg gives for each block lead to OpenSSL's output."""
    rng = random.Random(1)
    for mode in engine.MODES:
        for decrypt in (False, True):
            key, tweak_key = rng.randbytes(16), rng.randbytes(16)
            # A counter that carries out of its low 64 bits within the message.
            iv = rng.randbytes(8) + bytes([0xFF] * 7 + [0xFA])
            data = rng.randbytes(16 * 12)
            ecb = Cipher(algorithms.AES(key), modes.ECB())
            chain = engine.crypt("ecb", False, tweak_key, b"", b"", iv) if mode == "xts" else iv
            dut.mode_i.value = oracle.CODES[mode]
            dut.dir_i.value = int(decrypt)
            result = b""
            for at in range(0, len(data), 16):
                dut.chain_i.value = number(chain)
                dut.data_i.value = number(data[at : at + 16])
                await Timer(1, "ns")
                side = ecb.decryptor() if int(dut.cipher_dir_o.value) else ecb.encryptor()
                out = engine.xor(side.update(block_of(dut.pre_o)), block_of(dut.mask_o))
                dut.out_i.value = number(out)
                dut.steps_i.value = 1
                await Timer(1, "ns")
                chain = block_of(dut.next_o)
                if not int(dut.chains_o.value):
                    assert block_of(dut.ahead_o) == chain, "the chain a step ahead"
                result += out
            assert result == engine.crypt(mode, decrypt, key, tweak_key, iv, data), mode
            assert bool(int(dut.chains_o.value)) == oracle.chains(mode, decrypt)
            assert bool(int(dut.any_length_o.value)) == (mode in oracle.ANY_LENGTH)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def ahead(dut):
    """mae_mode_pkg advances a CTR counter and an XTS tweak by 0 to 16 steps right."""
    rng = random.Random(2)
    tweaks = [bytes(15) + b"\x80", b"\xff" * 16, b"\x80" + bytes(15)]
    for chain in [*tweaks, *(rng.randbytes(16) for _ in range(40))]:
        for steps in range(17):
            dut.chain_i.value = number(chain)
            dut.steps_i.value = steps
            dut.mode_i.value = oracle.CODES["ctr"]
            await Timer(1, "ns")
            assert int(dut.ahead_o.value) == (number(chain) + steps) % 2**128
            assert block_of(dut.alpha_o) == times_alpha(chain, steps)
            dut.mode_i.value = oracle.CODES["xts"]
            await Timer(1, "ns")
            assert block_of(dut.ahead_o) == times_alpha(chain, steps)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def small_ones(dut):
    """first_bytes, bank_lookup and bank_stays of mae_mode_pkg return the right values."""
    rng = random.Random(3)
    for count in range(16):
        dut.bytes_i.value = count
        await Timer(1, "ns")
        assert block_of(dut.first_o) == b"\xff" * count + bytes(16 - count)
    for _ in range(300):
        slots = rng.sample(range(64), 4)
        flags = [rng.randrange(8) for _ in range(4)]  # leaving, encrypt, decrypt
        slot, decrypt = rng.choice([*slots, 7]), rng.randrange(2)
        value = 0
        for b in range(4):
            value |= (flags[b] << 6 | slots[b]) << (9 * b)
        dut.banks_i.value = value
        dut.slot_i.value = slot
        dut.dir_i.value = decrypt
        await Timer(1, "ns")
        usable = [b for b in range(4) if slots[b] == slot and flags[b] & (1 if decrypt else 2)]
        assert bool(int(dut.hit_o.value)) == bool(usable)
        if usable:
            assert int(dut.bank_o.value) == usable[0]
        assert bool(int(dut.stays_o.value)) == any(not flags[b] & 4 for b in usable)


def test_mode_pkg():
    """Builds mode_pkg_wrapper around mae_mode_pkg and runs this file's tests."""
    bench.run("mode_pkg_wrapper", sources=[WRAPPER])

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_kdf: its keys equal KBKDF of `cryptography`, and a clear erases secrets."""

import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.kdf.kbkdf import KBKDFCMAC, CounterLocation, Mode

from tests.device import secrets
from tests.support.bench import run

CLOCKS = 331  # from start to done


def derive(secret: bytes, context: bytes) -> bytes:
    """Derives the 44 bytes of a session key and its IV mask by KBKDF of `cryptography`."""
    return KBKDFCMAC(
        AES, Mode.CounterMode, 44, 4, 4, CounterLocation.BeforeFixed, b"maeslant1", context, None
    ).derive(secret)


async def begin(dut) -> None:
    """Starts the clock and resets mae_guard_kdf."""
    Clock(dut.clk_i, 10, "ns").start()
    dut.clear_i.value = dut.start_i.value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


async def start(dut, parts: list[bytes], number: int, epoch: int) -> None:
    """Starts mae_guard_kdf for a session's secret and fields, a key class and an epoch."""
    dut.session_i.value = int.from_bytes(b"".join(parts))
    dut.class_i.value = number
    dut.epoch_i.value = epoch
    dut.start_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.start_i.value = 0


async def end(dut, by_reset: bool) -> None:
    """Ends what a module does by one clock of clear or reset."""
    (dut.rst_ni if by_reset else dut.clear_i).value = int(not by_reset)
    await FallingEdge(dut.clk_i)
    dut.clear_i.value, dut.rst_ni.value = 0, 1


def some_session(generator: random.Random) -> list[bytes]:
    """Makes the inputs of a key derivation: secret, session id, two nonces, capabilities."""
    return [generator.randbytes(n) for n in (32, 16, 32, 32, 8)]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def keys(dut) -> None:
    """mae_guard_kdf derives keys equal to KBKDF in 331 clocks for all classes and epochs."""
    generator = random.Random(1)
    await begin(dut)
    for trial in range(40):
        parts, number = some_session(generator), trial % 4 + 1
        epoch = generator.choice((0, 1, 0xFFFFFFFF, generator.randrange(1 << 32)))
        await start(dut, parts, number, epoch)
        clocks = 1
        while not dut.done_o.value:
            assert dut.key_o.value == 0
            await FallingEdge(dut.clk_i)
            clocks += 1
        assert clocks == CLOCKS
        secret, session_id, host, device, capabilities = parts
        context = session_id + host + device + bytes([number]) + epoch.to_bytes(4) + capabilities
        assert int(dut.key_o.value).to_bytes(44) == derive(secret, context)
        await FallingEdge(dut.clk_i)
        assert not dut.busy_o.value and dut.key_o.value == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def nothing_stays(dut) -> None:
    """After a derivation, clear or reset no register of mae_guard_kdf holds secret or key."""
    generator = random.Random(2)
    await begin(dut)
    times = (1, 2, 3, 20, 40, 150, 330, CLOCKS + 1)
    for clocks, by_reset in itertools.product(times, (False, True)):
        parts = some_session(generator)
        await start(dut, parts, 3, 5)
        await ClockCycles(dut.clk_i, clocks - 1)
        await FallingEdge(dut.clk_i)
        if clocks <= CLOCKS:
            await end(dut, by_reset)
        dut.session_i.value = 0
        await FallingEdge(dut.clk_i)
        secret, *context = parts
        context = b"".join(context[:3]) + bytes([3]) + (5).to_bytes(4) + context[3]
        zero = Cipher(AES(secret), modes.ECB()).encryptor().update(bytes(16))  # CMAC's subkeys
        assert secrets.find(dut, [secret, zero, derive(secret, context)], 4) == []
        assert not dut.busy_o.value


def test_guard_kdf() -> None:
    """Builds mae_guard_kdf and runs this file's simulation tests on it."""
    run("mae_guard_kdf", visible=True)

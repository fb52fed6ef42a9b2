# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_session: start, opening, errors, end and erasure of protected sessions."""

import collections
import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, Timer

from maeslant.protected.model.constants import Cause, State
from tests.support.bench import run

LIVE = (State.KEYED, State.RUN)
PULSES = "install_valid_i reset_i open_i close_i fatal_valid_i host_nonce_write_i keys_ready_i"


class Bench:
    """Drives mae_guard_session clock by clock and checks its outputs in each state."""

    def __init__(self, dut: SimHandleBase) -> None:
        self.dut, self.takes = dut, 0

    async def begin(self) -> None:
        """Starts mae_guard_session from reset with all inputs inactive."""
        dut = self.dut
        for name in PULSES.split():
            getattr(dut, name).value = 0
        dut.quiet_i.value, dut.busy_i.value, dut.device_nonce_i.value = 1, 0, 0
        dut.rst_ni.value = 0
        await FallingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        assert State(int(dut.state_o.value)) == State.RESET
        dut.rst_ni.value = 1

    @property
    def state(self) -> State:
        """Returns the state that mae_guard_session reports."""
        return State(int(self.dut.state_o.value))

    async def clock(self, count: int = 1) -> None:
        """Runs clocks of mae_guard_session, checks halt_o and open_o, and ends input pulses."""
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)
            dut = self.dut
            self.takes += int(dut.nonce_take_o.value)
            going = self.state in (State.IDLE, *LIVE)
            assert bool(dut.halt_o.value) == (not going)
            assert bool(dut.open_o.value) == (self.state in LIVE)
        for name in PULSES.split():
            getattr(self.dut, name).value = 0
        await Timer(1, "ns")

    async def until(self, state: State, limit: int = 400) -> int:
        """Runs mae_guard_session until it reaches a state; returns the number of clocks."""
        for count in range(limit):
            if self.state == state:
                return count
            await self.clock()
        raise AssertionError(f"never {state.name}, but {self.state.name}")

    async def install(self, secret: bytes, session_id: bytes) -> bool:
        """Offers a root secret to mae_guard_session; returns true if it is accepted."""
        dut = self.dut
        dut.install_valid_i.value = 1
        dut.install_secret_i.value = int.from_bytes(secret)
        dut.install_session_id_i.value = int.from_bytes(session_id)
        await Timer(1, "ns")
        taken = bool(dut.install_ready_o.value)
        await self.clock()
        assert bool(dut.install_o.value) == taken
        return taken

    async def keyed(self, secret: bytes = b"s" * 32) -> None:
        """Installs a secret and reports ready keys, so that mae_guard_session reaches KEYED."""
        assert await self.install(secret, b"i" * 16)
        await self.clock(3)
        assert self.state == State.IDLE and not await self.install(b"x" * 32, b"y" * 16)
        self.dut.keys_ready_i.value = 1
        await self.clock()
        assert self.state == State.KEYED

    async def walks(self, chooser: random.Random) -> State:
        """Ends the memory clear and the bus traffic for which a closing session waits."""
        names = chooser.choice((("busy_i", "quiet_i"), ("quiet_i", "busy_i")))
        self.dut.busy_i.value, self.dut.quiet_i.value = 1, 0
        for name in names:
            await self.clock(chooser.randrange(1, 200))
            state = self.state
            assert not await self.install(b"x" * 32, b"y" * 16)
            getattr(self.dut, name).value = int(name == "quiet_i")
        return state

    async def write_nonce(self, nonce: bytes) -> None:
        """Writes the host nonce to mae_guard_session word by word."""
        for word in range(8):
            self.dut.host_nonce_write_i.value = 1 << word
            self.dut.host_nonce_word_i.value = int.from_bytes(nonce[4 * word :][:4], "little")
            await self.clock()

    def session(self) -> dict[str, bytes]:
        """Returns secret, id, nonces and capabilities that mae_guard_session sends to the KDF."""
        data = int(self.dut.session_o.value).to_bytes(120)
        cuts = (("secret", 32), ("session_id", 16), ("host", 32), ("device", 32), ("word", 8))
        found, at = {}, 0
        for name, size in cuts:
            found[name] = data[at : at + size]
            at += size
        return found

    def cause(self) -> tuple[int, int, int]:
        """Returns cause, queue and sequence number of the fatal error in mae_guard_session."""
        value = int(self.dut.cause_o.value)
        return value >> 72, value >> 64 & 0xFF, value & (1 << 64) - 1


def fatal(cause: Cause, queue: int, number: int) -> int:
    """Packs cause, queue and sequence number of a fatal error into the bits of fatal_t."""
    return cause << 72 | queue << 64 | number


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def ends(dut) -> None:
    """At a session's end mae_guard_session halts the bus, clears memories and erases keys."""
    chooser, bench = random.Random(1), Bench(dut)
    Clock(dut.clk_i, 10, "ns").start()
    await bench.begin()
    dut.device_nonce_i.value = int.from_bytes(b"n" * 24)
    await bench.until(State.IDLE)
    assert bench.takes == 1 and bench.session()["device"][8:] == b"n" * 24
    seen: collections.Counter = collections.Counter()
    for number in range(200):
        nonce = chooser.randbytes(32)
        await bench.write_nonce(nonce)
        await bench.keyed(secret := chooser.randbytes(32))
        assert bench.cause() == (0, 0, 0)
        await bench.write_nonce(b"z" * 32)
        session = bench.session()
        assert session["secret"] == secret and session["host"] == nonce
        assert session["session_id"] == b"i" * 16
        assert session["word"] == bytes.fromhex("0104041040140608")
        if chooser.random() < 0.8:
            dut.open_i.value = 1
            await bench.clock()
            assert bench.state == State.RUN
        takes = bench.takes
        dut.device_nonce_i.value = int.from_bytes(device := chooser.randbytes(24))
        reason = chooser.choice(("reset", "close", "fatal", "fatals", "fatal and reset", "all"))
        seen[reason] += 1
        failed = reason in ("fatal", "fatals")
        dut.quiet_i.value, dut.busy_i.value = 0, 0
        dut.reset_i.value = int("reset" in reason or reason == "all")
        dut.close_i.value = int(reason in ("close", "all"))
        dut.fatal_valid_i.value = 0 if reason in ("reset", "close") else 6 if "s" in reason else 4
        dut.fatal_i.value = fatal(Cause.CHUNK, 3, number) << 80 * 2 | fatal(Cause.TAG, 1, 5) << 80
        await bench.clock()
        assert dut.halt_o.value and not dut.open_o.value
        assert bench.state == (State.ERROR if failed else State.SCRUB)
        wanted = (Cause.TAG, 1, 5) if reason == "fatals" else (Cause.CHUNK, 3, number)
        assert bench.cause() == (wanted if failed else (0, 0, 0))
        # A second failure changes nothing; nor is anything installed or opened.
        dut.fatal_valid_i.value, dut.fatal_i.value = 1, fatal(Cause.BEAT, 2, 2)
        assert not await bench.install(b"x" * 32, b"y" * 16)
        dut.open_i.value = 1
        await bench.clock(2 + failed)
        assert bench.state == State.SCRUB and not dut.clear_o.value and dut.mover_rst_no.value
        await bench.clock()  # the bus is not quiet, and may be so or not from here on
        assert dut.clear_o.value
        dut.quiet_i.value = chooser.randrange(2)
        cleared = resets = 0
        dut.busy_i.value = 1
        took_back = failed and chooser.random() < 0.5
        for clock in range(200):
            cleared += int(dut.clear_o.value)
            resets += not dut.mover_rst_no.value
            if took_back and clock == number:
                dut.reset_i.value = 1
            await bench.clock()
        assert cleared == 128 and 30 <= resets <= 33 and dut.mover_rst_no.value
        assert bench.state == State.SCRUB and bench.takes == takes
        session = bench.session()
        assert not any(session["secret"] + session["session_id"] + session["host"])
        assert await bench.walks(chooser) == State.SCRUB
        if failed and not took_back:
            await bench.until(State.DEAD, 5)
            assert not await bench.install(b"x" * 32, b"y" * 16)
            await bench.clock(50)
            assert bench.state == State.DEAD and bench.takes == takes
            dut.quiet_i.value = 1
            dut.reset_i.value = 1
            await bench.clock()
            seen["dead"] += 1
        await bench.until(State.IDLE)
        assert bench.takes == takes + 1 and bench.session()["device"][8:] == device
        assert bench.cause() == (wanted if failed else (0, 0, 0))
        dut.quiet_i.value = 1
    assert min(seen.values()) > 10, seen


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def taken_back(dut) -> None:
    """reset_i ends mae_guard_session's session in every state; clearing starts in clock 5."""
    bench = Bench(dut)
    Clock(dut.clk_i, 10, "ns").start()
    await bench.begin()
    await bench.until(State.IDLE)
    for where in ("idle", "derive", "keyed", "run"):
        takes = bench.takes
        await bench.write_nonce(b"h" * 32)
        if where == "derive":
            assert await bench.install(b"s" * 32, b"i" * 16)
        elif where != "idle":
            await bench.keyed()
        if where == "run":
            dut.open_i.value = 1
            await bench.clock()
        dut.reset_i.value = 1
        await bench.clock()
        assert bench.state == State.SCRUB
        await bench.clock(3)
        assert not dut.clear_o.value
        await bench.clock()
        assert dut.clear_o.value
        assert 125 < await bench.until(State.IDLE) < 140
        assert bench.takes == takes + 1 and not any(bench.session()["host"])
        dut.keys_ready_i.value = 1
        await bench.clock()
        assert bench.state == State.IDLE


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def no_nonce_twice(dut) -> None:
    """mae_guard_session numbers its nonces, over resets too, and takes the rest from its input."""
    bench, nonces = Bench(dut), []
    Clock(dut.clk_i, 10, "ns").start()
    for _ in range(3):
        await bench.begin()
        dut.device_nonce_i.value = int.from_bytes(b"n" * 24)  # a source that is stuck
        for _ in range(3):
            await bench.until(State.IDLE)
            nonces.append(bench.session()["device"])
            await bench.keyed()
            assert bench.session()["device"] == nonces[-1]
            dut.reset_i.value = 1
            await bench.clock()
    numbers = [int.from_bytes(nonce[:8]) for nonce in nonces]
    # A reset in the middle of an end may cost a number.
    assert all(0 < (late - early) % 2**64 <= 2 for early, late in itertools.pairwise(numbers))
    assert {nonce[8:] for nonce in nonces} == {b"n" * 24}


def test_guard_session() -> None:
    """Builds mae_guard_session with three fault inputs and runs this file's tests on it."""
    run("mae_guard_session", parameters={"Fatals": 3})

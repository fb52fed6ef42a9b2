# SPDX-License-Identifier: Apache-2.0
"""Drives and reads valid/ready streams with random stalls; starts clocks and resets."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.task import Task
from cocotb.triggers import ClockCycles, RisingEdge, Timer


def start_clock(clock: SimHandleBase, period_ps: int) -> Task:
    """Starts a clock at a random phase; cancel the returned task to stop it."""
    high = period_ps // 2

    async def toggle() -> None:
        clock.value = 0
        await Timer(random.randrange(1, period_ps), "ps")
        while True:
            clock.value = 1
            await Timer(high, "ps")
            clock.value = 0
            await Timer(period_ps - high, "ps")

    return cocotb.start_soon(toggle())


_clock: Task | None = None  # of the test that runs


async def start(dut: SimHandleBase, period_ns: float = 10, **inputs: int) -> None:
    """Starts the clock clk_i, sets inputs, and resets the module for a few clocks."""
    global _clock
    for name, value in inputs.items():
        getattr(dut, name).value = value
    dut.rst_ni.value = 0
    if _clock is None or _clock.done():
        _clock = Clock(dut.clk_i, period_ns, unit="ns").start()
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)


class Source:
    """Drives a valid/ready input stream of a module with random stalls."""

    def __init__(
        self,
        dut: SimHandleBase,
        prefix: str,
        stall: float = 0.0,
        seed: int = 0,
        clock: str = "clk_i",
        payload: tuple[str, ...] = ("data",),
    ) -> None:
        self.clock = getattr(dut, clock)
        self.valid = getattr(dut, f"{prefix}_valid_i")
        self.ready = getattr(dut, f"{prefix}_ready_o")
        self.payload = [getattr(dut, f"{prefix}_{name}_i") for name in payload]
        self.stall = stall
        self.random = random.Random(seed)
        self.valid.value = 0
        for signal in self.payload:
            signal.value = 0

    async def send(self, words: list) -> None:
        """Sends words on the stream, with random stalls; a tuple sets several payload signals."""
        for word in words:
            while self.random.random() < self.stall:
                await RisingEdge(self.clock)
            self.valid.value = 1
            for signal, value in zip(
                self.payload, word if isinstance(word, tuple) else (word,), strict=True
            ):
                signal.value = value
            await RisingEdge(self.clock)
            while not int(self.ready.value):
                await RisingEdge(self.clock)
            self.valid.value = 0


class Sink:
    """Reads a valid/ready output stream of a module with random stalls."""

    def __init__(
        self,
        dut: SimHandleBase,
        prefix: str,
        stall: float = 0.0,
        seed: int = 1,
        clock: str = "clk_i",
        payload: tuple[str, ...] = ("data",),
    ) -> None:
        self.clock = getattr(dut, clock)
        self.valid = getattr(dut, f"{prefix}_valid_o")
        self.ready = getattr(dut, f"{prefix}_ready_i")
        self.payload = [getattr(dut, f"{prefix}_{name}_o") for name in payload]
        self.stall = stall
        self.random = random.Random(seed)
        self.ready.value = 0

    async def receive(self, count: int) -> list:
        """Returns the next ``count`` words of the stream; tuples if it has several signals."""
        words: list = []
        while len(words) < count:
            while self.random.random() < self.stall:
                await RisingEdge(self.clock)
            self.ready.value = 1
            await RisingEdge(self.clock)
            while not int(self.valid.value):
                await RisingEdge(self.clock)
            word = tuple(int(signal.value) for signal in self.payload)
            words.append(word if len(word) > 1 else word[0])
            self.ready.value = 0
        return words

# SPDX-License-Identifier: Apache-2.0
"""Drives mae_soc_interconnect's CPU port: registers and memory accesses of PicoRV32."""

import itertools

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from cocotbext.axi import AxiResp

from maeslant.driver import device
from tests.device.registers import Registers, layout

PERIPHERAL = 0x10000000
MODES = device.CODES
BAD_OP, BAD_KEY, BAD_TAG, BUSY, BAD_ADDRESS = 2, 5, 12, 34, 35
KEY_LEN = {16: 0, 24: 1, 32: 2}


class System(Registers):
    """Accesses registers and memory of the SoC through its CPU port, as PicoRV32 does."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.clocks = 0  # of the last access
        self.layout = layout("mae_peripheral")

    async def open(self) -> None:
        """Starts the clock, resets the SoC and waits until its memory's done bits are cleared."""
        Clock(self.dut.clk_i, 10, "ns").start()
        self.dut.mem_valid_i.value = 0
        self.dut.console_ready_i.value = 1
        await self.reset()
        await ClockCycles(self.dut.clk_i, 1 << self.dut.RowBits.value.to_unsigned())
        await FallingEdge(self.dut.clk_i)

    async def reset(self) -> None:
        """Resets the SoC; its memory keeps its contents."""
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 3)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)

    async def access(self, address: int, value: int = 0, strobes: int = 0) -> int:
        """Makes one access on the CPU port; returns the data read."""
        self.dut.mem_addr_i.value = address
        self.dut.mem_wdata_i.value = value
        self.dut.mem_wstrb_i.value = strobes
        self.dut.mem_valid_i.value = 1
        for self.clocks in itertools.count(1):
            await ReadOnly()
            if self.dut.mem_ready_o.value == 1:
                break
            await FallingEdge(self.dut.clk_i)
        result = int(self.dut.mem_rdata_o.value) if not strobes else 0
        await RisingEdge(self.dut.clk_i)
        await FallingEdge(self.dut.clk_i)
        self.dut.mem_valid_i.value = 0
        await FallingEdge(self.dut.clk_i)
        return result

    async def read_at(self, offset: int) -> tuple[int, AxiResp]:
        return await self.access(PERIPHERAL + offset), AxiResp.OKAY

    async def write_at(self, offset: int, value: int) -> AxiResp:
        await self.access(PERIPHERAL + offset, value, 15)
        return AxiResp.OKAY

    async def store(self, address: int, data: bytes) -> None:
        """Writes bytes to the SoC's memory, from a word boundary."""
        for at in range(0, len(data), 4):
            word = data[at : at + 4]
            value = int.from_bytes(word.ljust(4, b"\0"), "little")
            await self.access(address + at, value, (1 << len(word)) - 1)

    async def load(self, address: int, length: int) -> bytes:
        """Reads bytes of the SoC's memory."""
        words = [await self.access(address + at) for at in range(0, length, 4)]
        return b"".join(word.to_bytes(4, "little") for word in words)[:length]

    async def key(self, slot: int, key: bytes) -> None:
        await self.write_words("key", key)
        assert await self.key_command(slot=slot, len=KEY_LEN[len(key)], op=0) == 0

    async def start(
        self,
        mode: str,
        decrypt: bool,
        source: int,
        destination: int,
        length: int,
        iv: bytes | None = None,
        **fields: int,
    ) -> None:
        """Starts an AES job from memory to memory; without an IV it continues the last message."""
        if iv is not None:
            await self.write_words("iv", iv)
        await self.write("source", source)
        await self.write("destination", destination)
        await self.write("length", length)
        fields = {"key_slot": 0, "tweak_slot": 1, "init": int(iv is not None)} | fields
        await self.write(
            "ctrl", mode=MODES[mode], decrypt=int(decrypt), memory=1, start=1, **fields
        )

    async def wait(self) -> int:
        """Waits until the SoC's AES job has ended; returns the clocks."""
        clocks = 0
        while (await self.fields("status"))["busy"]:
            clocks += self.clocks + 1
        return clocks

    async def error(self) -> int:
        """Returns the error code of the AES peripheral and clears it."""
        found = (await self.fields("status"))["error"]
        await self.write("irq_status", done=1, error=1)
        return found

# SPDX-License-Identifier: Apache-2.0
"""Drives mae_peripheral by its registers as the C driver does: keys, jobs, blocks, state."""

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from tests.device import oracle
from tests.device.registers import Registers

PERIOD_NS = 10
BAD_OP, BAD_LENGTH, BAD_KEY, BAD_TAG, OVERFLOW, UNDERFLOW, BUSY = 2, 4, 5, 12, 32, 33, 34
AUTH_MODES = {"gcm": 8, "ccm": 9, "cmac": 10}
PHASES = {"data": 0, "aad": 1, "iv": 2}
CONTEXT = {"iv": 4, "hash": 4, "aad_bytes": 2, "data_bytes": 2}  # registers of a message


class Peripheral(Registers):
    """Drives a simulated mae_peripheral by register reads and writes."""

    def __init__(self, dut) -> None:
        super().__init__(dut, "mae_peripheral")
        self.dut = dut

    async def start(
        self, mode: str, decrypt: bool, length: int, iv: bytes | None, key_slot=0, tweak_slot=1
    ) -> None:
        """Starts a job on the peripheral; without an IV it continues the last message."""
        if iv is not None:
            await self.write_words("iv", iv)
        await self.write("length", length)
        await self.write(
            "ctrl",
            mode=oracle.CODES[mode],
            decrypt=int(decrypt),
            init=int(iv is not None),
            key_slot=key_slot,
            tweak_slot=tweak_slot,
            start=1,
        )

    async def put(self, block: bytes) -> None:
        """Writes a block to the peripheral's input registers."""
        await self.write_words("data_in", block.ljust(16, b"\xee"))

    async def get(self) -> bytes:
        """Reads a block from the peripheral's output registers."""
        return b"".join([(await self.read("data_out", i)).to_bytes(4, "little") for i in range(4)])

    async def move(self, data: bytes, ahead: int = 2) -> bytes:
        """Writes a job's blocks and reads the output, with ``ahead`` blocks written in advance."""
        blocks = [data[at : at + 16] for at in range(0, len(data), 16)]
        answers = b""
        for i in range(len(blocks) + ahead - 1):
            if i < len(blocks):
                await self.put(blocks[i])
            if i >= ahead - 1:
                answers += await self.get()
        if ahead > len(blocks):
            answers = answers[: 16 * len(blocks)]
        assert answers[len(data) :] == bytes(-len(data) % 16), "bytes beyond the end"
        return answers[: len(data)]

    async def crypt(self, mode: str, decrypt: bool, key: bytes, iv: bytes, data: bytes, tweak=b""):
        """Encrypts or decrypts a whole message on the peripheral; returns the output."""
        assert await self.load_key(0, key) == 0
        if tweak:
            assert await self.load_key(1, tweak) == 0
        await self.start(mode, decrypt, len(data), iv)
        answer = await self.move(data)
        assert await self.error() == 0
        return answer

    async def error(self) -> int:
        """Returns the peripheral's error code and clears it."""
        code = await self.field("status.error")
        await self.write("irq_status", error=1)
        return code

    async def auth(
        self,
        mode: str,
        data: bytes = b"",
        phase: str = "data",
        *,
        init: bool = False,
        final: bool = False,
        decrypt: bool = False,
        key_slot: int = 0,
        ahead: int = 2,
    ) -> bytes:
        """Runs a job of a GCM, CCM or CMAC message on the peripheral; returns its output."""
        await self.start_auth(
            mode, len(data), phase, init=init, final=final, decrypt=decrypt, key_slot=key_slot
        )
        answer = b""
        if mode == "cmac" or phase != "data":
            await self.feed(data)
        elif data:
            answer = await self.move(data, ahead)
        await self.idle()
        return answer

    async def start_auth(self, mode: str, length: int, phase: str = "data", **fields: int) -> None:
        """Starts a job of a GCM, CCM or CMAC message on the peripheral."""
        await self.write("length", length)
        fields = {name: int(value) for name, value in fields.items()}
        code, number = AUTH_MODES[mode], PHASES[phase]
        await self.write("ctrl", mode=code, phase=number, start=1, **fields)

    async def feed(self, data: bytes) -> None:
        """Writes data that gives no output to the peripheral when status.room allows."""
        room = 0
        for at in range(0, len(data), 16):
            while not room:
                room = await self.field("status.room")
            await self.put(data[at : at + 16])
            room -= 1

    async def idle(self) -> None:
        """Waits until the peripheral is not busy."""
        while await self.field("status.busy"):
            pass

    async def words(self, name: str, count: int = 4) -> bytes:
        """Reads consecutive registers of the peripheral as bytes."""
        words = [await self.read(name, i) for i in range(count)]
        return b"".join(word.to_bytes(4, "little") for word in words)

    async def save(self) -> dict[str, bytes]:
        """Reads an unfinished message's state (IV, hash, lengths) from the registers."""
        return {name: await self.words(name, count) for name, count in CONTEXT.items()}

    async def restore(self, context: dict[str, bytes]) -> None:
        """Writes a saved message state to the peripheral's registers."""
        for name, data in context.items():
            await self.write_words(name, data)

    async def expect(self, tag: bytes) -> None:
        """Writes the tag with which the peripheral compares at the end of a decryption."""
        await self.write_words("tag", tag.ljust(16, b"\x5a"))
        await self.write("tag_bytes", len(tag))


async def begin(dut) -> Peripheral:
    """Starts the clock, resets mae_peripheral and waits until its memories are erased."""
    dut.rst_ni.value = 0
    Clock(dut.clk_i, PERIOD_NS, unit="ns").start()
    peripheral = Peripheral(dut)
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 2)
    while await peripheral.field("status.wiping"):
        pass
    return peripheral

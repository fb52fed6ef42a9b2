# SPDX-License-Identifier: Apache-2.0
"""Receives what a board sends over its serial line (8N1)."""

from cocotb.triggers import FallingEdge, Timer


class Receiver:
    """Collects the bytes that come over a serial line; a bit lasts ``bit`` ns."""

    def __init__(self, line, bit: int) -> None:
        self.line, self.bit = line, bit
        self.bytes = bytearray()

    async def listen(self) -> None:
        """Collects bytes for ever."""
        while True:
            await FallingEdge(self.line)
            await Timer(self.bit * 3 // 2, "ns")
            byte = 0
            for place in range(8):
                byte |= int(self.line.value) << place
                await Timer(self.bit, "ns")
            assert int(self.line.value), "stop bit"
            self.bytes.append(byte)

# SPDX-License-Identifier: Apache-2.0
"""Models a device memory of 64-byte granules with read and write port, latency and stalls."""

import collections
import random

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge

GRANULE = 64


class DeviceMemory:
    """Serves the device memory ports of a bench; read data comes `latency` clocks later."""

    def __init__(
        self, dut: SimHandleBase, size: int, *, stall: float = 0.0, latency: int = 2, seed: int = 7
    ) -> None:
        self.dut = dut
        self.data = bytearray(size)
        self.stall = stall
        self.latency = latency
        self.random = random.Random(seed)
        self.writes = 0
        dut.wr_ready_i.value = dut.rd_ready_i.value = dut.rd_rvalid_i.value = 0

    def start(self) -> None:
        """Starts the device memory model."""
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Stops the device memory model and sets its outputs low."""
        self._task.cancel()
        dut = self.dut
        dut.wr_ready_i.value = dut.rd_ready_i.value = dut.rd_rvalid_i.value = 0

    def _flows(self) -> bool:
        return not self.stall or self.random.random() >= self.stall

    async def _run(self) -> None:
        dut, falling = self.dut, FallingEdge(self.dut.clk_i)
        pipe: collections.deque[int | None] = collections.deque([None] * self.latency)
        while True:
            await falling
            write, read = self._flows(), self._flows()
            dut.wr_ready_i.value, dut.rd_ready_i.value = int(write), int(read)
            if write and int(dut.wr_valid_o.value):
                self._write()
            asked = None
            if read and int(dut.rd_valid_o.value):
                at = int(dut.rd_granule_o.value) * GRANULE
                assert at < len(self.data), f"read of {at:#x}"
                asked = int.from_bytes(self.data[at : at + GRANULE], "little")
            pipe.append(asked)
            given = pipe.popleft()
            dut.rd_rvalid_i.value = int(given is not None)
            if given is not None:
                dut.rd_rdata_i.value = given

    def _write(self) -> None:
        dut = self.dut
        at = int(dut.wr_granule_o.value) * GRANULE
        assert at < len(self.data), f"write of {at:#x}"
        strb = int(dut.wr_strb_o.value)
        count = strb.bit_length()
        assert strb == (1 << count) - 1 != 0, "bytes from the first on"
        data = int(dut.wr_data_o.value)
        assert data >> 8 * count == 0, "lanes outside the strobes are zero"
        self.data[at : at + count] = data.to_bytes(count, "little")
        self.writes += 1

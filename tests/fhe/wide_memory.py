# SPDX-License-Identifier: Apache-2.0
"""Models device memory at a compute kernel's port of 64-byte rows, with stalls and refusals."""

import collections
import random

import cocotb
from cocotb.triggers import RisingEdge

ROW = 64


class WideMemory:
    """Serves a kernel's memory port of 64-byte rows and asserts the port's rules."""

    def __init__(
        self, dut, stall: float = 0.0, answer: int = 1, slow: float = 0.0, seed: int = 1
    ) -> None:
        self.dut, self.stall, self.answer, self.slow = dut, stall, answer, slow
        self.random = random.Random(seed)
        self.rows: dict[int, bytes] = {}
        self.accesses = 0  # requests taken
        self.refuse: int | None = None  # number of the request that is refused
        self.refused = False
        self.last_write = -1  # number of the last request that was a write
        self.late = False  # a refused write is told as late as an answer
        self.clock = 0
        self._waiting: collections.deque = collections.deque()
        self._task = cocotb.start_soon(self._serve())

    def load(self, address: int, data: bytes) -> None:
        """Writes bytes to the modelled memory, from the start of a row."""
        data = data + bytes(-len(data) % ROW)
        for at in range(0, len(data), ROW):
            self.rows[(address + at) // ROW] = data[at : at + ROW]

    def read(self, address: int, size: int) -> bytes:
        """Returns bytes of the modelled memory; bytes never written are zero."""
        rows = range(address // ROW, -(-(address + size) // ROW))
        return b"".join(self.rows.get(row, bytes(ROW)) for row in rows)[:size]

    def stop(self) -> None:
        """Stops serving the kernel's memory port."""
        self._task.cancel()

    def _take(self) -> None:
        dut = self.dut
        address = int(dut.mem_address_o.value)
        assert address % ROW == 0
        assert not self.refused, "a request after a refusal"
        refused = self.accesses == self.refuse
        if dut.mem_write_o.value:
            self.last_write = self.accesses
        self.accesses += 1
        if not dut.mem_write_o.value:
            data = self.rows.get(address // ROW, bytes(ROW))
            self._waiting.append((self.clock + self.answer, data, refused))
        elif refused:
            self._waiting.append((self.clock + (self.answer if self.late else 1), None, True))
        else:
            self.rows[address // ROW] = int(dut.mem_data_o.value).to_bytes(ROW, "little")

    async def _serve(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.clk_i)
        ready, faulted = True, False
        dut.mem_ready_i.value, dut.mem_rvalid_i.value, dut.mem_fault_i.value = 1, 0, 0
        while True:
            await edge
            if ready and dut.mem_valid_o.value:
                self._take()
            self.refused |= faulted
            self.clock += 1
            ready = self.random.random() >= self.stall
            dut.mem_ready_i.value = int(ready)
            due = self._waiting and self._waiting[0][0] <= self.clock
            valid = faulted = False
            if due and self.random.random() >= self.slow:
                _, data, faulted = self._waiting.popleft()
                valid = data is not None
                if valid:
                    dut.mem_rdata_i.value = int.from_bytes(
                        bytes(ROW) if faulted else data, "little"
                    )
            dut.mem_rvalid_i.value = int(valid)
            dut.mem_fault_i.value = int(faulted)

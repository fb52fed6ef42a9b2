# SPDX-License-Identifier: Apache-2.0
"""Models device memory at a compute kernel's port of 16-byte rows, with stalls and refusals."""

import collections
import random

import cocotb
from cocotb.triggers import RisingEdge

ROW = 16
ROW_MASK = (1 << 128) - 1


class DeviceMemory:
    """Serves a kernel's memory port of 16-byte rows and asserts the port's rules."""

    def __init__(
        self,
        dut,
        stall: float = 0.0,
        answer: int = 1,
        slow: float = 0.0,
        seed: int = 1,
        whole: bool = True,
    ):
        self.dut = dut
        self.whole = whole  # every write is of whole rows
        self.stall = stall  # chance that a request waits a clock
        self.answer = answer  # clocks from a read to its answer, at least
        self.slow = slow  # chance that an answer waits a clock more
        self.random = random.Random(seed)
        self.rows: dict[int, bytes] = {}
        self.accesses = 0  # requests taken
        self.writes: list[int] = []  # addresses
        self.refuse: int | None = None  # number of the request that is refused
        self.refused_at: int | None = None  # clock
        self.clock = 0
        self._waiting: collections.deque = collections.deque()
        self._task = cocotb.start_soon(self._serve())

    def load(self, address: int, data: bytes) -> None:
        """Writes bytes to the modelled memory, from the start of a row."""
        assert address % ROW == 0
        data = data + bytes(-len(data) % ROW)
        for at in range(0, len(data), ROW):
            self.rows[(address + at) // ROW] = data[at : at + ROW]

    def read(self, address: int, size: int) -> bytes:
        """Returns bytes of the modelled memory; bytes never written are zero."""
        rows = range(address // ROW, -(-(address + size) // ROW))
        return b"".join(self.rows.get(row, bytes(ROW)) for row in rows)[:size]

    def refuse_waiting(self) -> None:
        """Makes all accepted but unanswered accesses of the kernel end with an error."""
        self._waiting = collections.deque((due, data, True) for due, data, _ in self._waiting)

    def stop(self) -> None:
        """Stops serving the kernel's memory port."""
        self._task.cancel()

    def _take(self, request: int) -> None:
        write, address = request >> 176, (request >> 144) & 0xFFFFFFFF
        assert address % ROW == 0
        assert self.refused_at is None, "a request after a refusal"
        refused = self.accesses == self.refuse
        self.accesses += 1
        if not write:
            data = self.rows.get(address // ROW, bytes(ROW))
            self._waiting.append((self.clock + self.answer, data, refused))
        elif refused:
            self._waiting.append((self.clock + 1, None, True))
        else:
            strobes, row = (request >> 128) & 0xFFFF, address // ROW
            assert strobes == 0xFFFF or not self.whole
            data = (request & ROW_MASK).to_bytes(ROW, "little")
            old = self.rows.get(row, bytes(ROW))
            self.rows[row] = bytes(data[i] if strobes >> i & 1 else old[i] for i in range(ROW))
            self.writes.append(address)

    async def _serve(self) -> None:
        dut, edge = self.dut, RisingEdge(self.dut.clk_i)
        ready, faulted = True, False
        dut.mem_ready_i.value, dut.mem_rvalid_i.value, dut.mem_fault_i.value = 1, 0, 0
        while True:
            await edge
            if ready and dut.mem_valid_o.value:
                self._take(int(dut.mem_request_o.value))
            if faulted:
                self.refused_at = self.clock
            self.clock += 1
            ready = self.random.random() >= self.stall
            dut.mem_ready_i.value = int(ready)
            due = self._waiting and self._waiting[0][0] <= self.clock
            valid = faulted = False
            if due and self.random.random() >= self.slow:
                _, data, faulted = self._waiting.popleft()
                valid = data is not None
                if valid:
                    refused_data = self.random.randbytes(ROW)
                    dut.mem_rdata_i.value = int.from_bytes(
                        refused_data if faulted else data, "little"
                    )
            dut.mem_rvalid_i.value = int(valid)
            dut.mem_fault_i.value = int(faulted)

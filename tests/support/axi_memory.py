# SPDX-License-Identifier: Apache-2.0
"""Models an adverse AXI4 memory: responses late, reordered, interleaved, stalled or failed.

One `AxiMemory` serves the five channels of a master from a byte array. Each burst's answer comes
after a random latency; answers of different IDs overtake each other and read beats interleave,
those of one ID stay in order. A two-way bus carries a read and a write beat in the same clock, a
one-way bus one of them. It counts data clocks and checks the master as it goes.
"""

import collections
import dataclasses
import heapq
import random

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge

OKAY, SLVERR, DECERR = 0, 2, 3


@dataclasses.dataclass
class Burst:
    """Holds an AXI burst that the memory model has accepted and not yet answered."""

    id: int
    addr: int
    beats: int
    due: int = 0  # the clock from which it may be answered
    done: int = 0  # beats served
    resp: int = OKAY


@dataclasses.dataclass
class Statistics:
    """Counts beats and clocks of an AXI memory's data channels, from the start of the model."""

    read_beats: int = 0
    write_beats: int = 0
    busy_clocks: int = 0  # with a beat in either direction
    first_read: int | None = None
    last_read: int | None = None
    first_write: int | None = None
    last_write: int | None = None
    most_reads: int = 0  # bursts under way at once
    most_writes: int = 0
    most_beats: int = 0  # read beats asked for and not yet answered

    def span(self) -> int:
        """Returns the clocks from the first data beat on the AXI bus to the last."""
        first = min(x for x in (self.first_read, self.first_write) if x is not None)
        last = max(x for x in (self.last_read, self.last_write) if x is not None)
        return last - first + 1

    def used(self) -> tuple[float, float, float]:
        """Returns the parts of the span with an AXI read beat, a write beat, and either one."""
        span = self.span()
        return self.read_beats / span, self.write_beats / span, self.busy_clocks / span


def project_name(signal: str, output: bool) -> str:
    """Returns the port name `ar_valid_o` or `ar_valid_i` for a signal like `ar_valid`."""
    return f"{signal}_{'o' if output else 'i'}"


def axi_name(prefix: str):  # noqa: ANN201 - a function like project_name
    """Returns a function that names ports like `m_axi_arvalid` for a signal like `ar_valid`."""
    return lambda signal, output: prefix + signal.replace("_", "")


class _Answers:
    """Queues AXI bursts until their latency has passed, in order within each ID."""

    def __init__(self, chooser: random.Random, shuffle: bool) -> None:
        self.random = chooser
        self.shuffle = shuffle
        self.by_id: dict[int, collections.deque[Burst]] = collections.defaultdict(collections.deque)
        self.late: list[tuple[int, int, Burst]] = []  # heap: heads of their ID, not yet due
        self.ready: list[Burst] = []
        self.count = 0
        self.total = 0

    def add(self, burst: Burst, now: int) -> None:
        """Queues an AXI burst that may be answered after its latency."""
        queue = self.by_id[burst.id]
        queue.append(burst)
        self.count += 1
        if len(queue) == 1:
            self._head(burst, now)

    def _head(self, burst: Burst, now: int) -> None:
        self.total += 1
        due = max(burst.due, now) if self.shuffle else self.total
        heapq.heappush(self.late, (due, self.total, burst))

    def step(self, now: int) -> None:
        """Marks AXI bursts as ready whose latency has passed."""
        if self.shuffle:
            while self.late and self.late[0][0] <= now:
                self.ready.append(heapq.heappop(self.late)[2])
        elif self.late and not self.ready and self.late[0][2].due <= now:
            self.ready.append(heapq.heappop(self.late)[2])

    def finish(self, burst: Burst, now: int) -> None:
        """Removes an AXI burst whose last beat or response has been sent."""
        self.ready.remove(burst)
        self.count -= 1
        queue = self.by_id[burst.id]
        queue.popleft()
        if queue:
            self._head(queue[0], now)


class AxiMemory:
    """Models an AXI4 memory for the manager ``dut``, with latency, reordering, stalls, errors."""

    def __init__(
        self,
        dut: SimHandleBase,
        size: int,
        *,
        base: int = 0,
        latency: tuple[int, int] = (50, 300),
        shuffle: bool = True,
        interleave: bool = True,
        stall: float = 0.0,
        one_way: bool = False,
        seed: int = 1,
        names=project_name,  # noqa: ANN001 - from signal and direction to the port's name
        clock: str = "clk_i",
        unique_ids: bool = False,
        crossing: bool = False,  # the master's clock may be slower: answers wait, W has gaps
    ) -> None:
        self.clock = getattr(dut, clock)
        self.base = base
        self.data = bytearray(size)
        self.latency = latency
        self.shuffle = shuffle
        self.interleave = interleave
        self.stall = stall
        self.one_way = one_way
        self.random = random.Random(seed)
        self.unique_ids = unique_ids
        self.crossing = crossing
        self.hung: frozenset[str] = frozenset()  # channels (ar, r, aw, w, b) that stand still
        self.now = 0
        self.statistics = Statistics()
        self.read_log: list[tuple[int, int]] = []  # address, beats
        self.write_log: list[tuple[int, int]] = []
        self._ranges: list[tuple[int, int, int, bool, bool]] = []
        for channel, out, into in (
            ("ar", "valid id addr len", "ready"),
            ("r", "ready", "valid id data resp last"),
            ("aw", "valid id addr len", "ready"),
            ("w", "valid data strb last", "ready"),
            ("b", "ready", "valid id resp"),
        ):
            for words, output in ((out, True), (into, False)):
                for word in words.split():
                    handle = getattr(dut, names(f"{channel}_{word}", output), None)
                    setattr(self, f"_{channel}_{word}", handle)
        self.has_read = self._ar_valid is not None
        self.has_write = self._aw_valid is not None
        self.bytes = len(self._r_data if self.has_read else self._w_data) // 8
        self._full = (1 << self.bytes) - 1
        self._reads = _Answers(self.random, shuffle)
        self._replies = _Answers(self.random, shuffle)
        self._serving: Burst | None = None
        self._beats_asked = 0
        self._addresses: collections.deque[Burst] = collections.deque()  # AW without all of its W
        self._early: collections.deque[tuple[int, int, bool]] = collections.deque()  # W before AW
        self._in_burst = False
        self._write_turn = False
        self._shown: dict[object, int] = {}
        self.drive_idle()

    def drive_idle(self) -> None:
        """Sets all inputs of the AXI manager to idle values."""
        for handle in (self._ar_ready, self._r_valid, self._aw_ready, self._w_ready, self._b_valid):
            if handle is not None:
                self._put(handle, 0)

    def start(self) -> None:
        """Starts to serve the AXI manager."""
        self._task = cocotb.start_soon(self._run())

    def stop(self) -> None:
        """Stops serving the AXI manager and sets its inputs to idle values."""
        self._task.cancel()
        self._shown.clear()
        self.drive_idle()

    def fail(
        self, first: int, after: int, resp: int = SLVERR, *, read: bool = True, write: bool = True
    ) -> None:
        """Makes bursts that touch an address range end with an error response."""
        self._ranges.append((first, after, resp, read, write))

    def mend(self) -> None:
        """Removes all address ranges that give error responses."""
        self._ranges.clear()

    def read(self, addr: int, count: int) -> bytes:
        """Returns bytes of the AXI memory, without use of the bus."""
        return bytes(self.data[addr - self.base : addr - self.base + count])

    def write(self, addr: int, data: bytes) -> None:
        """Writes bytes to the AXI memory, without use of the bus."""
        at = addr - self.base
        assert 0 <= at and at + len(data) <= len(self.data)
        self.data[at : at + len(data)] = data

    @property
    def early(self) -> int:
        """Returns the number of AXI write beats accepted before the address of their burst."""
        return len(self._early)

    def idle(self) -> bool:
        """Returns true if no AXI burst waits for data or a response."""
        return not (self._reads.count or self._replies.count or self._addresses or self._early)

    def reset_statistics(self) -> None:
        """Starts new statistics of the AXI memory at zero."""
        self.statistics = Statistics()

    # what follows happens once a clock, at the falling edge: the master's outputs are settled, and
    # what is driven here counts at the next rising edge

    async def _run(self) -> None:
        falling = FallingEdge(self.clock)
        while True:
            await falling
            self.now += 1
            write = False
            if self.has_write:
                write = bool(int(self._w_valid.value)) and not self._stalls("w")
                if write and self.one_way and self.has_read:
                    self._reads.step(self.now)
                    if self._reads.ready:  # both want the bus: in turn
                        self._write_turn = not self._write_turn
                        write = self._write_turn
                self._step_write(write)
            if self.has_read:
                self._step_read(not (self.one_way and write))

    def _put(self, handle: object, value: int) -> None:
        if self._shown.get(handle) != value:
            self._shown[handle] = value
            handle.value = value

    def _stalls(self, channel: str) -> bool:
        stalls = bool(self.stall) and self.random.random() < self.stall
        return stalls or channel in self.hung

    def _delay(self) -> int:
        return self.now + self.random.randint(*self.latency)

    def _response(self, burst: Burst, read: bool) -> int:
        first = burst.addr // self.bytes * self.bytes
        after = first + burst.beats * self.bytes
        if first < self.base or after > self.base + len(self.data):
            return DECERR
        for low, high, resp, reads, writes in self._ranges:
            if first < high and low < after and (reads if read else writes):
                return resp
        return OKAY

    def _accept(self, channel: str) -> Burst:
        addr = int(getattr(self, f"_{channel}_addr").value)
        beats = int(getattr(self, f"_{channel}_len").value) + 1
        burst = Burst(int(getattr(self, f"_{channel}_id").value), addr, beats)
        span = addr % self.bytes + addr // self.bytes * self.bytes % 4096 + beats * self.bytes
        assert span - addr % self.bytes <= 4096, f"{channel} burst {addr:#x} crosses 4 KiB"
        burst.resp = self._response(burst, channel == "ar")
        return burst

    def _step_read(self, allowed: bool) -> None:
        ready = not self._stalls("ar")
        self._put(self._ar_ready, int(ready))
        stat = self.statistics
        if ready and int(self._ar_valid.value):
            burst = self._accept("ar")
            burst.due = self._delay()
            if self.unique_ids:
                assert not self._reads.by_id[burst.id], f"ARID {burst.id} is under way already"
            self._reads.add(burst, self.now)
            self._beats_asked += burst.beats
            stat.most_reads = max(stat.most_reads, self._reads.count)
            stat.most_beats = max(stat.most_beats, self._beats_asked)
            self.read_log.append((burst.addr, burst.beats))
        self._reads.step(self.now)
        waits = self.crossing and not int(self._r_ready.value)
        if not allowed or not self._reads.ready or waits or self._stalls("r"):
            self._put(self._r_valid, 0)
            return
        burst = self._serving
        if burst is None or (self.interleave and self.random.random() < 0.5):
            burst = self.random.choice(self._reads.ready)
        self._serving = burst
        assert int(self._r_ready.value), "read data is not accepted"
        at = burst.addr // self.bytes * self.bytes + burst.done * self.bytes - self.base
        if burst.resp == OKAY:
            word = int.from_bytes(self.data[at : at + self.bytes], "little")
        else:
            word = self.random.getrandbits(8 * self.bytes)
        burst.done += 1
        last = burst.done == burst.beats
        self._put(self._r_valid, 1)
        self._put(self._r_id, burst.id)
        self._put(self._r_data, word)
        self._put(self._r_resp, burst.resp)
        self._put(self._r_last, int(last))
        self._beats_asked -= 1
        if last:
            self._reads.finish(burst, self.now)
            self._serving = None
        stat.read_beats += 1
        stat.busy_clocks += stat.last_write != self.now
        stat.first_read = stat.first_read or self.now
        stat.last_read = self.now

    def _step_write(self, take: bool) -> None:
        ready = not self._stalls("aw")
        self._put(self._aw_ready, int(ready))
        stat = self.statistics
        if ready and int(self._aw_valid.value):
            burst = self._accept("aw")
            if self.unique_ids:
                other = any(other.id == burst.id for other in self._addresses)
                assert not other and not self._replies.by_id[burst.id], "AWID is under way already"
            self._addresses.append(burst)
            self.write_log.append((burst.addr, burst.beats))
            while self._early and self._addresses:
                self._store(*self._early.popleft())
        if self._in_burst and not self.crossing:
            assert int(self._w_valid.value), "W has a gap within a burst"
        self._put(self._w_ready, int(take))
        if take:
            last = bool(int(self._w_last.value))
            beat = (int(self._w_data.value), int(self._w_strb.value), last)
            self._in_burst = not last
            if self._addresses:
                self._store(*beat)
            else:
                self._early.append(beat)
            stat.write_beats += 1
            stat.busy_clocks += stat.last_read != self.now
            stat.first_write = stat.first_write or self.now
            stat.last_write = self.now
        self._replies.step(self.now)
        waits = self.crossing and not int(self._b_ready.value)
        if self._replies.ready and not waits and not self._stalls("b"):
            assert int(self._b_ready.value), "a write response is not accepted"
            burst = self.random.choice(self._replies.ready)
            self._put(self._b_valid, 1)
            self._put(self._b_id, burst.id)
            self._put(self._b_resp, burst.resp)
            self._replies.finish(burst, self.now)
        else:
            self._put(self._b_valid, 0)

    def _store(self, word: int, strobe: int, last: bool) -> None:
        """Stores an AXI write beat in the memory model, for the oldest incomplete burst."""
        burst = self._addresses[0]
        at = burst.addr // self.bytes * self.bytes + burst.done * self.bytes - self.base
        if burst.resp == OKAY:
            data = word.to_bytes(self.bytes, "little")
            if strobe == self._full:
                self.data[at : at + self.bytes] = data
            else:
                for lane in range(self.bytes):
                    if strobe >> lane & 1:
                        self.data[at + lane] = data[lane]
        burst.done += 1
        assert last == (burst.done == burst.beats), "WLAST does not fit AWLEN"
        if last:
            self._addresses.popleft()
            burst.due = self._delay()
            self._replies.add(burst, self.now)
            self.statistics.most_writes = max(self.statistics.most_writes, self._replies.count)

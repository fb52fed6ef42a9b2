# SPDX-License-Identifier: Apache-2.0
"""Simulates the DMA transfers of one inference, with the host's measured software times.

While the processor seals or copies a chunk, the simulated card goes on for as many clocks; so what
overlaps overlaps here, too. Register accesses are simulated. Both cards have the same memory
behind their bus and as much in flight. Several threads seal as driver/enclave/transfer.c lets them:
each takes the next chunk when it is free, and the session's thread, which is one of them, seals and
sends the requests in order, interrupting its own chunk. Threads cost nothing to wake.
"""

import dataclasses
from collections.abc import Callable

from maeslant.bench.overhead.software import Times
from maeslant.protected.model.constants import DOORBELL, MAILBOX, PAGE, SLOT_BYTES, SLOTS, STATUS
from maeslant.protected.model.host import Host, Job, Request
from maeslant.protected.model.link import Link
from maeslant.protected.rtl_card import RtlDevice
from maeslant.sim.unprotected_card import CHANNEL_STATUS, COMPLETED, D2H, H2D
from maeslant.sim.unprotected_jobs import UnprotectedJobs

LEAST_CHUNK, STAGE, LONGEST, SHARE = 16384, 4096, 2, 3  # as in driver/enclave/transfer.c
OPTIONS = "latency=50-300&order=shuffled&seed=1"
CLOCK_MHZ, BUS_BYTES = 200, 64
PROTECTED, UNPROTECTED = "protected", "unprotected"
POLL_CLOCKS = 4  # clocks between two polls of host memory
PATIENCE = 1_000_000


@dataclasses.dataclass(frozen=True)
class Load:
    """Holds the sizes in bytes of one inference's DMA transfers."""

    h2d: tuple[int, ...]
    d2h: tuple[int, ...]


Timing = Callable[[int], Times]  # of a piece of so many bytes


def clocks_of(nanoseconds: float) -> int:
    """Returns the simulated card's clocks in a number of nanoseconds of host software."""
    return round(nanoseconds * CLOCK_MHZ / 1000)


def pieces(size: int, chunk: int) -> list[int]:
    """Returns the sizes of chunks of a DMA transfer: equal ones, the last one shorter."""
    return [min(chunk, size - at) for at in range(0, size, chunk)]


def divided(total: int, threads: int, longest: int = 1 << 20, unanswered: int = 0) -> list[int]:
    """Returns the sizes of chunks into which the C driver divides a DMA transfer for its threads.

    They grow from a small one if no request of the queue is ``unanswered``; otherwise the card is
    busy, and they are equal.
    """
    least, most = LEAST_CHUNK, (SLOTS - unanswered) // SHARE
    while LONGEST * least <= longest:
        size = LONGEST * least
        sizes = pieces(total, size) if unanswered else _growing(total, threads, least, size)
        if len(sizes) <= most:
            return sizes
        least *= 2
    return pieces(total, longest)


def _growing(total: int, threads: int, least: int, most: int) -> list[int]:
    sizes, size, left = [], least, total
    while left:
        share = left // threads // STAGE * STAGE
        size = min(max(min(size, share), least), most)
        sizes.append(min(size, left))
        left -= sizes[-1]
        size *= 2
    return sizes


class Protected:
    """Simulates an inference's DMA transfers on the protected card."""

    def __init__(self) -> None:
        self.device = RtlDevice(build=PROTECTED, options=OPTIONS, monitor=False)
        self.link = Link(self.device, 1 << 23)
        self.device.bus = self.link
        self.sim = self.device.simulator
        self.host = Host(self.link, bytes(range(32)), bytes(16), bytes(32), timeout=PATIENCE)
        self.device.install(bytes(range(32)), bytes(16))
        self.host.wait(self.host.open())

    def close(self) -> None:
        """Closes the simulator of the protected card."""
        self.device.close()

    def now(self) -> int:
        """Returns the number of bus clocks that the protected card has run."""
        return self.sim.stats()["bus_clocks"]

    def send(self, queue: int) -> None:
        """Writes a queue's next sealed request to the protected card, once its mailbox is free."""
        request = self.host.channels[queue].unsent.popleft()
        page = PAGE * (1 + queue)
        while not self.sim.read32(page + STATUS) & 1:
            pass
        self.device.mmio_write(page + MAILBOX, request.message)
        self.sim.write32(page + DOORBELL, len(request.body) // 16)

    def await_answer(self, request: Request) -> None:
        """Simulates the protected card until its response to a request lies in host memory."""
        slots = self.host.channels[request.queue].slots - self.link.BASE
        at = slots + SLOT_BYTES * (request.sequence % SLOTS)
        wanted = request.sequence.to_bytes(8)
        for _ in range(PATIENCE // POLL_CLOCKS):
            if self.link.memory[at : at + 8] == wanted:
                return
            self.sim.run(POLL_CLOCKS)
        raise AssertionError("no response")

    def seal(self, job: Job, timing: Timing, threads: int) -> None:
        """Simulates threads that seal a transfer's chunks; sends the chunks' requests in order."""
        free = [self.now()] * threads  # when each thread takes a chunk; the first sends
        for request in job.requests:
            times = timing(request.place.length)
            thread = min(range(threads), key=lambda at: free[at])
            free[thread] += clocks_of(times.seal)
            since = max(free[thread], self.now())  # a request waits for those before it
            self.sim.run(max(1, since - self.now() + clocks_of(times.request)))
            self.send(1)
            free[0] += self.now() - since  # the session's thread did this

    def run(self, load: Load, chunk: int, timing: Timing, threads: int = 1) -> int:
        """Simulates an inference's DMA transfers on the protected card; returns their clocks.

        ``chunk``: bytes of a chunk; 0: as the driver divides transfers for so many threads.
        """
        ups: list[Job] = []
        base = 0
        for size in load.h2d:
            before = sum(len(job.requests) for job in ups)
            cut = chunk or divided(size, threads, unanswered=before)
            ups.append(self.host.h2d(1, base, bytes(size), cut))  # sealed in no time
            base += -(-size // 64) * 64
        start = self.now()
        for job in ups:
            self.seal(job, timing, threads)
        for job in ups:
            self.await_answer(job.last)
        self.sim.run(max(1, clocks_of(timing(load.h2d[-1]).answer)))
        base = 0
        for size in load.d2h:
            down = self.host.d2h(2, base, size, chunk)
            for request in down.requests:
                self.sim.run(max(1, clocks_of(timing(request.place.length).request)))
                self.send(2)
            for request in down.requests:
                self.await_answer(request)
                times = timing(request.place.length)
                self.sim.run(max(1, clocks_of(times.answer + times.open)))
            base += -(-size // 64) * 64
        spent = self.now() - start
        for job in ups:  # the tags were right
            self.host.wait(job)
        self.host.wait(down)
        assert all(r.response.status == 1 for job in ups for r in job.requests)
        self.link.free = self.link.BASE + len(self.host.channels) * SLOTS * SLOT_BYTES
        return spent


class Unprotected:
    """Simulates an inference's DMA transfers on the unprotected card."""

    def __init__(self) -> None:
        self.card = UnprotectedJobs(UNPROTECTED, OPTIONS)
        self.sim = self.card.sim

    def close(self) -> None:
        """Closes the simulator of the unprotected card."""
        self.card.close()

    def _finish(self, channel: int, number: int) -> None:
        while self.sim.read32(channel + COMPLETED) < number:
            self.sim.run(POLL_CLOCKS)

    def run(self, load: Load, chunk: int, timing: Timing, threads: int = 1) -> int:
        """Simulates an inference's DMA transfers on the unprotected card; returns their clocks.

        ``threads``: as many copy, each the next piece when it is free; the first one sends.
        """
        start = self.card.clocks()
        base = number = 0
        for size in load.h2d:
            free = [self.card.clocks()] * threads
            for piece in pieces(size, chunk):
                thread = min(range(threads), key=lambda at: free[at])
                free[thread] += clocks_of(timing(piece).copy)
                since = max(free[thread], self.card.clocks())
                self.sim.run(max(1, since - self.card.clocks()))
                while self.sim.read32(H2D + CHANNEL_STATUS) & 0xFF >= 8:
                    pass
                number = self.card.push(H2D, self.card.allocate(piece), base, piece)
                free[0] += self.card.clocks() - since
                base += -(-piece // 64) * 64
        self._finish(H2D, number)
        base = 0
        for size in load.d2h:
            for piece in pieces(size, chunk):
                number = self.card.push(D2H, self.card.allocate(piece), base, piece)
                base += -(-piece // 64) * 64
            self._finish(D2H, number)
            self.sim.run(max(1, clocks_of(timing(size).copy)))
        return self.card.clocks() - start

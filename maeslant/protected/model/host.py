# SPDX-License-Identifier: Apache-2.0
"""Models the host's end of the protected channel as reference (docs/protocol.md §6).

Stands for the user-mode driver inside the enclave.
"""

import dataclasses
from collections import deque
from collections.abc import Sequence

from maeslant.protected.model import wire
from maeslant.protected.model.constants import (
    CAPABILITIES,
    CAUSE,
    CAUSE_SEQUENCE,
    DEVICE_NONCE,
    DOORBELL,
    GRANULE,
    HOST_BLOCKS,
    HOST_NONCE,
    LAST_EPOCH,
    MAILBOX,
    PAGE,
    RESPONSE_BASE,
    SLOT_BYTES,
    SLOTS,
    STAGE,
    STATUS,
    TAG,
    Cause,
    Class,
    Kind,
    Status,
)
from maeslant.protected.model.keys import BudgetError, Capabilities, Key, Keys, Session, TagError
from maeslant.protected.model.link import Link


class HostError(Exception):
    """Raised by the host model if a request of the protected channel fails."""


class MisuseError(HostError):
    """Raised by the host model if its caller breaks a rule, before any message is sealed."""


class RefusedError(HostError):
    """Raised if the card refuses a request of the host model by an authenticated status."""

    def __init__(self, kind: int, queue: int, sequence: int, response: wire.Response) -> None:
        self.status, self.executed = Status(response.status), response.executed
        self.value = response.value
        name = Kind(kind).name if kind in list(Kind) else f"kind {kind}"
        super().__init__(f"{name} {sequence} on queue {queue}: {self.status.name}")


class GivenUpError(HostError):
    """Raised by the host model for a transfer that the application has abandoned."""


class PoisonedError(HostError):
    """Raised by the host model for calls after its session has ended; a new secret is needed."""

    def __init__(self, reason: str, advice: str = "") -> None:
        self.reason, self.advice = reason, advice
        super().__init__(f"{reason}; the device says {advice}" if advice else reason)


@dataclasses.dataclass
class Request:
    """Holds a request that the host model has sealed, with its response or error."""

    queue: int
    sequence: int
    epoch: int
    kind: Kind
    body: bytes
    message: bytes
    place: wire.Transfer | None = None
    response: wire.Response | None = None
    error: HostError | None = None
    chunk: bytearray | None = None  # D2H: private plaintext, verified

    @property
    def done(self) -> bool:
        """Returns true once the card has answered this request or it has failed."""
        return self.response is not None or self.error is not None


@dataclasses.dataclass
class Job:
    """Tracks the requests that one call of the host model has sealed, such as a transfer's."""

    requests: list[Request]
    given_up: bool = False

    @property
    def last(self) -> Request:
        """Returns the last request of a host call, which a later WAIT operation can name."""
        return self.requests[-1]

    @property
    def done(self) -> bool:
        """Returns true once all requests of one call of the host model have ended or failed."""
        return all(request.done for request in self.requests)


class Channel:
    """Holds the host model's state of one request queue: next number, epoch, open requests."""

    def __init__(self) -> None:
        self.next = 1
        self.epoch = 0
        self.slots = 0
        self.unsent: deque[Request] = deque()
        self.pending: dict[int, Request] = {}  # sent or not, unanswered
        self.switching = False  # between REKEY and its answer


def overlaps(address: int, size: int, base: int, length: int) -> bool:
    """Returns true if two address ranges overlap, or if the first one runs past 2^64."""
    return address + size > 1 << 64 or (address < base + length and base < address + size)


class Host:
    """Models the enclave's end of a protected session: sends requests, checks responses.

    `link` is the untrusted world, `port` the provisioning.
    """

    def __init__(
        self,
        link: Link,
        secret: bytes,
        session_id: bytes,
        nonce: bytes,
        limit: int = HOST_BLOCKS,
        timeout: int = 400,
        enclave: tuple[int, int] = (0x7F00_0000_0000, 1 << 32),
    ) -> None:
        self.link, self.timeout, self.enclave = link, timeout, enclave
        self.poison_error: PoisonedError | None = None
        self.idle = 0
        word = int.from_bytes(link.mmio_read(CAPABILITIES, 8), "little")
        self.capabilities = Capabilities.unpack(word)
        if not self.capabilities.legal():
            raise PoisonedError(f"illegal capabilities: {word:016x}")
        device_nonce = link.mmio_read(DEVICE_NONCE, 32)
        link.mmio_write(HOST_NONCE, nonce)
        self.session = Session(secret, session_id, nonce, device_nonce, word)
        self.keys = Keys(self.session, limit)
        self.transfers: list[Job] = []
        self.channels = [Channel() for _ in range(self.capabilities.queues)]
        for index, channel in enumerate(self.channels):
            channel.slots = self.shared(SLOTS * SLOT_BYTES)
            link.mmio_write(PAGE * (1 + index) + RESPONSE_BASE, channel.slots.to_bytes(8, "little"))
            link.store(channel.slots, bytes(SLOTS * SLOT_BYTES))  # no number of another session

    # The untrusted world.

    def shared(self, size: int) -> int:
        """Allocates shared memory, wholly outside the enclave (H10); returns its address."""
        try:
            address = self.link.allocate(size)
        except MemoryError:
            raise self.poison("no shared memory") from None
        if address % GRANULE or overlaps(address, size, *self.enclave):
            raise self.poison("shared memory inside the enclave")
        return address

    def poison(self, reason: str) -> PoisonedError:
        """Ends the host model's session: wipes keys, fails all requests (H18); returns an error."""
        if self.poison_error is None:
            cause = int.from_bytes(self.link.mmio_read(CAUSE, 4), "little")
            at = int.from_bytes(self.link.mmio_read(CAUSE_SEQUENCE, 8), "little")
            advice = ""
            if cause & 0xFF in list(Cause)[1:]:
                advice = f"{Cause(cause & 0xFF).name} at queue {cause >> 8 & 0xFF}, number {at}"
            self.poison_error = PoisonedError(reason, advice)
            self.keys.wipe()
            for channel in self.channels:
                channel.unsent.clear()
                for request in channel.pending.values():
                    request.error = self.poison_error
                    if request.chunk is not None:
                        request.chunk[:] = bytes(len(request.chunk))
                channel.pending.clear()
        return self.poison_error

    # Sealing.

    def _begin(self, queue: int, kind: Kind, body_bytes: int, chunk_bytes: int = 0) -> int:
        """Returns the next sequence number of a queue, reserved for a request (H5, H11, H12)."""
        if self.poison_error:
            raise self.poison_error
        if not 0 <= queue < len(self.channels):
            raise MisuseError(f"no queue {queue}")
        channel = self.channels[queue]
        if channel.switching:
            raise MisuseError("a REKEY of this queue is unanswered")
        oldest = min(channel.pending, default=channel.next)
        if channel.next >= oldest + SLOTS:
            raise MisuseError("too many unanswered requests")
        cls = {Kind.H2D: Class.DMA_IN, Kind.D2H: Class.DMA_OUT}.get(kind)
        answer = 16 + 8 * (body_bytes // 16) if kind == Kind.BATCH else 32
        need = [(Class.REQUEST, body_bytes), (Class.RESPONSE, answer)]
        need += [(cls, chunk_bytes)] if cls else []
        keys = [(self.keys.get(which, channel.epoch), size) for which, size in need]
        if any(key.used + wire.blocks(size) > key.limit for key, size in keys):
            raise BudgetError("rekey first")
        for key, size in keys:
            key.spend(size)
        channel.next += 1
        return channel.next - 1

    def _key(self, cls: Class, queue: int) -> Key:
        return self.keys.get(cls, self.channels[queue].epoch)

    def _seal(
        self, queue: int, kind: Kind, sequence: int, body: bytes, place: wire.Transfer | None = None
    ) -> Request:
        """Encrypts a request under its sequence number, queues it for sending and returns it."""
        channel = self.channels[queue]
        message = self._key(Class.REQUEST, queue).seal_message(queue, kind, sequence, body)
        request = Request(queue, sequence, channel.epoch, kind, body, message, place)
        channel.pending[sequence] = request
        channel.unsent.append(request)
        return request

    def _simple(self, queue: int, kind: Kind) -> Job:
        sequence = self._begin(queue, kind, 16)
        return Job([self._seal(queue, kind, sequence, bytes(16))])

    def open(self) -> Job:
        """Seals the OPEN request that starts a protected session; returns its Job."""
        return self._simple(0, Kind.OPEN)

    def close(self) -> Job:
        """Seals the CLOSE request, sent when no other is unanswered; returns its Job."""
        if any(channel.pending for channel in self.channels):
            raise MisuseError("requests are unanswered")
        return self._simple(0, Kind.CLOSE)

    def rekey(self, queue: int) -> Job:
        """Seals a REKEY request, which gives a queue the next epoch's keys; returns its Job."""
        epoch = self.channels[queue].epoch + 1
        if epoch > LAST_EPOCH:
            raise MisuseError("no epoch is left")
        if epoch not in self.keys.banks and len(self.keys.banks) == 2:
            raise MisuseError("not every queue has left the epoch before")
        job = self._simple(queue, Kind.REKEY)
        self.channels[queue].switching = True
        if epoch not in self.keys.banks:
            self.keys.load(epoch)
        return job

    def batch(self, queue: int, operations: list[wire.Operation]) -> Job:
        """Seals a BATCH request of register reads, writes and waits in order; returns its Job."""
        if not 1 <= len(operations) <= self.capabilities.operations:
            raise MisuseError("1 to 64 operations")
        body = b"".join(operation.pack() for operation in operations)
        sequence = self._begin(queue, Kind.BATCH, len(body))
        return Job([self._seal(queue, Kind.BATCH, sequence, body)])

    def _places(
        self, base: int, total: int, chunk: int | Sequence[int], after: int
    ) -> list[wire.Transfer]:
        """Divides a transfer into chunks with shared memory for each; returns their descriptions.

        ``chunk``: the size of all but the last, or the sizes.
        """
        given = [] if isinstance(chunk, int) else list(chunk)
        chunk = chunk if isinstance(chunk, int) else max(given)
        chunk = chunk or 1 << self.capabilities.log2_chunk
        self.transfers = [job for job in self.transfers if not job.done]
        if len(self.transfers) >= self.capabilities.regions:
            raise MisuseError("too many unanswered transfers")
        if total < 1 or chunk % GRANULE or base % GRANULE:
            raise MisuseError("length 0, or an address that is no multiple of a granule")
        sizes = given or [min(chunk, total - at) for at in range(0, total, chunk)]
        places, address = [], base
        for index, size in enumerate(sizes):
            host = self.shared(size)
            places.append(wire.Transfer(address, size, index, base, total, host, after))
            address += size
        return places

    def h2d(
        self,
        queue: int,
        base: int,
        data: bytes,
        chunk: int | Sequence[int] = 0,
        after: int = 0,
        give_up: int | None = None,
    ) -> Job:
        """Seals the chunks and requests of a transfer from host to device; returns its Job.

        `give_up`: abandon that chunk once it is sealed, by SKIP.
        """
        requests = []
        for place in self._places(base, len(data), chunk, after):
            sequence = self._begin(queue, Kind.H2D, 64, place.length)
            epoch = self.channels[queue].epoch
            aad = place.aad(Class.DMA_IN, queue, epoch, sequence)
            at = place.address - base
            plain = data[at : at + place.length]
            sealed = self._key(Class.DMA_IN, queue).seal(queue, sequence, aad, plain)
            for offset in range(0, place.length, STAGE):
                end = min(offset + STAGE, place.length)
                self.link.store(place.host + offset, sealed[offset:end])
            if place.index == give_up:
                requests.append(self._seal(queue, Kind.SKIP, sequence, bytes(16)))
                self.transfers.append(Job(requests, given_up=True))
                return self.transfers[-1]
            place = dataclasses.replace(place, tag=sealed[-TAG:])
            requests.append(self._seal(queue, Kind.H2D, sequence, place.pack(), place))
        self.transfers.append(Job(requests))
        return self.transfers[-1]

    def d2h(self, queue: int, base: int, total: int, chunk: int = 0, after: int = 0) -> Job:
        """Seals a transfer's requests from device to host, one for each chunk; returns its Job."""
        requests = []
        for place in self._places(base, total, chunk, after):
            sequence = self._begin(queue, Kind.D2H, 64, place.length)
            requests.append(self._seal(queue, Kind.D2H, sequence, place.pack(), place))
        self.transfers.append(Job(requests))
        return self.transfers[-1]

    def skip(self, queue: int) -> Job:
        """Seals a SKIP request, by which the card abandons a queue's transfer; returns its Job."""
        return self._simple(queue, Kind.SKIP)

    # Sending and answers.

    def pump(self) -> bool:
        """Sends queued requests and takes responses of the card; returns true if there were any."""
        news = False
        for queue, channel in enumerate(self.channels):
            page = PAGE * (1 + queue)
            if channel.unsent and self.link.mmio_read(page + STATUS, 4)[0] & 1:
                request = channel.unsent.popleft()
                self.link.mmio_write(page + MAILBOX, request.message)
                blocks = len(request.body) // 16
                self.link.mmio_write(page + DOORBELL, blocks.to_bytes(4, "little"))
                news = True
            for request in list(channel.pending.values()):
                news |= request not in channel.unsent and self._poll_response(channel, request)
                if self.poison_error:
                    return True
        worked = self.link.step()
        self.idle = 0 if news or worked else self.idle + 1
        return news

    def _poll_response(self, channel: Channel, request: Request) -> bool:
        """Reads the response to a request from shared memory; returns true if it was there."""
        slot = channel.slots + SLOT_BYTES * (request.sequence % SLOTS)
        if self.link.load(slot, 8) != request.sequence.to_bytes(8):
            return False
        size = 16 + wire.response_bytes(request.kind, request.body) + TAG
        message = self.link.load(slot + 16, size)
        key = self.keys.get(Class.RESPONSE, request.epoch)
        try:
            body = key.open_message(request.queue, request.kind, request.sequence, message)
        except TagError:
            self.poison(f"response tag: {self._name(request)}")
            return True
        response = wire.Response.unpack(body)
        if not self._possible(request, response):
            self.poison(f"impossible response: {self._name(request)}")
            return True
        if request.kind == Kind.D2H and response.status == Status.OK:
            try:
                request.chunk = self._take(request, response.data)
            except TagError:
                self.poison(f"chunk tag: {self._name(request)}")
                return True
        self._close(channel, request, response)
        return True

    @staticmethod
    def _name(request: Request) -> str:
        return f"{request.kind.name} {request.sequence} on queue {request.queue}"

    def _close(self, channel: Channel, request: Request, response: wire.Response) -> None:
        """Completes the request that a response belongs to; erases keys no longer in use."""
        request.response = response
        del channel.pending[request.sequence]
        if response.status != Status.OK:
            request.error = RefusedError(request.kind, request.queue, request.sequence, response)
        if request.kind == Kind.REKEY:
            channel.switching = False
            if response.status == Status.OK:
                channel.epoch += 1
        used = {other.epoch for other in self.channels}
        used |= {item.epoch for other in self.channels for item in other.pending.values()}
        used |= {other.epoch + 1 for other in self.channels if other.switching}
        for epoch in [epoch for epoch in self.keys.banks if epoch < min(used)]:
            self.keys.erase(epoch)

    def _possible(self, request: Request, response: wire.Response) -> bool:
        """Returns true if a genuine card could send this response to this request."""
        if response.zero or response.status not in list(Status):
            return False
        if response.status != Status.OK:
            if request.kind != Kind.BATCH:
                return not (response.executed or response.value)
            count = len(request.body) // 16
            waits = (Status.WAIT, Status.AFTER)
            held = response.status in waits and response.executed == response.value
            return response.value < count and (held or response.executed == 0)
        operations = wire.operations(request.body) if request.kind == Kind.BATCH else []
        value = {
            Kind.OPEN: self.session.capabilities,
            Kind.REKEY: request.epoch + 1,
            Kind.H2D: request.place.length if request.place else 0,
            Kind.D2H: request.place.length if request.place else 0,
        }.get(request.kind, 0)
        return response.executed == (len(operations) or 1) and response.value == value

    def _take(self, request: Request, tag: bytes) -> bytearray:
        """Copies a received chunk out of shared memory once; returns it decrypted (H10)."""
        place = request.place
        private = bytearray()
        for offset in range(0, place.length, STAGE):
            size = min(STAGE, place.length - offset)
            private += self.link.load(place.host + offset, size)
        key = self.keys.get(Class.DMA_OUT, request.epoch)
        aad = place.aad(Class.DMA_OUT, request.queue, request.epoch, request.sequence)
        plain = key.open(request.queue, request.sequence, aad, bytes(private) + tag)
        return bytearray(plain)

    def wait(self, job: Job) -> bytes:
        """Waits for a call's requests; returns a batch's values or a transfer's bytes (H17)."""
        self.idle = 0
        passed = 0
        while not job.done:
            self.pump()
            passed += 1
            if not job.done and (self.idle > self.timeout or passed > 100 * self.timeout):
                late = next(request for request in job.requests if not request.done)
                self.poison(f"timeout: {self._name(late)}")
        if job.given_up and self.poison_error is None:
            raise GivenUpError("the transfer was abandoned")
        for request in job.requests:
            if request.error:
                for other in job.requests:
                    if other.chunk is not None:
                        other.chunk[:] = bytes(len(other.chunk))
                raise self.poison_error or request.error
        if job.last.kind == Kind.BATCH:
            return job.last.response.data
        return b"".join(request.chunk or b"" for request in job.requests)

    def read_values(self, job: Job) -> list[int]:
        """Waits for a BATCH request; returns the register values that it read, in order."""
        data = self.wait(job)
        return [int.from_bytes(data[at : at + 8]) for at in range(0, len(data), 8)]

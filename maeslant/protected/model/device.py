# SPDX-License-Identifier: Apache-2.0
"""Models the protected card as golden reference for its RTL (docs/protocol.md §4, §5).

Its transfers are in transfers.py.
"""

import os
from collections.abc import Callable

from maeslant.protected.model import wire
from maeslant.protected.model.card import Kernel, Memory
from maeslant.protected.model.constants import (
    CAPABILITIES,
    CAUSE,
    CAUSE_SEQUENCE,
    DEVICE_BLOCKS,
    DEVICE_NONCE,
    DOORBELL,
    HOST_NONCE,
    KERNEL,
    LAST_EPOCH,
    MAILBOX_BYTES,
    NEXT,
    OUTCOMES,
    PAGE,
    RESET,
    RESET_WORD,
    RESPONSE_BASE,
    SLOT_BYTES,
    SLOTS,
    STATE,
    STATUS,
    Cause,
    Class,
    Kind,
    Op,
    State,
    Status,
)
from maeslant.protected.model.keys import BudgetError, Capabilities, Keys, Session, TagError
from maeslant.protected.model.link import BusError
from maeslant.protected.model.queues import Batch, Fatal, Queue, Request
from maeslant.protected.model.transfers import Transfers


def fresh_nonce() -> bytes:
    """Returns the 24 random bytes of a device nonce, from the operating system."""
    return os.urandom(24)


class Device:
    """Models the protected card: registers, request queues, DMA transfers, session states.

    The bus (link.Link) is given after construction: it needs the card, too.
    """

    make_kernel: Callable[[Memory], Kernel] = Kernel

    def __init__(
        self,
        capabilities: Capabilities | None = None,
        nonce: Callable[[], bytes] = fresh_nonce,
        limit: int = DEVICE_BLOCKS,
        beat: int = 512,
    ) -> None:
        self.capabilities = capabilities or Capabilities()
        self.nonce_source, self.limit, self.beat = nonce, limit, beat
        self.bus = None
        self.keys: Keys | None = None
        self.memory = Memory(1 << self.capabilities.log2_memory, self.capabilities.regions)
        self.kernel = self.make_kernel(self.memory)
        self.monitor = self.kernel.monitor  # for tests: what was done, in order
        self.transfers = Transfers(self)
        self.state = State.RESET
        self.cause: tuple[Cause, int, int] = (Cause.NONE, 0, 0)
        self.nonce, self.nonces = bytes(32), 0  # the last one, and how many there were
        self.scrub(State.IDLE)

    # States.

    def scrub(self, then: State) -> None:
        """Erases all session data in the card model (H14); sets the card's state to ``then``."""
        self.state = State.SCRUB
        if self.keys:
            self.keys.wipe()
        self.keys = None
        self.queues = [Queue(index) for index in range(self.capabilities.queues)]
        self.host_nonce = bytearray(32)
        self.memory.clear()
        self.kernel.clear()
        self.state = then
        if then == State.IDLE:
            self.nonce = self.nonces.to_bytes(8) + self.nonce_source()
            self.nonces += 1

    def install(self, secret: bytes, session_id: bytes) -> bool:
        """Stores a session's secret and ID in the card model; returns true if accepted."""
        if self.state != State.IDLE:
            return False
        word = self.capabilities.word()
        session = Session(secret, session_id, bytes(self.host_nonce), self.nonce, word)
        self.keys = Keys(session, self.limit)
        self.cause = (Cause.NONE, 0, 0)
        self.state = State.KEYED
        return True

    def fail(self, fatal: Fatal) -> None:
        """Ends the card model's session after a fatal error; later requests get no response."""
        self.cause = (fatal.cause, fatal.queue, fatal.sequence)
        self.state = State.ERROR
        self.monitor.append(("error", fatal.cause))
        self.scrub(State.DEAD)

    def finish_scrub(self) -> None:
        """Does nothing: unlike the simulated card, the card model erases its memory at once."""

    # The bus.

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes the card model's unprotected registers, in 32-bit words."""
        if address >= PAGE * (1 + self.capabilities.queues):
            raise BusError(hex(address))  # protected space: nothing happens (M1, H7)
        for at in range(0, len(data) - 3, 4):
            if (address + at) % 4 == 0:
                self._write_word(address + at, data[at : at + 4])

    def _write_word(self, address: int, data: bytes) -> None:
        page, offset = divmod(address, PAGE)
        value = int.from_bytes(data, "little")
        if page == 0:
            if offset == RESET and value == RESET_WORD:
                self.scrub(State.IDLE)
            elif HOST_NONCE <= offset < HOST_NONCE + 32 and self.state == State.IDLE:
                self.host_nonce[offset - HOST_NONCE : offset - HOST_NONCE + 4] = data
            return
        queue = self.queues[page - 1]
        if offset < MAILBOX_BYTES:
            if queue.snapshot is None and queue.batch is None:
                queue.mailbox[offset : offset + 4] = data
        elif offset == DOORBELL:
            self._doorbell(queue, value)
        elif offset in (RESPONSE_BASE, RESPONSE_BASE + 4):
            shift = 8 * (offset - RESPONSE_BASE)
            queue.response_base &= ~(0xFFFFFFFF << shift)
            queue.response_base |= value << shift

    def mmio_read(self, address: int, size: int) -> bytes:
        """Returns the card model's unprotected registers; unused addresses read as zero."""
        page, offset = divmod(address, PAGE)
        if page > self.capabilities.queues:
            raise BusError(hex(address))
        image = bytearray(PAGE)
        if page == 0:
            cause, queue, sequence = self.cause
            image[STATE : STATE + 4] = self.state.to_bytes(4, "little")
            image[CAUSE : CAUSE + 4] = (queue << 8 | cause).to_bytes(4, "little")
            image[CAUSE_SEQUENCE : CAUSE_SEQUENCE + 8] = sequence.to_bytes(8, "little")
            image[CAPABILITIES : CAPABILITIES + 8] = self.capabilities.word().to_bytes(8, "little")
            image[DEVICE_NONCE : DEVICE_NONCE + 32] = self.nonce
        else:
            queue = self.queues[page - 1]
            status = len(queue.chunks) << 8 | queue.ready(self.capabilities.depth)
            image[STATUS : STATUS + 4] = status.to_bytes(4, "little")
            image[RESPONSE_BASE : RESPONSE_BASE + 8] = queue.response_base.to_bytes(8, "little")
            image[NEXT : NEXT + 8] = queue.next.to_bytes(8, "little")
        return bytes(image[offset : offset + size])

    def _doorbell(self, queue: Queue, blocks: int) -> None:
        """Copies a queue's request from the card model's mailbox; increments the number."""
        if self.state not in (State.KEYED, State.RUN) or not queue.ready(self.capabilities.depth):
            return
        request = Request(queue.next, queue.epoch)
        queue.unanswered[queue.next] = queue.epoch
        queue.next += 1
        queue.snapshot = (request, bytes(queue.mailbox), blocks)

    # Work.

    def step(self) -> bool:
        """Advances each queue, transfer and kernel of the card model; returns true if any acted."""
        worked = False
        try:
            for queue in self.queues:
                if queue.snapshot:
                    worked = True
                    self._verify(queue)
                elif queue.batch:
                    worked |= self._execute(queue, queue.batch)
                worked |= self.transfers.step(queue)
                if self.state not in (State.KEYED, State.RUN):
                    break
            worked |= self.kernel.step()
        except Fatal as fatal:
            self.fail(fatal)
            worked = True
        return worked

    def _verify(self, queue: Queue) -> None:
        """Decrypts and verifies a queue's request in the card model; starts the execution."""
        request, message, blocks = queue.snapshot
        queue.snapshot = None
        where = (queue.index, request.sequence)
        if not 1 <= blocks <= self.capabilities.operations:
            raise Fatal(Cause.DOORBELL, *where)
        key = self.keys.get(Class.REQUEST, request.epoch)
        request.kind = message[wire.KIND_OFFSET]
        message = message[: 16 + 16 * blocks + 16]
        try:
            key.spend(16 * blocks)
            request.body = key.open_message(queue.index, request.kind, request.sequence, message)
        except BudgetError:
            raise Fatal(Cause.BUDGET, *where) from None
        except TagError:
            raise Fatal(Cause.TAG, *where) from None
        status = self._legal(queue, request, blocks)
        match request.kind if status is None else None:
            case None:
                if request.kind in (Kind.H2D, Kind.D2H):
                    self.transfers.give_up(queue)
                self.answer(queue, request, status)
            case Kind.OPEN:
                self.state = State.RUN
                self.answer(queue, request, Status.OK, 1, self.capabilities.word())
            case Kind.BATCH:
                self._begin_batch(queue, request)
            case Kind.H2D | Kind.D2H:
                self.transfers.arm(queue, request)
            case Kind.REKEY:
                self._rekey(queue, request)
            case Kind.SKIP:
                self.transfers.give_up(queue)
                self.answer(queue, request, Status.OK, 1)
            case Kind.CLOSE:
                self.answer(queue, request, Status.OK, 1)
                self.scrub(State.IDLE)

    def _legal(self, queue: Queue, request: Request, blocks: int) -> Status | None:
        """Returns the error status of an authentic but illegal request, None if legal."""
        kind, body = request.kind, request.body
        if kind not in list(Kind):
            return Status.KIND
        if (kind == Kind.OPEN) != (self.state == State.KEYED):
            return Status.STATE
        if kind in (Kind.OPEN, Kind.CLOSE) and queue.index != 0:
            return Status.STATE
        if kind == Kind.CLOSE and sum(len(other.unanswered) for other in self.queues) > 1:
            return Status.STATE
        if kind in (Kind.H2D, Kind.D2H):
            if blocks != 4:
                return Status.LENGTH
            return Status.BODY if kind == Kind.D2H and any(body[48:]) else None
        if kind == Kind.BATCH:
            zeros = (operation.zero for operation in wire.operations(body))
            return Status.BODY if any(zeros) else None
        if blocks != 1:
            return Status.LENGTH
        return Status.BODY if any(body) else None

    def answer(
        self,
        queue: Queue,
        request: Request,
        status: Status,
        executed: int = 0,
        value: int = 0,
        data: bytes = b"",
    ) -> None:
        """Encrypts the card model's response to a request and writes it to host memory (H18)."""
        keys = self.keys
        if keys is None:
            return  # taken back by the OS
        where = (queue.index, request.sequence)
        size = wire.response_bytes(request.kind, request.body)
        body = wire.Response(status, executed, value, data).pack().ljust(size, b"\0")
        key = keys.get(Class.RESPONSE, request.epoch)
        slot = queue.response_base + SLOT_BYTES * (request.sequence % SLOTS)
        try:
            key.spend(len(body))
            sealed = key.seal_message(queue.index, request.kind, request.sequence, body)
            self.bus.dma_write(slot + 16, sealed)
            self.bus.dma_write(slot, request.sequence.to_bytes(8) + bytes(8))
        except BudgetError:
            raise Fatal(Cause.BUDGET, *where) from None
        except BusError:
            raise Fatal(Cause.BEAT, *where) from None
        if self.keys is not keys:
            return  # taken back by the OS while the answer was on its way
        queue.outcomes[request.sequence] = status == Status.OK and request.kind != Kind.SKIP
        queue.outcomes.pop(request.sequence - 2 * OUTCOMES, None)
        queue.unanswered.pop(request.sequence, None)
        self._erase_old()

    # Batches.

    def _begin_batch(self, queue: Queue, request: Request) -> None:
        """Checks all register accesses of a BATCH request before any of them is executed (H7)."""
        batch = wire.operations(request.body)
        for index, operation in enumerate(batch):
            status = self._operation(queue, request, operation)
            if status != Status.OK:
                self.answer(queue, request, status, 0, index)
                return
        queue.batch = Batch(request, batch)

    def _operation(self, queue: Queue, request: Request, operation: wire.Operation) -> Status:
        op, width = operation.op, 1 << (operation.log2_width & 7)
        if op == Op.WAIT:
            if operation.log2_width:
                return Status.OPERATION
            if operation.offset == KERNEL:
                return Status.OK
            own = operation.offset == queue.index and operation.data >= request.sequence
            known = operation.offset < len(self.queues) and operation.data >= 1
            return Status.OK if known and not own else Status.WAIT
        if op not in (Op.READ, Op.WRITE) or operation.log2_width not in (2, 3):
            return Status.OPERATION
        beyond = operation.data >> 8 * width if op == Op.WRITE else operation.data
        if beyond or operation.offset % width:
            return Status.OPERATION
        legal = self.kernel.legal(op, operation.offset, width)
        return Status.OK if legal else Status.OFFSET

    def _execute(self, queue: Queue, batch: Batch) -> bool:
        """Executes the next operation of a BATCH request; returns false if a WAIT is not over."""
        operation = batch.operations[batch.at]
        width = 1 << operation.log2_width
        match operation.op:
            case Op.READ:
                batch.data.append(self.kernel.read(operation.offset, width))
                self.monitor.append(("read", queue.index, operation.offset, width))
            case Op.WRITE:
                self.monitor.append(("write", queue.index, operation.offset, width, operation.data))
                try:
                    self.kernel.write(operation.offset, width, operation.data)
                except BusError:
                    where = (queue.index, batch.request.sequence)
                    raise Fatal(Cause.ACCESS, *where) from None
            case Op.WAIT if operation.offset == KERNEL:
                if self.kernel.runs < operation.data:
                    if self.kernel.fault:
                        self._end_batch(queue, batch, Status.AFTER, batch.at)
                    return self.kernel.fault
            case Op.WAIT:
                other, sequence = self.queues[operation.offset], operation.data
                if sequence >= other.next or sequence in other.unanswered:
                    return False
                if sequence + OUTCOMES < other.next or not other.outcomes.get(sequence):
                    self._end_batch(queue, batch, Status.WAIT, batch.at)
                    return True
        batch.at += 1
        if batch.at == len(batch.operations):
            self._end_batch(queue, batch, Status.OK, 0)
        return True

    def _end_batch(self, queue: Queue, batch: Batch, status: Status, value: int) -> None:
        queue.batch = None
        data = b"".join(word.to_bytes(8) for word in batch.data)
        self.answer(queue, batch.request, status, batch.at, value, data)

    # Epochs.

    def _rekey(self, queue: Queue, request: Request) -> None:
        """Executes a REKEY request: the card model's queue uses the next epoch's keys."""
        epoch = queue.epoch + 1
        if queue.epoch == LAST_EPOCH:
            self.answer(queue, request, Status.LIMIT)
        elif epoch not in self.keys.banks and len(self.keys.banks) == 2:
            self.answer(queue, request, Status.EPOCH)
        else:
            if epoch not in self.keys.banks:
                self.keys.load(epoch)
            queue.epoch = epoch
            self.answer(queue, request, Status.OK, 1, epoch)

    def _erase_old(self) -> None:
        """Erases the older key epoch in the card model once no queue or request uses this epoch."""
        old = min(self.keys.banks)
        used = {queue.epoch for queue in self.queues}
        used.update(epoch for queue in self.queues for epoch in queue.unanswered.values())
        if len(self.keys.banks) == 2 and old not in used:
            self.keys.erase(old)

# SPDX-License-Identifier: Apache-2.0
"""Lets the protocol model's host run on the RTL of mae_guard_request_executor.

Time stands still but in step() and in register writes. The host, the model's parts and the
adversary run in a thread of their own (cocotb.task.bridge): what may act on the bus acts there.
"""

import random
from collections import deque

from cocotb.clock import Clock
from cocotb.task import resume
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from maeslant.protected.model.constants import (
    DOORBELL,
    MAILBOX_BYTES,
    NEXT,
    PAGE,
    RESPONSE_BASE,
    STATUS,
    Cause,
    Class,
    Flag,
    Kind,
    Op,
    State,
    Status,
)
from maeslant.protected.model.device import Device, fresh_nonce
from maeslant.protected.model.keys import Key, Session
from maeslant.protected.model.link import BusError
from maeslant.protected.model.queues import Chunk, Fatal, Queue, Request
from maeslant.protected.model.wire import Transfer

INPUTS = """clear_i halt_i session_i state_i install_i write_valid_i write_queue_i write_offset_i
 write_data_i response_base_i check_legal_i reg_rdata_i reg_error_i runs_i kernel_fault_i
 key_ready_i arm_done_i arm_status_i give_up_done_i answer_valid_i answer_i aw_ready_i w_ready_i
 write_done_i write_error_i""".split()
STEP = 64  # clocks


def answer_bits(queue: int, epoch: int, sequence: int, kind: int, status: int, **rest) -> int:
    """Packs the fields of a request's answer into the bits of the RTL's answer_t."""
    fields = [(queue, 8), (epoch, 32), (sequence, 64), (kind, 8), (status, 16)]
    fields += [(rest["executed"], 16), (rest["value"], 64), (0, 14)]
    value = 0
    for field, width in fields:
        value = value << width | field
    return value << 128 | int.from_bytes(rest["tag"].ljust(16, b"\0"))


class Bench:
    """Drives mae_guard_request_executor: registers, kernel, chunk engines, host bus, each clock."""

    def __init__(self, dut, queues: int, seed: int = 1, stall: float = 0.3) -> None:
        self.dut, self.queues, self.random, self.stall = dut, queues, random.Random(seed), stall
        self.card: Card | None = None
        self.driven: dict[str, int] = {}
        self.clocks = 0
        self.forget()
        self.bases = [0] * queues
        self.ready = [False] * queues
        self.next = [1] * queues
        self.outstanding = [0] * queues
        self.log: list[tuple] = []

    def forget(self) -> None:
        """Clears the bench's records of unfinished bus bursts, register accesses and requests."""
        self.write: tuple[int, int, int] | None = None
        self.access: tuple[int, bool] | None = None
        self.asks: deque[int] = deque()
        self.arming: list | None = None
        self.giving: int | None = None
        self.bursts: deque[tuple[int, bytes]] = deque()  # complete, not carried out
        self.heads: deque[list] = deque()
        self.lines: deque[tuple[int, int]] = deque()
        self.dones: deque[bool] = deque()
        self.loaded: dict[tuple[int, int], int] = {}
        self.opens = self.closes = self.worked = False
        self.fatal: tuple[int, int, int] | None = None

    def drive(self, **values: int) -> None:
        """Sets inputs of the request executor, and leaves unchanged ones alone."""
        for name, value in values.items():
            if self.driven.get(name) != value:
                self.driven[name] = value
                getattr(self.dut, name).value = value

    async def reset(self) -> None:
        """Resets the request executor and waits until its memories are cleared."""
        Clock(self.dut.clk_i, 10, "ns").start()
        self.drive(**dict.fromkeys(INPUTS, 0))
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)
        await self.scrub()

    async def scrub(self) -> None:
        """Clears the request executor's memories by halt_i and clear_i like mae_guard_session."""
        self.forget()
        self.drive(halt_i=1, state_i=State.SCRUB)
        await self.tick()
        self.drive(clear_i=1, write_valid_i=0, session_i=0)
        for _ in range(4):
            await self.tick()
        self.drive(clear_i=0)
        while self.dut.busy_o.value:
            await self.tick()
        self.forget()
        self.bases = [0] * self.queues
        self.drive(halt_i=0)

    async def install(self, parts: bytes) -> None:
        """Gives a session to the request executor and waits for the keys of epoch 0."""
        self.drive(session_i=int.from_bytes(parts), install_i=1, state_i=State.IDLE)
        await self.tick()
        self.drive(install_i=0)
        while not self.dut.keys_ready_o.value:
            await self.tick()
        self.drive(state_i=State.KEYED)

    async def words(self, queue: int, offset: int, data: bytes) -> None:
        """Writes data word by word to a queue's page of the request executor's registers."""
        for at in range(0, len(data) - 3, 4):
            self.write = queue, offset + at, int.from_bytes(data[at : at + 4], "little")
            await self.tick()
        self.write = None
        await self.tick()

    async def advance(self, clocks: int) -> None:
        """Runs the request executor until it has something for the host, or some clocks passed."""
        for _ in range(clocks):
            await self.tick()
            if self.bursts or self.opens or self.closes or self.fatal:
                return

    async def tick(self) -> None:
        """Runs one clock: sets the request executor's inputs, checks and records its outputs."""
        dut, r = self.dut, self.random
        self.clocks += 1
        free = self.stall == 0
        if self.write:
            queue, offset, data = self.write
            self.drive(write_valid_i=1, write_queue_i=queue)
            self.drive(write_offset_i=offset, write_data_i=data)
            if offset == DOORBELL:
                self.log.append(("doorbell", self.clocks, queue))
        else:
            self.drive(write_valid_i=0)
        data, error = self.access or (r.randrange(1 << 64), True)  # nobody looks
        self.access = None
        self.drive(reg_rdata_i=data, reg_error_i=int(error))
        if self.card:
            kernel = self.card.kernel
            self.drive(runs_i=kernel.runs, kernel_fault_i=int(kernel.fault))
        status = 0
        if self.arming:
            self.arming[0] -= 1
            status = self.arming[1] if self.arming[0] == 0 else 0
        self.drive(arm_done_i=int(status != 0), arm_status_i=status)
        given = self.giving is not None and not self.asks
        self.drive(give_up_done_i=int(given))
        self.drive(answer_valid_i=int(bool(self.asks)))
        if self.asks:
            self.drive(answer_i=self.asks[0])
        self.drive(aw_ready_i=int(free or r.random() > self.stall))
        self.drive(w_ready_i=int(free or r.random() > self.stall))
        self.drive(key_ready_i=int(free or r.random() > self.stall))
        done = bool(self.dones) and (free or r.random() > self.stall)
        self.drive(write_done_i=int(done), write_error_i=int(done and self.dones.popleft()))
        packed = sum(base << 64 * q for q, base in enumerate(self.bases))
        self.drive(response_base_i=packed)
        await Timer(1, "ns")
        self._sample(status, given)
        await FallingEdge(dut.clk_i)
        ready, chunks = int(dut.ready_o.value), int(dut.outstanding_o.value)
        numbers = int(dut.next_o.value)
        for q in range(self.queues):
            self.ready[q] = bool(ready >> q & 1)
            self.outstanding[q] = chunks >> 8 * q & 0xFF
            self.next[q] = numbers >> 64 * q & (1 << 64) - 1

    def _sample(self, status: int, given: bool) -> None:
        dut, card = self.dut, self.card
        if card is None or self.driven["halt_i"]:
            return
        op = Op.WRITE if dut.check_write_o.value else Op.READ
        width = 1 << int(dut.check_log2_width_o.value)
        legal = card.kernel.legal(op, int(dut.check_offset_o.value), width)
        self.drive(check_legal_i=int(legal))
        if dut.reg_valid_o.value:
            self._register()
        if dut.arm_commit_o.value:
            card.commit()
        if dut.arm_valid_o.value and not self.arming:
            delay = 1 + self.random.randrange(4)
            place = int(dut.arm_place_o.value).to_bytes(13)
            kind = Kind.D2H if dut.arm_out_o.value else Kind.H2D
            body = int(dut.arm_o.value).to_bytes(64)
            self.arming = [delay, card.arm(place[0], place[1:5], place[5:], kind, body)]
        elif status:
            self.arming = None
        if given:
            self.giving = None
        elif dut.give_up_valid_o.value and self.giving is None:
            self.giving = int(dut.give_up_queue_o.value)
            card.transfers.give_up(card.queues[self.giving])
        if self.asks and dut.answer_ready_o.value:
            self.asks.popleft()
        if self.driven["key_ready_i"] and dut.key_valid_o.value:
            where = int(dut.key_class_o.value), int(dut.key_bank_o.value)
            self.loaded[where] = int(dut.key_o.value)
        self._bus()
        if dut.answered_valid_o.value:
            assert dut.irq_o.value
            self.log.append(("answered", self.clocks, int(dut.answered_o.value)))
        if dut.open_o.value:
            self.opens = True
            self.drive(state_i=State.RUN)
        self.closes |= bool(dut.close_o.value)
        if dut.fatal_valid_o.value:
            fatal = int(dut.fatal_o.value)
            self.fatal = fatal >> 72, fatal >> 64 & 0xFF, fatal & (1 << 64) - 1

    def _register(self) -> None:
        """Serves the request executor's register access from the card model's kernel."""
        dut, card = self.dut, self.card
        offset, width = int(dut.reg_offset_o.value), 1 << int(dut.reg_log2_width_o.value)
        self.worked = True
        queue = int(dut.reg_queue_o.value)
        if dut.reg_write_o.value:
            value = int(dut.reg_wdata_o.value)
            card.monitor.append(("write", queue, offset, width, value))
            try:
                card.kernel.write(offset, width, value)
            except BusError:
                self.access = 0, True
                return
            self.access = self.random.randrange(1 << 64), False
        else:
            beyond = self.random.randrange(1 << 32) << 32 if width == 4 else 0
            self.access = card.kernel.read(offset, width) | beyond, False
            card.monitor.append(("read", queue, offset, width))

    def _bus(self) -> None:
        """Accepts the request executor's response bursts as a host bus and records the bytes."""
        dut = self.dut
        if dut.aw_valid_o.value and self.driven["aw_ready_i"]:
            self.heads.append([int(dut.aw_address_o.value), int(dut.aw_beats_o.value)])
        if dut.w_valid_o.value and self.driven["w_ready_i"]:
            self.lines.append((int(dut.w_data_o.value), int(dut.w_strb_o.value)))
        while self.heads and len(self.lines) >= self.heads[0][1]:
            address, beats = self.heads.popleft()
            data, strobes = b"", ""
            for _ in range(beats):
                line, strobe = self.lines.popleft()
                data += line.to_bytes(64, "little")
                strobes += f"{strobe:064b}"[::-1]
            first, last = strobes.index("1"), strobes.rindex("1")
            assert "0" not in strobes[first : last + 1]
            assert not any(data[:first]) and not any(data[last + 1 :])
            self.log.append(("burst", self.clocks, address + first))
            self.bursts.append((address + first, data[first : last + 1]))


class CardKeys:
    """Returns session keys to the card model after comparing them with those of the RTL."""

    def __init__(self, bench: Bench, session: Session) -> None:
        self.bench, self.session = bench, session

    def get(self, cls: Class, epoch: int) -> Key:
        """Returns a session key and asserts that the RTL has loaded it into the right key bank."""
        key = Key(self.session, cls, epoch, 1 << 40)
        assert self.bench.loaded[cls, epoch % 2] == int.from_bytes(key.bytes + key.mask)
        return key

    @property
    def banks(self) -> dict[int, Key]:
        """Returns the epochs whose keys the RTL request executor has loaded into its key banks."""
        keys = ((n, Key(self.session, Class.DMA_IN, n, 1)) for n in range(12))
        held = set(self.bench.loaded.values())
        return {n: key for n, key in keys if int.from_bytes(key.bytes + key.mask) in held}

    def wipe(self) -> None:
        """Does nothing, because the RTL request executor erases its session keys itself."""


class Card(Device):
    """Models the protected card with its request handling done by the RTL request executor."""

    def __init__(self, bench: Bench, capabilities, nonce=fresh_nonce) -> None:
        self.bench = bench
        bench.card = None
        self.pending: Chunk | None = None
        super().__init__(capabilities, nonce)
        bench.card = self

    def scrub(self, then: State) -> None:
        """Clears the memories of the card model and of the RTL request executor."""
        super().scrub(then)
        self.pending = None
        card, self.bench.card = self.bench.card, None
        resume(self.bench.scrub)()
        self.bench.card = card
        self.bench.drive(state_i=then)

    def install(self, secret: bytes, session_id: bytes) -> bool:
        """Installs a root secret: the RTL request executor derives the session's keys."""
        if self.state != State.IDLE:
            return False
        word = self.capabilities.word()
        session = Session(secret, session_id, bytes(self.host_nonce), self.nonce, word)
        parts = secret + session_id + session.host_nonce + session.device_nonce + word.to_bytes(8)
        resume(self.bench.install)(parts)
        self.keys = CardKeys(self.bench, session)
        self.cause = (Cause.NONE, 0, 0)
        self.state = State.KEYED
        return True

    # The bus.

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a register: those of request queues in the RTL, all others in the card model."""
        page, offset = divmod(address, PAGE)
        if page == 0 or page > self.capabilities.queues:
            super().mmio_write(address, data)
        elif RESPONSE_BASE <= offset < RESPONSE_BASE + 8:
            super().mmio_write(address, data)
            self.bench.bases[page - 1] = self.queues[page - 1].response_base
        elif address % 4 == 0:
            resume(self.bench.words)(page - 1, offset, data)
            self._news()

    def mmio_read(self, address: int, size: int) -> bytes:
        """Reads a register that is accessible without encryption, from RTL or card model."""
        page, offset = divmod(address, PAGE)
        if page == 0 or page > self.capabilities.queues or offset < MAILBOX_BYTES:
            return super().mmio_read(address, size)
        image, q, bench = bytearray(PAGE), page - 1, self.bench
        image[STATUS : STATUS + 4] = (bench.outstanding[q] << 8 | bench.ready[q]).to_bytes(
            4, "little"
        )
        base = self.queues[q].response_base
        image[RESPONSE_BASE : RESPONSE_BASE + 8] = base.to_bytes(8, "little")
        image[NEXT : NEXT + 8] = bench.next[q].to_bytes(8, "little")
        return bytes(image[offset : offset + size])

    # Transfers.

    def arm(self, queue: int, epoch: bytes, sequence: bytes, kind: Kind, body: bytes) -> Status:
        """Returns the card model's status for a request to transfer a chunk; keeps a legal one."""
        place = Transfer.unpack(body)
        status = self.transfers._refusal(self.queues[queue], kind, place)
        if status is None:
            request = Request(int.from_bytes(sequence), int.from_bytes(epoch), kind, body)
            self.pending = Chunk(request, place, self.queues[queue].open)
        return status or Status.OK

    def commit(self) -> None:
        """Appends the chunk that arm() accepted to its queue in the card model."""
        chunk, self.pending = self.pending, None
        queue = next(q for q in self.queues if q.open is chunk.transfer)
        chunk.transfer.index += 1
        chunk.transfer.address = chunk.place.address + chunk.place.length
        if chunk.place.flags & Flag.LAST:
            queue.open = None
        queue.chunks.append(chunk)

    def answer(
        self,
        queue: Queue,
        request: Request,
        status: Status,
        executed: int = 0,
        value: int = 0,
        data: bytes = b"",
    ) -> None:
        """Hands the answer to a chunk request to the RTL request executor, which encrypts it."""
        where = queue.index, request.epoch, request.sequence, request.kind, status
        self.bench.asks.append(answer_bits(*where, executed=executed, value=value, tag=data))

    # Time.

    def step(self) -> bool:
        """Runs the RTL request executor for some clocks, then the card model."""
        bench = self.bench
        bench.worked = False
        still = all(bench.ready) and not any(bench.outstanding)
        resume(bench.advance)(2 if still else STEP)
        return self._news() | self._model()

    def _news(self) -> bool:
        """Performs the RTL's response writes, opening, error or close; returns true if active."""
        bench, worked = self.bench, self.bench.worked or bool(self.bench.bursts)
        while bench.bursts:
            address, data = bench.bursts.popleft()
            try:
                self.bus.dma_write(address, data)
            except BusError:
                bench.dones.append(True)
            else:
                bench.dones.append(False)
        if bench.opens:
            bench.opens, self.state = False, State.RUN
        if bench.fatal and self.state in (State.KEYED, State.RUN):
            self.fail(Fatal(Cause(bench.fatal[0]), *bench.fatal[1:]))
        elif bench.closes:
            self.scrub(State.IDLE)
        return worked

    def _model(self) -> bool:
        worked = False
        try:
            for queue in self.queues:
                worked |= self.transfers.step(queue)
                if self.state not in (State.KEYED, State.RUN):
                    break
            worked |= self.kernel.step()
        except Fatal as fatal:
            self.fail(fatal)
            worked = True
        return worked

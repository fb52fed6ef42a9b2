# SPDX-License-Identifier: Apache-2.0
"""Models the protected card's DMA transfers, chunk by chunk (docs/protocol.md §5)."""

from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant.protected.model import wire
from maeslant.protected.model.card import Kernel, Memory, Region
from maeslant.protected.model.constants import Cause, Class, Flag, Kind, Status
from maeslant.protected.model.keys import BudgetError, Capabilities, Keys
from maeslant.protected.model.link import BusError, Link
from maeslant.protected.model.queues import Chunk, Fatal, Queue, Request, Transfer


class Card(Protocol):
    """Defines the part of the card model (device.Device) that its DMA transfers use."""

    beat: int
    bus: Link
    capabilities: Capabilities
    kernel: Kernel
    keys: Keys | None
    memory: Memory
    monitor: list

    def answer(self, queue: Queue, request: Request, status: Status, *more: object) -> None:
        """Seals the card model's response to a request and writes it to host memory."""


class Transfers:
    """Models the DMA transfers of all request queues of the protected card."""

    def __init__(self, device: Card) -> None:
        self.device = device

    def arm(self, queue: Queue, request: Request) -> None:
        """Accepts an H2D or D2H request: checks and queues its chunk, reserves device memory."""
        place = wire.Transfer.unpack(request.body)
        status = self._refusal(queue, request.kind, place)
        if status:
            self.give_up(queue)
            self.device.answer(queue, request, status)
            return
        transfer = queue.open
        transfer.index += 1
        transfer.address = place.address + place.length
        cls = Class.DMA_IN if request.kind == Kind.H2D else Class.DMA_OUT
        try:
            self.device.keys.get(cls, request.epoch).spend(place.length)
        except BudgetError:
            raise Fatal(Cause.BUDGET, queue.index, request.sequence) from None
        if place.flags & Flag.LAST:
            queue.open = None
        queue.chunks.append(Chunk(request, place, transfer))

    def _refusal(self, queue: Queue, kind: int, place: wire.Transfer) -> Status | None:
        capabilities = self.device.capabilities
        if not place.legal(1 << capabilities.log2_memory, 1 << capabilities.log2_chunk):
            return Status.RANGE
        transfer = queue.open
        if place.index:
            if transfer is None or (
                (transfer.kind, transfer.region.base, transfer.region.total)
                + (transfer.after, transfer.index, transfer.address)
                != (kind, place.base, place.total, place.after, place.index, place.address)
            ):
                return Status.ORDER
            return None
        if transfer:
            return Status.ORDER
        region = Region(place.base, place.total, kind == Kind.D2H)
        if not self.device.memory.reserve(region):
            return Status.REGION
        queue.open = Transfer(kind, region, place.after)
        return None

    def give_up(self, queue: Queue, transfer: Transfer | None = None) -> None:
        """Abandons a DMA transfer: clears and frees its device memory, answers its chunks."""
        transfer = transfer or queue.open
        if transfer is None:
            return
        if queue.open is transfer:
            queue.open = None
        chunks = [chunk for chunk in queue.chunks if chunk.transfer is transfer]
        if not transfer.region.d2h:
            self.device.memory.scrub(transfer.region)
        self.device.memory.regions.remove(transfer.region)
        for chunk in chunks:
            queue.chunks.remove(chunk)
            late = not chunk.engine and self._too_late(chunk) and chunk is chunks[0]
            self.device.answer(queue, chunk.request, Status.AFTER if late else Status.ABORTED)

    def _too_late(self, chunk: Chunk) -> bool:
        """Returns true if a chunk waits for a kernel run that a fault of the kernel prevents."""
        kernel = self.device.kernel
        return kernel.fault and kernel.runs < chunk.transfer.after

    def step(self, queue: Queue) -> bool:
        """Moves the next part of a queue's oldest chunk; returns true if it did anything."""
        if not queue.chunks:
            return False
        chunk = queue.chunks[0]
        if chunk.engine is None:
            if self._too_late(chunk):
                self.give_up(queue, chunk.transfer)
                return True
            if self.device.kernel.runs < chunk.transfer.after:
                return False
            self._begin(queue, chunk)
            return True
        try:
            if chunk.moved < chunk.place.length:
                self._move(queue, chunk)
            else:
                self._check(queue, chunk)
        except BusError:
            raise Fatal(Cause.BEAT, queue.index, chunk.request.sequence) from None
        return True

    def _begin(self, queue: Queue, chunk: Chunk) -> None:
        """Locks the memory region of a chunk and starts the chunk's GCM cipher."""
        chunk.transfer.region.locked = True
        h2d = chunk.request.kind == Kind.H2D
        cls = Class.DMA_IN if h2d else Class.DMA_OUT
        key = self.device.keys.get(cls, chunk.request.epoch)
        iv = key.iv(queue.index, chunk.request.sequence)
        cipher = Cipher(algorithms.AES256(key.bytes), modes.GCM(iv))
        chunk.engine = cipher.decryptor() if h2d else cipher.encryptor()
        chunk.engine.authenticate_additional_data(
            chunk.place.aad(cls, queue.index, chunk.request.epoch, chunk.request.sequence)
        )

    def _move(self, queue: Queue, chunk: Chunk) -> None:
        """Moves up to 512 bytes of a chunk between host and device memory through GCM."""
        device, place = self.device, chunk.place
        size = min(device.beat, place.length - chunk.moved)
        host, at = place.host + chunk.moved, place.address + chunk.moved
        if chunk.request.kind == Kind.H2D:
            data = device.bus.dma_read(host, size)
            if len(data) != size:
                raise BusError
            if device.keys is None:
                return  # taken back by the OS meanwhile: the beat is dropped
            device.memory.data[at : at + size] = chunk.engine.update(data)
        else:
            device.bus.dma_write(
                host, chunk.engine.update(bytes(device.memory.data[at : at + size]))
            )
        chunk.moved += size

    def _check(self, queue: Queue, chunk: Chunk) -> None:
        """Checks a moved chunk's GCM tag, releases its memory region, sends the response."""
        device, place = self.device, chunk.place
        data = b""
        if chunk.request.kind == Kind.H2D:
            try:
                chunk.engine.finalize_with_tag(place.tag)
            except InvalidTag:
                raise Fatal(Cause.CHUNK, queue.index, chunk.request.sequence) from None
        else:
            chunk.engine.finalize()
            data = chunk.engine.tag
        queue.chunks.popleft()
        if place.flags & Flag.LAST:
            region = chunk.transfer.region
            device.memory.regions.remove(region)
            if not region.d2h:
                inside = bytes(device.memory.data[region.base : region.base + region.total])
                device.monitor.append(("release", queue.index, region.base, inside))
        device.answer(queue, chunk.request, Status.OK, 1, place.length, data)

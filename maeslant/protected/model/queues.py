# SPDX-License-Identifier: Apache-2.0
"""Defines the state of a request queue of the card model: requests, batches, chunks."""

import dataclasses
from collections import deque

from maeslant.protected.model import wire
from maeslant.protected.model.card import Region
from maeslant.protected.model.constants import MAILBOX_BYTES, Cause


class Fatal(Exception):
    """Raised in the card model for an error that ends its session (H5)."""

    def __init__(self, cause: Cause, queue: int, sequence: int) -> None:
        super().__init__(f"{cause.name} at queue {queue}, number {sequence}")
        self.cause, self.queue, self.sequence = cause, queue, sequence


@dataclasses.dataclass
class Request:
    """Holds a request that the card model took from its queue's mailbox."""

    sequence: int
    epoch: int
    kind: int = 0
    body: bytes = b""


@dataclasses.dataclass
class Batch:
    """Holds a BATCH request that the card model executes, with the values read so far."""

    request: Request
    operations: list[wire.Operation]
    at: int = 0
    data: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Transfer:
    """Holds a DMA transfer of the card model whose chunks are arriving or being moved."""

    kind: int
    region: Region
    after: int
    index: int = 0  # of the next chunk
    address: int = 0


@dataclasses.dataclass
class Chunk:
    """Holds a chunk of a DMA transfer that the card model has accepted and not finished.

    ``engine`` exists once its data moves.
    """

    request: Request
    place: wire.Transfer
    transfer: Transfer
    engine: object = None
    moved: int = 0


class Queue:
    """Holds the card model's state of one request queue."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.next = 1
        self.epoch = 0
        self.response_base = 0
        self.mailbox = bytearray(MAILBOX_BYTES)
        self.snapshot: tuple[Request, bytes, int] | None = None  # VERIFY
        self.batch: Batch | None = None  # EXEC
        self.unanswered: dict[int, int] = {}  # number: epoch
        self.outcomes: dict[int, bool] = {}
        self.open: Transfer | None = None
        self.chunks: deque[Chunk] = deque()

    def ready(self, depth: int) -> bool:
        """Returns true if the card model can take another request of this queue."""
        return self.snapshot is None and self.batch is None and len(self.chunks) < depth

# SPDX-License-Identifier: Apache-2.0
"""Defines the state of a request queue of the card model: requests, batches, chunks."""

import dataclasses
from collections import deque

from maeslant.protected.model import wire
from maeslant.protected.model.card import Region
from maeslant.protected.model.constants import MAILBOX_BYTES, Cause


class Fatal(Exception):
    """Raised in the card model for an error that ends the encrypted session (H5)."""

    def __init__(self, cause: Cause, queue: int, sequence: int) -> None:
        super().__init__(f"{cause.name} at queue {queue}, number {sequence}")
        self.cause, self.queue, self.sequence = cause, queue, sequence


@dataclasses.dataclass
class Request:
    """Holds a request that the card model has copied out of the queue's mailbox."""

    sequence: int
    epoch: int
    kind: int = 0
    body: bytes = b""


@dataclasses.dataclass
class Batch:
    """Holds a BATCH request under execution in the card model, with the register values read."""

    request: Request
    operations: list[wire.Operation]
    at: int = 0
    data: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Transfer:
    """Holds the state of a chunked DMA transfer in the card model."""

    kind: int
    region: Region
    after: int
    index: int = 0  # of the next chunk
    address: int = 0


@dataclasses.dataclass
class Chunk:
    """Holds a chunk of a DMA transfer that the card model has accepted but not completed.

    ``engine`` exists once its data moves.
    """

    request: Request
    place: wire.Transfer
    transfer: Transfer
    engine: object = None
    moved: int = 0


class Queue:
    """Holds the state of one request queue in the card model."""

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
        """Returns true if the card model can accept another request in this queue."""
        return self.snapshot is None and self.batch is None and len(self.chunks) < depth

# SPDX-License-Identifier: Apache-2.0
"""Defines the constants of the protected channel (docs/protocol.md)."""

import enum

from maeslant.build.generated import mae_guard as registers
from maeslant.build.generated.mae_guard import Cause as Cause
from maeslant.build.generated.mae_guard import State as State

VERSION = 1
GRANULE = 64
MAX_CHUNK = 1 << 20
MAX_OPERATIONS = 64
TAG = 16
BLOCK = 16
DEVICE_BLOCKS = 24_296_003_999  # H12: floor(2**34.5) blocks under one key
HOST_BLOCKS = 1 << 34
LAST_EPOCH = 65_535
SLOTS = 64
SLOT_BYTES = 1024
OUTCOMES = 64
KERNEL = 0xFFFF_FFFF  # in place of a WAIT's queue
STAGE = 4096  # H10

PAGE = 0x1000
STATE, CAUSE, CAUSE_SEQUENCE = registers.STATE, registers.CAUSE, registers.CAUSE_SEQUENCE_LO
CAPABILITIES, RESET = registers.CAPABILITIES_LO, registers.RESET_WORD
DEVICE_NONCE, HOST_NONCE = registers.DEVICE_NONCE, registers.HOST_NONCE
MAILBOX, DOORBELL = registers.QUEUE_MAILBOX, registers.QUEUE_DOORBELL
STATUS, RESPONSE_BASE = registers.QUEUE_STATUS, registers.QUEUE_RESPONSE_BASE_LO
NEXT = registers.QUEUE_NEXT_LO
MAILBOX_BYTES = DOORBELL - MAILBOX
RESET_WORD = 0x52455354


class Class(enum.IntEnum):
    """Numbers the four message classes of the protected channel, each with keys of its own."""

    REQUEST = 1
    RESPONSE = 2
    DMA_IN = 3
    DMA_OUT = 4


class Kind(enum.IntEnum):
    """Numbers the kinds of requests: OPEN, BATCH, H2D, D2H, REKEY, SKIP, CLOSE."""

    OPEN = 1
    BATCH = 2
    H2D = 3
    D2H = 4
    REKEY = 5
    SKIP = 6
    CLOSE = 7


class Flag(enum.IntFlag):
    """Numbers the flags FIRST and LAST of a transfer's chunk."""

    FIRST = 1
    LAST = 2


class Op(enum.IntEnum):
    """Numbers the operations of a batch of register accesses: READ, WRITE, WAIT."""

    READ = 1
    WRITE = 2
    WAIT = 3


class Status(enum.IntEnum):
    """Numbers the statuses that a response of the protected card can report."""

    OK = 1
    STATE = 2
    KIND = 3
    LENGTH = 4
    BODY = 5
    OPERATION = 6
    OFFSET = 7
    WAIT = 8
    RANGE = 9
    ORDER = 10
    REGION = 11
    AFTER = 12
    ABORTED = 13
    EPOCH = 14
    LIMIT = 15

# SPDX-License-Identifier: Apache-2.0
"""Defines the interface of a pool of AES cards: run a function on a card, process messages."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol, Self

from maeslant.driver.device import Device
from maeslant.driver.pool import messages


class Answer(Protocol):
    """Defines the future of a task (a function call) that a pool runs on an AES card."""

    def result(self) -> object:
        """Waits until a task of the card pool has ended; returns its result or raises its error."""

    def done(self) -> bool:
        """Returns true if a task of the card pool has ended."""

    def cancel(self) -> object:
        """Cancels a queued task of the card pool that has not started; returns true on success."""


class Pool:
    """Defines the interface of a pool of AES cards, which processes messages as a Device does."""

    width = 1  # cards

    def run(self, call: Callable[..., object], *arguments: object) -> Answer:
        """Runs a task on a card of the pool, on another card after a failure; returns its future.

        So ``call`` must be a function of a module, and give the same whenever it runs.
        """
        raise NotImplementedError

    def caps(self) -> dict[str, object]:
        """Returns the capabilities that all cards of the pool have, and a list of the cards."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the pool of AES cards and every card in the pool. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def stream(
        self, mode: str, direction: int, key: bytes | bytearray, iv: bytes | None
    ) -> Iterator["messages.Stream"]:
        """Begins an unauthenticated message on the pool's AES cards; yields a Stream."""
        stream = messages.Stream(self, mode, direction, bytes(key), iv)
        try:
            yield stream
        finally:
            stream.free()

    @contextlib.contextmanager
    def message(
        self,
        mode: str,
        direction: int,
        key: bytes | bytearray,
        nonce: bytes | None,
        lengths: tuple[int, int],
        tag_bytes: int,
        unverified: bool = False,
    ) -> Iterator["messages.Gcm | messages.Ccm | messages.Cmac"]:
        """Begins a GCM, CCM or CMAC message on the pool's AES cards; yields the message object."""
        messages.check_sizes(mode, nonce, tag_bytes)
        kind = {"gcm": messages.Gcm, "ccm": messages.Ccm, "cmac": messages.Cmac}[mode]
        message = kind(self, direction, bytes(key), nonce, lengths, tag_bytes, unverified)
        try:
            yield message
        finally:
            message.free()


def describe(device: Device) -> dict[str, object]:
    """Returns a device's capabilities; a module's function, to be called in other processes."""
    return device.caps()

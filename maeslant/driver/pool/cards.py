# SPDX-License-Identifier: Apache-2.0
"""Defines the interface of a pool of cards: run a function on a card, process messages."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol, Self

from maeslant.driver.device import Device
from maeslant.driver.pool import messages


class Answer(Protocol):
    """Holds the future result of a function that runs on a card of a pool."""

    def result(self) -> object:
        """Waits for a function on a card and returns its result or raises its exception."""

    def done(self) -> bool:
        """Returns true once a function on a card has ended."""

    def cancel(self) -> object:
        """Cancels a function for a card if the function has not started."""


class Pool:
    """Replaces a single device by a pool of cards for files; use it as a context manager."""

    width = 1  # cards

    def run(self, call: Callable[..., object], *arguments: object) -> Answer:
        """Starts a function on a card of the pool; repeats it on another if that card fails.

        So ``call`` must be a function of a module, and give the same whenever it runs.
        """
        raise NotImplementedError

    def caps(self) -> dict[str, object]:
        """Returns the capabilities that all cards of the pool share, and the list of cards."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the pool and all its cards. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def stream(
        self, mode: str, direction: int, key: bytes | bytearray, iv: bytes | None
    ) -> Iterator["messages.Stream"]:
        """Opens a message of an unauthenticated mode, processed in pieces by the pool's cards."""
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
        """Opens a gcm, ccm or cmac message, processed piece by piece by the pool's cards."""
        messages.check_sizes(mode, nonce, tag_bytes)
        kind = {"gcm": messages.Gcm, "ccm": messages.Ccm, "cmac": messages.Cmac}[mode]
        message = kind(self, direction, bytes(key), nonce, lengths, tag_bytes, unverified)
        try:
            yield message
        finally:
            message.free()


def describe(device: Device) -> dict[str, object]:
    """Returns a card's capabilities as a function for :meth:`Pool.run`."""
    return device.caps()

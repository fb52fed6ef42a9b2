# SPDX-License-Identifier: Apache-2.0
"""Defines the interface of a pool of AES cards: run a function on a card, process messages."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol, Self

from maeslant.driver.device import Device
from maeslant.driver.pool import messages


class Answer(Protocol):
    """Defines the future that a pool returns for a function it runs on one of its cards."""

    def result(self) -> object:
        """Waits until a pool has run a function; returns its result or raises its exception."""

    def done(self) -> bool:
        """Returns true once the function that a pool runs on one of its cards has ended."""

    def cancel(self) -> object:
        """Cancels a function that waits for a card of a pool and has not started."""


class Pool:
    """Defines a pool of AES cards that processes messages as a single Device does."""

    width = 1  # cards

    def run(self, call: Callable[..., object], *arguments: object) -> Answer:
        """Starts a function on a card, again on another if that card fails; returns its future.

        So ``call`` must be a function of a module, and give the same whenever it runs.
        """
        raise NotImplementedError

    def caps(self) -> dict[str, object]:
        """Returns the capabilities that all cards of the pool share, and the list of cards."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the pool and all its AES cards. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def stream(
        self, mode: str, direction: int, key: bytes | bytearray, iv: bytes | None
    ) -> Iterator["messages.Stream"]:
        """Begins a message without authentication on the pool's cards; yields it as a Stream."""
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
        """Begins a GCM, CCM or CMAC message on the pool's cards; yields its Gcm, Ccm or Cmac."""
        messages.check_sizes(mode, nonce, tag_bytes)
        kind = {"gcm": messages.Gcm, "ccm": messages.Ccm, "cmac": messages.Cmac}[mode]
        message = kind(self, direction, bytes(key), nonce, lengths, tag_bytes, unverified)
        try:
            yield message
        finally:
            message.free()


def describe(device: Device) -> dict[str, object]:
    """Returns a device's capabilities; a picklable function, so that other processes can run it."""
    return device.caps()

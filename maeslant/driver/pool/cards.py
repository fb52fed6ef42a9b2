# SPDX-License-Identifier: Apache-2.0
"""What a pool is, wherever its cards are: it runs functions on cards, and takes whole messages."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol, Self

from maeslant.driver.device import Device
from maeslant.driver.pool import messages


class Answer(Protocol):
    """What a function that runs on a card will give."""

    def result(self) -> object:
        """Wait for it; the function's own exception, or that no card is left."""

    def done(self) -> bool:
        """Whether ``result`` would not wait."""

    def cancel(self) -> object:
        """It is wanted no more."""


class Pool:
    """The cards of a pool; use it as a context manager. Takes the place of a Device for files."""

    width = 1  # cards

    def run(self, call: Callable[..., object], *arguments: object) -> Answer:
        """Begin ``call(device, *arguments)`` on a card, and on another whenever that one fails.

        So ``call`` must be a function of a module, and give the same whenever it runs.
        """
        raise NotImplementedError

    def caps(self) -> dict[str, object]:
        """What the cards can do together, as ``Device.caps``, and the cards themselves."""
        raise NotImplementedError

    def close(self) -> None:
        """Give everything back. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def stream(
        self, mode: str, direction: int, key: bytes | bytearray, iv: bytes | None
    ) -> Iterator["messages.Stream"]:
        """A message of a plain mode in pieces, as ``Device.stream``."""
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
        """A message of gcm, ccm or cmac in pieces, as in :mod:`maeslant.driver.aead`."""
        messages.check_sizes(mode, nonce, tag_bytes)
        kind = {"gcm": messages.Gcm, "ccm": messages.Ccm, "cmac": messages.Cmac}[mode]
        message = kind(self, direction, bytes(key), nonce, lengths, tag_bytes, unverified)
        try:
            yield message
        finally:
            message.free()


def describe(device: Device) -> dict[str, object]:
    """A card's capabilities; for :meth:`Pool.run`."""
    return device.caps()

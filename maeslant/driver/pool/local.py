# SPDX-License-Identifier: Apache-2.0
"""Runs a pool of AES cards in this process, through the C driver, one thread for each card."""

import concurrent.futures
import re
from collections.abc import Callable

from maeslant.driver.device import (
    CODES,
    NULL,
    Device,
    DeviceError,
    build_simulation,
    check,
    library,
)
from maeslant.driver.pool.cards import Pool
from maeslant.errors import MaeslantError


class Local(Pool):
    """Implements a pool of AES cards in this process, for example "pool:sim:stream4,4*CARD"."""

    def __init__(self, uri: str) -> None:
        self.ffi, self.lib = library()
        self.uri, self.handle = uri, None
        for card in set(uri.removeprefix("pool:").split(",")):
            card = re.sub(r"^\d+\*", "", card)
            if card == NULL:
                raise MaeslantError(f"{NULL} computes nothing: it is no card of a pool")
            if card.startswith("sim:"):
                build_simulation(card)
        handle = self.ffi.new("mae_pool_t **")
        check(self.lib.mae_pool_open(uri.encode(), handle))
        self.handle = handle[0]
        self.width = len(self.cards())
        self.threads = concurrent.futures.ThreadPoolExecutor(self.width, "maeslant-card")

    def close(self) -> None:
        """Closes the pool: waits for running functions, cancels queued ones, erases the keys."""
        if self.handle is not None:
            self.threads.shutdown(wait=True, cancel_futures=True)
            self.lib.mae_pool_close(self.handle)
            self.handle = None

    def run(self, call: Callable[..., object], *arguments: object) -> concurrent.futures.Future:
        """Starts a function on the pool's next free card, in a thread; returns the future."""
        return self.threads.submit(self.on_a_card, call, *arguments)

    def on_a_card(self, call: Callable[..., object], *arguments: object) -> object:
        """Runs a function on the pool's first free card, in the calling thread; returns its result.

        Raises DeviceError when all cards have failed.
        """
        handle = self.ffi.new("mae_dev_t **")
        while True:
            check(self.lib.mae_pool_lend(self.handle, handle))
            code, error, result = 0, None, None
            try:
                result = call(Device.of(handle[0], self.uri), *arguments)
            except DeviceError as caught:
                code, error = caught.code, caught
            finally:
                again = self.lib.mae_pool_give(self.handle, handle[0], code)
            if not again:
                break
        if error:
            raise error
        return result

    def crypt(self, mode: str, direction: int, key: bytes, iv: bytes | None, data: bytes) -> bytes:
        """Encrypts or decrypts a message on the pool's cards, by C; returns the result."""
        result = self.ffi.new("uint8_t[]", max(1, len(data)))
        check(
            self.lib.mae_pool_crypt(
                self.handle,
                CODES[mode],
                direction,
                self.ffi.from_buffer(key),
                len(key),
                self.ffi.NULL if iv is None else self.ffi.from_buffer(iv),
                self.ffi.from_buffer(data),
                result,
                len(data),
            )
        )
        return bytes(self.ffi.buffer(result, len(data)))

    def cards(self) -> list[dict[str, object]]:
        """Returns the pool's cards, each with URI, error, number of loans and clock cycles."""
        room, count = 64, self.ffi.new("size_t *")
        infos = self.ffi.new("struct mae_pool_card[]", room)
        check(self.lib.mae_pool_cards(self.handle, infos, room, count))
        return [
            {
                "uri": self.ffi.string(info.uri).decode(),
                "error": int(info.error),
                "why": self.ffi.string(info.why).decode(),
                "loans": info.loans,
                "clocks": info.clocks,
                "pool_clock": info.pool_clock,
            }
            for info in infos[0 : count[0]]
        ]

    def caps(self) -> dict[str, object]:
        """Returns the capabilities that all cards of the pool share, and the cards' URIs."""
        found = Device.of(self.handle, self.uri).read("mae_caps", self.lib.mae_pool_get_caps)
        return {**found, "cards": [card["uri"] for card in self.cards()]}

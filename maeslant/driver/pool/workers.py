# SPDX-License-Identifier: Apache-2.0
"""Runs a pool of AES cards on a Dask cluster, each of whose workers owns cards.

A worker opens what its $MAESLANT_CARDS names (by default one simulated card) when the first part
comes, and keeps it open. Parts travel with their key and data, so that any worker can do any part,
and again when a worker is lost with it: take a network that may see both, or tls://.
"""

import concurrent.futures
import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable

from maeslant.driver.device import DeviceError, library
from maeslant.driver.pool import cards
from maeslant.driver.pool.local import Local
from maeslant.errors import MaeslantError
from maeslant.integrations import cluster

RESOURCE = "card"
CARDS = "MAESLANT_CARDS"
DEFAULT = "sim:stream?lanes=4"
SOURCES = ("driver/**/*.[ch]", "maeslant/driver/pool/*.py", "maeslant/driver/device.py")
PATIENCE_S = 20  # without any card that could do a part
POLL_S = 2
HINT = (
    "start one with `MAESLANT_CARDS=2*sim:stream4 .venv/bin/dask worker {} --resources card=2 "
    "--nthreads 2`"
)


class CardsGone(MaeslantError):
    """Raised when all AES cards of a Dask worker have failed."""

    def __init__(self, message: str, address: str) -> None:
        super().__init__(message)
        self.address = address

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.address)


_opening = threading.Lock()


@functools.cache
def _open_cards() -> Local:
    return Local("pool:" + os.environ.get(CARDS, DEFAULT))


def own_cards() -> Local:
    """Opens the AES cards of this Dask worker at the first call; returns them as a pool."""
    with _opening:
        return _open_cards()


def on_worker(call: Callable[..., object], arguments: tuple[object, ...]) -> object:
    """Runs a function on one of this Dask worker's AES cards and returns its result.

    Raises CardsGone, and what ``call`` raises.
    """
    from distributed import get_worker

    try:
        return own_cards().on_a_card(call, *arguments)
    except DeviceError as error:
        if error.code == library()[1].MAE_E_NO_DEVICE:
            raise CardsGone(str(error), get_worker().address) from None
        raise


class Part:
    """Submits a function for one card to a Dask cluster; submits again if a worker's cards fail."""

    def __init__(self, pool: "Cluster", call: Callable[..., object], arguments: tuple) -> None:
        self.pool, self.call, self.arguments = pool, call, arguments
        self._begin()

    def _begin(self) -> None:
        # By name only once some have failed: a worker that joins later is as welcome.
        self.where = self.pool.workers() - self.pool.gone if self.pool.gone else set()
        self.future = self.pool.client.submit(
            on_worker,
            self.call,
            self.arguments,
            resources={RESOURCE: 1},
            pure=False,
            workers=sorted(self.where) or None,
        )

    def done(self) -> bool:
        """Returns true once the Dask cluster has the result of the submitted function."""
        return self.future.done()

    def cancel(self) -> None:
        """Cancels the submitted function on the Dask cluster."""
        with contextlib.suppress(Exception):
            self.future.cancel()

    def result(self) -> object:
        """Waits for the function submitted to the Dask cluster and returns its result.

        Raises MaeslantError when no card is left to do it.
        """
        hopeless = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.future.result(timeout=POLL_S)
            except CardsGone as error:
                self._elsewhere(error)
            except (TimeoutError, concurrent.futures.TimeoutError):
                left = self.pool.workers() - self.pool.gone
                if left:
                    hopeless = time.monotonic() + PATIENCE_S
                    if self.where and not self.where & left:
                        self._begin()
                elif time.monotonic() > hopeless:
                    raise MaeslantError(
                        f"no worker with a card is left at {self.pool.address}; "
                        + HINT.format(self.pool.address)
                    ) from None
            except (concurrent.futures.CancelledError, OSError) as error:
                raise MaeslantError(
                    f"the scheduler at {self.pool.address} has gone: {error}"
                ) from None
            except MaeslantError:
                raise
            except Exception as error:
                if type(error).__name__ != "KilledWorker":
                    raise
                raise MaeslantError(
                    "three workers died while running the same part, which is not tried again; "
                    f"see their logs ({error})"
                ) from None

    def _elsewhere(self, error: CardsGone) -> None:
        """Submits the function to another Dask worker after a worker's cards have failed."""
        self.pool.gone.add(error.address)
        if not self.pool.workers() - self.pool.gone:
            raise MaeslantError(
                f"the cards of every worker at {self.pool.address} have failed: {error}"
            ) from None
        self._begin()


class Cluster(cards.Pool):
    """Implements a pool of the AES cards of a Dask cluster: "pool:tcp://SCHEDULER:PORT"."""

    def __init__(self, uri: str) -> None:
        self.address = uri.removeprefix("pool:")
        self.gone: set[str] = set()
        self.stack = contextlib.ExitStack()
        self.client = self.stack.enter_context(cluster.connect(self.address, SOURCES))
        self.width = sum(self._resources().values())
        if not self.width:
            self.close()
            raise MaeslantError(
                f"no worker at {self.address} has a card; " + HINT.format(self.address)
            )

    def close(self) -> None:
        """Disconnects from the Dask cluster, whose workers keep their AES cards open."""
        self.stack.close()

    def _resources(self) -> dict[str, int]:
        """Returns the number of AES cards of each Dask worker, by the worker's address."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        found = {name: int(about["resources"].get(RESOURCE, 0)) for name, about in workers.items()}
        return {name: number for name, number in found.items() if number}

    def workers(self) -> set[str]:
        """Returns the addresses of the Dask workers that have AES cards."""
        return set(self._resources())

    def run(self, call: Callable[..., object], *arguments: object) -> Part:
        """Submits a function to the Dask cluster, for a card of any worker; returns its future."""
        return Part(self, call, arguments)

    def caps(self) -> dict[str, object]:
        """Returns the capabilities of one card, and the number of cards of each Dask worker."""
        found = self.run(cards.describe).result()
        names = [f"{number} at {name}" for name, number in sorted(self._resources().items())]
        return {**found, "backend": "pool", "name": f"{self.width} cards", "cards": names}

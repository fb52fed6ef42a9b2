# SPDX-License-Identifier: Apache-2.0
"""Connects to a Dask cluster and checks that its workers run the same sources.

Workers need no shared file system: each runs in a checkout of its own, with
``.venv/bin/dask worker tcp://HOST:PORT``.
"""

import contextlib
import functools
import hashlib
import logging
import re
import socket
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from maeslant import paths
from maeslant.errors import MaeslantError

if TYPE_CHECKING:
    import distributed

CONNECT_S = 5
WORKERS_S = 10
ADDRESS = re.compile(r"(?:tcp|tls)://(\[[^]]+\]|[^:/]+):(\d+)/?")


@functools.cache
def fingerprint(globs: tuple[str, ...]) -> str:
    """Returns a digest of source files, to compare a cluster's workers with this machine."""
    found = hashlib.sha256()
    for path in sorted({path for glob in globs for path in paths.ROOT.glob(glob)}):
        found.update(str(path.relative_to(paths.ROOT)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def _answer(globs: tuple[str, ...]) -> tuple[str, str]:
    """Returns a Dask worker's digest of its sources and the path of its checkout."""
    return fingerprint(globs), str(paths.ROOT)


def check_sources(globs: tuple[str, ...], expected: str) -> None:
    """Raises MaeslantError if a Dask worker's sources differ from the caller's."""
    if fingerprint(globs) != expected:
        raise MaeslantError(f"{paths.ROOT} of this worker has other sources than the caller")


@contextlib.contextmanager
def connect(address: str, globs: tuple[str, ...]) -> Iterator["distributed.Client"]:
    """Connects to a Dask scheduler and checks the workers' versions; yields the Dask client.

    ``globs``: the files that have to be the same everywhere. Raises MaeslantError: nobody answers,
    no worker is there, other versions, other sources.
    """
    noisy = logging.getLogger("distributed")
    level = noisy.level
    noisy.setLevel(logging.CRITICAL)  # what goes wrong comes by exception
    try:
        client = _client(address)
        try:
            _check(client, address, globs)
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=2)
    finally:
        noisy.setLevel(level)


def _client(address: str) -> "distributed.Client":
    """Connects to a Dask scheduler whose port answers; returns the client."""
    import distributed  # a second that those without a cluster need not wait

    match = ADDRESS.fullmatch(address)
    if not match:
        raise MaeslantError(f"{address!r} is no address of a scheduler: tcp://HOST:PORT")
    try:
        socket.create_connection((match[1].strip("[]"), int(match[2])), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise MaeslantError(
            f"no Dask scheduler answers at {address} ({error}); start one with "
            "`.venv/bin/dask scheduler`, workers with `.venv/bin/dask worker ADDRESS`"
        ) from None
    try:
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:
        raise MaeslantError(
            f"the server at {address} is no scheduler that this client, distributed "
            f"{distributed.__version__}, understands; it may run another version ({error})"
        ) from None


def _check(client: "distributed.Client", address: str, globs: tuple[str, ...]) -> None:
    """Raises MaeslantError if the Dask workers' versions or sources differ from this machine's."""
    until = time.monotonic() + WORKERS_S
    while not client.scheduler_info(n_workers=-1)["workers"]:
        if time.monotonic() > until:
            raise MaeslantError(
                f"the scheduler at {address} has no workers; start some with "
                f"`.venv/bin/dask worker {address}` in a checkout of this commit"
            )
        time.sleep(0.1)
    versions = client.get_versions()
    ours = _version(versions["client"])
    for name, theirs in {"the scheduler": versions["scheduler"], **versions["workers"]}.items():
        if _version(theirs) != ours:
            raise MaeslantError(
                f"{name} at {address} runs {_version(theirs)}, this machine {ours}; install the "
                "same requirements.lock there"
            )
    for worker, answer in client.run(_answer, globs, on_error="return").items():
        if isinstance(answer, BaseException):
            raise MaeslantError(
                f"worker {worker} cannot use this project ({answer}); start it with "
                "`.venv/bin/dask worker` in a checkout of this commit"
            )
        if answer[0] != fingerprint(globs):
            raise MaeslantError(
                f"worker {worker} has other sources in {answer[1]} than {paths.ROOT}: bring both "
                "to the same commit, without changes, and start the worker again"
            )


def _version(found: dict | None) -> str:
    """Returns the versions of Python and of `distributed` on a Dask worker."""
    if not found:
        return "something that tells no version"
    python = ".".join(str(dict(found["host"])["python"]).split(".")[:2])
    return f"Python {python} with distributed {found['packages']['distributed']}"

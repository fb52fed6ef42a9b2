# SPDX-License-Identifier: Apache-2.0
"""Keeps the media of a simulated block card in a file of this machine."""

import os
import pathlib

from maeslant.build import configurations, simulator
from maeslant.errors import MaeslantError, naming

LEAST, MOST = 1 << 13, 1 << 32  # bytes that the card's parameter and the simulator allow


def capacity(device: str) -> int:
    """Returns the bytes of the media of a named build's block card, 0 without media."""
    found = configurations.get(device)
    return 1 << found["parameters"]["MediaLog2"] if found.get("card") == "block" else 0


def size(device: str, file: pathlib.Path | None, wanted: int | None) -> int:
    """Returns the size in bytes of a block card's media, from the file if it exists.

    Raises MaeslantError if file and wish differ, or a card cannot have the size.
    """
    if not capacity(device):
        raise MaeslantError(f"{device} has no media; --media and --media-size are for block cards")
    found = wanted or capacity(device)
    if file is not None and ("&" in str(file.absolute()) or file.is_dir()):
        raise MaeslantError(f"{file}: media is kept in a file without & in its name")
    if file is not None and file.exists():
        found = file.stat().st_size
        if wanted not in (None, found):
            raise MaeslantError(f"{file} has {found} bytes, not {wanted}; it is left as it is")
    if not LEAST <= found <= MOST or found & (found - 1):
        raise MaeslantError(
            f"media of {found} bytes: the card wants a power of two from {LEAST} to {MOST}"
        )
    return found


def create(file: pathlib.Path, count: int) -> None:
    """Creates a file of zeros for a block card's media unless the file exists."""
    with naming(file):
        try:
            number = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return
        try:
            os.posix_fallocate(number, 0, count)
        except OSError:
            file.unlink()
            raise
        finally:
            os.close(number)


def library(device: str, count: int) -> pathlib.Path:
    """Builds a block card's simulator with media of ``count`` bytes; returns the path."""
    found = configurations.get(device)
    if count == capacity(device):
        return simulator.build(device)
    log2 = count.bit_length() - 1
    parameters = {**found["parameters"], "MediaLog2": log2}
    return simulator.build_top(f"{device}_media{log2}", str(found["top"]), parameters)

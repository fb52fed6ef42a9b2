# SPDX-License-Identifier: Apache-2.0
"""Defines MaeslantError, which the command line prints without a traceback."""

import contextlib
from collections.abc import Iterator


class MaeslantError(Exception):
    """Reports an error that the user can correct; its text says how."""


@contextlib.contextmanager
def naming(name: object) -> Iterator[None]:
    """Converts, while the context is open, an OSError without file name to one that names it."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has what it wants
    except OSError as error:
        if error.filename is not None:
            raise
        raise MaeslantError(f"{name}: {error.strerror}") from error

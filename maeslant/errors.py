# SPDX-License-Identifier: Apache-2.0
"""Defines the exception that the command line prints as a message instead of a traceback."""

import contextlib
from collections.abc import Iterator


class MaeslantError(Exception):
    """Reports an error that the user can correct; its text says what is wrong and what to do."""


@contextlib.contextmanager
def naming(name: object) -> Iterator[None]:
    """Adds the name of a file to an OSError that carries none, as a MaeslantError."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has what it wants
    except OSError as error:
        if error.filename is not None:
            raise
        raise MaeslantError(f"{name}: {error.strerror}") from error

# SPDX-License-Identifier: Apache-2.0
"""Defines MaeslantError, which the command line prints without a traceback."""

import contextlib
from collections.abc import Iterator


class MaeslantError(Exception):
    """Reports an error that the user can correct; the error's text says how."""


@contextlib.contextmanager
def naming(name: object) -> Iterator[None]:
    """Adds a file name to an OSError raised inside the context, if the error lacks one."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has what it wants
    except OSError as error:
        if error.filename is not None:
            raise
        raise MaeslantError(f"{name}: {error.strerror}") from error

# SPDX-License-Identifier: Apache-2.0
"""The one exception that the command line turns into a message instead of a traceback."""

import contextlib
from collections.abc import Iterator


class MaeslantError(Exception):
    """Something a person can act on; the text says what and how."""


@contextlib.contextmanager
def naming(name: object) -> Iterator[None]:
    """Say of a failed call which file or folder it was for: writes name none."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has what it wants
    except OSError as error:
        if error.filename is not None:
            raise
        raise MaeslantError(f"{name}: {error.strerror}") from error

# SPDX-License-Identifier: Apache-2.0
"""Tells whether this Python is new enough for the repository's tools.

The tools that run before there is an environment ask this before anything else, so that an old
Python ends with one line and no traceback. This file and those tools avoid the syntax of Python 3.8
and later: an old Python reads a whole file before it runs the first line.
"""

import sys

OLDEST = (3, 11)  # as requires-python in pyproject.toml


def is_new_enough() -> bool:
    """Returns true if this Python is one that the repository supports."""
    return sys.version_info >= OLDEST


def needed(tool: str) -> str:
    """Returns the line with which a tool refuses an old Python."""
    return (
        "{}: Python {}.{} or newer is needed, and this is {}.{}; name another one to make, such as "
        "PYTHON=python3.12".format(tool, *OLDEST, *sys.version_info[:2])
    )

# SPDX-License-Identifier: Apache-2.0
"""The one exception that the command line turns into a message instead of a traceback."""


class MaeslantError(Exception):
    """Something a person can act on; the text says what and how."""

# SPDX-License-Identifier: Apache-2.0
"""Implements the command line of Maeslant: `maeslant COMMAND`.

Thin: each command calls the module that does the work.
"""

import contextlib
import errno
import io
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import typer
from rich.markup import escape

from maeslant import extras, paths
from maeslant.cli import (  # noqa: F401 they add their commands to app
    crypt,
    devices,
    doctor,
    fhe,
    gates,
    linux,
    protect,
)
from maeslant.cli.common import app, err
from maeslant.errors import MaeslantError, naming

INTERRUPTED = 130  # 128 + SIGINT, as shells have it; what typer makes of KeyboardInterrupt


def _terminated(number: int, frame: object) -> None:
    """Raises SystemExit on SIGTERM, so that a command cleans up as on Ctrl-C."""
    sys.exit(128 + number)


def _silence() -> None:
    """Redirects standard output to nowhere after a write error, to end the command quietly."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failure(error: subprocess.CalledProcessError) -> str:
    """Returns a line on a program that failed: its name, exit code and last words, if we have them.

    Its arguments, which may hold a key, stay out.
    """
    command = shlex.split(error.cmd) if isinstance(error.cmd, str) else error.cmd
    name = pathlib.Path(command[0]).name
    code = error.returncode
    how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
    said = error.stderr.strip().splitlines() if isinstance(error.stderr, str) else []
    return f"{name} {how}{f': {said[-1]}' if said else ''}"


class _Output(io.TextIOWrapper):
    """Wraps a command's standard output so that the text of a write error names standard output."""

    def write(self, text: str) -> int:
        """Writes text to standard output; returns its length; errors name standard output."""
        with naming("standard output"):
            return super().write(text)

    def flush(self) -> None:
        """Flushes standard output; errors name standard output."""
        with naming("standard output"):
            super().flush()


def main() -> int:
    """Runs the `maeslant` command line; prints an error as one line; returns the exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    if sys.stdout is None:  # closed by the parent process
        sys.stdout = open(os.devnull, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        own = {"encoding": sys.stdout.encoding, "errors": sys.stdout.errors}
        sys.stdout = _Output(sys.stdout.buffer, **own, line_buffering=sys.stdout.line_buffering)
    try:
        status = app(standalone_mode=False) or 0  # of a command that ended by typer.Exit
        if status == INTERRUPTED:
            err.print("interrupted", style="red")
        sys.stdout.flush()  # a full disk is an error here, and not one behind our back at exit
        return status
    except typer.Abort:
        err.print("interrupted", style="red")
        return INTERRUPTED
    except (MaeslantError, subprocess.CalledProcessError) as error:
        says = _failure(error) if isinstance(error, subprocess.CalledProcessError) else str(error)
        err.print(f"[red]error:[/] {escape(says)}", highlight=False)
        try:
            sys.stdout.flush()
        except (MaeslantError, OSError):
            _silence()
        return 1
    except BrokenPipeError:
        # The reader of our output has gone; silence the flush at exit too.
        _silence()
        return 1
    except OSError as error:
        folders = f"a file in {paths.BUILD} or {os.environ.get('TMPDIR', '/tmp')} (TMPDIR)"
        where = str(error.filename or folders)
        hint = ""
        if error.errno in (errno.EROFS, errno.EACCES) and where.startswith(str(paths.BUILD)):
            hint = "; MAESLANT_BUILD names another folder for what is built"
        err.print(f"[red]error:[/] {error.strerror}: {escape(where)}{hint}", highlight=False)
        return 1
    except ModuleNotFoundError as error:
        if (found := extras.missing(error.name or "")) is None:
            raise
        err.print(f"[red]error:[/] {escape(str(found))}", highlight=False)
        return 1
    except Exception as error:  # click's usage errors, which know how to show themselves
        if not hasattr(error, "show"):
            raise
        error.show()
        return error.exit_code
    return 0

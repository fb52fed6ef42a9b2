# SPDX-License-Identifier: Apache-2.0
"""Prints the man page maeslant(1) or a shell completion script."""

import enum
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import typer

from maeslant import __version__
from maeslant.cli import app

HEAD = r""".\" SPDX-License-Identifier: Apache-2.0
.TH MAESLANT 1 "" "maeslant {version}" "User Commands"
.SH NAME
maeslant \- build, run and measure AES accelerators
.SH SYNOPSIS
.B maeslant
.I COMMAND
.RI [ OPTIONS "] [" ARGUMENTS ]
.SH DESCRIPTION
{description}
.SH COMMANDS
"""
TAIL = r""".SH ENVIRONMENT
.TP
.B MAESLANT_BUILD
Folder of built simulators and reports; of an installed maeslant, $XDG_CACHE_HOME/maeslant without.
.TP
.B MAESLANT_SIM_PATH
Folders in which the driver looks for simulated devices, separated by colons.
.TP
.B MAESLANT_PDK
Folder of the Liberty files.
.TP
.B MAESLANT_OPTIMIZE
Compiler options of simulators; -O3 -march=native for long runs.
.TP
.B TMPDIR
Folder of what waits for its tag to be checked, which may be plaintext; /tmp without.
.SH EXIT STATUS
0 for success; 1 for an error, which is one line on standard error; 2 for wrong usage; 130 after an
interrupt.
.SH SEE ALSO
.BR openssl (1),
.BR verilator (1)
"""


def escape(text: str) -> str:
    """Returns a text escaped for roff, the format of man pages."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(
        rf"\&{line}" if line.startswith((".", "'")) else line for line in text.splitlines()
    )


def parameter(found: object) -> str:
    """Returns a command's argument or option in roff, the format of man pages."""
    if isinstance(found, typer.core.TyperArgument):
        head = rf"\fI{escape(found.metavar or found.name.removesuffix('_name').upper())}\fR"
    else:
        kind = found.type_descriptor.annotation
        choices = [item.value for item in kind] if isinstance(kind, enum.EnumType) else ["VALUE"]
        value = "" if found.is_flag else rf" \fI{escape(found.metavar or '|'.join(choices))}\fR"
        names = (rf"\fB{escape(name)}\fR" for name in (*found.opts, *found.secondary_opts))
        head = ", ".join(names) + value
    default = found.default
    known = default not in (None, "", False, True) and not callable(default)
    text = (found.help or "") + (f" Default: {default}." if known else "")
    return f".TP\n{head}\n{escape(text)}\n"


def commands(group: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yields all visible commands of `maeslant`, as (full name, command object)."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def page() -> str:
    """Returns the man page maeslant(1) in roff format."""
    group = typer.main.get_command(app)
    text = HEAD.format(version=__version__, description=escape(group.help or ""))
    for name, command in commands(group):
        text += (
            f".SS {escape(name)}\n{escape((command.help or '').replace(chr(10) * 2, chr(10)))}\n"
        )
        text += "".join(map(parameter, command.params))
    return text + TAIL


def completion(shell: str) -> str:
    """Returns the script for shell completion of `maeslant` commands."""
    code = "from maeslant.cli import app; app(prog_name='maeslant')"
    environment = os.environ | {"_MAESLANT_COMPLETE": f"source_{shell}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    print(completion(sys.argv[2]) if sys.argv[1:2] == ["--completion"] else page(), end="")

# SPDX-License-Identifier: Apache-2.0
"""Generates the Markdown page of the command line from the help of its commands."""

import re

import typer
from typer.cli import get_docs_for_click

from maeslant.cli import app


def page() -> str:
    """Returns the Markdown page on the command line: all commands with their options."""
    command = typer.main.get_command(app)
    text = get_docs_for_click(
        obj=command, ctx=typer.Context(command), name="maeslant", title="Command line"
    )
    # The help shows choices and defaults in brackets, which Markdown would take for links.
    text = re.sub(r"(?<!`)\[(default|required|env var|choices)([^\]\n]*)\]", r"(\1\2)", text)
    note = "Generated from the commands' own help; `maeslant COMMAND --help` prints the same.\n"
    head, rest = text.split("\n", 1)
    return f"{head}\n\n{note}{rest.rstrip()}\n"

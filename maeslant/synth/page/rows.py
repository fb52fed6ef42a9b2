# SPDX-License-Identifier: Apache-2.0
"""Describes the synthesis tables: their rows, and a row's `maeslant synth` command."""

import dataclasses

FLAGS = {"period_ns": "--period", "abc": "--map", "seeds": "--seeds"}  # of options


@dataclasses.dataclass(frozen=True)
class Ours:
    """Describes a row of the synthesis tables for one of Maeslant's designs."""

    name: str
    target: str = "nangate45"
    parameters: dict[str, object] = dataclasses.field(default_factory=dict)
    options: dict[str, object] = dataclasses.field(default_factory=dict)
    label: str = ""

    @property
    def title(self) -> str:
        """Returns this table row's label."""
        values = ", ".join(f"{key} {value}" for key, value in self.parameters.items())
        return self.label or f"`{self.name}`" + (f" ({values})" if values else "")

    @property
    def command(self) -> str:
        """Returns the `maeslant synth` command that creates this table row's report."""
        words = ["maeslant synth", self.name]
        words += [f"-G {key}={value}" for key, value in self.parameters.items()]
        words += [] if self.target == "nangate45" else [f"--target {self.target}"]
        for option, flag in FLAGS.items():
            if option in self.options:
                words.append(f"{flag} {self.options[option]}")
        words += ["--keep"] if self.options.get("flatten") is False else []
        return " ".join(words + (["--power"] if self.options.get("power") else []))


@dataclasses.dataclass(frozen=True)
class Difference:
    """Describes a row of the synthesis tables that compares two of Maeslant's designs."""

    whole: Ours
    part: Ours
    label: str
    share: bool = False


@dataclasses.dataclass(frozen=True)
class Table:
    """Describes a table of synthesis results: title, introduction, columns, rows."""

    title: str
    says: str
    columns: tuple[str, ...]
    rows: tuple[object, ...]

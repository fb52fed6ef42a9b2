# SPDX-License-Identifier: Apache-2.0
"""Tests `--json`: each command has it, and prints one JSON document and nothing else."""

import json
import pathlib
from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from maeslant.bench import waves
from maeslant.cli import app
from maeslant.errors import MaeslantError
from maeslant.guest import checks

# Commands without --json, and why.
WITHOUT = {
    "verilator": "it becomes Verilator, which has options of its own",
    "demo": "`make run` shows people what there is; each part has a command with --json",
}


def commands() -> Iterator[tuple[str, typer.core.TyperCommand]]:
    """Yields all commands of `maeslant` with their names, those of groups too."""

    def visit(group: typer.core.TyperGroup, before: str) -> Iterator:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from visit(command, f"{before}{name} ")
            else:
                yield f"{before}{name}", command

    yield from visit(typer.main.get_command(app), "")


def printed(*words: str, status: int = 0) -> object:
    """Runs `maeslant` with --json, asserts its exit status; returns the JSON that it prints."""
    result = CliRunner().invoke(app, [*words, "--json"])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def test_each_command_has_it() -> None:
    """Each command takes --json but those of the list, which are there and have no such option."""
    found = {name for name, command in commands() if _takes_json(command)}
    every = {name for name, _ in commands()}
    assert "soc run" in every and every - found == WITHOUT.keys()


def _takes_json(command: typer.core.TyperCommand) -> bool:
    return any("--json" in param.opts for param in command.params)


def test_catalogue_of_attacks() -> None:
    """`maeslant attack --json` lists all attacks with name, requirements and aim."""
    found = printed("attack")
    assert len(found) > 100
    assert all({"name", "requirement", "aim"} == set(entry) for entry in found)


def test_attacks_on_the_paper() -> None:
    """`maeslant attack --ghosh --json` tells what came of each attack, and that ours holds."""
    found = printed("attack", "--model", "--ghosh")
    assert all(entry["as_expected"] for entry in found["paper"])
    assert any(entry["through"] for entry in found["paper"])
    assert found["ours"]["holds"] and found["ours"]["caught"] == "device:CHUNK"


def test_random_manipulations() -> None:
    """`maeslant attack --fuzz --json` counts sessions, manipulations and detections."""
    found = printed("attack", "--model", "--fuzz", "20", "--seed", "7")
    assert found["manipulations"] >= 20 and not found["wrong"]
    assert sum(found["caught"].values()) == found["sessions"]


@pytest.mark.parametrize("words", [["--ghosh", "--fuzz", "5"], ["--all", "--ghosh"]])
def test_one_document(words: list[str]) -> None:
    """`maeslant attack --json` refuses what would print two JSON documents."""
    with pytest.raises(MaeslantError, match="--json prints one of"):
        printed("attack", "--model", *words)


@pytest.mark.parametrize(("target", "maker"), [("tests/a.py", "of_test"), ("small", "of_build")])
def test_waveforms(target: str, maker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`maeslant wave --json` lists the waveforms' paths."""
    monkeypatch.setattr(waves, maker, lambda target: [pathlib.Path("a.fst"), pathlib.Path("b.fst")])
    assert printed("wave", target) == ["a.fst", "b.fst"]


@pytest.mark.parametrize("problem", ["", "no answer"])
def test_checks_in_guests(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`maeslant linux --check --json` lists the checks; what they say goes to standard error."""

    def run(device, size, say, names, fio_seconds):
        say("passed or not")
        return [checks.Outcome("data", "all modes", 1.5, problem)]

    monkeypatch.setattr(checks, "run", run)
    found = printed("linux", "--check", status=int(bool(problem)))
    assert found == [{"name": "data", "title": "all modes", "seconds": 1.5, "problem": problem}]

# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant infer`: digits on the protected and the unprotected card."""

import json

import pytest
from typer.testing import CliRunner

from maeslant.cli import app


def infer(*words: str) -> dict:
    """Runs `maeslant infer --json`; returns its output as a dictionary."""
    result = CliRunner().invoke(app, ["infer", "--json", *words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)  # that a simulator is built is told on stderr


@pytest.mark.parametrize(
    "words", [("--no-card",), ("--card",), ("--unprotected",)], ids=lambda words: words[0]
)
def test_labels(words: tuple[str, ...]) -> None:
    """`maeslant infer` gives the labels of the Python network on each kind of card."""
    found = infer("--images", "47" if words[0] == "--no-card" else "23", *words)
    assert found["equal_to_reference"] and found["accuracy"] > 0.9
    assert found["kernel_clocks"] > 10_000 * found["images"]
    assert ("clocks" in found) == (words[0] != "--no-card")  # a model has no clock to count
    if words[0] == "--card":
        assert found["payload_read_bytes"] > 1024 * found["images"]
        assert 0 < found["control_write_beats"] < 100
        assert found["clocks"] < 1.1 * found["kernel_clocks"]


@pytest.mark.parametrize(
    ("words", "heading", "other"),
    [(("--no-card",), "by the model", "on the card"), (("--card",), "on the card", "by the model")],
    ids=["--no-card", "--card"],
)
def test_heading(words: tuple[str, ...], heading: str, other: str) -> None:
    """`maeslant infer` says above its clocks whether the card or a model of it counted them."""
    result = CliRunner().invoke(app, ["infer", "--images", "2", *words])
    assert result.exit_code == 0, result.output
    assert heading in result.stdout and other not in result.stdout
    formula = "by the kernel's formula for clocks" in " ".join(result.stdout.split())
    assert formula == (words[0] == "--no-card")


def test_too_many() -> None:
    """`maeslant infer` refuses more images than the data set's test part has."""
    result = CliRunner().invoke(app, ["infer", "--no-card", "--images", "361"])
    assert "held out" in str(result.exception)

# SPDX-License-Identifier: Apache-2.0
"""`maeslant attack` on the reference: what it shows, and that a successful attack is a failure."""

import json

import pytest
from typer.testing import CliRunner

from maeslant.cli import app
from maeslant.protected import attack_runs
from maeslant.protected.model.keys import Key


def run(*words: str, status: int = 0) -> str:
    """The command's output."""
    result = CliRunner().invoke(app, ["attack", *words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result.output


def test_catalogue() -> None:
    """Without a name it lists what there is."""
    text = run()
    for word in ("flip", "double fetch", "shared memory", "H10"):
        assert word in text


@pytest.mark.parametrize(
    "name", ["reorder/operations", "raw access", "reset", "H17", "race/*after*"]
)
def test_names(name: str) -> None:
    """An attack, a family, a requirement, a pattern."""
    found = json.loads(run("--model", "--json", name))
    assert found and all(not entry["wrong"] for entry in found)
    assert all({"name", "aim", "caught", "requirement"} <= set(entry) for entry in found)


def test_table_and_unknown_name() -> None:
    """What it would have got, and who noticed; an unknown name is an error."""
    text = run("--model", "reorder/operations")
    assert "starts" in text and "card: tag of a request" in text and "1 of 1" in text
    with pytest.raises(attack_runs.MaeslantError, match="no attack is named"):
        attack_runs.choose(["nosuch"], every=False)


def test_p0_falls_and_ours_holds() -> None:
    """The tag oracle."""
    text = run("--model", "--p0")
    assert "it falls" in text and text.rstrip().endswith("it holds")


def test_fuzz() -> None:
    """Counts."""
    text = run("--model", "--fuzz", "40", "--seed", "7")
    assert "manipulations of" in text and "no wrong byte" in text


def test_a_successful_attack_is_an_error(monkeypatch) -> None:
    """With tags that pass whatever they are, the command fails and says what was got."""
    real = Key.open

    def careless(self, queue, sequence, aad, sealed):
        try:
            return real(self, queue, sequence, aad, sealed)
        except Exception:
            return bytes(len(sealed) - 16)

    monkeypatch.setattr(Key, "open", careless)
    assert "succeeded" in run("--model", "flip/response/BATCH/body value", status=1)

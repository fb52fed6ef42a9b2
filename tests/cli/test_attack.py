# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant attack`: its lists, targets and output, and its failure if an attack succeeds.

The attacks of test_defences, on the card's RTL, are those that must notice when one of its defences
is taken out (tests/mutations/attacks.yml), and so is --ghosh.
"""

import json

import pytest
from typer.testing import CliRunner

from maeslant.build import simulator
from maeslant.cli import app, demo
from maeslant.protected import attack_runs, rtl_card, session
from maeslant.protected.attacks import catalogue
from maeslant.protected.model import ghosh, workload
from maeslant.protected.model.device import Device
from maeslant.protected.model.host import Host
from maeslant.protected.model.keys import Key


def run(*words: str, status: int = 0) -> str:
    """Runs `maeslant attack`, asserts the exit status and returns standard output."""
    result = CliRunner().invoke(app, ["attack", *words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result.stdout  # that a simulator is built is told on stderr


def test_catalogue() -> None:
    """`maeslant attack` without a name lists the attacks with target and requirement."""
    text = run()
    for word in ("flip", "double fetch", "shared memory", "H10"):
        assert word in text


@pytest.mark.parametrize(
    "name", ["reorder/operations", "raw access", "reset", "H17", "race/*after*"]
)
def test_names(name: str) -> None:
    """`maeslant attack` accepts the name of an attack, a family or a requirement, or a pattern."""
    found = json.loads(run("--model", "--json", name))
    assert found and all(not entry["wrong"] for entry in found)
    assert all({"name", "aim", "caught", "requirement"} <= set(entry) for entry in found)


def test_table_and_unknown_name() -> None:
    """`maeslant attack` prints each attack's gain and detector; an unknown name is an error."""
    text = run("--model", "reorder/operations")
    assert "starts" in text and "card: tag of a request" in text and "1 of 1" in text
    with pytest.raises(attack_runs.MaeslantError, match="no attack is named"):
        attack_runs.choose(["nosuch"], every=False)


def test_ghosh_falls_and_ours_holds() -> None:
    """`maeslant attack --ghosh` succeeds against Ghosh's protocol and fails against Maeslant's."""
    text = run("--model", "--ghosh")
    assert "gets through" in text and "a model of a card that follows it" in text
    assert text.rstrip().endswith("it holds")


def test_ghosh_that_does_not_fall_is_an_error(monkeypatch) -> None:
    """`maeslant attack --ghosh` fails if an attack on the paper's protocol comes out otherwise."""
    monkeypatch.setattr(ghosh.GhoshDevice, "_open", lambda self, address, sealed: bytes(8))
    assert "not as it should be" in run("--model", "--ghosh", status=1)


def test_fuzz() -> None:
    """`maeslant attack --fuzz` tries random bus changes and reports that no byte was wrong."""
    text = run("--model", "--fuzz", "40", "--seed", "7")
    assert "manipulations of" in text and "no wrong byte" in text


def test_a_successful_attack_is_an_error(monkeypatch) -> None:
    """`maeslant attack` fails and names the attack that succeeded if all tags are accepted."""
    real = Key.open

    def careless(self, queue, sequence, aad, sealed):
        try:
            return real(self, queue, sequence, aad, sealed)
        except Exception:
            return bytes(len(sealed) - 16)

    monkeypatch.setattr(Key, "open", careless)
    assert "succeeded" in run("--model", "flip/request/BATCH/body data", status=1)


DEFENCES = {
    "tag of a chunk": "flip/chunk in/bus/*",
    "lock of the mailbox": "race/*/while it waits",
    "lock of a region": "race/kernel in quarantine",
    "number of a request": "flip/request/*/sequence",
    "tag of a request": "flip/request/BATCH/body data",
    "tag of an answer": "flip/response/D2H/body chunk tag",
    "tag of a chunk out": "flip/chunk out/bus/*",
    "number of an answer": "flip/response/*/sequence",
    "address of a buffer": "shared memory *",
}


@pytest.mark.parametrize("defence", DEFENCES)
@pytest.mark.full
def test_defences_of_the_card(defence: str) -> None:
    """Each defence in the card's RTL detects the attacks that it is meant for."""
    found = json.loads(run("--json", DEFENCES[defence]))
    assert found and all(not entry["wrong"] for entry in found)


def test_defences_of_the_driver() -> None:
    """The C driver with the card model detects each attack of the DEFENCES list."""
    found = json.loads(run("--model", "--json", *DEFENCES.values()))
    assert found and all(not entry["wrong"] for entry in found)


@pytest.mark.full
def test_build(monkeypatch) -> None:
    """`maeslant attack --build` attacks the card of that name; another build is an error."""
    builds, begin = set(), rtl_card.RtlDevice.__init__

    def begin_device(self, *arguments, build: str = "", **named):
        builds.add(build)
        begin(self, *arguments, build=build, **named)

    monkeypatch.setattr(rtl_card.RtlDevice, "__init__", begin_device)
    text = " ".join(run("reset/status/7", "--build", "protected_fpga_small").split())
    assert "On the simulated card (protected_fpga_small) under the C driver" in text
    assert builds == {"protected_fpga_small"}
    with pytest.raises(attack_runs.MaeslantError, match="small128 cannot be attacked"):
        attack_runs.machine_maker("small128")


def test_ghosh_on_the_card() -> None:
    """`maeslant attack --ghosh` on the card's RTL finds every attack on Maeslant detected."""
    text = run("--ghosh")
    assert "RTL that follows it" in text
    assert "on the simulated card (protected_small) under the C driver" in text
    assert "gets through" in text and "not as it should be" not in text
    assert "card: tag of a chunk" in text and text.rstrip().endswith("it holds")


@pytest.fixture
def made(monkeypatch) -> tuple[list, list]:
    """Returns lists to which each session's driver and each card's RTL will be added.

    The references, which say what is right, run before; then they end the test.
    """
    hosts, devices = [], []
    real_host, real_device = session.Host.__init__, rtl_card.RtlDevice.__init__

    def begin_host(self, *arguments, **named):
        hosts.append(self)
        real_host(self, *arguments, **named)

    def begin_device(self, *arguments, **named):
        devices.append(self)
        real_device(self, *arguments, **named)

    def never(*_arguments, **_named):
        raise AssertionError("the reference in place of the card or the driver")

    workload.expected(), workload.expected(False), workload.expected(True)  # cached one by one
    monkeypatch.setattr(session.Host, "__init__", begin_host)
    monkeypatch.setattr(rtl_card.RtlDevice, "__init__", begin_device)
    monkeypatch.setattr(Host, "__init__", never)
    monkeypatch.setattr(Device, "__init__", never)
    monkeypatch.setattr(ghosh.GhoshDevice, "__init__", never)
    return hosts, devices


@pytest.mark.parametrize("words", [["--ghosh"], ["reset/status/7"], ["--fuzz", "20"]])
def test_what_it_runs_on(words: list[str], made) -> None:
    """`maeslant attack` without --model runs the C driver with the card's RTL."""
    run(*words)
    hosts, devices = made
    assert len(hosts) >= 2 * len(devices) - 1 >= 1


def test_what_all_attacks_run_on(made, monkeypatch) -> None:
    """`maeslant attack --all` runs every attack of its list, here one a family, on the RTL."""
    families = {attack_runs.family_of(entry): entry for entry in reversed(catalogue())}
    del families["after an error"]  # plays all others: 29 s
    monkeypatch.setattr(attack_runs, "catalogue", lambda: list(families.values()))
    found = json.loads(run("--all", "--json"))
    hosts, devices = made
    assert [entry["name"] for entry in found] == [entry.name for entry in families.values()]
    assert len(devices) == len(found) >= 17 and len(hosts) == 2 * len(devices)


def test_what_the_demonstration_runs_on(made, monkeypatch, tmp_path) -> None:
    """`maeslant demo` runs file, inference and attacks on simulated cards, none on a model."""
    libraries, devices = [], []
    begin_gate, stats = session.Gate.__init__, demo.Device.stats

    def begin(self, command, *arguments, **named):
        libraries.extend(word for word in command if word == "reference" or word.endswith(".so"))
        begin_gate(self, command, *arguments, **named)

    def counted(self):
        devices.append(stats(self))
        return devices[-1]

    monkeypatch.setattr(session.Gate, "__init__", begin)
    monkeypatch.setattr(demo.Device, "stats", counted)
    monkeypatch.setattr(demo, "DIGITS", 1)
    monkeypatch.setattr(demo, "PASSES", demo.PASSES[:2])
    file = tmp_path / "file"
    file.write_bytes(bytes(1000))
    result = CliRunner().invoke(app, ["demo", str(file)])
    assert result.exit_code == 0, (result.output, result.exception)
    text = " ".join(result.stdout.split())
    assert "equal to OpenSSL" in text and "1 handwritten digits, protected: 1 right" in text
    assert "on the card" in text and "3 of 3 attacks" in text
    assert "On the simulated card (protected_small) under the C driver" in text
    # A simulator of the RTL counts beats of its bus; the others have no such counters.
    assert len(devices) == 2 and all(found["read_beats"] > 0 for found in devices)
    assert libraries == [str(simulator.library("protected"))]
    assert len(made[1]) == len(demo.ATTACKS)

# SPDX-License-Identifier: Apache-2.0
"""Tests the output of `maeslant measure`, `bench` and `wave`."""

import json
import pathlib
import re
import subprocess

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant import paths
from maeslant.bench import published, software
from maeslant.bench.measure import messages, messages_plot
from maeslant.bench.measure.figures import Figure
from maeslant.errors import MaeslantError
from tests.cli.test_cli import bad, good

FIELDS = {"part", "config", "metric", "value", "unit", "better", "target", "source", "paper"}


def figures(*parts: str) -> list[dict]:
    """Runs `maeslant measure` for given parts; returns its figures from the JSON output."""
    found = json.loads(good("measure", *parts, "--json"))
    assert found
    for figure in found:
        assert set(figure) == FIELDS
        assert figure["better"] in ("lower", "higher")
    return found


def test_measure_iterative_core() -> None:
    """`maeslant measure` reports 10 clocks per AES-128 block, in each direction, for iter_both."""
    found = {f["metric"]: f["value"] for f in figures("iter_both")}
    assert found["AES-128 both at once, encrypt, clocks a block"] == 10
    assert found["AES-128 both at once, decrypt, clocks a block"] == 10
    assert found["AES-256 both at once, decrypt, clocks a block"] == 14


@pytest.mark.full
def test_measure_devices() -> None:
    """`maeslant measure` reports that the simulated devices reach every target."""
    found = figures("modes", "dma", "push")
    assert {f["part"] for f in found} == {"modes", "dma", "push"}
    assert sum(f["target"] is not None for f in found) >= 16


def test_publish(tmp_path: pathlib.Path) -> None:
    """published.publish stores a record with its commit; `maeslant bench --quick` refuses it."""
    file = published.publish("some", {"clocks": 3}, tmp_path)
    record = json.loads(file.read_text())
    assert file.name == "some.json" and record["clocks"] == 3 and record["commit"]
    assert "no --quick" in bad("bench", "--quick", "--publish")


@pytest.mark.full
def test_measure_gcm() -> None:
    """`maeslant measure` reports that the GCM engines reach every target, for each key size."""
    found = figures("gcm1", "gcm_single128")
    metrics = {f["metric"]: f["value"] for f in found}
    for bits, rounds in ((128, 10), (192, 12), (256, 14)):
        assert metrics[f"AES-{bits} from key to ready, powers of H included"] == rounds + 3
        assert metrics[f"AES-{bits} lost between messages under two loaded keys"] == 0
        assert metrics[f"AES-{bits} from last data to tag"] <= 6
    assert metrics["AES-128 from request to verdict"] == 16


def test_measure_unknown_part() -> None:
    """`maeslant measure` of an unknown part lists the known ones in its error."""
    assert "iter128" in bad("measure", "nonsense")


def test_messages_picture(tmp_path: pathlib.Path) -> None:
    """The picture of message rates is drawn from results/figures.json; other input is refused."""
    record = json.loads((paths.RESULTS / "figures.json").read_text())
    found = [Figure(**figure) for figure in record["figures"] if figure["part"] == "messages"]
    messages_plot.draw(found, tmp_path / "messages.svg")
    text = (tmp_path / "messages.svg").read_text()
    drawn = " ".join(re.findall(r">([^<>]+)</text>", text))  # without the title, which none sees
    assert "million messages a second" in drawn
    assert "card: simulated, at 200 MHz" in drawn and "OpenSSL: measured" in drawn
    sizes = [size for size, _ in messages_plot.points(found, "GCM", "one key")]
    assert sizes == list(messages.SIZES)
    with pytest.raises(MaeslantError, match="measure messages"):
        messages_plot.draw(found[:3], tmp_path / "none.svg")
    assert ".png" in bad("measure", "iter", "--picture", str(tmp_path / "a.pdf"))
    assert "no such folder" in bad("measure", "iter", "--picture", str(tmp_path / "no" / "a.svg"))


def test_bench_driver() -> None:
    """`maeslant bench --driver` times the C driver's jobs in two modes, as JSON and as tables."""
    times = json.loads(good("bench", "--driver", "--quick", "--json"))["nanoseconds"]
    jobs = {f"{mode}_{how}" for mode in ("ctr", "xts") for how in ("single", "many")}
    assert jobs <= set(times) and all(value > 0 for value in times.values())
    assert times["copy_65536"] > times["copy_16"]
    assert "--driver" in bad("bench", "--driver", "--publish")
    out = good("bench", "--driver", "--quick")
    assert b"mae_submit_many" in out and b"65,536" in out


@pytest.mark.full
def test_bench() -> None:
    """`maeslant bench` reports a positive rate of each implementation for every message size."""
    record = json.loads(good("bench", "--quick", "--json"))
    assert set(record["steps_ns"]) == {"KeyExpansion", "AddRoundKey", "MixColumns", "SubAndShift"}
    for row in record["sizes"]:
        assert all(row[name] > 0 for name in ("card", "openssl", "openssl_no_aes", "table"))


def test_table_aes_is_aes() -> None:
    """The table-based AES program that `maeslant bench` times gives OpenSSL's ciphertext."""
    key, data = bytes(range(16)), bytes(range(256))
    command = [str(software.table_aes()), "check", key.hex()]
    got = subprocess.run(command, input=data, capture_output=True, check=True).stdout
    assert got == Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(data)


@pytest.mark.full
def test_wave_of_a_test() -> None:
    """`maeslant wave` of a test file records a waveform and prints how to open it."""
    text = good("wave", "tests/prim/test_rr_arb.py").decode()
    path = pathlib.Path(text.splitlines()[-2])
    assert path.stat().st_size > 100 and "gtkwave" in text


@pytest.mark.slow
def test_wave_of_a_build() -> None:
    """`maeslant wave` of a device build records a waveform; other builds are refused."""
    text = good("wave", "peripheral").decode()
    path = pathlib.Path(text.splitlines()[-2])
    assert path.stat().st_size > 1000
    assert "no device" in bad("wave", "iter128")

# SPDX-License-Identifier: Apache-2.0
"""Tests that the guide's table of protection costs equals results/figures.json."""

import json
import re
import subprocess
import sys

import pytest

from maeslant import paths

PAGE = paths.ROOT / "docs" / "guides" / "protected-channel.md"
FIGURES = json.loads((paths.RESULTS / "figures.json").read_text())["figures"]


def guard(build: str) -> dict[str, float]:
    """Returns what results/figures.json says of a card's guard, by metric."""
    found = [figure for figure in FIGURES if (figure["part"], figure["config"]) == ("guard", build)]
    return {figure["metric"]: figure["value"] for figure in found}


GUARD = guard("protected")


def cells(begin: str) -> str:
    """Returns the first figure in the guide's table row that begins with a text."""
    text = PAGE.read_text()
    return re.search(rf"^\| {re.escape(begin)}[^|]*\| ([^|]*?) \|", text, re.MULTILINE)[1]


def added(way: str) -> str:
    """Returns the fewest and most clocks that protection adds to a DMA transfer in a direction."""
    values = [value for metric, value in GUARD.items() if metric.startswith(f"DMA {way}, ")]
    assert len(values) == 8
    return f"{min(values):.0f} to {max(values):.0f}"


def clocks(what: str, figures: dict[str, float] = GUARD) -> str:
    """Returns the clocks of a protected access from doorbell to answer, by figures.json."""
    return f"{figures[f'protected {what}: doorbell to answer in host memory']:,.0f}"


def area(build: str) -> tuple[int, float]:
    """Returns a card's LUTs and block RAMs in its newest published report for 7-series."""
    files = [paths.RESULTS / "reports" / f"{build}-xc7{kept}.json" for kept in ("-kept", "")]
    report = json.loads(next(file for file in files if file.exists()).read_text())
    return report["area"]["lut"], report["area"]["bram"]


def test_transfers() -> None:
    """The guide's clocks of protected DMA transfers equal those of results/figures.json."""
    assert cells("clocks added to a DMA into the device") == added("in")
    assert cells("… out of the device") == added("out")
    ((metric, share),) = [item for item in GUARD.items() if item[0].startswith("1024 KB each way")]
    without = re.search(r"of ([\d.]+)% without", metric)[1]
    assert cells("bus clocks used by 1 MB each way") == f"{share:.1f} %; {without} %"


def test_registers() -> None:
    """The guide's clocks and words of protected register accesses equal figures.json."""
    assert cells("a protected register write; read") == f"{clocks('write')}; {clocks('read')}"
    batches = [clocks(f"batch of 64 {what}") for what in ("writes", "reads")]
    assert cells("64 writes; 64 reads in one request") == "; ".join(batches)
    words = "words written by the host, doorbell included"
    text = " ".join(PAGE.read_text().split())
    one, many = GUARD[f"protected write: {words}"], GUARD[f"protected batch of 64 writes: {words}"]
    assert f"written with {one:.0f} register words (its doorbell included; {many:.0f} for" in text


@pytest.mark.parametrize(
    "build", ["protected", "protected_fpga", "protected_fpga_shared", "protected_fpga_ram"]
)
def test_fpga_cards(build: str) -> None:
    """The guide's table of cards for FPGAs equals figures.json and the published reports."""
    (row,) = re.findall(rf"(?m)^\| `{build}` \| (.*) \|$", PAGE.read_text())
    lut, bram = area(build)
    added = lut - area("unprotected")[0]
    figures = guard(build)
    (share,) = [value for metric, value in figures.items() if metric.startswith("1024 KB each")]
    accesses = [f"{clocks(what, figures)} clocks" for what in ("write", "batch of 64 writes")]
    right = [f"{lut:,}", f"{bram:,g}", f"{added:,} LUT", *accesses, f"{share:.1f} %"]
    assert row.split(" | ") == right


@pytest.mark.slow
def test_digits() -> None:
    """The guide's clocks and accuracy of digit inference equal a run of `maeslant infer`."""
    shown = []
    for option in ([], ["--unprotected"]):
        command = [sys.executable, "-m", "maeslant.cli", "infer", "--json", *option]
        found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=paths.ROOT)
        result = json.loads(found.stdout)
        assert result["images"] == 300
        shown.append(result)
        assert result["equal_to_reference"]
    said = [float(cell.replace(",", "")) for cell in cells("clocks for a digit").split(";")]
    for clocks, result in zip(said, shown, strict=True):
        # The driver polls in its own process: how often, and so the clocks, differ a little.
        assert result["clocks"] / result["images"] == pytest.approx(clocks, rel=0.01)
    share = shown[0]["accuracy"]
    assert f"{100 * share:.1f} % of them right" in " ".join(PAGE.read_text().split())

# SPDX-License-Identifier: Apache-2.0
"""Tests the rates that `maeslant bench` extrapolates to Kumar et al.'s gigabyte."""

import json

from maeslant import paths
from maeslant.bench import report


def test_clocks_go_on_as_before() -> None:
    """The card's clocks grow as between the two largest sizes; software keeps its last rate."""
    software = {"openssl": 3.0, "openssl_no_aes": 2.0, "table": 1.0}
    sizes = [{"bytes": 10**n, "card_clocks": 500 + 10**n / 50, **software} for n in (6, 7, 8)]
    found = report.extrapolated(sizes)
    assert found["card_clocks"] == 500 + 10**9 / 50
    assert found["card"] == 10**9 / found["card_clocks"] * report.CLOCK_MHZ * 1e6
    assert {name: found[name] for name in software} == software


def test_published_record() -> None:
    """The published record's extrapolation is that of its sizes."""
    record = json.loads((paths.RESULTS / "bench.json").read_text())
    assert record["extrapolated"] == report.extrapolated(record["sizes"])

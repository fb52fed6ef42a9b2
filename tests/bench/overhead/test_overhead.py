# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant overhead`: loads, software times, timelines of both cards, table and picture."""

import io
import pathlib

import pytest
from rich.console import Console

from maeslant.bench.overhead import report, software, timeline
from maeslant.bench.overhead.software import Times


def test_loads() -> None:
    """A network's load has the number of DMAs of the paper and its number of bytes."""
    for network in report.NETWORKS:
        load = network.load
        assert len(load.h2d) + len(load.d2h) == network.dmas
        assert sum(load.h2d) == report.IMAGE and sum(load.d2h) == report.RESULT
        assert all(size % 64 == 0 for size in load.h2d[:-1])
    assert timeline.pieces(150, 64) == [64, 64, 22]
    assert timeline.clocks_of(1000) == timeline.CLOCK_MHZ


def test_software_is_measured() -> None:
    """Measured sealing takes longer than a copy, and a longer piece longer than a shorter piece."""
    short, long = software.measure(4096), software.measure(65536)
    for times in (*short[:2], *long[:2]):
        assert 0 < times.request < times.seal and times.copy < times.seal
    assert long[0].seal > 4 * short[0].seal
    assert long[2]


def test_table_and_picture(tmp_path: pathlib.Path) -> None:
    """The table and picture of `maeslant overhead` show a result over its goal and its parts."""
    row = report._row(report.NETWORKS[0], False, (24_000, 32768), (20_000, 65536), [11_000, 10_000])
    assert row["transfer_overhead"] == pytest.approx(0.2)
    assert row["inference_overhead"] == pytest.approx(0.02 / 7.36)
    rows = [row | {"network": n.name, "memory": m} for n in report.NETWORKS for m in _MEMORY]
    rates = {memory: {"copy": 30.0, "seal": 5.0, "open": 5.0} for memory in _MEMORY}
    supposed = [{"memory": m, "seal_gbs": 8, "transfer_overhead": 0.5} for m in _MEMORY]
    record = {"library": "none", "gigabytes_per_second": rates, "rows": rows, "supposed": supposed}
    text = io.StringIO()
    report.show(record, Console(file=text, width=120))
    assert "+20.0 %" in text.getvalue() and "AlexNet" in text.getvalue()
    report.draw(record, tmp_path / "x.svg")
    drawn = (tmp_path / "x.svg").read_text()
    assert "warm: the host" in drawn and "cold: they come from main memory" in drawn


_MEMORY = ("warm", "cold")


@pytest.mark.slow
def test_timelines() -> None:
    """Software time counts in a timeline only where the card waits for the software."""
    load = timeline.Load((65536, 65536), (4000,))
    none = report.NO_SOFTWARE
    slow = Times(copy=50_000, seal=50_000, open=50_000, request=100, answer=100)
    brief = Times(copy=100, seal=100, open=100, request=0, answer=0)
    for card in (timeline.Unprotected(), timeline.Protected()):
        bare = card.run(load, 16384, lambda size: none)
        # Nine pieces, one after another, of 10,000 clocks each.
        assert 90_000 < card.run(load, 16384, lambda size: slow) - bare + 3000 < 100_000
        assert abs(card.run(load, 16384, lambda size: brief) - bare) < 400
        card.close()

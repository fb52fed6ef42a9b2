# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant overhead`, which compares transfers to the protected and unprotected card."""

import dataclasses
import io
import json
import pathlib

import pytest
from rich.console import Console
from typer.testing import CliRunner

from maeslant import paths
from maeslant.bench.overhead import networks, report, software, timeline
from maeslant.bench.overhead.software import Times
from maeslant.cli import app
from maeslant.errors import MaeslantError


def test_loads() -> None:
    """Each network's load has the number of DMA transfers and the bytes stated by the paper."""
    for network in report.NETWORKS:
        load = network.load
        assert len(load.h2d) + len(load.d2h) == network.dmas
        assert sum(load.h2d) == report.IMAGE and sum(load.d2h) == report.RESULT
        assert all(size % 64 == 0 for size in load.h2d[:-1])
    assert timeline.pieces(150, 64) == [64, 64, 22]
    assert timeline.clocks_of(1000) == timeline.CLOCK_MHZ


def test_software_is_measured() -> None:
    """Each step of a chunk is timed with warm and cold memory, in one thread and in two at once."""
    for threads in (1, 2):
        warm, cold, library = software.measure(4096, threads)
        assert all(value > 0 for times in (warm, cold) for value in dataclasses.astuple(times))
        assert library
    with pytest.raises(MaeslantError, match="exit status 2"):
        software.measure(4096, 0)


class FakeCard:
    """Imitates a card whose clocks are the software's time plus 10,000."""

    def run(self, load, chunk, timing, threads=1):
        """Returns the fake card's clocks for a load, from software times and chunk size."""
        times = timing(32768)
        waits = (times.seal + times.request) / threads + times.open + times.answer
        return 10_000 + timeline.clocks_of(waits) + (1000 if chunk == 16384 else 0)


def test_account_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """report.account gives parts of a protected transfer's time that add up to the total."""
    times = Times(copy=1000, seal=50_000, open=2000, request=100, answer=100)
    monkeypatch.setattr(software, "times", lambda size, cold, threads: times)
    monkeypatch.setattr(software, "processors", lambda: 2)
    for threads in report.THREADS:
        row = report.account(FakeCard(), report.NETWORKS[0], False, threads, 8_000, 5.0)
        assert sum(row["parts_us"].values()) == pytest.approx(row["protected_us"])
        assert set(row["parts_us"]) == set(report.PARTS)
        assert all(part >= 0 for part in row["parts_us"].values())
        assert row["projected"] == (threads == 4)
        assert row["chunk"] == (32768 if threads == 1 else 0)
        assert row["seal_gbs"] == pytest.approx(threads * 65536 / 50_000)
        sealing = report.IMAGE / row["seal_gbs"] / 1000
        assert row["bound_us"] == pytest.approx(max(50.0, sealing), abs=0.01)
        assert row["transfer_overhead"] == pytest.approx(row["protected_us"] / 40 - 1)
        assert row["inference_overhead"] == pytest.approx((row["protected_us"] - 40) / 5000)


def test_faster_sealing_adds_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """report.of_rate projects the percentage that two threads of a given sealing rate add."""
    times = Times(copy=1000, seal=50_000, open=2000, request=100, answer=100)
    monkeypatch.setattr(software, "times", lambda size, cold, threads: times)
    clocks = 10_000 + timeline.clocks_of((32768 / 8 + 100) / 2 + 2100)
    assert report.of_rate(FakeCard(), 8, 5_000) == round(100 * (clocks / 5_000 - 1))
    assert report.of_rate(FakeCard(), 4, 5_000) > report.of_rate(FakeCard(), 8, 5_000)


def test_table_and_picture(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table and picture of `maeslant overhead` show each result with its parts and goal."""
    monkeypatch.setattr(software, "times", lambda size, cold, threads: Times(1, 50_000, 1, 1, 1))
    monkeypatch.setattr(software, "processors", lambda: 2)
    rows = []
    for network in report.NETWORKS:
        for cold in (False, True):
            for threads in report.THREADS:
                row = report.account(FakeCard(), network, cold, threads, 8_000, 5.0)
                rows.append(row | {"plain_as_many_us": row["plain_us"] / threads})
    driver = {1: {"seal": 5.2e9, "open": 5.4e9}, 2: {"seal": 9.1e9, "open": 9.3e9}}
    inferences = {
        network.name: {
            "layers": 31,
            "plain_clocks": 1_000_000,
            "protected_clocks": 1_000_000 + added,
            "plain_ms": 5.0,
            "protected_ms": 5.0 + added / 200_000,
            "overhead": added / 1_000_000,
        }
        for network, added in zip(report.NETWORKS, (1234, 2000, 9000), strict=True)
    }
    record = {"library": "none", "processor": "P", "processors": 2, "driver": driver, "rows": rows}
    record["inferences"] = inferences
    record["by_rate_percent"] = {"6": 41, "12": 7}
    text = io.StringIO()
    report.show(record, Console(file=text, width=120))
    shown = text.getvalue()
    assert "+150 %" in shown and "AlexNet" in shown and "4*" in shown
    assert "1,234" in shown and "+0.12 %" in shown and "+0.90 %" in shown and "7.36" in shown
    assert "+41 %" in shown and "+7 %" in shown
    assert "1 thread seals 5.2 GB/s, opens 5.4; 2 threads seal 9.1 GB/s, open 9.3" in shown
    report.draw(record, tmp_path / "x.svg")
    drawn = (tmp_path / "x.svg").read_text()
    assert "warm: the host" in drawn and "cold: they come from main memory" in drawn
    assert (
        "card: simulated, at 200 MHz; P; none." in drawn
        and "+150 %" in drawn
        and "bus waits for sealing" in drawn
    )


@pytest.mark.parametrize("publish", [False, True])
def test_renewed_inferences(
    publish: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`overhead --inferences` sets all records' inferences and what follows from them.

    Published records are changed with --publish alone.
    """
    results, build = tmp_path / "results", tmp_path / "build"
    results.mkdir()
    names = ("overhead_ipsec.json", "overhead_openssl.json")
    published = {name: (paths.RESULTS / name).read_text() for name in names}
    for name in names:
        (results / name).write_text(published[name])
    monkeypatch.setattr(networks, "measured", lambda name, err: {"plain_ms": 2.0, "of": name})
    monkeypatch.setattr(paths, "RESULTS", results)
    monkeypatch.setattr(paths, "BUILD", build)
    renew = report.renew_inferences
    monkeypatch.setattr(report, "renew_inferences", lambda err, folder: renew(err, folder, results))
    words = ["overhead", "--inferences", *(["--publish"] if publish else [])]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    for name in names:
        assert publish or (results / name).read_text() == published[name]
        before = json.loads(published[name])
        after = json.loads(((results if publish else build / "reports") / name).read_text())
        made = after["inferences"]["AlexNet"]
        assert made["plain_ms"] == 2.0 and made["of"] == "AlexNet" and made["commit"]
        for row in after["rows"]:
            assert row["inference_overhead"] == (row["protected_us"] - row["plain_us"]) / 2000
        kept = [{k: v for k, v in row.items() if "inference" not in k} for row in before["rows"]]
        assert kept == [{k: row[k] for k in kept[0]} for row in after["rows"]]
        assert after["transfer_percent"] == before["transfer_percent"]
    assert publish != (build / "reports").exists()


@pytest.mark.slow
def test_timelines() -> None:
    """Software times lengthen a card's timeline only where the card waits for the software."""
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

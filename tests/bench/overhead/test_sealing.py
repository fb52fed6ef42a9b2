# SPDX-License-Identifier: Apache-2.0
"""Tests the chunk sizes and software times that `maeslant overhead` assumes."""

import pytest

from maeslant.bench.overhead import software, timeline
from maeslant.bench.overhead.software import Times
from maeslant.protected.model.device import Device
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.link import Link
from maeslant.protected.session import Host

CAPABILITIES = Capabilities(queues=3, depth=8, log2_chunk=20, operations=16, log2_memory=21)


@pytest.mark.parametrize("threads", [2, 4, 1])
def test_the_driver_divides_so(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The C driver cuts transfers into the chunk sizes that timeline.divided gives."""
    device = Device(CAPABILITIES, limit=1 << 30)
    link = device.bus = Link(device, 1 << 23)
    host = Host(link, bytes(32), bytes(16), timeout=1000, threads=threads)
    assert device.install(bytes(32), bytes(16))
    host.wait(host.open())
    sizes: list[int] = []
    real = link.allocate
    monkeypatch.setattr(link, "allocate", lambda size: sizes.append(size) or real(size))
    for total in (1, 16384, 40_000, 120_448, 602_112, 1 << 20):
        sizes.clear()
        host.wait(host.h2d(1, 0, bytes(total)))
        assert sizes == (timeline.divided(total, threads) if threads > 1 else [total])
    for total in (1, 40_000, 120_448, 602_112):
        first = host.h2d(1, 0, bytes(64))
        sizes.clear()
        second = host.h2d(1, 64 << 10, bytes(total))
        even = timeline.divided(total, threads, unanswered=1)
        assert sizes == (even if threads > 1 else [total])
        host.wait(first)
        host.wait(second)


def test_chunks_grow_and_shrink() -> None:
    """timeline.divided gives chunks that add up, begin small, at most double and end small."""
    sizes = timeline.divided(602_112, 2)
    assert sum(sizes) == 602_112 and len(sizes) <= timeline.SLOTS // timeline.SHARE
    assert sizes[0] == timeline.LEAST_CHUNK and max(sizes) == 2 * sizes[0]
    assert all(b <= 2 * a for a, b in zip(sizes, sizes[1:], strict=False))
    assert sizes[-1] <= sizes[-2] <= sizes[-3] < max(sizes)
    assert len(timeline.divided(602_112, 2, unanswered=40)) <= 6
    assert timeline.divided(120_448, 2, unanswered=1) == [32_768] * 3 + [22_144]
    assert timeline.divided(200_000, 2, unanswered=1) == [32_768] * 6 + [3_392]
    assert timeline.divided(602_112, 2, unanswered=1) == [32_768] * 18 + [12_288]
    assert timeline.divided(64 << 20, 4) == [1 << 20] * 64


def test_times_between_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """software.times interpolates between the measured chunk sizes."""
    asked = []

    def measure(size: int, threads: int) -> tuple[Times, Times, str]:
        asked.append(threads)
        return Times(size, size, size, 5, 5), Times(2 * size, 0, 0, 5, 5), "none"

    monkeypatch.setattr(software, "measure", measure)
    monkeypatch.setattr(software, "processors", lambda: 2)
    software.times.cache_clear()
    assert software.times(10_000, False, 4).seal == pytest.approx(10_000)
    assert software.times(100_000, True, 1).copy == pytest.approx(200_000)
    assert software.times(100, False, 1).request == pytest.approx(5)
    assert set(asked) == {1, 2}, "more threads than processors are not measured"
    software.times.cache_clear()

# SPDX-License-Identifier: Apache-2.0
"""Tests unprotected_card.py, the host of the simulated unprotected card."""

import random
from collections.abc import Iterator

import pytest

from maeslant.errors import MaeslantError
from maeslant.protected.model.card import DESTINATION, LENGTH, RUNS, SOURCE, TABLE
from maeslant.sim import unprotected_card
from maeslant.sim.unprotected_card import UnprotectedCard
from tests.device.registers import layout


@pytest.fixture
def card() -> Iterator[UnprotectedCard]:
    """Opens a small simulated unprotected card."""
    made = UnprotectedCard(
        "unprotected_small", "latency=20-60&order=shuffled&stall=5", size=1 << 20
    )
    yield made
    made.close()


@pytest.mark.full
def test_run(card: UnprotectedCard) -> None:
    """UnprotectedCard transfers data, runs the card's kernel and reads the result, twice."""
    for seed in range(2):
        data = random.Random(seed).randbytes(5000)
        card.load(0, data)
        for offset, value in ((SOURCE, 0), (DESTINATION, 8192), (LENGTH, len(data))):
            card.write(offset, value)
        card.run()
        assert card.read(RUNS) == seed + 1
        assert card.fetch(8192, len(data), host=1 << 19) == data.translate(TABLE)


def test_pieces(card: UnprotectedCard) -> None:
    """UnprotectedCard makes more transfers than the card's queue holds."""
    data = random.Random(3).randbytes(30 * 500)
    pieces = [(1024 * i, 512 * i, 500) for i in range(30)]
    for number, (host, _, size) in enumerate(pieces):
        card.memory[host : host + size] = data[500 * number :][:500]
    card.transfer(unprotected_card.H2D, pieces)
    back = card.fetch(0, 512 * 30, host=1 << 19)
    assert b"".join(back[512 * i :][:500] for i in range(30)) == data


def test_errors(card: UnprotectedCard) -> None:
    """UnprotectedCard reports bad addresses, unmapped memory and failed kernel runs."""
    with pytest.raises(MaeslantError, match="gave no interrupt"):
        card.transfer(unprotected_card.H2D, [(0, 1 << 14, 64)], limit=1000)
    card.sim.write32(unprotected_card.H2D + unprotected_card.CHANNEL_STATUS, 0x300)
    with pytest.raises(MaeslantError, match="failed"):
        card.transfer(unprotected_card.H2D, [(1 << 20, 0, 64)])
    card.write(DESTINATION, 1 << 14)
    card.write(LENGTH, 1)
    with pytest.raises(MaeslantError, match="aborted the run"):
        card.run()


def test_map() -> None:
    """The register addresses in unprotected_card.py equal those of the register description."""
    places = {name: offset for name, (offset, _, _) in layout("mae_unprotected_card").items()}
    assert places["h2d.host_lo"] == unprotected_card.H2D
    assert places["d2h.host_lo"] == unprotected_card.D2H
    assert places["kernel"] == unprotected_card.WINDOW
    for name in ("host_lo", "host_hi", "device", "length", "completed"):
        wanted = unprotected_card.H2D + getattr(unprotected_card, name.upper())
        assert places[f"h2d.{name}"] == wanted
    assert places["h2d.status"] == unprotected_card.H2D + unprotected_card.CHANNEL_STATUS
    assert places["status"] == unprotected_card.STATUS
    assert places["irq_enable"] == unprotected_card.IRQ_ENABLE
    assert places["irq_status"] == unprotected_card.IRQ_STATUS

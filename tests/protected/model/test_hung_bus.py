# SPDX-License-Identifier: Apache-2.0
"""Tests that mae_protected_card erases a session although the host's bus hangs (H14).

The host stops one of its channels after so many bursts: it gives no read data, takes no write
data, or sends no write response. Whatever the session was doing, its keys and data are erased in
a bounded time; the next installation waits for the bus.
"""

import functools

import pytest

from maeslant.protected import rtl_card
from maeslant.protected.model.constants import (
    DOORBELL,
    PAGE,
    RESET,
    RESET_WORD,
    STATUS,
    Cause,
    State,
)
from maeslant.protected.model.workload import CAPABILITIES, first, octets
from tests.protected.model.secrets import secrets_of, session_of

PLAIN = {
    "input one": octets("input one", 320),
    "input two": octets("input two", 200),
    "abandoned": octets("abandoned", 256),
}
BUILDS = [rtl_card.BUILDS[0]]
BUILDS += [pytest.param(build, marks=pytest.mark.full) for build in rtl_card.BUILDS[1:]]
CLOCKS = 1000  # of SCRUB, the walk over 256 rows of memory included
BURSTS = 78  # of the whole session
STEP = 6


def hung(build: str, options: str, big: bool = False) -> rtl_card.RtlMachine:
    """Runs a session of the protected card's RTL on a bus that hangs after some bursts."""
    machine = rtl_card.machine(build, options=options)(timeout=30)
    machine.session("first", functools.partial(first, big=big))
    return machine


def end(machine: rtl_card.RtlMachine, forge: bool) -> None:
    """Ends a protected session by a forged message on an idle queue, or else by an OS reset.

    A message may wait behind an answer that the bus does not take: then it ends nothing.
    """
    pages = [PAGE * (1 + queue) for queue in range(CAPABILITIES.queues)]
    ready = [page for page in pages if machine.device.mmio_read(page + STATUS, 1)[0]]
    if forge and ready:
        machine.device.mmio_write(ready[0] + DOORBELL, (1).to_bytes(4, "little"))
        machine.device.simulator.run(CLOCKS)
    if machine.device.cause[0] != Cause.TAG:
        machine.device.mmio_write(RESET, RESET_WORD.to_bytes(4, "little"))
    machine.device.simulator.run(CLOCKS)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("channel", ["all", "read", "write", "response"])
def test_erased_on_a_hung_bus(channel: str, build: str) -> None:
    """The protected card erases a session's keys and data if the bus hangs at any burst (H14)."""
    stuck = forged = 0
    for bursts in range(0, BURSTS, STEP):
        machine = hung(build, f"hang={bursts}&hang_on={channel}", big=bursts % 4 == 0)
        device, secrets = machine.device, secrets_of(session_of(machine), PLAIN)
        live = device.state in (State.KEYED, State.RUN)
        if live and not stuck:
            assert device.find({"secret": secrets["secret"]}), "the search is blind"
        end(machine, forge=live and bursts % 12 == 0)
        forged += device.cause[0] == Cause.TAG
        assert device.find(secrets) == [], f"after {bursts} bursts"
        assert not any(device.memory.data)
        if device.state == State.SCRUB:  # and so for ever
            stuck += 1
            device.simulator.run(20 * CLOCKS)
            assert device.state == State.SCRUB
            assert not device.simulator.install(bytes(32), bytes(16), CLOCKS)
        machine.close()
    assert stuck > BURSTS // STEP // 2, "the bus was quiet"
    assert forged, "no message reached its check"

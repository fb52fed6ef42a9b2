# SPDX-License-Identifier: Apache-2.0
"""Tests mae_protected_card's RTL: workload, attacks, and a search of all signals for secrets.

The same sessions, attacks and judge as the reference's; what the card did inside is told by
sim/bus_monitor/mae_card_bus_monitor.sv.
"""

import functools

import pytest

from maeslant.protected import attack_runs, rtl_card
from maeslant.protected.attacks import catalogue, fuzz
from maeslant.protected.attacks.adversary import On
from maeslant.protected.attacks.entry import edit_data, flipper
from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import (
    CAUSE,
    DEVICE_NONCE,
    HOST_NONCE,
    PAGE,
    Cause,
    Kind,
    State,
)
from maeslant.protected.model.link import Attack, BusError
from maeslant.protected.model.workload import (
    CAPABILITIES,
    Machine,
    by_unit,
    expected,
    first,
    judge,
    judge_second,
    octets,
    second,
)
from tests.protected.model.pair import start
from tests.protected.model.secrets import secrets_of, session_of

PLAIN = {"input one": octets("input one", 320), "input two": octets("input two", 200)}
FEW = (  # in each place, each kind of notice
    "flip/request/BATCH/body data",
    "flip/response/D2H/body chunk tag",
    "flip/chunk in/bus/60",
    "flip/chunk out/bus/60",
    "replay/H2D rung again",
    "splice/sessions/request",
    "reorder/beats in",
    "length/beats in/short",
    "length/beats in/one byte less",
    "length/beats in/none",
    "length/beats in/long",
    "length/doorbell/H2D/too many",
    "redirect/nowhere/data out",
    "redirect/nowhere/number",
    "finalize/by plain registers",
    "raw access",
    "reset/data in/1",
    "after an error/everything again",
)

BUILDS = [rtl_card.BUILDS[0]]
BUILDS += [pytest.param(build, marks=pytest.mark.full) for build in rtl_card.BUILDS[1:]]


@pytest.fixture
def machine():
    """Makes a machine of host model and protected card RTL, with no attacker on the bus."""
    made = rtl_card.RtlMachine(Attack())
    yield made
    made.close()


def test_sessions(machine: Machine) -> None:
    """Two sessions on the protected card's RTL give the model's results and internal events."""
    record = machine.session("first", functools.partial(first))
    assert record.error is None and not judge(record, expected())
    assert by_unit(record.monitor) == by_unit(expected().monitor)
    assert machine.device.keys is None and not any(machine.device.memory.data)
    machine.take_back()
    record = machine.session("second", second)
    assert record.error is None and not judge_second(record)


def test_long_transfers(machine: Machine) -> None:
    """Transfers of several bursts on the protected card's RTL give the model's results."""
    record = machine.session("first", functools.partial(first, big=True))
    assert record.error is None and not judge(record, expected(big=True))


def test_registers(machine: Machine) -> None:
    """The protected card's RTL shows its capabilities, rejects bad addresses, renews its nonce."""
    device = machine.device
    assert device.capabilities == CAPABILITIES
    for offset in (0, 0x40, PAGE - 4):
        address = PAGE * (1 + CAPABILITIES.queues) + offset
        with pytest.raises(BusError):
            device.mmio_read(address, 4)
        with pytest.raises(BusError):
            device.mmio_write(address, bytes(4))
    nonces = set()
    for _ in range(3):
        nonces.add(device.mmio_read(0x20, 32))
        machine.take_back()
    assert len(nonces) == 3


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("end", ["close", "error", "reset"])
def test_nothing_is_left(end: str, build: str) -> None:
    """After CLOSE, an error or a reset no signal of the card holds a secret or plaintext (H14)."""
    attack = Attack()
    if end == "error":
        flip = edit_data(flipper(40))
        attack = On(flip, what="request", kind=Kind.D2H, nth=2)
    machine = rtl_card.machine(build)(attack)
    secrets = secrets_of(session_of(machine), PLAIN)
    found: list[str] = []

    def application(host, record) -> None:
        host.wait(host.open())
        host.wait(host.h2d(1, 0, PLAIN["input one"], 128))
        found.extend(machine.device.find(secrets))
        if end == "reset":
            machine.take_back()
            return
        host.wait(host.h2d(1, 0x1000, PLAIN["input two"], 128))
        for _ in range(3):
            host.wait(host.d2h(2, 0, 320, 128))
        host.wait(host.close())

    record = machine.session("first", application)
    kinds = {line.split()[0] for line in found}
    assert kinds >= {"secret", "round", "H", "keystream", "input"}, "the search is blind"
    assert (record.caught() == "device:TAG") == (end == "error")
    assert machine.device.keys is None
    assert machine.device.state == (State.DEAD if end == "error" else State.IDLE)
    if end == "error":
        assert machine.device.cause[0] == Cause.TAG
        assert machine.device.mmio_read(CAUSE, 1) == bytes((Cause.TAG,))
    assert machine.device.find(secrets) == []
    machine.close()


@pytest.mark.parametrize("make", [Machine, rtl_card.RtlMachine])
def test_a_session_is_not_replayed(make: type[Machine]) -> None:
    """Model and RTL of the card give no nonce twice though its random source is stuck (H2).

    So the same secret and host nonce give other keys, whatever was installed in between.
    """
    machine = make(Attack())
    device = machine.device
    if make is Machine:
        device.nonce_source = lambda: bytes(24)
    else:
        device.simulator.set_nonces(lambda: bytes(24))
    machine.take_back()
    nonces = []
    for host_nonce in (b"h" * 32, b"h" * 32, b"i" * 32, b"h" * 32):
        device.mmio_write(HOST_NONCE, host_nonce)
        nonces.append(device.mmio_read(DEVICE_NONCE, 32))
        assert device.install(octets("one", 32), bytes(16))
        machine.take_back()
    first = int.from_bytes(nonces[0])
    assert [int.from_bytes(nonce) - first for nonce in nonces] == [n << 192 for n in range(4)]
    machine.close()


@pytest.mark.parametrize("make", [Machine, rtl_card.RtlMachine])
@pytest.mark.parametrize("place", [(0x20, 0x400), (0x40, 0x410), (0x40, 0x400)])
def test_runs_begin_at_granules(make: type[Machine], place: tuple[int, int]) -> None:
    """The card's kernel reports a fault if a run's address is no multiple of 64."""
    machine, legal, found = make(Attack()), not any(at % 64 for at in place), []

    def application(host, record) -> None:
        host.wait(host.open())
        host.wait(host.batch(0, start(*place, 100)))
        for _ in range(20):
            found.append(
                host.wait(host.batch(0, [wire.read(card.STATUS), wire.read(card.RUNS, 8)]))
            )

    record = machine.session("first", application)
    assert record.error is None
    status = 0 if legal else card.FAULT
    assert found[-1] == status.to_bytes(8) + legal.to_bytes(8)
    machine.close()


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("name", FEW)
def test_attack(name: str, build: str) -> None:
    """The protected card's RTL detects a selection of attacks where the catalogue says."""
    (entry,) = attack_runs.choose([name], every=False)
    assert attack_runs.verdict_of(entry, rtl_card.machine(build))[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("build", rtl_card.BUILDS)
def test_every_attack(build: str) -> None:
    """The protected card's RTL detects every attack of the catalogue, or it has no effect."""
    wrong = {}
    for entry in catalogue():
        found = attack_runs.verdict_of(entry, rtl_card.machine(build))[1]
        if found:
            wrong[entry.name] = found
    assert not wrong


def test_random_manipulations() -> None:
    """60 sessions of the card's RTL with random bus changes give no wrong result."""
    assert not fuzz.fuzz(60, seed=4_000_000, make=rtl_card.RtlMachine).wrong


@pytest.mark.slow
@pytest.mark.parametrize("build", rtl_card.BUILDS)
def test_many_random_manipulations(build: str) -> None:
    """Many sessions of the card's RTL with random bus changes give no wrong result."""
    assert not fuzz.fuzz(1500, seed=5_000_000, make=rtl_card.machine(build)).wrong

# SPDX-License-Identifier: Apache-2.0
"""Tests that mae_protected_card erases a session on a hung bus in every state of its machines.

A first run on each hung bus records the states of the guard's state machines, clock by clock. Then
the run is made again for some clocks, so that the OS resets the card in each recorded state, while
a burst is outstanding that the host never ends.
"""

import dataclasses
import functools
import re

from maeslant import paths
from maeslant.protected import rtl_card
from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import (
    DOORBELL,
    PAGE,
    RESET,
    RESET_WORD,
    STATUS,
    Cause,
    State,
)
from maeslant.protected.model.host import Host, HostError
from maeslant.protected.model.workload import CAPABILITIES, Record, octets, run_kernel
from tests.protected.model.secrets import secrets_of, session_of
from tests.protected.model.test_hung_bus import CLOCKS

GUARD = "TOP.mae_protected_card.u_guard."
# Of each state machine of the guard: its register, and the file below rtl/guard that declares it.
MACHINES = {
    "session": ("u_session.step_q", "session/mae_guard_session.sv"),
    "keys": ("u_executor.u_keys.state_q", "session/mae_guard_key_table.sv"),
    "derivation": ("u_executor.u_keys.u_kdf.state_q", "session/mae_guard_kdf.sv"),
    "epochs": ("u_executor.u_epochs.step_q", "session/mae_guard_epoch_keys.sv"),
    "requests": ("u_executor.u_requests.step_q", "request/mae_guard_request_handler.sv"),
    "messages": ("u_executor.u_messages.state_q", "request/mae_guard_message_gcm.sv"),
    "responses": ("u_executor.u_answers.step_q", "response/mae_guard_response_sealer.sv"),
    "bursts": ("u_executor.u_answers.u_slots.burst_q", "response/mae_guard_response_writer.sv"),
    "chunks": ("u_transfers.u_book.u_arming.state_q", "transfer/mae_guard_chunk_arming.sv"),
    "abort": ("u_transfers.u_giving.state_q", "transfer/mae_guard_transfer_abort.sv"),
}
# Counters of the host port, all 0 while nothing is outstanding.
OUTSTANDING = [
    f"{GUARD}u_dma.u_bus.{name}"
    for name in (
        "u_reads.under_way_q",
        "u_reads.u_ar.waiting_q",
        "u_writes.under_way_q",
        "u_writes.u_order.count_q",
        "u_writes.u_aw.waiting_q",
    )
]
# States without secrets or without an outstanding burst, or out of reach, and why.
EXEMPT = {
    ("session", "Reset"): "no secret was installed",
    ("session", "Walk"): "all is erased but device memory, which the walk erases",
    ("session", "Idle"): "begins when the bus is quiet",
    ("session", "Derive"): "follows Idle; no request is accepted before its end",
    ("session", "Dead"): "begins when the bus is quiet",
    ("epochs", "Empty"): "there are no keys",
    ("responses", "Failed"): "needs as many blocks as one key may encrypt",
}
# The beat that the bus shows: ciphertext, which is keystream where the plaintext is zeros.
SHOWN = r"keystream (RESPONSE|DMA_OUT) .*\.u_bus\.u_writes\.WHolds_last_q"
PLAIN = {name: octets(name, 320) for name in ("one", "two", "three")}
BURSTS = 56  # of `crowd`
LEAD = 1  # clocks from the begin of a register write to the reset
STEP_HALT, STEP_CLEAR, HALT_CLOCKS = 1, 2, 4  # of mae_guard_session
Met = set[tuple[str, str]]


@functools.cache
def names(machine: str) -> list[str]:
    """Returns the names of a state machine's states, in the order of their numbers."""
    text = (paths.RTL / "guard" / MACHINES[machine][1]).read_text()
    (body,) = re.findall(r"typedef enum logic[^{]*\{(.*?)\}", text, re.DOTALL)
    return re.findall(r"\w+", re.sub(r"//.*", "", body))


def crowd(host: Host, _record: Record) -> None:
    """Sends requests of every kind to the protected card, many at once, the first one too early."""

    def wait(*jobs: object) -> bool:
        for job in jobs:
            try:
                host.wait(job)
            except HostError:
                if host.poison_error:
                    return False
        return True

    read = wire.read(card.SCRATCH)
    if not wait(host.batch(0, [read])) or not wait(host.open()):
        return
    up = host.h2d(1, 0, PLAIN["one"], 128)
    jobs = [up, host.d2h(2, 0x2400, 320, 128, after=1), run_kernel(host, 0, 0x2400, 320, up, 0)]
    jobs += [host.h2d(1, 0x1000, PLAIN["two"], 64, give_up=1)]
    jobs += [host.d2h(2, at, 128, 64, after=2) for at in (0x2800, 0x2C00)]
    jobs += [host.batch(0, [read] * CAPABILITIES.operations)]
    jobs += [last := host.h2d(1, 0x1800, PLAIN["three"], 128)]
    # Ends with a fault: the second run never comes, and two transfers wait for it.
    jobs += [run_kernel(host, 0x20, 0x2400, 320, last, 1)]
    jobs += [host.rekey(queue) for queue in (0, 2)]
    if wait(*jobs):
        wait(host.close())


class Stopped(Exception):
    """Ends an application at a clock of the simulated card."""


@dataclasses.dataclass(frozen=True)
class Place:
    """Names a clock of the session on a hung bus."""

    bursts: int
    channel: str
    clock: int = 1 << 62


class Watched(rtl_card.RtlDevice):
    """Records the states of the guard's state machines on a hung bus; stops at a given clock."""

    def __init__(self, *given: object, place: Place, **options: object) -> None:
        hang = f"hang={place.bursts}&hang_on={place.channel}"
        super().__init__(*given, build=rtl_card.BUILDS[0], options=hang, **options)
        self.place, self.hung = place, False
        self.registers = [self.signals[GUARD + name] for name, _ in MACHINES.values()]
        self.counters = [self.signals[name] for name in OUTSTANDING]
        self.met: dict[tuple[int, ...], int] = {}  # states of all machines, and the first clock

    def clock(self) -> int:
        """Returns how many clocks the card has had."""
        stats = self.simulator.stats()
        self.hung |= stats["read_bursts"] + stats["write_bursts"] >= self.place.bursts
        return stats["core_clocks"]

    def states(self) -> tuple[int, ...]:
        """Returns the numbers of the states in which the guard's state machines are."""
        return tuple(register[0] for register in self.registers)

    def outstanding(self) -> bool:
        """Returns true if the host owes the card an answer that it will never give."""
        return self.hung and any(counter[0] for counter in self.counters)

    def step(self) -> bool:
        """Simulates the card as RtlDevice does, clock by clock."""
        self.news = False
        for number in range(rtl_card.STEP):
            now = self.clock()
            if now == self.place.clock - LEAD:
                raise Stopped
            if number >= LEAD and self.outstanding():
                self.met.setdefault(self.states(), now)
            self.simulator.run(1)
        self._take_notes()
        return self.news


def play(place: Place) -> rtl_card.RtlMachine:
    """Runs a session of the protected card on a bus that hangs, up to a clock."""

    class HungMachine(rtl_card.RtlMachine):
        """Runs sessions on a hung bus."""

        make_device = functools.partial(Watched, place=place)

    machine = HungMachine(timeout=30)
    try:
        machine.session("first", crowd)
    except Stopped:
        pass
    return machine


def named(states: tuple[int, ...]) -> Met:
    """Returns the names of machines and states for a tuple of their numbers."""
    return {(m, names(m)[number]) for m, number in zip(MACHINES, states, strict=True)}


def chosen(found: dict[tuple[int, ...], Place]) -> dict[tuple[int, ...], Place]:
    """Returns a few of the found clocks that together have all states of the found ones."""
    left = set().union(*map(named, found))
    few = {}
    while left:
        best = max(found, key=lambda states: len(named(states) & left))
        few[best] = found[best]
        left -= named(best)
    return few


def erased(device: Watched, secrets: dict[str, bytes], where: object) -> None:
    """Asserts that nothing is left of a session whose end began, and that a burst is."""
    device.simulator.run(CLOCKS)
    left = [piece for piece in device.find(secrets) if not re.fullmatch(SHOWN, piece)]
    assert left == [], where
    assert not any(device.memory.data), where
    assert device.state == State.SCRUB, f"no burst was outstanding: {where}"


def reset_in(states: tuple[int, ...], place: Place) -> None:
    """Resets the card in the clock in which its machines are in given states; looks what is left.

    The clock is exact: the session's end begins in the next one.
    """
    machine = play(place)
    device = machine.device
    secrets = secrets_of(session_of(machine), PLAIN)
    assert device.find({"secret": secrets["secret"]}), "the search is blind"
    device.mmio_write(RESET, RESET_WORD.to_bytes(4, "little"))
    (count,) = device.signals[GUARD + "u_session.count_q"]
    step = device.states()[0]
    assert step in (STEP_HALT, STEP_CLEAR)
    begin = device.clock() - count - HALT_CLOCKS * (step == STEP_CLEAR)
    assert begin == place.clock + 1, (begin, place.clock)
    erased(device, secrets, (named(states), place))
    machine.close()


def forge(place: Place) -> Met:
    """Ends a session by a forged message on a hung bus; returns the states of its end.

    Without an idle queue, or behind a response that the bus does not take, it ends nothing.
    """
    machine = play(place)
    device = machine.device
    pages = [PAGE * (1 + queue) for queue in range(CAPABILITIES.queues)]
    ready = [page for page in pages if device.mmio_read(page + STATUS, 1)[0]]
    met: Met = set()
    if ready and device.outstanding():
        device.mmio_write(ready[0] + DOORBELL, (1).to_bytes(4, "little"))
        for _ in range(CLOCKS):
            met |= named(device.states()) if device.outstanding() else set()
            if ("session", "Clear") in met:
                break
            device.simulator.run(1)
    if device.cause[0] == Cause.TAG:
        erased(device, secrets_of(session_of(machine), PLAIN), ("forged", place))
    machine.close()
    return met


def test_erased_in_every_state() -> None:
    """A reset in any state of the guard's machines erases the session while a burst hangs (H14)."""
    found: dict[tuple[int, ...], Place] = {}
    for channel in ("all", "read", "write"):
        for bursts in range(BURSTS):
            machine = play(Place(bursts, channel))
            for states, clock in machine.device.met.items():
                found.setdefault(states, Place(bursts, channel, clock))
            machine.close()
    few = chosen(found)
    for states, place in few.items():
        reset_in(states, place)
    met = set().union(*map(named, few))
    for bursts in range(0, BURSTS, 4):
        met |= forge(Place(bursts, "read"))
    every = {(machine, state) for machine in MACHINES for state in names(machine)}
    assert every - met == set(EXEMPT), "unmet, or met and exempt"

# SPDX-License-Identifier: Apache-2.0
"""Runs attacks on the protocol of Ghosh et al., and its tag oracle on Maeslant's protocol too."""

from collections.abc import Callable

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from rich.console import Console

from maeslant.protected.attack_runs import machine_maker, say, titled_table, where_of
from maeslant.protected.attacks import ghosh, tag_oracle
from maeslant.protected.attacks.ghosh import CHANGE, NOBODY, Entry, GhoshCard, Outcome
from maeslant.protected.model.constants import Class
from maeslant.protected.model.ghosh import GhoshDevice
from maeslant.protected.model.keys import Session
from maeslant.protected.model.workload import (
    CAPABILITIES,
    Machine,
    device_nonce,
    expected,
    first,
    judge,
    octets,
    play,
)


def card_maker(card: bool) -> Callable[[bytes], GhoshCard]:
    """Returns the class of cards with Ghosh et al.'s protocol to attack: RTL or Python model."""
    if not card:
        return GhoshDevice
    from maeslant.protected.rtl_ghosh import RtlGhosh

    return RtlGhosh


def _hash_key(key: bytes) -> int:
    return int.from_bytes(Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(bytes(16)))


def _session(machine: Machine) -> Session:
    """Recomputes an attacked session's secrets, to compare guesses of the session's hash keys."""
    label = f"{machine.seed} first"
    return Session(
        octets(f"{label} secret", 32),
        octets(f"{label} id", 16),
        octets(f"{label} host nonce", 32),
        device_nonce(machine.seed, 0),
        CAPABILITIES.word(),
    )


def _came(entry: Entry, outcome: Outcome) -> str:
    """Describes an attack's outcome in words: succeeded, or stopped by which check."""
    if outcome.through:
        return f"[red]gets through[/]: wrong are {', '.join(outcome.wrong)}"
    if outcome.caught == NOBODY:
        return "stopped: no effect"
    return f"stopped: the driver finds {outcome.caught} wrong"


def run_paper(card: bool, console: Console) -> bool:
    """Attacks Ghosh et al.'s protocol, prints a table; returns true if all is as expected."""
    where = "RTL that follows it" if card else "a model of a card that follows it"
    title = f"The protocol of Ghosh et al., on {where}, with its driver"
    table = titled_table(title, "attack", "would have got", "what came of it", "against")
    make, odd = card_maker(card), []
    for entry in ghosh.attacks():
        outcome = entry.play(make)
        if not entry.right(outcome):
            odd.append(entry.name)
        table.add_row(entry.name, entry.aim, _came(entry, outcome), entry.requirement)
    console.print(table)
    for name in odd:
        console.print(f"[red]{name}: not as it should be[/]", highlight=False)
    return not odd


def run_ours(build: str | None, console: Console) -> bool:
    """Tries the tag-oracle attack on Maeslant's protocol, prints the result; true if it fails."""
    make = machine_maker(build)
    oracle = tag_oracle.OurOracle(CHANGE)
    machine = make(oracle)
    try:
        record = machine.session("first", first)
        wrong = judge(record, expected())
        session = _session(machine)
    finally:
        machine.close()
    hashes = {_hash_key(session.derive(cls, epoch)[:32]) for cls in Class for epoch in (0, 1)}
    tried = [h for _, h in oracle.candidates()]
    gift = _hash_key(session.derive(Class.DMA_IN, 0)[:32])
    forged = play(tag_oracle.OurOracle(CHANGE, gift), make=make)
    holds = not wrong and not hashes & set(tried) and forged.caught == "device:CHUNK"
    holds &= not forged.wrong
    console.print(f"[bold]Ours[/], on {where_of(build)}, the tag oracle:")
    console.print(
        f"  {len(tried)} pairs of tags on the bus, {len(oracle.readable)} readable words:"
    )
    console.print("  no pair is under one key and IV, none gives H")
    console.print(f"  and with H as a gift, a forged transfer is caught: {say(forged.caught)}")
    console.print("  it holds" if holds else "  [red]it falls[/]")
    return holds


def run_ghosh(build: str | None, console: Console) -> bool:
    """Runs all attacks on Ghosh et al.'s protocol and the tag oracle on Maeslant's; prints all."""
    good = run_paper(bool(build), console)
    return run_ours(build, console) and good

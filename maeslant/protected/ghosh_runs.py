# SPDX-License-Identifier: Apache-2.0
"""Runs attacks on the protocol of Ghosh et al., and its tag oracle on Maeslant's protocol too."""

import dataclasses
import json
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


def attack_paper(card: bool) -> list[tuple[Entry, Outcome]]:
    """Runs all attacks on Ghosh et al.'s protocol; returns each with what came of it."""
    make = card_maker(card)
    return [(entry, entry.play(make)) for entry in ghosh.attacks()]


def show_paper(card: bool, outcomes: list[tuple[Entry, Outcome]], console: Console) -> None:
    """Prints the attacks on Ghosh et al.'s protocol as a table, and those that went otherwise."""
    where = "RTL that follows it" if card else "a model of a card that follows it"
    title = f"The protocol of Ghosh et al., on {where}, with its driver"
    table = titled_table(title, "attack", "would have got", "what came of it", "against")
    for entry, outcome in outcomes:
        table.add_row(entry.name, entry.aim, _came(entry, outcome), entry.requirement)
    console.print(table)
    for entry, outcome in outcomes:
        if not entry.right(outcome):
            console.print(f"[red]{entry.name}: not as it should be[/]", highlight=False)


@dataclasses.dataclass(frozen=True)
class Ours:
    """Holds the result of the tag oracle on Maeslant's protocol."""

    pairs: int  # of tags on the bus
    words: int  # of the card that can be read
    caught: str  # who noticed a transfer forged with the hash key as a gift
    holds: bool


def attack_ours(build: str | None) -> Ours:
    """Tries the tag-oracle attack on Maeslant's protocol; returns the result."""
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
    return Ours(len(tried), len(oracle.readable), forged.caught, holds)


def show_ours(build: str | None, ours: Ours, console: Console) -> None:
    """Prints the result of the tag-oracle attack on Maeslant's protocol."""
    console.print(f"[bold]Ours[/], on {where_of(build)}, the tag oracle:")
    console.print(f"  {ours.pairs} pairs of tags on the bus, {ours.words} readable words:")
    console.print("  no pair is under one key and IV, none gives H")
    console.print(f"  and with H as a gift, a forged transfer is caught: {say(ours.caught)}")
    console.print("  it holds" if ours.holds else "  [red]it falls[/]")


def run_ghosh(build: str | None, as_json: bool, console: Console) -> bool:
    """Runs all attacks on Ghosh et al.'s protocol and the tag oracle on Maeslant's; prints all.

    Returns true if the paper's protocol falls as expected and Maeslant's holds.
    """
    paper = attack_paper(bool(build))
    if not as_json:
        show_paper(bool(build), paper, console)
    ours = attack_ours(build)
    if as_json:
        found = [_as_json(*one) for one in paper]
        console.print_json(json.dumps({"paper": found, "ours": dataclasses.asdict(ours)}))
    else:
        show_ours(build, ours, console)
    return ours.holds and all(entry.right(outcome) for entry, outcome in paper)


def _as_json(entry: Entry, outcome: Outcome) -> dict[str, object]:
    return {
        "name": entry.name,
        "requirement": entry.requirement.split(),
        "aim": entry.aim,
        "through": outcome.through,
        "caught": outcome.caught,
        "wrong": outcome.wrong,
        "as_expected": entry.right(outcome),
    }

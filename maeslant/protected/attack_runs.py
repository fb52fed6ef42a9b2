# SPDX-License-Identifier: Apache-2.0
"""Runs bus attacks on the protected channel between the C driver and the card or its model."""

import collections
import fnmatch
import json
import time
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table

from maeslant import progress
from maeslant.errors import MaeslantError
from maeslant.protected.attacks import catalogue, fuzz
from maeslant.protected.attacks.entry import NOTHING, Entry
from maeslant.protected.model.workload import Machine, Verdict

CAUGHT = {
    "device:TAG": "card: tag of a request",
    "device:CHUNK": "card: tag of a chunk",
    "device:BEAT": "card: a beat too many, too few or refused",
    "device:DOORBELL": "card: no legal length",
    "device:ACCESS": "card: a refused register",
    "device:BUDGET": "card: a key's budget",
    "host:response tag": "driver: tag of an answer",
    "host:chunk tag": "driver: tag of a chunk",
    "host:timeout": "driver: no answer came",
    "host:illegal capabilities": "driver: no legal device",
    "host:shared memory inside the enclave": "driver: address of a buffer",
    "host:impossible response": "driver: no device answers so",
    NOTHING: "no effect: every result right",
}
MakeMachine = Callable[..., Machine]


def machine_maker(build: str | None) -> MakeMachine:
    """Returns the class of machines to attack, with a simulated card or, for None, a Python model.

    Builds the simulation unless it is up to date. MaeslantError: it is no card of the workload's
    capabilities.
    """
    from maeslant.protected import session

    base = Machine
    if build:
        from maeslant.build import simulator
        from maeslant.protected import rtl_card

        if build not in rtl_card.BUILDS:
            known = ", ".join(rtl_card.BUILDS)
            raise MaeslantError(f"{build} cannot be attacked: the attacks are for {known}")
        simulator.build(build)
        base = rtl_card.machine(build)

    class UnderDriver(base):
        """Runs encrypted sessions between the C driver and an attacked card, simulated or model."""

        make_host = session.Host

    return UnderDriver


def where_of(build: str | None) -> str:
    """Returns a text that names the attacked card (simulated or model) and the driver."""
    card = f"the simulated card ({build})" if build else "a model of the card"
    return f"{card} under the C driver"


def choose(names: list[str], every: bool) -> list[Entry]:
    """Returns the catalogue's bus attacks chosen by name, family, requirement ("H7") or pattern."""
    entries = catalogue()
    if every:
        return entries
    chosen = []
    for name in names:
        found = [
            entry
            for entry in entries
            if entry.name == name
            or entry.name.startswith(name.rstrip("/") + "/")
            or name in entry.requirement.split()
            or fnmatch.fnmatchcase(entry.name, name)
        ]
        if not found:
            raise MaeslantError(f"no attack is named {name}; `maeslant attack` lists them")
        chosen += [entry for entry in found if entry not in chosen]
    return chosen


def family_of(entry: Entry) -> str:
    """Returns the family name of a bus attack, the first part of the attack's name."""
    return entry.name.split("/")[0] if "/" in entry.name else " ".join(entry.name.split()[:2])


def say(caught: str) -> str:
    """Returns a user-readable text for a detection code such as "device:TAG"."""
    return CAUGHT.get(caught, caught.replace("host:", "driver: ").replace("device:", "card: "))


def verdict_of(entry: Entry, make: MakeMachine) -> tuple[Verdict, list[str]]:
    """Runs a bus attack of the catalogue; returns (verdict, texts about unexpected outcomes)."""
    verdict = entry.play(make)
    wrong = list(verdict.wrong)
    if not verdict.fired:
        wrong.append("the attack never acted")
    if verdict.caught not in entry.expect:
        wrong.append(f"noticed as {verdict.caught}, not {' or '.join(entry.expect)}")
    if verdict.second != entry.second:
        wrong.append(f"in the next session: {verdict.second}, not {entry.second}")
    return verdict, wrong


def titled_table(title: str, *columns: str) -> Table:
    """Returns an empty table, with title and columns, for results of bus attacks or sessions."""
    table = Table(title=title, box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for column in columns:
        right = column in ("attacks", "sessions", "share")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    return table


def show_catalogue(as_json: bool, console: Console) -> None:
    """Prints the families of bus attacks, with numbers and examples, or all attacks as JSON."""
    if as_json:
        console.print_json(json.dumps([_described(entry) for entry in catalogue()]))
        return
    families: dict[str, list[Entry]] = collections.defaultdict(list)
    for entry in catalogue():
        families[family_of(entry)].append(entry)
    table = titled_table(
        "Attacks: maeslant attack NAME, FAMILY or --all", "family", "attacks", "against"
    )
    table.add_column("for example")
    for family, entries in families.items():
        wanted = sorted({word for entry in entries for word in entry.requirement.split()}, key=_key)
        table.add_row(family, str(len(entries)), " ".join(wanted), entries[0].name)
    console.print(table)


def _key(requirement: str) -> tuple[str, int]:
    return requirement[0], int(requirement[1:])


def run(
    names: list[str],
    every: bool,
    build: str | None,
    as_json: bool,
    console: Console,
    err: Console,
) -> bool:
    """Runs selected bus attacks on the encrypted channel; prints which check detected each attack.

    Returns true if all were detected.
    """
    entries = choose(names, every)
    make = machine_maker(build)
    where = where_of(build)
    results, start = [], time.monotonic()
    with progress.bar("attacking", len(entries), err) as seen:
        for entry in entries:
            verdict, wrong = verdict_of(entry, make)
            results.append((entry, verdict, wrong))
            seen.advance()
    bad = [entry.name for entry, _, wrong in results if wrong]
    if as_json:
        console.print_json(json.dumps([_as_json(*result) for result in results]))
        return not bad
    if len(results) <= 40:
        _show_each(results, where, console)
    else:
        _show_families(results, where, console)
    for entry, _, wrong in results:
        for line in wrong:
            console.print(f"[red]{entry.name}[/]: {line}", highlight=False)
    console.print(
        f"{len(results) - len(bad)} of {len(results)} attacks noticed or without effect, "
        f"no wrong byte with application or accelerator; {time.monotonic() - start:.1f} s"
        if not bad
        else f"[red]{len(bad)} of {len(results)} attacks succeeded[/]",
        highlight=False,
    )
    return not bad


def _described(entry: Entry) -> dict[str, object]:
    return {"name": entry.name, "requirement": entry.requirement.split(), "aim": entry.aim}


def _as_json(entry: Entry, verdict: Verdict, wrong: list[str]) -> dict[str, object]:
    return {
        **_described(entry),
        "caught": verdict.caught,
        "next_session": verdict.second,
        "wrong": wrong,
    }


def _show_each(results: list, where: str, console: Console) -> None:
    table = titled_table(f"On {where}", "attack", "against", "would have got", "caught by")
    for entry, verdict, wrong in results:
        caught = say(verdict.caught)
        if entry.second != NOTHING:
            caught += f"; next session: {say(verdict.second)}"
        style = "red" if wrong else ""
        table.add_row(entry.name, entry.requirement, entry.aim, caught, style=style)
    console.print(table)


def _show_families(results: list, where: str, console: Console) -> None:
    table = titled_table(f"On {where}", "family", "attacks", "caught by")
    families: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for entry, verdict, _ in results:
        caught = verdict.caught if entry.second == NOTHING else verdict.second
        families[family_of(entry)][say(caught)] += 1
    for family, counter in families.items():
        text = "\n".join(f"{count:4} {name}" for name, count in counter.most_common())
        table.add_row(family, str(counter.total()), text)
    console.print(table)


def run_fuzz(
    manipulations: int,
    seed: int,
    build: str | None,
    as_json: bool,
    console: Console,
    err: Console,
) -> bool:
    """Runs encrypted sessions under random bus manipulations; prints which check ended each.

    Returns true if none succeeded.
    """
    make, start = machine_maker(build), time.monotonic()
    with progress.bar("manipulating", manipulations, err) as seen:
        tally = fuzz.fuzz(manipulations, seed, make, seen.reach)
    if as_json:
        console.print_json(json.dumps(vars(tally)))
        return not tally.wrong
    where = where_of(build)
    title = f"{tally.manipulations:,} manipulations of {tally.sessions:,} sessions on {where}"
    table = titled_table(title, "session ended by", "sessions")
    for name, count in tally.caught.most_common():
        table.add_row(say(name), f"{count:,}")
    table.caption = ", ".join(f"{count:,} {name}" for name, count in tally.kinds.most_common())
    console.print(table)
    for line in tally.wrong:
        console.print(f"[red]{line}[/]", highlight=False)
    if not tally.wrong:
        spent = time.monotonic() - start
        console.print(f"no wrong byte, and every run ended; {spent:.1f} s", highlight=False)
    return not tally.wrong

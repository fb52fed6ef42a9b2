# SPDX-License-Identifier: Apache-2.0
"""Proves the netlists of the synthesis tables, those that no check has seen, the smallest first."""

from collections.abc import Callable

from maeslant.synth import flow
from maeslant.synth.page import tables
from maeslant.synth.page.rows import Ours
from maeslant.synth.report import Report, SynthesisError


def unchecked() -> list[tuple[Ours, Report]]:
    """Returns the tables' points, with their reports, whose netlists were not verified.

    Those of older RTL and those that were not synthesized are left out: `maeslant synth --tables`
    makes them.
    """
    points = {repr(one): one for table in tables.tables() for one in tables.points(table.rows)}
    found = []
    for ours in points.values():
        stored = flow.remembered(ours.name, ours.target, ours.parameters or None, **ours.options)
        if stored and not stored.netlist:
            found.append((ours, stored))
    return sorted(found, key=lambda one: one[1].area.get("cells") or one[1].area["lut"])


def prove(public: bool = False, tell: Callable[[str], None] = lambda step: None) -> list[str]:
    """Proves the netlists of the tables that no check has seen; returns those without a proof.

    A netlist that is not in the build folder is mapped again. Each proof, and what stands against
    one, is kept at once, so that an interrupted run goes on where it was; with ``public``, in
    results/reports.
    """
    left = []
    for ours, stored in unchecked():
        given = (ours.name, ours.target, ours.parameters or None)

        def step(text: str, title: str = ours.title) -> None:
            tell(f"{title}, {text}")

        try:
            made = flow.map_again(
                stored, ours.target, ours.parameters or None, step, **ours.options
            )
        except SynthesisError as error:
            left.append(f"{ours.title} for {ours.target}: {error}")
            continue
        try:
            flow.prove(made, ours.target, step)
        except SynthesisError as error:
            left.append(f"{ours.title} for {ours.target}: {error}")
        if public:
            flow.publish(flow.remembered(*given, **ours.options), *given, **ours.options)
    return left

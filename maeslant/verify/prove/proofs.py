# SPDX-License-Identifier: Apache-2.0
"""Reads the list of formal proofs of RTL modules and writes docs/proofs.md."""

import dataclasses
import pathlib

import yaml

from maeslant import paths
from maeslant.verify.prove import independence, smt

LIST = paths.ROOT / "formal" / "proofs.yml"
PAGE = paths.ROOT / "docs" / "proofs.md"
HEAD = """# Proofs

Written by `python -m maeslant.verify.prove --write` from formal/proofs.yml and
formal/independence.yml; do not edit. `make prove` runs them: Yosys makes the transition system,
Yices decides. Bounded: no violation in that many clocks after reset. Induction: that many states
which keep all assertions lead to no violation, so with the bounded proof none is ever violated.
Combinational: all inputs.

| proof | module | parameters | bounded | induction | assumed |
|---|---|---|---|---|---|
"""
INDEPENDENT = """
## Handshakes and addresses do not depend on key or data

Of two copies of a module that differ in the secret bits alone, the outputs below are equal in every
clock, at any depth: no path through gates, registers and memories of the elaborated netlist leads
from a secret bit to one of them (maeslant/verify/prove/independence.py). Nothing is assumed. A bus
that carries registers, descriptors and data on the same wires cannot be told apart bit by bit:
there the secrets begin at the nets that carry them alone, behind the bus's decoder. Verdicts (a tag
was right or not) are public, and stop a path; so are, in the protected card, the deciphered
requests of the application, which it carries out. Parameters not named are the defaults.

| module | parameters | secret | outputs | public verdict |
|---|---|---|---|---|
"""


@dataclasses.dataclass(frozen=True)
class Proof:
    """Describes a formal proof of an RTL module's assertions."""

    name: str
    top: str
    says: str
    depth: int = 1
    parameters: dict[str, object] = dataclasses.field(default_factory=dict)
    induction: int = 0  # states; 0: not claimed
    clocks: int = 1
    combinational: bool = False  # one clock is all there is
    free: list[str] = dataclasses.field(default_factory=list)  # modules that may answer anything
    assumed: str = "nothing"
    whole: bool = True  # with the assertions that stand in rtl/
    holds: str | None = None  # for the induction: prefix of the registers of an AXI4-Lite port

    def run(self, rtl: pathlib.Path = paths.RTL) -> str:
        """Runs this formal proof; returns "" if it holds, else a text with violated assertions."""
        text = smt.system(
            paths.ROOT / f"{self.top}.sv",
            self.parameters,
            rtl,
            clocks=self.clocks,
            free=self.free,
            whole=self.whole,
            holds=self.holds,
        )
        if self.combinational:
            answer = smt.everywhere(text)
            return "" if answer.holds else f"violated: {', '.join(answer.violated)}"
        answer = smt.bounded(text, self.depth)
        if not answer.holds:
            return f"violated: {', '.join(answer.violated)}"
        if self.induction:
            answer = smt.induction(text, self.induction)
        return "" if answer.holds else f"not inductive: {', '.join(answer.violated)}"


def load() -> list[Proof]:
    """Reads the list of formal proofs from formal/proofs.yml."""
    return [Proof(**item) for item in yaml.safe_load(LIST.read_text())]


def page() -> str:
    """Returns the text of docs/proofs.md, generated from formal/proofs.yml."""
    rows = []
    for proof in load():
        given = ", ".join(f"{k} = {v}" for k, v in proof.parameters.items()) or "defaults"
        depth, length = f"{proof.depth} clocks", f"{proof.induction} states"
        if proof.clocks > 1:
            depth = f"{proof.depth} edges"
        if not proof.induction:
            length = "not claimed"
        if proof.combinational:
            depth, length = "combinational", "not needed"
        module = pathlib.Path(proof.top).name
        left = "" if proof.whole else "; the assertions inside rtl/ are not proved here"
        rows.append(
            f"| {proof.name}: {proof.says} | {module} | {given} | {depth} | {length} | "
            f"{proof.assumed}{left} |\n"
        )
    rows.append(INDEPENDENT)
    for shown in independence.load():
        given = ", ".join(f"{k} = {v}" for k, v in shown.parameters.items()) or "defaults"
        words = [f"`{name}`" for name in shown.secret], [f"`{name}`" for name in shown.timing]
        secret, timing = (", ".join(names).replace("|", "\\|") for names in words)
        verdicts = ", ".join(f"`{name}`" for name in shown.verdicts) or "none"
        rows.append(f"| {shown.name}: {shown.top} | {given} | {secret} | {timing} | {verdicts} |\n")
    return HEAD + "".join(rows)

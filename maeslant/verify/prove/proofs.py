# SPDX-License-Identifier: Apache-2.0
"""The list of proofs, formal/proofs.yml, and the page that is written from it."""

import dataclasses
import pathlib

import yaml

from maeslant import paths
from maeslant.verify.prove import smt

LIST = paths.ROOT / "formal" / "proofs.yml"
PAGE = paths.ROOT / "docs" / "proofs.md"
HEAD = """# Proofs

Written by `python -m maeslant.verify.prove --write` from formal/proofs.yml; do not edit. `make
prove` runs them: Yosys makes the transition system, Yices decides. Bounded: no violation in that
many clocks after reset. Induction: that many states which keep all assertions lead to no violation,
so with the bounded proof none is ever violated.

That no handshake depends on key or data is shown on the netlist
(maeslant/verify/prove/independence.py, by tests/cipher/test_timing_proof.py) for
mae_cipher_min_area and mae_cipher_iter with their defaults, and not yet for the other ciphers, the
GCM engine and the peripheral.

| proof | module | parameters | bounded | induction | assumed | seconds |
|---|---|---|---|---|---|---|
"""


@dataclasses.dataclass(frozen=True)
class Proof:
    """A module of formal/ whose assertions hold."""

    name: str
    top: str
    says: str
    depth: int
    parameters: dict[str, object] = dataclasses.field(default_factory=dict)
    induction: int = 0  # states; 0: not claimed
    assumed: str = "nothing"
    seconds: float = 0  # measured once, on two cores

    def run(self, rtl: pathlib.Path = paths.RTL) -> str:
        """What is violated; nothing when the proof holds."""
        text = smt.system(paths.ROOT / "formal" / f"{self.top}.sv", self.parameters, rtl)
        answer = smt.bounded(text, self.depth)
        if not answer.holds:
            return f"violated: {', '.join(answer.violated)}"
        if self.induction and not smt.induction(text, self.induction).holds:
            return "the induction does not close"
        return ""


def load() -> list[Proof]:
    """All proofs of the list."""
    return [Proof(**item) for item in yaml.safe_load(LIST.read_text())]


def page() -> str:
    """The page."""
    rows = []
    for proof in load():
        given = ", ".join(f"{k} = {v}" for k, v in proof.parameters.items()) or "defaults"
        length = f"{proof.induction} states" if proof.induction else "not claimed"
        module = pathlib.Path(proof.top).name
        rows.append(
            f"| {proof.name}: {proof.says} | {module} | {given} | {proof.depth} | {length} | "
            f"{proof.assumed} | {proof.seconds:g} |\n"
        )
    return HEAD + "".join(rows)

# SPDX-License-Identifier: Apache-2.0
"""Proves that an RTL module's handshakes do not depend on key or data.

Sound: of two copies of a module that differ in the secret bits alone, all registers that no secret
reaches stay equal for ever, and with them the outputs that none reaches. A path need not be a leak;
none is a proof, at any depth. Paths lead through gates, registers and memories, bit by bit.
"""

import collections
import dataclasses
import re
from collections.abc import Iterator

import yaml

from maeslant import paths
from maeslant.synth import design
from maeslant.verify.prove import through

LIST = paths.ROOT / "formal" / "independence.yml"


@dataclasses.dataclass(frozen=True)
class Independence:
    """Describes a proof that no secret input of an RTL module can influence given outputs.

    The inputs are ``secret``, the outputs ``timing``.

    ``verdicts``: nets that are public although they are computed of secrets.
    """

    name: str
    top: str
    secret: tuple[str, ...]
    timing: tuple[str, ...]
    parameters: dict[str, object] = dataclasses.field(default_factory=dict)
    verdicts: tuple[str, ...] = ()

    def run(self, what: design.Design | None = None) -> str:
        """Returns the RTL module's outputs that a secret input can influence, "" if none."""
        module = through.netlist(what or design.find(self.top, self.parameters))
        secret = {bit for name in self.secret for bit in _bits(module, name)}
        public = {bit for name in self.verdicts for bit in _bits(module, name)}
        timing = {
            name: port["bits"]
            for name, port in module["ports"].items()
            if port["direction"] == "output" and any(re.fullmatch(p, name) for p in self.timing)
        }
        for pattern in self.timing:
            if not any(re.fullmatch(pattern, name) for name in timing):
                raise AssertionError(f"{self.top} has no output {pattern}")
        after = collections.defaultdict(set)
        for bit, given in _flows(module):
            for source in given:
                after[source].add(bit)
        seen = secret - public
        todo = list(seen)
        while todo:
            new = after[todo.pop()] - seen - public
            seen |= new
            todo += new
        reached = [name for name, bits in timing.items() if seen & set(bits)]
        results = {
            bit
            for name, port in module["ports"].items()
            if port["direction"] == "output" and name not in timing
            for bit in port["bits"]
        }
        if not seen & results:
            raise AssertionError(
                f"{self.name}: the secrets reach no result, so the proof shows nothing"
            )
        return f"reached: {', '.join(sorted(reached))}" if reached else ""


def _bits(module: dict, name: str) -> list[int]:
    """Returns the net numbers of a port or net's bits in a netlist, such as ``key_i[255:0]``."""
    word, high, low = re.fullmatch(r"(.*?)(?:\[(\d+):(\d+)\])?", name).groups()
    found = module["netnames"].get(word)
    if found is None:
        raise AssertionError(f"no net {word}")
    bits = found["bits"]
    if high:
        bits = bits[int(low) : int(high) + 1]
    bits = [bit for bit in bits if isinstance(bit, int)]
    if not bits:
        raise AssertionError(f"{name} is constant")
    return bits


def _flows(module: dict) -> Iterator[tuple[int, list]]:
    """Yields each driven bit of a netlist with a list of the bits it depends on."""
    written = collections.defaultdict(list)
    for cell in module["cells"].values():
        if cell["type"] == "$memwr_v2":
            written[cell["parameters"]["MEMID"]].append(cell["connections"])
    for cell in module["cells"].values():
        pins = cell["connections"]
        if through.REGISTER.fullmatch(cell["type"]) or through.LOADED.fullmatch(cell["type"]):
            control = [b for pin in ("EN", "SRST", "ARST", "ALOAD") for b in pins.get(pin, [])]
            data = [pins[pin] for pin in ("D", "AD") if pin in pins]
            for i, bit in enumerate(pins["Q"]):
                yield bit, [word[i] for word in data] + control
            continue
        if cell["type"] == "$memrd_v2":
            control = [b for pin in ("ADDR", "EN", "SRST", "ARST") for b in pins[pin]]
            writes = written[cell["parameters"]["MEMID"]]
            for write in writes:
                control += write["ADDR"]
            for i, bit in enumerate(pins["DATA"]):
                yield bit, [write[pin][i] for write in writes for pin in ("DATA", "EN")] + control
            continue
        yield from through.dependences(cell)


def load() -> list[Independence]:
    """Reads formal/independence.yml: proofs that outputs' timing is independent of secrets."""
    found = yaml.safe_load(LIST.read_text())
    return [
        Independence(**{k: tuple(v) if isinstance(v, list) else v for k, v in item.items()})
        for item in found
    ]

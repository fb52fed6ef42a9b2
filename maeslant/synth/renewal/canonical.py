# SPDX-License-Identifier: Apache-2.0
"""Puts a Yosys netlist into a canonical form, which is equal for isomorphic netlists.

Each net has one driver and ports of cells have names. So a walk from a module's outputs through
their drivers meets the cells in an order that follows from the structure alone: numbers in that
order take the place of names. A line a cell says its type, parameters, the attributes that a mapper
heeds (initial values among them) and what drives its inputs. Modules that are kept have a form of
their own, whose digest takes the place of their name. There is neither search nor tolerance: the
order of operands matters, and what differs in it counts as different.
"""

import collections
import functools
import hashlib
import json
import pathlib

from maeslant.synth.report import SynthesisError

# Attributes that say where something comes from or what it is called; all others count.
ORIGIN = {"src", "hdlname", "unused_bits", "top"}
WRITES, CONTENTS = ("$memwr_v2",), ("$meminit", "$meminit_v2")


class Modules:
    """Holds the modules of a Yosys netlist (write_json).

    ``unused``: a module may have cells that no output depends on, which its form leaves out;
    without, they are a SynthesisError.
    """

    def __init__(self, file: pathlib.Path, *, unused: bool = False) -> None:
        with open(file) as text:
            self._modules = json.load(text)["modules"]
        self._unused = unused

    def form(self, name: str) -> tuple[list[str], list[str]]:
        """Returns a module's canonical form, in lines, and the place in the RTL of each line."""
        walk = _Walk(self._modules[name], self.kind)
        made = walk.lines()
        if walk.unseen and not self._unused:
            raise SynthesisError(f"no output depends on a cell {walk.unseen[0]}")
        return made

    @functools.cache  # noqa: B019 it lives as long as the netlist
    def kind(self, kind: str) -> str:
        """Returns a cell's type, or the digest of the module that it is an instance of."""
        module = self._modules.get(kind)
        if module is None or int(module["attributes"].get("blackbox", "0"), 2):
            return kind
        lines, _ = self.form(kind)
        return f"module {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"


class Netlist:
    """Holds the canonical form of a Yosys netlist (write_json).

    ``form`` is that of its top module, a list of lines; ``origins`` has the place in the RTL that
    each line comes from.
    """

    def __init__(self, file: pathlib.Path, top: str) -> None:
        self.form, self.origins = Modules(file).form(top)

    def difference(self, other: "Netlist") -> str | None:
        """Returns where this netlist differs first from another; None if they are isomorphic."""
        if self.form == other.form:
            return None
        for at, (own, theirs) in enumerate(zip(self.form, other.form, strict=False)):
            if own != theirs:
                kinds = " and ".join(dict.fromkeys(line.split()[0] for line in (own, theirs)))
                return f"{kinds}, {self.origins[at] or 'a port'}"
        return f"{len(self.form):,} and {len(other.form):,} cells"


class _Walk:
    """Walks a module from its outputs through their drivers; numbers what it meets."""

    def __init__(self, module: dict, kind: object) -> None:
        self._module, self._kind = module, kind
        self._numbers: dict[object, int] = {}
        self._queue: collections.deque = collections.deque()
        self._drivers: dict[int, tuple[str, str]] = {}  # what drives a net, and by which bit
        self._cells = {n: c for n, c in module["cells"].items() if c["type"] != "$scopeinfo"}
        self._memories = collections.defaultdict(list)  # cells that write a memory
        self._marks = _marks(module)
        self.unseen: list[str] = []  # types of cells that no output depends on
        for name, port in module["ports"].items():
            if port["direction"] == "inout":
                raise SynthesisError(f"port {name} is an inout, whose drivers are unknown")
            if port["direction"] == "input":
                self._drive("", name, port["bits"])
        for name, cell in self._cells.items():
            if cell["type"] in WRITES + CONTENTS:
                self._memories[cell["parameters"]["MEMID"]].append(cell)
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] != "input":
                    self._drive(name, port, bits)

    def _drive(self, cell: str, port: str, bits: list) -> None:
        """Notes what drives nets; a net with two drivers has no canonical form."""
        for index, bit in enumerate(bits):
            if bit in self._drivers:
                raise SynthesisError(f"a net has two drivers, {cell} among them")
            if isinstance(bit, int):
                self._drivers[bit] = cell, f"{port}[{index}]"

    def _number(self, what: object) -> int:
        """Returns the number of a cell, memory or undriven net; a new one is yet to be visited."""
        if what not in self._numbers:
            self._numbers[what] = len(self._numbers)
            self._queue.append(what)
        return self._numbers[what]

    def _source(self, bit: int | str) -> str:
        """Returns a net's driver in canonical words, or the constant that it is."""
        if isinstance(bit, str):
            return bit
        cell, port = self._drivers.get(bit, (None, ""))
        if cell == "":
            return port
        return f"{self._number(bit if cell is None else cell)}.{port}"

    def _sources(self, bits: list) -> str:
        return ",".join(map(self._source, bits))

    def lines(self) -> tuple[list[str], list[str]]:
        """Returns the module's canonical form and the place in the RTL of each of its lines."""
        ports = self._module["ports"].items()
        flags = _counting(self._module["attributes"])
        made, origins = [f"module {flags}"], [""]
        for name, port in sorted(ports):
            given = port["direction"] == "output"
            words = self._sources(port["bits"]) if given else self._marked(port["bits"])
            made.append(f"{port['direction']} {name} {len(port['bits'])} {words}")
            origins.append("")
        while self._queue:
            what = self._queue.popleft()
            made.append(self._line(what))
            cell = self._cells.get(what, {}) if isinstance(what, str) else {}
            origins.append(cell.get("attributes", {}).get("src", ""))
        unseen = [c["type"] for n, c in self._cells.items() if n not in self._numbers]
        self.unseen = [kind for kind in unseen if kind not in WRITES + CONTENTS]
        return made, origins

    def _line(self, what: object) -> str:
        """Returns the line of a cell, a memory or an undriven net."""
        if isinstance(what, int):
            return f"undriven {self._marks.get(what, '')}"
        if isinstance(what, tuple):
            return self._memory(what[1])
        return self._cell(self._cells[what])

    def _cell(self, cell: dict) -> str:
        """Returns the line of a cell."""
        values = dict(cell["parameters"])
        memory = values.pop("MEMID", None)
        if cell["type"] in CONTENTS:
            del values["PRIORITY"]  # a number of the whole design; their order says it
        words = [self._kind(cell["type"]), str(sorted(values.items()))]
        words.append(_counting(cell["attributes"]))
        if cell["type"].startswith("$memrd"):
            words.append(f"memory={self._number(('memory', memory))}")
        for port, bits in sorted(cell["connections"].items()):
            given = cell["port_directions"][port] == "input"
            words.append(f"{port}={self._sources(bits) if given else self._marked(bits)}")
        return " ".join(words)

    def _memory(self, name: str) -> str:
        """Returns the line of a memory: its shape, writes and contents."""
        made = self._module["memories"][name.removeprefix("\\")]
        shape = {key: made[key] for key in ("width", "size", "start_offset")}
        words = [f"memory {shape} {_counting(made['attributes'])}"]
        for kinds, key in ((WRITES, "PORTID"), (CONTENTS, "PRIORITY")):
            cells = [cell for cell in self._memories[name] if cell["type"] in kinds]
            cells.sort(key=lambda cell: int(cell["parameters"][key], 2))
            words += map(self._cell, cells)
        return "; ".join(words)

    def _marked(self, bits: list) -> str:
        """Returns the attributes of driven nets that count, such as initial values."""
        found = [f"{n}:{self._marks[bit]}" for n, bit in enumerate(bits) if bit in self._marks]
        return ",".join(found)


def _counting(attributes: dict[str, str]) -> str:
    """Returns those attributes in words that a mapper heeds."""
    return str(sorted((k, v) for k, v in attributes.items() if k not in ORIGIN))


def _marks(module: dict) -> dict[int, str]:
    """Returns the attributes of nets that a mapper heeds, initial values among them, by net."""
    found = collections.defaultdict(set)
    for net in module["netnames"].values():
        values = {k: v for k, v in net["attributes"].items() if k not in ORIGIN}
        first = values.pop("init", "")[::-1]
        for bit, value in zip(net["bits"], first, strict=False):
            if value != "x":
                found[bit].add(f"init={value}")
        for bit in net["bits"] if values else []:
            found[bit].add(_counting(values))
    return {bit: "&".join(sorted(words)) for bit, words in found.items()}

# SPDX-License-Identifier: Apache-2.0
"""Finds the combinational paths between inputs and outputs of an RTL module's bus ports.

AXI forbids them between the signals of an interface (ARM IHI 0022, A3.2.1): two devices that each
have one make a loop, and a path through a device adds to its neighbour's. Elaborated by Yosys and
not mapped; every path is found, and one that no values of the signals can open counts as well.
"""

import collections
import dataclasses
import json
import pathlib
import re
import tempfile
from collections.abc import Iterator

from maeslant.synth import design
from maeslant.verify.prove import smt

BUS = re.compile(r"[sm]_(axil|axis|axi|apb)(_\w+)?_\w+|axil(_\w+)?_[io]")
CLOCKS = re.compile(r"(\w+_)?(clk|rst|arst)_n?i?")
# Large, without registers or with registers only behind all inputs: every output of theirs is taken
# to depend on every input.
OPAQUE = ("mae_sbox", "mae_sub_bytes", "mae_round", "mae_key_schedule_step")
# By output bit, of the operands' bits of the same place.
BITWISE = ("$and", "$or", "$xor", "$xnor", "$not", "$pos", "$mux", "$bwmux")
REGISTER = re.compile(r"\$(ff|s?dffe?|sdffce|adffe?|anyinit)")
LOADED = re.compile(r"\$aldffe?")  # from AD while ALOAD
KNOWN = "add sub mul div mod divfloor modfloor pow neg eq ne eqx nex lt le gt ge logic_and "
KNOWN += "logic_or logic_not reduce_and reduce_or reduce_xor reduce_xnor reduce_bool shl shr "
KNOWN += "sshl sshr shift shiftx lut sop alu macc macc_v2 tribuf dlatch adlatch dlatchsr"
WHOLE = {f"${name}" for name in KNOWN.split()}


@dataclasses.dataclass(frozen=True, order=True)
class Path:
    """Describes a combinational path from an input to an output of an RTL module."""

    start: str
    end: str

    def __str__(self) -> str:
        return f"{self.start} -> {self.end}"


def netlist(what: design.Design) -> dict:
    """Elaborates an RTL module by Yosys; returns a flat netlist of word-level cells as JSON."""
    opaque = "".join(f" --blackboxed-module {module}" for module in OPAQUE if module != what.top)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "netlist.json"
        smt.yosys(
            what.read().replace("read_slang", f"read_slang{opaque}", 1),
            "hierarchy; proc -noopt; opt_expr; opt_clean",
            f"write_json {out}",
        )
        return json.loads(out.read_text())["modules"][what.top]


def found_in(what: design.Design) -> set[Path]:
    """Returns an RTL module's combinational paths that begin or end at a bus port."""
    module = netlist(what)
    before = collections.defaultdict(list)
    for cell in module["cells"].values():
        for bit, given in dependences(cell):
            before[bit].append(given)
    starts, found = {}, set()
    for name, port in module["ports"].items():
        if port["direction"] == "input" and not CLOCKS.fullmatch(name):
            starts |= {bit: name for bit in port["bits"]}
    for name, port in module["ports"].items():
        if port["direction"] != "output":
            continue
        todo = [bit for bit in port["bits"] if isinstance(bit, int)]
        seen = set(todo)
        while todo:
            bit = todo.pop()
            if bit in starts and (BUS.fullmatch(name) or BUS.fullmatch(starts[bit])):
                found.add(Path(starts[bit], name))
            for given in before[bit]:
                new = {b for b in given if isinstance(b, int)} - seen
                seen |= new
                todo += new
    return found


def dependences(cell: dict) -> Iterator[tuple[int, list]]:
    """Yields each output bit of a netlist's cell, with the input bits it depends on."""
    kind, pins = cell["type"], cell["connections"]
    directions = cell.get("port_directions", {})
    if REGISTER.fullmatch(kind) or "Q" in pins and LOADED.fullmatch(kind):
        if LOADED.fullmatch(kind):
            for q, loaded in zip(pins["Q"], pins["AD"], strict=True):
                # A register that loads itself, as slang writes one without a reset value, holds.
                yield q, [] if isinstance(loaded, str) or loaded == q else [loaded, *pins["ALOAD"]]
        return
    if kind == "$memrd_v2":
        if not int(cell["parameters"]["CLK_ENABLE"], 2):
            for bit in pins["DATA"]:
                yield bit, [*pins["ADDR"], *pins["EN"]]
        return
    if kind == "$memwr_v2" and not int(cell["parameters"]["CLK_ENABLE"], 2):
        raise AssertionError("a memory that is written without a clock")
    if kind in ("$pmux", "$bmux"):
        width = len(pins["Y"])
        choices = pins["A"] + pins.get("B", [])
        for i, bit in enumerate(pins["Y"]):
            yield bit, choices[i::width] + pins["S"]
    elif kind == "$demux":
        for i, bit in enumerate(pins["Y"]):
            yield bit, [pins["A"][i % len(pins["A"])], *pins["S"]]
    elif kind in BITWISE:
        chosen = pins.get("S", []) if kind == "$mux" else []
        operands = [pins[name] for name in ("A", "B") if name in pins]
        operands += [pins["S"]] if kind == "$bwmux" else []
        for i, bit in enumerate(pins["Y"]):
            yield bit, [operand[min(i, len(operand) - 1)] for operand in operands] + chosen
    elif kind in WHOLE or not kind.startswith("$"):
        given = [bit for name, bits in pins.items() if directions[name] != "output" for bit in bits]
        for name, bits in pins.items():
            if directions[name] == "output":
                for bit in bits:
                    yield bit, given
    elif any(direction == "output" for direction in directions.values()):
        raise AssertionError(f"a cell of unknown kind: {kind}")

# SPDX-License-Identifier: Apache-2.0
"""Binds bus protocol checkers to every AXI4, AXI4-Lite and AXI4-Stream port of a design.

Ports are found by their names: ``s_axil_awvalid`` and its like make one port, a subordinate's. So
do the structs of mae_axi_pkg: an input ``axil_req_t axil_i`` and its answers in ``axil_o``.
"""

import dataclasses
import pathlib
import re
from collections.abc import Iterable

from maeslant import paths

CHECKERS = paths.ROOT / "formal" / "bus"
KINDS = {"axil": "mae_axil_checker", "axi": "mae_axi4_checker", "axis": "mae_axis_checker"}
# By side and then for all: the clock and the reset that a port belongs to.
CLOCKS = (("{side}_clk_i", "{side}_rst_ni"), ("bus_clk_i", "bus_rst_ni"))
CLOCKS += (("clk_i", "rst_ni"), ("clk", "arst_n"))
LITE = "awaddr awprot wdata wstrb bresp araddr arprot rdata rresp".split()
FULL = "awid awaddr awlen awsize awburst awlock wdata wstrb wlast bid bresp".split()
FULL += "arid araddr arlen arsize arburst arlock rid rdata rresp rlast".split()
HANDSHAKES = [c + part for c in ("aw", "w", "b", "ar", "r") for part in ("valid", "ready")]
SIGNALS = {"axil": [*HANDSHAKES, *LITE], "axi": [*HANDSHAKES, *FULL]}
STREAM = ("tdata", "tkeep", "tstrb", "tlast", "tuser", "tid", "tdest")
FLUSHES = ("clear_i", "abort_i")
# Fields of mae_axi_pkg's structs: aw_valid of a request is awvalid. No field: no protection bits.
STRUCT = r"\b(input|output)\s+(?:mae_axi_pkg::)?axil_(req|rsp)_t\s+(axil(?:_\w+)?)_[io]\b"
RESPONSE = {"awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp"}


@dataclasses.dataclass(frozen=True)
class Port:
    """Describes a bus port of a module, such as ``s_axil`` of mae_axil_to_reg."""

    module: str
    prefix: str
    kind: str
    clock: str
    reset: str
    names: frozenset[str]  # of all ports of the module
    structs: bool = False  # two structs, one for each direction, and not a port for each signal

    @property
    def side(self) -> str:
        """Returns "s" if the bus port is a subordinate's, "m" if it is a manager's."""
        return self.prefix[0]

    def wire(self, name: str) -> str:
        """Returns the expression for a signal of an AXI port; "'0" if the port lacks it."""
        if not self.structs:
            wire = f"{self.prefix}_{name}"
            return wire if wire in self.names else "'0"
        if name in ("awprot", "arprot"):
            return "'0"
        is_input = (name in RESPONSE) == (self.side == "m")
        channel, field = re.fullmatch(r"(aw|w|b|ar|r)(\w+)", name).groups()
        return f"{self.prefix[2:]}_{'i' if is_input else 'o'}.{channel}_{field}"

    def bind(self, more: str = "") -> str:
        """Returns the SystemVerilog statement that binds a protocol checker to the bus port."""
        return f"bind {self.module} {KINDS[self.kind]} {self.instance(more)}"

    def instance(self, more: str = "") -> str:
        """Returns the SystemVerilog instance of the protocol checker for the bus port."""
        pin = {name: f"{self.prefix}_{name}" for name in ("tvalid", "tready")}
        if self.kind == "axis":
            payload = [f"{self.prefix}_{name}" for name in STREAM]
            together = "{" + ", ".join(name for name in payload if name in self.names) + "}"
            flush = " || ".join(name for name in FLUSHES if name in self.names) or "1'b0"
            receiver = int(self.side == "s")
            parameters = f".Receiver({receiver}), .Width($bits({together}))"
            pin |= {"payload": together, "flush_i": flush}
        else:
            subordinate = int(self.side == "s")
            parameters = f".Subordinate({subordinate})"
            wires = {name: self.wire(name) for name in SIGNALS[self.kind]}
            parameters += f", .AddrWidth($bits({wires['awaddr']}))"
            parameters += f", .DataWidth($bits({wires['wdata']}))"
            if self.kind == "axi":
                parameters += f", .IdWidth($bits({wires['awid']}))"
            pin = wires
        pins = "".join(f",\n    .{name}({wire})" for name, wire in pin.items())
        clocks = f".clk_i({self.clock}), .rst_ni({self.reset})"
        return f"#({parameters}{more}) u_check_{self.prefix} (\n    {clocks}{pins}\n);\n"


def ports(file: pathlib.Path) -> list[Port]:
    """Returns the AXI4, AXI4-Lite and AXI4-Stream ports of the module in an RTL file."""
    header = re.search(rf"^module\s+{file.stem}\b.*?\)\s*;", paths.code(file), re.M | re.S)
    if not header:
        return []
    found = re.findall(r"\b(?:input|output)\b[^,;]*?\b(\w+)\s*(?=,|\)\s*;|$)", header[0])
    names = frozenset(found)
    structs = {(kind, stem): way for way, kind, stem in re.findall(STRUCT, header[0])}
    made = []
    for (kind, stem), way in structs.items():
        side = "s" if way == "input" else "m"
        if kind == "req" and ("rsp", stem) in structs and (pair := _clock(names, side)):
            made.append(Port(file.stem, f"{side}_{stem}", "axil", *pair, names, structs=True))
    for name in sorted(names):
        known = re.fullmatch(r"(([sm])_(axil|axis|axi)(?:_\w+)?)_(awvalid|tvalid)", name)
        if not known:
            continue
        prefix, side, kind, _ = known.groups()
        if pair := _clock(names, side):
            made.append(Port(file.stem, prefix, kind, *pair, names))
    return made


def _clock(names: frozenset[str], side: str) -> tuple[str, str] | None:
    """Returns the clock and reset of a module's bus ports of one side; None without a clock."""
    for clock, reset in CLOCKS:
        pair = clock.format(side=side), reset.format(side=side)
        if names.issuperset(pair):
            return pair
    return None


def sources(files: Iterable[pathlib.Path], target: pathlib.Path) -> list[pathlib.Path]:
    """Returns the protocol checkers that a design's bus ports need; writes their binds to a file.

    Returns an empty list for a design without bus ports.
    """
    found = [port for file in sorted(paths.rtl_closure(list(files))) for port in ports(file)]
    if not found:
        return []
    text = "// SPDX-License-Identifier: Apache-2.0\n// Made by maeslant/build/bus_checkers.py.\n"
    text += "\n".join(port.bind() for port in found)
    if not target.exists() or target.read_text() != text:
        paths.write(target, text)
    kinds = sorted({KINDS[port.kind] for port in found})
    return [*(CHECKERS / f"{name}.sv" for name in kinds), target]

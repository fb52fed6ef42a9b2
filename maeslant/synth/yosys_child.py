# SPDX-License-Identifier: Apache-2.0
"""Runs the Yosys passes that arrive on standard input; the program of Yosys' process.

A line `@once PREFIX` is no pass: of the modules whose names begin so, those that are isomorphic
become one, which stays apart (keep_hierarchy) and is mapped once for all its instances.
A line `@wrap JSON TOP WRAPPER` reads a wrapper of a few pins around TOP; JSON has TOP's ports.
"""

import contextlib
import ctypes
import json
import pathlib
import re
import signal
import sys
import tempfile

from pyosys import libyosys

PR_SET_PDEATHSIG = 1


def once(design: object, prefix: str) -> None:
    """Merges isomorphic modules of the Yosys design into one."""
    from maeslant.synth.renewal import canonical

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "modules.json"
        libyosys.run_pass(f"write_json -selected {file}", design)
        made = canonical.Modules(file, unused=True)
    modules = {name.str(): module for name, module in design.modules_.items()}
    alike: dict[str, list[str]] = {}
    for name in sorted(modules):
        if name.startswith(f"\\{prefix}$"):
            alike.setdefault(made.kind(name[1:]), []).append(name)
    first = {name: names[0] for names in alike.values() for name in names}
    for module in modules.values():
        for cell in list(module.cells_.values()):
            if cell.type.str() in first:
                cell.type = libyosys.IdString(first[cell.type.str()])
    libyosys.run_pass(f"setattr -mod -set keep_hierarchy 1 {prefix}$*", design)
    print(f"{prefix}: {len(first)} instances, {len(alike)} of them different")


def wrapper(file: str, top: str, name: str) -> str:
    """Returns a Verilog wrapper with registers around a module, to reduce the number of pins.

    Clocks and resets are its own pins; all outputs reach one pin, so that nothing is left out.
    """
    with open(file) as text:
        ports = json.load(text)["modules"][top]["ports"]
    pins = [port for port in ports if re.search(r"(clk_i|^clk|rst_ni|resetn)$", port)]
    clocks = [port for port in pins if "clk" in port] or ["clk"]
    inputs, outputs, wires = [], [], [f".{pin}({pin})" for pin in pins]
    for port, made in ports.items():
        if port in pins:
            continue
        bits = inputs if made["direction"] == "input" else outputs
        width, at = len(made["bits"]), len(bits)
        bits += [port] * width
        word = "fed" if bits is inputs else "given"
        wires.append(f".{port}({word}[{at + width - 1}:{at}])")
    names = ", ".join(f"input {pin}" for pin in dict.fromkeys((*pins, clocks[0])))
    more, less = len(inputs) + 1, len(outputs)
    return f"""
module {name} ({names}, input fed_i, output given_o);
  reg [{more}:0] fed;
  wire [{less}:0] given;
  reg [{less}:0] caught, mixed;
  assign given[{less}] = 1'b0;
  assign given_o = mixed[{less}];
  always @(posedge {clocks[0]}) begin
    fed <= {{fed[{more - 1}:0], fed_i}};
    caught <= given;
    mixed <= caught ^ {{mixed[{less - 1 if less else 0}:0], fed[{more}]}};
  end
  {top} u_core ({", ".join(wires)});
endmodule
"""


def wrap(design: object, file: str, top: str, name: str) -> None:
    """Adds the register wrapper of a module to the Yosys design as the new top."""
    text = pathlib.Path(file).with_name(f"{name}.v")
    text.write_text(wrapper(file, top, name))
    libyosys.run_pass(f"read_verilog {text}", design)
    libyosys.run_pass(f"hierarchy -top {name}", design)


def main() -> None:
    """Runs the Yosys passes received on standard input until standard input closes."""
    # If the one who asked is gone, so is this; where there is no such call it just ends by itself.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    design = libyosys.Design()
    for words in sys.stdin.read().splitlines():
        print("@@pass " + words, flush=True)
        if words.startswith("@once "):
            once(design, *words.split()[1:])
        elif words.startswith("@wrap "):
            wrap(design, *words.split()[1:])
        else:
            libyosys.run_pass(words, design)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Show that outputs do not depend on secret inputs: no path in the netlist leads from one to them.

Sound: of two copies with equal public inputs, all registers that no secret reaches stay equal, and
the outputs with them. A path need not be a leak; none is a proof. It works on single bits.
"""

import collections
import json
import pathlib
import tempfile

from maeslant.verify.prove import smt


def reached(top: pathlib.Path, parameters: dict[str, object]) -> list[str]:
    """The bits of ``timing_o`` that the inputs ``secret_*`` reach through gates and registers."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "netlist.json"
        smt.yosys(
            smt.read(top, parameters).replace(" --no-synthesis-define", ""),
            "hierarchy -check; proc; setattr -mod -unset keep_hierarchy *; flatten",
            "opt; memory_map; opt; techmap; opt",
            f"write_json {out}",
        )
        module = json.loads(out.read_text())["modules"][top.stem]
    after = collections.defaultdict(set)
    for cell in module["cells"].values():
        given = [
            bits
            for port, bits in cell["connections"].items()
            if cell["port_directions"][port] == "output"
        ]
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input":
                for bit in bits:
                    after[bit].update(*given)
    ports = module["ports"]
    todo = [
        bit for name, port in ports.items() if name.startswith("secret_") for bit in port["bits"]
    ]
    seen = {bit for bit in todo if isinstance(bit, int)}
    todo = list(seen)
    while todo:
        for bit in after[todo.pop()] - seen:
            seen.add(bit)
            todo.append(bit)
    timing = ports["timing_o"]["bits"]
    if not any(isinstance(bit, int) for bit in timing):
        raise AssertionError("timing_o is constant")
    return [f"timing_o[{i}]" for i, bit in enumerate(timing) if bit in seen]

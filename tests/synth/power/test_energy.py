# SPDX-License-Identifier: Apache-2.0
"""Tests energy.py, which reads power tables of Liberty files, against calculation by hand."""

import numpy as np
import pytest

from maeslant.synth import asic, liberty
from maeslant.synth.power import energy, estimate

LIBERTY = """library (x) { leakage_power_unit : "1pW"; capacitive_load_unit (1,pf);
power_lut_template (T) { variable_1 : input_transition_time;
 variable_2 : total_output_net_capacitance; }
power_lut_template (U) { variable_1 : total_output_net_capacitance;
 variable_2 : input_transition_time; }
cell (XOR) { cell_leakage_power : 4000; pin (Z) {
 internal_power () { related_pin : "A"; when : "!B";
  rise_power (T) { index_1 ("0, 0.04"); index_2 ("0, 0.01");
   values ("0.001, 0.003", "0.003, 0.005"); }
  fall_power (scalar) { values ("0.002"); } }
 internal_power () { related_pin : "B";
  rise_power (U) { index_1 ("0, 0.01"); index_2 ("0, 0.04");
   values ("0.001, 0.003", "0.003, 0.005"); }
  fall_power (U) { index_1 ("0, 0.01"); index_2 ("0, 0.04");
   values ("0.001, 0.001", "0.001, 0.001"); } }
} } }"""


def test_tables_of_either_order() -> None:
    """Power tables of a Liberty file are read right whichever axis comes first."""
    cell = energy._read(LIBERTY)["XOR"]
    first, second = cell.pins["Z"]
    assert cell.leakage_mw == pytest.approx(4e-6)
    assert (first.related, first.when, second.when) == ("A", {"B": False}, {})
    loads = np.array([0.0, 5.0, 10.0])  # fF
    assert first.mean(loads) == pytest.approx([2.0, 2.5, 3.0])
    assert second.mean(loads) == pytest.approx([1.5, 2.0, 2.5])


def test_no_concatenation_is_left() -> None:
    """asic.py rewrites concatenations in a netlist's assignments bit by bit for OpenSTA."""
    text = "  output [1:0] z;\n  assign { z, y[3:2] } = { a[1:0], 1'b1, \\c.d[3] };\n"
    lines = asic._bit_by_bit(text).splitlines()[1:]
    assert [line.split() for line in lines] == [
        ["assign", "z[1]", "=", "a[1]", ";"],
        ["assign", "z[0]", "=", "a[0]", ";"],
        ["assign", "y[3]", "=", "1'b1", ";"],
        ["assign", "y[2]", "=", "\\c.d[3]", ";"],
    ]


def test_flip_flop_by_hand() -> None:
    """A flip-flop's energy equals the sum of output, data and clock parts computed by hand.

    Two flip-flops, of which one changes in half the clocks. Groups of a flip-flop in reset do not
    count; QN costs though nothing is on it.
    """

    def arc(rise: float, related: str = "", **when: bool) -> energy.Arc:
        return energy.Arc(related, when, np.array([0.0, 10.0]), *np.array([[rise] * 2, [1.0] * 2]))

    cell = liberty.Cell(
        name="DFFR",
        area=1.0,
        inputs={"D": 1.0, "CK": 1.0, "RN": 1.0},
        functions={"Q": "IQ", "QN": "IQN"},
        state={"clocked_on": "CK", "next_state": "D", "clear": "!RN"},
    )
    pins = {
        "Q": (arc(9.0, "CK"), arc(99.0, "RN")),
        "QN": (arc(3.0, "CK"),),
        "D": (arc(5.0, CK=True, RN=True), arc(99.0, RN=False)),
        "CK": (
            arc(3.0, D=True, Q=True, RN=True),
            arc(5.0, D=False, Q=False, RN=True),
            arc(19.0, D=True, Q=False, RN=True),
            arc(99.0, D=False, Q=False, RN=False),
        ),
    }
    members = [{"D": 1, "CK": 0, "Q": 2, "RN": 5}, {"D": 3, "CK": 0, "Q": 4, "QN": 6, "RN": 5}]
    rate = np.array([2.0, 0.25, 0.5, 0.0, 0.0, 0.0, 0.0])
    spent = estimate._flip_flops(cell, energy.Energies(pins, 0.0), members, rate, np.full(7, 10.0))
    outputs = 0.5 * (9 + 1) / 2 + 0.5 * (3 + 1) / 2
    data = 0.25 * (5 + 1) / 2
    stays, moves = ((3 + 1) + (5 + 1)) / 2, 19 + 1
    assert spent == pytest.approx(outputs + data + 0.5 * stays + 0.5 * moves + stays)

# SPDX-License-Identifier: Apache-2.0
"""What is read from a Liberty file for power, and netlists as OpenSTA reads them, by hand."""

import numpy as np
import pytest

from maeslant.synth import asic, energy

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
    """Half of the first slews' way, at no load, half and all; pJ and pW become fJ and mW."""
    cell = energy._read(LIBERTY)["XOR"]
    first, second = cell.pins["Z"]
    assert cell.leakage_mw == pytest.approx(4e-6)
    assert (first.related, first.when, second.when) == ("A", {"B": False}, {})
    loads = np.array([0.0, 5.0, 10.0])  # fF
    assert first.mean(loads) == pytest.approx([2.0, 2.5, 3.0])
    assert second.mean(loads) == pytest.approx([1.5, 2.0, 2.5])


def test_no_concatenation_is_left() -> None:
    """Every bit by itself, constants and escaped names too."""
    text = "  output [1:0] z;\n  assign { z, y[3:2] } = { a[1:0], 1'b1, \\c.d[3] };\n"
    lines = asic._bit_by_bit(text).splitlines()[1:]
    assert [line.split() for line in lines] == [
        ["assign", "z[1]", "=", "a[1]", ";"],
        ["assign", "z[0]", "=", "a[0]", ";"],
        ["assign", "y[3]", "=", "1'b1", ";"],
        ["assign", "y[2]", "=", "\\c.d[3]", ";"],
    ]

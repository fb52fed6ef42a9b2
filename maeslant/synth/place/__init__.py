# SPDX-License-Identifier: Apache-2.0
"""Places a mapped netlist, mends it on its placed wires, gives it a clock tree; draws it."""

# SPDX-License-Identifier: Apache-2.0
"""Checks a mapped netlist against the RTL that it was made of: by SAT, or by the RTL's tests."""

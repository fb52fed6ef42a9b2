# SPDX-License-Identifier: Apache-2.0
"""Measures clock cycles of simulated cores, engines and cards for `maeslant measure`."""

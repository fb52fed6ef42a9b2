# SPDX-License-Identifier: Apache-2.0
"""Writes results/synthesis.md: tables of our synthesis results beside published ones."""

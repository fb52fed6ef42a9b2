# SPDX-License-Identifier: Apache-2.0
"""Simulates and measures the PicoRV32 system with the jobs of its firmware."""

# SPDX-License-Identifier: Apache-2.0
"""Measures AES on a simulated PicoRV32 system, whose firmware runs the jobs."""

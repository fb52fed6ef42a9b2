# SPDX-License-Identifier: Apache-2.0
"""Measures AES on the simulated PicoRV32 system, with the jobs of its firmware."""

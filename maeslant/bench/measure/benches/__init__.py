# SPDX-License-Identifier: Apache-2.0
"""Test benches that measure clocks inside a simulator (cocotb)."""

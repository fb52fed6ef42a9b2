# SPDX-License-Identifier: Apache-2.0
"""Measures the clock figures of `maeslant measure` in simulation."""

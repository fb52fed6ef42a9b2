# SPDX-License-Identifier: Apache-2.0
"""Measures how much protection slows neural networks (Ghosh's Table 3): `maeslant overhead`."""

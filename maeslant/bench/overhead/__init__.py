# SPDX-License-Identifier: Apache-2.0
"""Reproduces Table 3 of Ghosh et al., the overhead of protection: `maeslant overhead`."""

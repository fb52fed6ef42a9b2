# SPDX-License-Identifier: Apache-2.0
"""Measures the clocks of cores, engines and cards for `maeslant measure`, in simulation."""

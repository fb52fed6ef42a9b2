# SPDX-License-Identifier: Apache-2.0
"""The PicoRV32 system: its simulation, the jobs its firmware carries out, and what they cost."""

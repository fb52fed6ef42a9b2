# SPDX-License-Identifier: Apache-2.0
"""Models the protected channel (docs/protocol.md): host, card, bus and adversary.

The oracle for the hardware and for the C driver. Simple before fast; a library does AES, GCM and
CMAC. In order of dependence: constants, wire, keys; link (the bus and host memory); card (device
memory, quarantine, a kernel), transfers, device; host; workload (an application, and what must hold
of it); adversary, attacks/, fuzz; gf128, ghosh, attacks/ghosh and tag_oracle (the paper's own
protocol, its fall; rtl_ghosh.py has the same card in RTL).
"""

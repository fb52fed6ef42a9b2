# SPDX-License-Identifier: Apache-2.0
"""Compiles main.c for the PicoRV32 system, runs it in simulation and prints its output."""

import pathlib
import sys

from maeslant.bench.soc.system import System
from maeslant.build import firmware

here = pathlib.Path(__file__).parent
program = firmware.build_program(here / "main.c", pathlib.Path("build"))
system = System()  # verilated on first use: a minute or two
system.load(program)
code = system.run()
print(system.console, end="")
sys.exit(code)

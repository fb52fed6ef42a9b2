# SPDX-License-Identifier: Apache-2.0
"""Writes the FuseSoC core files rtl/*.core, or checks that they are current.

A design that uses several products depends on the core of everything: each core lists all files
that its product needs, and two of them would bring a module twice.
"""

import dataclasses
import pathlib
import sys
from collections.abc import Iterator

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import __version__, paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import design, technology

HEAD = """CAPI=2:
# SPDX-License-Identifier: Apache-2.0
# Written by tools/gen_core.py from the tree; do not edit.
"""
WAIVERS = ("parameters.vlt", "verilator.vlt")
LINT = ["--assert", "-Wall"]


@dataclasses.dataclass(frozen=True)
class Core:
    """Describes a FuseSoC core file to write: name, description and top modules."""

    name: str
    description: str
    tops: tuple[str, ...]


PRODUCTS = (
    Core(
        "cipher",
        "AES block ciphers: smallest, iterative, pipelined, and several pipelines as one",
        (
            "mae_cipher_iter",
            "mae_cipher_serial",
            "mae_cipher_min_area",
            "mae_cipher_min_luts",
            "mae_cipher_luts4",
            "mae_cipher_per_block_key",
            "mae_cipher_pipe",
            "mae_cipher_lanes",
            "mae_cipher_lanes_aligned",
            "mae_cipher_lanes_systolic",
        ),
    ),
    Core(
        "gcm",
        "AES-GCM engine, 1 to 16 blocks a clock, with AXI4-Stream ports or rows of blocks",
        ("mae_gcm_axis", "mae_gcm_stream"),
    ),
    Core(
        "modes",
        "AES in ECB, CBC, PCBC, CFB-128, OFB, CTR and XTS with AXI4-Stream ports",
        ("mae_mode_axis",),
    ),
    Core(
        "peripheral",
        "AES peripheral for a CPU: all modes behind AXI4-Lite or APB registers",
        ("mae_peripheral", "mae_apb_to_axil", "mae_peripheral_small"),
    ),
    Core(
        "stream_card",
        "AES card with descriptor rings and DMA over AXI4, in one clock domain or two",
        ("mae_stream_card", "mae_stream_card_async"),
    ),
    Core(
        "block_card",
        "Storage controller with inline AES-256-XTS between host memory and media, both AXI4",
        ("mae_block_card",),
    ),
    Core(
        "protected_card",
        "Accelerator card behind a guard that keeps its data from the host, by AES-GCM",
        ("mae_protected_card",),
    ),
)


def file_of(top: str) -> pathlib.Path:
    """Returns the path of the SystemVerilog file of an RTL module in a FuseSoC core."""
    return paths.rtl_file(top)


def files(core: Core) -> list[pathlib.Path]:
    """Returns the SystemVerilog files of a FuseSoC core in compilation order."""
    headers = sorted(path for folder in paths.rtl_folders() for path in folder.glob("**/*.svh"))
    needed = set(paths.rtl_closure([file_of(top) for top in core.tops]))
    return _ordered(headers, needed)


def all_files() -> list[pathlib.Path]:
    """Returns all SystemVerilog files of rtl/ in compilation order."""
    headers = sorted(path for folder in paths.rtl_folders() for path in folder.glob("**/*.svh"))
    return _ordered(headers, set(paths.rtl_files()))


def _ordered(headers: list[pathlib.Path], needed: set[pathlib.Path]) -> list[pathlib.Path]:
    packages = [path for path in paths.rtl_packages() if path in needed]
    modules = [path for path in paths.rtl_files() if path in needed and path not in packages]
    return [*headers, *packages, *modules]


def conditional(sources: list[pathlib.Path]) -> Iterator[tuple[pathlib.Path, str]]:
    """Yields the files of a FuseSoC core with its views, each with the name that FuseSoC reads.

    That of a file which is not for all technologies has conditions: flags technology_ecp5 etc.
    """
    lists = {name: technology.choose(sources, name) for name in technology.FOLDERS}
    files = list(dict.fromkeys(path for name in lists for path in lists[name]))
    for path in files:
        name = str(path.relative_to(paths.RTL))
        users = [each for each, chosen in lists.items() if path in chosen]
        if technology.GENERIC in users:
            for other in (each for each in lists if each not in users):
                name = f"!technology_{other} ? ({name})"
            yield path, name
        else:
            yield from ((path, f"technology_{user} ? ({name})") for user in users)


def parameters(top: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields (name, description for FuseSoC) of each parameter of an RTL module."""
    for name, (kind, default) in design.header(design.rtl_modules()[top]).items():
        text = f"default {default}"
        if kind not in design.PLAIN_TYPES:
            known = design.enum_values(kind).items()
            values = ", ".join(f"{key.split('::')[-1]} {value}" for key, value in known)
            text = f"{kind}: {values}; {text}"
        yield name, {"datatype": "int", "paramtype": "vlogparam", "description": text}


def document(core: Core, sources: list[pathlib.Path]) -> dict[str, object]:
    """Returns a FuseSoC core file's content as a dictionary to write as YAML."""
    names: list[object] = []
    for path, name in conditional(sources):
        names.append({name: {"is_include_file": True}} if path.suffix == ".svh" else name)
    known = {top: dict(parameters(top)) for top in core.tops}
    every = {name: entry for top in reversed(core.tops) for name, entry in known[top].items()}
    targets: dict[str, object] = {"default": {"filesets": ["rtl"], "toplevel": core.tops[0]}}
    for at, top in enumerate(core.tops):
        name = "lint" if at == 0 else f"lint_{top.removeprefix('mae_')}"
        targets[name] = {
            "default_tool": "verilator",
            "filesets": ["rtl", "waivers"],
            "parameters": list(known[top]),
            "tools": {"verilator": {"mode": "lint-only", "verilator_options": list(LINT)}},
            "toplevel": top,
        }
    found = {
        "name": f"maeslant:aes:{core.name}:{__version__}",
        "description": core.description,
        "license": "Apache-2.0",
        "filesets": {
            "rtl": {"file_type": "systemVerilogSource", "files": names},
            "waivers": {"file_type": "vlt", "files": list(WAIVERS)},
        },
        "parameters": every,
        "targets": targets,
    }
    return found if every else {k: v for k, v in found.items() if k != "parameters"}


def cores() -> dict[pathlib.Path, str]:
    """Returns the text of each FuseSoC core file for rtl/, by path."""
    whole = Core("maeslant", "All of Maeslant's AES hardware", ("mae_stream_card",))
    found = {core.name: document(core, files(core)) for core in PRODUCTS}
    found["maeslant"] = document(whole, all_files())
    check_products()
    return {
        paths.RTL / f"{name}.core": HEAD + yaml.safe_dump(entry, sort_keys=False, width=1000)
        for name, entry in found.items()
    }


def check_products() -> None:
    """Raises MaeslantError if no FuseSoC core contains a product of configs/builds.yml."""
    offered = {top for core in PRODUCTS for top in core.tops}
    for name, build in configurations.products().items():
        if build["top"] not in offered:
            raise MaeslantError(f"build {name} is a product, and no FuseSoC core has its top")


def main() -> int:
    """Writes the FuseSoC core files; with --check only checks that they are up to date."""
    wanted = cores()
    present = {path: path.read_text() for path in paths.RTL.glob("*.core")}
    if "--check" in sys.argv:
        stale = [path for path in {*wanted, *present} if wanted.get(path) != present.get(path)]
        for path in sorted(stale):
            print(f"rtl/{path.name} is stale; run: make core")
        return int(bool(stale))
    for path in present.keys() - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        paths.write(path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

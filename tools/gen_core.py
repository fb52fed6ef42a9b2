# SPDX-License-Identifier: Apache-2.0
"""Write maeslant.core, the FuseSoC description, from the tree; `--check` fails when it is stale."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths

CORE = paths.ROOT / "maeslant.core"
HEAD = """CAPI=2:
# SPDX-License-Identifier: Apache-2.0
# Written by tools/gen_core.py from the tree; do not edit.
name: maeslant:aes:maeslant:0.1.0
description: An open family of AES accelerators, from one S-box to a card with rings and DMA
filesets:
  rtl:
    file_type: systemVerilogSource
    files:
"""
TAIL = """targets:
  default:
    filesets: [rtl]
    toplevel: mae_stream_card
  lint:
    default_tool: verilator
    filesets: [rtl]
    tools:
      verilator:
        mode: lint-only
        verilator_options: [-Wall]
    toplevel: mae_stream_card
"""


def core() -> str:
    """The text of the core file: headers, packages in order, modules from the ground up."""
    names = [f"{path.relative_to(paths.ROOT)}: {{is_include_file: true}}" for path in headers()]
    packages = paths.rtl_packages()
    modules = [
        path
        for folder in paths.rtl_folders()
        for path in sorted(folder.glob("**/*.sv"))
        if path not in packages
    ]
    names += [str(path.relative_to(paths.ROOT)) for path in [*packages, *modules]]
    return HEAD + "".join(f"      - {name}\n" for name in names) + TAIL


def headers() -> list[pathlib.Path]:
    """Include files."""
    return sorted(path for folder in paths.rtl_folders() for path in folder.glob("**/*.svh"))


def main() -> int:
    """Write or check."""
    if "--check" not in sys.argv:
        CORE.write_text(core())
    elif not CORE.exists() or CORE.read_text() != core():
        print("maeslant.core is stale; run: make core")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

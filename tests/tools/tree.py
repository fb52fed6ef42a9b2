# SPDX-License-Identifier: Apache-2.0
"""Writes a small repository that passes all repository checks, for tests that break one."""

import pathlib

MODULE = """// SPDX-License-Identifier: Apache-2.0
//
// {name}: an example. Latency: 0 clocks.

module {name} (
    input  logic a_i,
    output logic b_o
);
  {body}
endmodule
"""
TEST = '# SPDX-License-Identifier: Apache-2.0\n"""Tests mae_{name}."""\n\n\ndef test_it(): ...\n'
SPDX_C = "/* SPDX-License-Identifier: Apache-2.0 */\n"
SPDX_PY = "# SPDX-License-Identifier: Apache-2.0\n"
FILES = {
    "rtl/prim/mae_low.sv": MODULE.format(name="mae_low", body="assign b_o = a_i;"),
    "rtl/cipher/mae_high.sv": MODULE.format(
        name="mae_high", body="mae_low u_low (.a_i, .b_o);  // not mae_top"
    ),
    "rtl/device/mae_top.sv": MODULE.format(name="mae_top", body="mae_high u_high (.a_i, .b_o);"),
    "tests/prim/test_low.py": TEST.format(name="low"),
    "tests/cipher/test_high.py": TEST.format(name="high"),
    "tests/device/test_top.py": TEST.format(name="top"),
    "driver/include/api.h": SPDX_C,
    "driver/src/library.c": SPDX_C + '#include "api.h"\n#include "ops.h"\n#include <stdint.h>\n',
    "driver/src/ops.h": SPDX_C + '#include "api.h"\n',
    "driver/backend/sim/sim.c": SPDX_C + '#include "../../src/ops.h"\n#include "sim.h"\n',
    "driver/backend/sim/sim.h": SPDX_C,
    "maeslant/paths.py": SPDX_PY + "import os\n",
    "maeslant/cli.py": SPDX_PY + "from maeslant import paths\n",
    "tools/check.py": SPDX_PY + "import maeslant.paths\n",
    "docs/adr/0001.md": "# One\n",
    "Makefile": SPDX_PY + "FILE ?=\n.PHONY: run\nrun: ready ## Run\n\techo $(FILE) $(TEST)\n",
    "README.md": "See [one](docs/adr/0001.md).\n\n```sh\nmake run FILE=x # so\n"
    ".venv/bin/maeslant info sim: --json\n```\n\nAlso `rtl/prim/mae_low.sv`.\n",
}


def make(root: pathlib.Path, **changes: str) -> pathlib.Path:
    """Writes the small repository into a folder, with given files replaced or added."""
    for name, text in {**FILES, **changes}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root

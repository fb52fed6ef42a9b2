# SPDX-License-Identifier: Apache-2.0
"""Counts the lines of code in the enclave: the driver's trusted computing base.

That is driver/enclave with the headers it includes. Not counted, and trusted, too: the library that
enciphers (ipsec-mb or OpenSSL's libcrypto), the C library, the compiler. Lines of code are those
that are neither empty nor comments.
"""

import argparse
import json
import pathlib
import re
import sys

from maeslant import paths
from maeslant.build import c_driver

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def lines(path: pathlib.Path) -> int:
    """Returns the number of lines of code in a C file, without comments and empty lines."""
    text = COMMENT.sub("", path.read_text())
    return sum(1 for line in text.splitlines() if line.strip())


def files() -> list[pathlib.Path]:
    """Returns the C files of the enclave's driver, with all headers that they include."""
    include = c_driver.DRIVER / "include"
    found: dict[pathlib.Path, None] = {}
    todo = list(c_driver.protected_sources())
    while todo:
        path = todo.pop(0)
        if path in found:
            continue
        found[path] = None
        for name in INCLUDE.findall(path.read_text()):
            places = [(at / name).resolve() for at in (path.parent, include)]
            todo += [place for place in places if place.exists()]
    return list(found)


def main() -> int:
    """Prints the line counts of the enclave's code as text or JSON; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    counts = {str(path.relative_to(paths.ROOT)): lines(path) for path in files()}
    total = sum(counts.values())
    if parser.parse_args().json:
        print(json.dumps({"files": counts, "lines": total, "library": c_driver.gcm_library()}))
        return 0
    for name, count in counts.items():
        print(f"{count:6} {name}")
    print(f"{total:6} lines of code inside the enclave, beside {c_driver.gcm_library()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site in build/site; fails on a broken link and on every warning.

`--check` generates all pages into a throw-away folder and follows the links, without MkDocs.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

from maeslant import paths
from tools.docsite import pages


def main() -> int:
    """Builds the documentation site by MkDocs; with --check only checks that it can be built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="check that the site can be generated")
    if parser.parse_args().check:
        with tempfile.TemporaryDirectory() as folder:
            compiled = importlib.util.find_spec("clang") is not None
            broken = pages.collect(pathlib.Path(folder) / "pages", compiled)
    else:
        broken = pages.collect(paths.BUILD / "pages")
    for line in broken:
        print(line, file=sys.stderr)
    if broken or "--check" in sys.argv:
        return int(bool(broken))
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
    ]  # --quiet would hide warnings from it
    command += ["--config-file", str(paths.ROOT / "mkdocs.yml")]
    command += ["--site-dir", str(paths.BUILD / "site")]
    # The theme's notice of its successor is no finding about these pages.
    environment = os.environ | {
        "NO_MKDOCS_2_WARNING": "1",
        "MAESLANT_PAGES": str(paths.BUILD / "pages"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
    else:
        print(f"the site: {os.path.relpath(paths.BUILD)}/site/index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Makes the release archive maeslant-VERSION.tar.gz in build/dist.

It holds what is committed, in verilog/ one plain Verilog file for each recommended build, and in
constraints/ the SDC and XDC of every build. Two runs on the same commit give the same bytes.
"""

import gzip
import io
import pathlib
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from maeslant import __version__, paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import constraints, design, sources

NAME = f"maeslant-{__version__}"
OUT = paths.BUILD / "dist" / f"{NAME}.tar.gz"
README = """# Plain Verilog of the recommended builds

One file a build, for tools that do not read SystemVerilog; commit {commit}.
`maeslant files BUILD --plain -G PARAMETER=VALUE` makes others.

| file | top | for |
|---|---|---|
"""


def git(*words: str) -> bytes:
    """Runs git in the repository; returns the output; raises MaeslantError on failure."""
    done = subprocess.run(["git", "-C", str(paths.ROOT), *words], capture_output=True, check=False)
    if done.returncode:
        raise MaeslantError(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def check_changelog(version: str = __version__) -> None:
    """Raises MaeslantError if CHANGELOG.md lacks a section for this release's version."""
    text = (paths.ROOT / "CHANGELOG.md").read_text()
    if not re.search(rf"(?m)^## {re.escape(version)}\b", text):
        raise MaeslantError(f"CHANGELOG.md has no section for {version}")


def verilog() -> dict[str, str]:
    """Returns plain Verilog files of the recommended builds, with a README, by file name."""
    found, table = {}, README.format(commit=design.commit())
    for name, build in configurations.recommended().items():
        print(f"dist: {name}", file=sys.stderr, flush=True)
        found[f"{name}.v"] = sources.plain(name)
        table += f"| `{name}.v` | `{build['top']}` | {build['recommended_for']} |\n"
    return {"README.md": table, **found}


def timing() -> dict[str, str]:
    """Returns the constraints of every build, by file name."""
    return {
        f"{name}.{form}": constraints.text(name, form)
        for name in configurations.load()
        for form in constraints.FORMS
    }


def archive(files: dict[str, str]) -> bytes:
    """Returns a reproducible release archive of a Git commit and additional files, as bytes.

    ``files``: text by path in the archive.
    """
    stamp = int(git("log", "-1", "--format=%ct"))
    room = io.BytesIO(git("archive", "--format=tar", f"--prefix={NAME}/", "HEAD"))
    with tarfile.open(fileobj=room, mode="a") as tar:
        for name, text in sorted(files.items()):
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mtime = len(text.encode()), stamp
            tar.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(room.getvalue(), 9, mtime=stamp)


def main() -> int:
    """Writes the release archive; raises an error if the working tree has uncommitted changes."""
    try:
        if git("status", "--porcelain", "--untracked-files=no"):
            raise MaeslantError("the tree has changes that are not committed")
        check_changelog()
        files = {f"verilog/{name}": text for name, text in verilog().items()}
        files |= {f"constraints/{name}": text for name, text in timing().items()}
        data = archive(files)
    except MaeslantError as error:
        sys.exit(f"dist: {error}")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    paths.write(OUT, data)
    print(OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())

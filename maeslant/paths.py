# SPDX-License-Identifier: Apache-2.0
"""Defines the paths of the source tree and the dependency order of its RTL folders."""

import contextlib
import hashlib
import importlib.util
import os
import pathlib
import re
import sys
import tempfile

from maeslant.errors import MaeslantError, naming

_PACKAGE = pathlib.Path(__file__).resolve().parent
# An installed package carries the folders that it builds from; pyproject.toml lists them.
INSTALLED = (_PACKAGE / "_tree").is_dir()


def _cache() -> pathlib.Path:
    """Returns the folder for build results in the user's cache."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")


# A path that make, Verilator and Yosys accept: no space, no letter beyond ASCII.
PLAIN = re.compile(r"[A-Za-z0-9_./+@~-]+")


def plain(path: pathlib.Path) -> pathlib.Path:
    """Returns a path, or a symbolic link to that path if build tools reject its characters.

    If no link can be made, gives the path itself, which :func:`check` refuses.
    """
    if PLAIN.fullmatch(str(path)):
        return path
    link = _cache() / "maeslant" / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    if not PLAIN.fullmatch(str(link)):
        return path
    try:
        if not (link.is_symlink() and os.readlink(link) == str(path)):
            link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = link.with_name(f"{link.name}.{os.getpid()}")
            part.symlink_to(path)
            part.replace(link)
    except OSError:
        return path
    return link


def check(path: pathlib.Path) -> None:
    """Raises MaeslantError if a path contains characters that the build tools reject."""
    if not PLAIN.fullmatch(str(path)):
        raise MaeslantError(
            f"{path}: make, Verilator and Yosys take no space and no letter beyond ASCII in a "
            "path; choose another folder (MAESLANT_BUILD names that of what is built, TMPDIR that "
            "of temporary files)"
        )


def _build() -> pathlib.Path:
    """Returns the folder of all build results: $MAESLANT_BUILD, or build/ of the checkout.

    An installed package builds in the user's cache. Make resolves links, and cannot build in a
    folder with a space: for such a checkout the folder stands in the cache, and build/ links to it.
    """
    if given := os.environ.get("MAESLANT_BUILD"):
        return pathlib.Path(given).absolute()
    if INSTALLED:
        return (_cache() / "maeslant").absolute()
    own = ROOT / "build"
    if not ROOT.is_symlink():
        return own
    folder = ROOT.with_name(f"{ROOT.name}-build")
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        # A moved checkout has the link of its former place.
        if own.is_symlink() and own.readlink() != folder and own.readlink().parent == folder.parent:
            own.unlink()
        if not own.is_symlink():
            own.symlink_to(folder)
    return folder


CACHE = _cache() / "maeslant"
ROOT = plain(_PACKAGE / "_tree" if INSTALLED else _PACKAGE.parent)
BUILD = _build()
RTL = ROOT / "rtl"
RESULTS = ROOT / "results"  # published measurements
# From the ground up: a folder may use itself and those before it, never one after it.
RTL_ORDER = (
    "prim",
    "bus",
    "cipher",
    "mode",
    "dma",
    "guard",
    "kernel",
    "nn",
    "fhe",
    "device",
    "soc",
)


def rtl_folders() -> list[pathlib.Path]:
    """Returns the folders of rtl/ in dependency order, those without dependencies first."""
    return [RTL / name for name in RTL_ORDER if (RTL / name).is_dir()]


def rtl_files() -> list[pathlib.Path]:
    """Returns all SystemVerilog files of rtl/ but the views of maeslant.synth.technology."""
    return [path for folder in rtl_folders() for path in sorted(folder.glob("**/*.sv"))]


def rtl_file(name: str) -> pathlib.Path | None:
    """Returns the path of an RTL module's or package's file, its generic view; None if unknown."""
    return next((path for path in rtl_files() if path.stem == name), None)


def rtl_packages() -> list[pathlib.Path]:
    """Returns the files of all SystemVerilog packages in compilation order."""
    found = [path for path in rtl_files() if path.stem.endswith("_pkg")]
    names = {path.stem: path for path in found}
    done: list[pathlib.Path] = []

    def visit(path: pathlib.Path) -> None:
        if path in done:
            return
        text = path.read_text()
        for name, other in names.items():
            if other != path and f"{name}::" in text:
                visit(other)
        done.append(path)

    for path in found:
        visit(path)
    return done


def code(file: pathlib.Path) -> str:
    """Returns the text of a SystemVerilog file without its comments."""
    lines = (line.split("//")[0].rstrip() for line in file.read_text().splitlines())
    return "\n".join(filter(None, lines))


def rtl_closure(files: list[pathlib.Path]) -> list[pathlib.Path]:
    """Returns the given RTL files together with all files of rtl/ on which they depend."""
    known = {path.stem: path for path in rtl_files()}
    done: dict[pathlib.Path, None] = {}
    todo = list(files)
    while todo:
        path = todo.pop()
        if path not in done:
            done[path] = None
            names = set(re.findall(r"\bmae_\w+", code(path)))
            todo += [known[name] for name in sorted(names & known.keys())]
    return list(done)


def rtl_packages_of(files: list[pathlib.Path]) -> list[pathlib.Path]:
    """Returns the SystemVerilog packages that given files need, in compilation order."""
    needed = set(rtl_closure(files))
    return [path for path in rtl_packages() if path in needed and path not in files]


def foreign_folders() -> list[pathlib.Path]:
    """Returns the folders of installed Python packages that contain RTL modules which rtl/ uses."""
    found = importlib.util.find_spec("pythondata_cpu_picorv32")
    return [pathlib.Path(found.origin).parent / "verilog"] if found and found.origin else []


def verilator_sources(foreign: bool = True) -> list[str]:
    """Returns the Verilator options with the folders of all packages and modules of rtl/.

    ``foreign``: those of installed Python packages, too.
    """
    folders = [sub for folder in rtl_folders() for sub in (folder, *sorted(folder.glob("*/")))]
    others = foreign_folders() if foreign else []
    args = [arg for folder in (*folders, *others) for arg in ("-y", str(folder))]
    return [*args, "+libext+.sv+.v", f"-I{RTL / 'prim'}"]


def write(file: pathlib.Path, data: str | bytes) -> None:
    """Writes a file completely or not at all; raises MaeslantError on failure."""
    handle, part = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    try:
        with naming(file), os.fdopen(handle, "wb") as stage:
            stage.write(data.encode() if isinstance(data, str) else data)
        os.chmod(part, 0o644)
        os.replace(part, file)
    except BaseException:
        pathlib.Path(part).unlink(missing_ok=True)
        raise


def tool(name: str) -> str:
    """Returns the path of a command-line program in the project's Python environment."""
    for folder in (ROOT / ".venv" / "bin", pathlib.Path(sys.executable).parent):
        if (folder / name).exists():
            return str(folder / name)
    return name

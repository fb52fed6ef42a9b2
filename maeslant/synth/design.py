# SPDX-License-Identifier: Apache-2.0
"""Finds a design to synthesize: its top module, parameters and RTL files."""

import contextlib
import dataclasses
import difflib
import functools
import hashlib
import json
import pathlib
import re
import subprocess

from maeslant import paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import technology
from maeslant.synth.report import SynthesisError

PARAMETER = re.compile(
    r"\bparameter\s+(?:([\w:]+)\s+)?(?:unsigned\s+)?(?:\[[^]]*\]\s*)?(\w+)\s*=\s*([^,\n)]+)"
)
PLAIN_TYPES = ("int", "bit", "logic", "integer", "string", "longint", "byte", "shortint")


@dataclasses.dataclass(frozen=True)
class Design:
    """Describes a design to synthesize: top module, parameters, RTL files in compilation order.

    ``cells``: a Yosys command that declares the library cells which the files name, or nothing.
    """

    name: str
    top: str
    parameters: dict[str, int]
    files: tuple[pathlib.Path, ...]
    outside: pathlib.Path | None = None  # the top's file, if it is outside rtl/
    cells: str = ""

    @property
    def file(self) -> pathlib.Path:
        """Returns the path of the SystemVerilog file that holds the design's top module."""
        return self.outside or rtl_modules()[self.top]

    def digest(self, recipe: dict[str, object]) -> str:
        """Returns a SHA-256 over the design's RTL code, parameters and synthesis settings."""
        text = json.dumps([self.top, self.parameters, recipe], sort_keys=True)
        found = hashlib.sha256(text.encode())
        for path in (*self.files, *paths.RTL.glob("prim/*.svh")):
            found.update(f"{path.name}\n{paths.code(path)}\n".encode())
        return found.hexdigest()

    def read(self, flatten: bool = True) -> str:
        """Returns the Yosys commands that read the design, flattened or hierarchical, as lines."""
        types = _types(self.file)
        values = [
            f"-G {name}={_value(types[name], value)}" for name, value in self.parameters.items()
        ]
        keep = "" if flatten else "--keep-hierarchy "
        words = [f"read_slang {keep}-D SYNTHESIS -I {paths.RTL / 'prim'}", *map(str, self.files)]
        read = " ".join([*words, f"--top {self.top}", *values])
        return f"{self.cells}\n{read}" if self.cells else read


def find(
    name: str,
    parameters: dict[str, object] | None = None,
    views: str = technology.GENERIC,
    cells: str | None = None,
) -> Design:
    """Returns the design for a name: a named build, an RTL module or a user's file.

    ``parameters`` override those of the build. ``views``: the technology whose views it takes;
    ``cells``: Yosys' command that declares that technology's cells, if not the known one.

    A name with a slash, or that ends in .sv or .v, is a file with a module of its name; it may use
    all of rtl/, and files beside it.
    """
    modules = rtl_modules()
    known = configurations.load()
    outside = _outside(name, {*modules, *known})
    if outside:
        modules[outside.stem] = outside
        top, values = outside.stem, {}
    elif name in known:
        top, values = str(known[name]["top"]), dict(known[name]["parameters"])
    elif name in modules:
        top, values = name, {}
    elif name in {path.stem for path in paths.rtl_files()}:
        raise SynthesisError(f"{name} is a package: it is among the files of what imports it")
    else:
        near = difflib.get_close_matches(name, [*known, *modules], n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise SynthesisError(
            f"no build or module named {name!r}; {hint}builds: {', '.join(known)}; "
            "modules: the files of rtl/, or the path of a file"
        )
    types = _types(modules[top])
    for key, value in (parameters or {}).items():
        if key not in types:
            raise SynthesisError(
                f"{top} has no parameter {key}; it has: {', '.join(types) or 'none'}"
            )
        try:
            values[key] = configurations.number(name, key, value)
        except MaeslantError:
            raise SynthesisError(f"{key} is {value!r}: neither a number nor a known name") from None
    files = _closure(modules[top]) if outside else paths.rtl_closure([modules[top]])
    technology.check(views)
    files = technology.choose(files, views)
    packages = paths.rtl_packages_of(files if outside else [modules[top]])
    foreign = [path for folder in paths.foreign_folders() for path in folder.glob("*.v")]
    text = "".join(path.read_text() for path in files)
    foreign = [path for path in foreign if re.search(rf"\b{path.stem}\b", text)]
    rest = sorted(path for path in files if path not in packages)
    name = top if outside else name
    declared = (cells or technology.CELLS.get(views, "")) if technology.cells(files) else ""
    return Design(name, top, values, (*packages, *rest, *foreign), outside, declared)


def _outside(name: str, known: set[str]) -> pathlib.Path | None:
    """Returns the path of a user's SystemVerilog file; None if ``name`` is no path."""
    path = pathlib.Path(name)
    if "/" not in name and path.suffix not in (".sv", ".v"):
        return None
    path = path.expanduser().absolute()
    if not path.is_file():
        what = "is a folder; give a file" if path.is_dir() else "there is no such file"
        raise SynthesisError(f"{name}: {what}")
    if not re.fullmatch(r"[A-Za-z_]\w*", path.stem):
        raise SynthesisError(
            f"{name}: a file is named after its module, which {path.stem} cannot be"
        )
    path = paths.plain(path.parent) / path.name
    paths.check(path)
    if path.stem in known:
        raise SynthesisError(f"{name}: {path.stem} is a name of this repository; choose another")
    try:
        text = re.sub(r"//[^\n]*", "", path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise SynthesisError(f"{name}: {getattr(error, 'strerror', 'no text')}") from None
    if not re.search(rf"\bmodule\s+{re.escape(path.stem)}\b", text):
        raise SynthesisError(f"{name} holds no module {path.stem}: the file is named after its top")
    return path


def _closure(top: pathlib.Path) -> list[pathlib.Path]:
    """Returns the SystemVerilog files that a user's file needs, from its folder and from rtl/."""
    near = {p.stem: p for kind in ("sv", "v") for p in sorted(top.parent.glob(f"*.{kind}"))}
    done: dict[pathlib.Path, None] = {}
    todo = [top]
    while todo:
        path = todo.pop()
        if path not in done:
            done[path] = None
            words = set(re.findall(r"\b[A-Za-z_]\w*", paths.code(path)))
            todo += [near[word] for word in sorted(words & near.keys())]
    return paths.rtl_closure(list(done))


@functools.cache
def commit() -> str:
    """Returns the working tree's Git commit, followed by -changed if rtl/ is modified."""
    git = ["git", "-C", str(paths.ROOT)]
    done = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return "unknown"
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "rtl"], check=False)
    return done.stdout.strip() + ("-changed" if changed.returncode else "")


def rtl_modules() -> dict[str, pathlib.Path]:
    """Returns the paths of all modules of rtl/, by module name."""
    return {path.stem: path for path in paths.rtl_files() if not path.stem.endswith("_pkg")}


def all_parameters(design: Design) -> dict[str, int]:
    """Returns a design's parameters by name, including the top module's numeric defaults."""
    found = {}
    for name, (_, default) in header(design.file).items():
        number = re.fullmatch(r"(?:\d+'[bd])?(\d+)", default)
        with contextlib.suppress(MaeslantError):
            found[name] = (
                int(number[1]) if number else configurations.number(design.top, name, default)
            )
    return found | design.parameters


def _types(file: pathlib.Path) -> dict[str, str]:
    """Returns the SystemVerilog type of each parameter of an RTL module, by name."""
    return {name: kind for name, (kind, _) in header(file).items()}


def header(file: pathlib.Path) -> dict[str, tuple[str, str]]:
    """Returns (type, default value) of each parameter of an RTL module, as text, by name."""
    text = re.sub(r"//.*", "", file.read_text())
    text = text[text.find(f"module {file.stem}") :]
    header = text[: text.find(") (")]
    found = PARAMETER.findall(header)
    return {name: (kind or "int", default.strip()) for kind, name, default in found}


def _value(kind: str, value: int) -> str:
    """Returns a parameter's value as text for slang, enum values by their names."""
    if kind.split("::")[-1] in PLAIN_TYPES:
        return str(value)
    for name, number in (known := enum_values(kind)).items():
        if number == value:
            return name
    if known:
        names = ", ".join(name.split("::")[-1] for name in known)
        raise SynthesisError(f"{value} is no {kind.split('::')[-1]}: {names}")
    return str(value)


def enum_values(kind: str) -> dict[str, int]:
    """Returns the values of an RTL package's enum type by name; empty for other types."""
    for path in paths.rtl_packages():
        body = re.search(
            rf"typedef enum[^{{]*{{([^}}]*)}}\s*{kind.split('::')[-1]};", path.read_text()
        )
        if body:
            found = re.findall(r"(\w+)\s*=\s*\d+'d(\d+)", body[1])
            return {f"{path.stem}::{name}": int(number) for name, number in found}
    return {}

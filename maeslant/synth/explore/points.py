# SPDX-License-Identifier: Apache-2.0
"""Reads the designs to synthesize and compare from configs/explore.yml."""

import dataclasses
import fnmatch
import functools
import itertools
import json
import pathlib
import re
from collections.abc import Iterable

import yaml

from maeslant import paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError
from maeslant.synth import design

FILE = paths.ROOT / "configs" / "explore.yml"
HOW = {  # of synthesize's arguments those that a row may set for standard cells, in words
    "period_ns": "{:g} ns asked for",
    "abc": "mapped for {}",
    "flatten": "flat: {}",
}
FIELDS = {"title", "builds", "build", "parameters", "targets", "power", "quick", *HOW}
KINDS = {"builds": list, "build": str, "targets": list, "power": bool, "quick": bool}
LIBERTY = (".lib", ".lib.gz")
ASIC = ("nangate45", "sky130", "ihp")
# Parameters in words.
WORDS = {
    "Units": "{} units",
    "RegsPerRound": "{}-register rounds",
    "RoundsPerReg": "{} rounds a register",
    "Sbox": "{} S-box",
    "Dirs": "{}",
    "MaxKeyLen": "{}",
    "KeyBanks": "{} key banks",
    "KeyClocks": "",  # goes with RegsPerRound
}
VALUES = {
    "SboxTable": "table",
    "SboxTower": "tower-field",
    "SboxBoolean": "Boolean",
    "SboxLowDepth": "low-depth",
    "SboxOnehot": "one-hot",
    "DirsEncrypt": "encryption",
    "DirsDecrypt": "decryption",
    "DirsBoth": "both directions",
    "Aes128": "AES-128",
    "Aes192": "AES-192",
    "Aes256": "AES-256",
}
PARAMETER = re.compile(r"\bparameter\b[^=]*?\b(\w+)\s*=\s*([\w':]+)")
DIGITS = re.compile(r"\d+")
COMMENT = re.compile(r"//.*")


@dataclasses.dataclass(frozen=True)
class Point:
    """Describes a synthesis of `maeslant explore`: design, technology, options, label.

    ``parameters`` are set on top of those of the build or module ``name``; ``values`` are all of
    them, as numbers. ``sweeps`` are the rows of the table that ask for it.
    """

    name: str
    target: str
    parameters: dict[str, object]
    values: dict[str, int]
    top: str
    label: str
    sweeps: tuple[str, ...] = ()
    how: dict[str, object] = dataclasses.field(default_factory=dict)
    power: bool = False

    @property
    def key(self) -> str:
        """Returns a key that is equal for syntheses of the same hardware in the same technology."""
        return json.dumps([self.top, self.values, self.target, self.how], sort_keys=True)

    def call(self) -> dict[str, object]:
        """Returns the arguments with which a worker process runs this synthesis."""
        return {
            "name": self.name,
            "target": self.target,
            "parameters": self.parameters or None,
            "power": self.power,
            **self.how,
        }

    def __str__(self) -> str:
        return f"{self.label}, {self.target}"


def is_liberty(target: str) -> bool:
    """Returns true if a synthesis target is the path of a Liberty file."""
    return target.endswith(LIBERTY)


def short(target: str) -> str:
    """Returns a synthesis target as text for tables, a Liberty file's path as file name."""
    return pathlib.Path(target).name if is_liberty(target) else target


def load(
    file: pathlib.Path = FILE, targets: Iterable[str] = (), quick: bool = False
) -> list[Point]:
    """Returns the syntheses that configs/explore.yml requests, without duplicates.

    ``targets``: only these; a Liberty file stands in for every standard-cell library of a row.
    ``quick``: only rows that are marked so.
    """
    try:
        table = yaml.safe_load(file.read_text())
    except OSError as error:
        raise MaeslantError(f"{file}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise MaeslantError(f"{file}: {error}") from None
    if not isinstance(table, dict):
        raise MaeslantError(f"{file}: no table of sweeps")
    found: dict[str, Point] = {}
    for sweep, row in table.items():
        for point in _row(file, sweep, row):
            chosen = _chosen(point.target, row, list(targets))
            if quick and not row.get("quick"):
                continue
            for target in chosen:
                new = dataclasses.replace(point, target=target)
                old = found.get(new.key)
                if old:
                    new = dataclasses.replace(
                        old, sweeps=(*old.sweeps, sweep), power=old.power or new.power
                    )
                found[new.key] = new
    if not found:
        asked = f" with {', '.join(targets)}" if targets else ""
        raise MaeslantError(f"{file.name} has no point{asked}; its targets: {_known(table)}")
    return list(found.values())


def _chosen(target: str, row: dict, asked: list[str]) -> list[str]:
    """Returns the user's synthesis targets that replace a target of configs/explore.yml."""
    if not asked:
        return [target]
    first = next((known for known in row["targets"] if known in ASIC), None)
    return [
        one for one in asked if one == target or (is_liberty(one) and target == first is not None)
    ]


def _known(table: dict) -> str:
    return ", ".join(dict.fromkeys(target for row in table.values() for target in row["targets"]))


def _row(file: pathlib.Path, sweep: str, row: object) -> Iterable[Point]:
    """Yields the syntheses that a row of configs/explore.yml requests."""
    if not isinstance(row, dict) or not row.get("targets"):
        raise MaeslantError(f"{file.name}: {sweep} lacks its targets")
    if unknown := row.keys() - FIELDS:
        raise MaeslantError(f"{file.name}: {sweep}: unknown {', '.join(sorted(unknown))}")
    for field, kind in KINDS.items():
        if not isinstance(row.get(field, kind()), kind):
            raise MaeslantError(f"{file.name}: {sweep}: {field} is no {kind.__name__}")
    for grid in _list(row.get("parameters", {})):
        if not isinstance(grid, dict):
            raise MaeslantError(f"{file.name}: {sweep}: parameters are no table")
    for period in _list(row.get("period_ns")):
        if not isinstance(period, int | float | None):
            raise MaeslantError(f"{file.name}: {sweep}: a period is no number: {period}")
    if ("builds" in row) == ("build" in row):
        raise MaeslantError(f"{file.name}: {sweep} has either builds or a build with parameters")
    names = _builds(file, sweep, row["builds"]) if "builds" in row else [row["build"]]
    grids = _list(row.get("parameters", {}))
    for name, grid in itertools.product(names, grids):
        for values in itertools.product(*(_list(value) for value in grid.values())):
            given = dict(zip(grid, values, strict=True))
            for target, *how in itertools.product(
                row["targets"], *(_list(row.get(field)) for field in HOW)
            ):
                settings = dict(zip(HOW, how, strict=True))
                yield _point(sweep, name, given, str(target), settings, bool(row.get("power")))


def _builds(file: pathlib.Path, sweep: str, patterns: list[str]) -> list[str]:
    """Returns names of builds that match patterns, and those that are RTL module names."""
    found: dict[str, None] = {}
    for pattern in patterns:
        some = fnmatch.filter(configurations.load(), pattern)
        if not some and any(letter in pattern for letter in "*?["):
            raise MaeslantError(f"{file.name}: {sweep}: no build is named as {pattern}")
        found |= dict.fromkeys(some or [pattern])
    return list(found)


def _word(value: object) -> object:
    """Returns the text for a parameter's value in a design's label."""
    known = str(value)
    default = known.removeprefix("Sbox").lower() if known.startswith("Sbox") else value
    return VALUES.get(value, default)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _point(
    sweep: str,
    name: str,
    given: dict[str, object],
    target: str,
    how: dict[str, object],
    power: bool,
) -> Point:
    """Returns a synthesis to run, named after a build with equal parameters if any exists."""
    what = _design(name, tuple(given.items()))
    whole = _whole(what.top, what.parameters)
    named = [
        build
        for build, other in configurations.load().items()
        if other["top"] == what.top and _whole(what.top, other["parameters"]) == whole
    ]
    if named:
        name, given = (name if name in named else named[0]), {}
    base = _design(name)
    own = _whole(base.top, base.parameters)
    given = {key: value for key, value in given.items() if whole[key] != own[key]}
    title = name
    if "Lanes" in given:  # lanes, N = 3: not its base, lanes1, with something
        title = f"{DIGITS.sub('', name, count=1)}, N = {given['Lanes']}"
    words = [
        WORDS.get(key, f"{key} {{}}").format(_word(value))
        for key, value in given.items()
        if key != "Lanes" and WORDS.get(key, key)
    ]
    cells = target in ASIC or is_liberty(target)
    how = {field: value for field, value in how.items() if cells and value is not None}
    words = [title + (f" with {', '.join(words)}" if words else "")]
    words += [HOW[field].format(value) for field, value in how.items()]
    return Point(
        name=name,
        target=target,
        parameters=given,
        values=whole,
        top=what.top,
        label=", ".join(words),
        sweeps=(sweep,),
        how=how,
        power=power and cells,
    )


@functools.cache
def _design(name: str, given: tuple[tuple[str, object], ...] = ()) -> design.Design:
    """Returns the design of a build or RTL module with given parameters, from a cache."""
    return design.find(name, dict(given))


@functools.cache
def _defaults(top: str) -> dict[str, object]:
    """Returns the default parameters of an RTL module, by name."""
    path = paths.rtl_file(top)
    header = COMMENT.sub("", path.read_text()).split(");")[0]
    found = {}
    for name, text in PARAMETER.findall(header):
        bits = re.fullmatch(r"\d+'[db]([01]+|\d+)", text)
        try:
            found[name] = int(bits[1] if bits else text)
        except ValueError:
            try:
                found[name] = configurations.number(top, name, text)
            except MaeslantError:
                found[name] = text
    return found


def _whole(top: str, parameters: dict[str, int]) -> dict[str, object]:
    return _defaults(top) | parameters

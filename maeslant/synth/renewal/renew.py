# SPDX-License-Identifier: Apache-2.0
"""Renews published synthesis reports whose RTL has changed in text but not in logic.

The RTL that a report is of comes from Git. The Python of that tree gives its digest and the command
that reads it; the digest has to be one that the report was published with. Both this RTL and
today's are elaborated and optimized by the passes that synthesis begins with. If their netlists are
isomorphic (maeslant.synth.renewal.canonical), the report gets the digest of today's RTL and names
its commit. A report of another recipe stays as it is, and so does one that cannot be compared.

In 2026 some reports got new digests by hand: Git has the one that they were published with. Where
that is not the digest of the report's commit but of the commit that published it, the RTL of both
must have the logic of today's.
"""

import contextlib
import dataclasses
import functools
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator

from maeslant import paths
from maeslant.synth import asic, design, flow, liberty, report, yosys
from maeslant.synth.explore import points
from maeslant.synth.page import tables
from maeslant.synth.renewal import canonical
from maeslant.synth.report import Report, SynthesisError

# Run by the Python of an older tree, with the arguments of its flow.point.
OLD = """
import json, sys
from maeslant.synth import flow
call, flatten = json.loads(sys.stdin.read())
point = flow.point(**call)
print(json.dumps([point.digest, point.design.top, point.design.read(flatten)]))
"""
# What a report's figures depend on: versions that agree in these are of one synthesis.
FIGURES = ("target", "commit", "area", "timing")
NOT_PASSES = ("abc_used", "liberty")  # of a recipe: a result, and the name of a file


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Describes what became of a published synthesis report whose RTL has changed."""

    file: pathlib.Path
    equal: bool  # the logic is that of today's RTL
    says: str


@dataclasses.dataclass(frozen=True)
class Rtl:
    """Describes RTL to elaborate: where it is from, its digest, top module and Yosys command."""

    commit: str
    digest: str
    top: str
    read: str


def stale() -> list[tuple[flow.Point, Report]]:
    """Returns the synthesis points whose published reports are not up to date, small ones first."""
    calls = [point.call() for point in points.load()]
    for ours in (ours for table in tables.tables() for ours in tables.points(table.rows)):
        given = {"name": ours.name, "target": ours.target, "parameters": ours.parameters or None}
        calls.append(given | ours.options)
    found = {}
    for call in calls:
        call.pop("power", None)
        what = flow.point(**call)
        made = report.load(what.published)
        if made and made.sources != what.digest:
            found[what.published] = what, made
    return sorted(found.values(), key=lambda pair: _size(pair[1]))


def renew(
    name: str | None = None,
    tell: Callable[[str], None] = lambda step: None,
    *,
    publish: bool,
) -> Iterator[Outcome]:
    """Compares published reports' RTL with today's; yields what became of each.

    ``publish``: renews those with unchanged logic; without, only says so. ``name``: only those of
    this build or module. Raises SynthesisError where rtl/ is not committed.
    """
    now = _commit()
    found = [pair for pair in stale() if name in (None, pair[0].design.name)]
    if name and not found:
        design.find(name)
        if not any(report.PUBLISHED.glob(f"{name}-*.json")):
            raise SynthesisError(f"no report of {name} is published")
    with _Trees() as trees:
        for what, made in found:
            title = made.file.stem
            try:
                differs = _differs(what, made, trees, lambda step, at=title: tell(f"{at}: {step}"))
            except SynthesisError as error:
                yield Outcome(made.file, False, f"not compared: {error}")
                continue
            if differs:
                yield Outcome(made.file, False, f"differs: {differs}")
                continue
            own = what.design
            new = {"name": own.name, "top": own.top, "parameters": own.parameters}
            new |= {"sources": what.digest, "equal_at": now}
            if publish:
                dataclasses.replace(made, **new).write(made.file)
            begin = "renewed" if publish else "can be renewed"
            yield Outcome(made.file, True, f"{begin}: {made.commit} and {now} have the same logic")


def _size(made: Report) -> float:
    """Returns a number that grows with the size of a synthesized design."""
    return made.area.get("cells") or made.area["lut"] + made.area["ff"]


def _commit() -> str:
    """Returns the last commit that changed RTL or builds; raises if one of them is modified."""
    git = ("git", "-C", str(paths.ROOT))
    last = (*git, "log", "-1", "--format=%h", "--", "rtl", "configs")
    done = subprocess.run(last, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        raise SynthesisError("--renew compares with the RTL of older commits: it needs Git")
    changed = (*git, "diff", "--quiet", "HEAD", "--", "rtl", "configs")
    if subprocess.run(changed, check=False).returncode:
        raise SynthesisError("rtl/ or configs/ has changes: commit them, for reports name a commit")
    return done.stdout.strip()


def _differs(
    what: flow.Point, made: Report, trees: "_Trees", tell: Callable[[str], None]
) -> str | None:
    """Returns where the logic of a report's RTL and today's differ; None if they are equal."""
    recipes = [
        {key: value for key, value in recipe.items() if key not in NOT_PASSES}
        for recipe in (made.recipe, json.loads(json.dumps(what.recipe)))
    ]
    if recipes[0] != recipes[1]:
        keys = [key for key in recipes[1] if recipes[0].get(key) != recipes[1][key]]
        raise SynthesisError(f"it was made by another recipe ({', '.join(keys) or 'fewer keys'})")
    older = _origins(made, not what.kept, trees, tell)
    own = what.design
    tell(f"reading {own.top}")
    now = trees.netlist(own.read(not what.kept), own.top, what.kept, what.cleaned)
    for rtl in older:
        tell(f"reading {own.top} of {rtl.commit}")
        if differs := now.difference(trees.netlist(rtl.read, rtl.top, what.kept, what.cleaned)):
            return f"{differs} (from {rtl.commit})"
    return None


def _netlist(
    read: str, top: str, kept: tuple[str, ...], cleaned: tuple[str, ...]
) -> canonical.Netlist:
    """Elaborates and cleans RTL as for mapping; returns the netlist in its canonical form."""
    with report.workplace(top) as work:
        file = work / "net.json"
        passes = [*yosys.elaborate(read, top, kept), *cleaned, f"write_json -selected {file}"]
        yosys.run(passes, work / "log")
        return canonical.Netlist(file, top)


def _origins(
    made: Report, flatten: bool, trees: "_Trees", tell: Callable[[str], None]
) -> list[Rtl]:
    """Returns the RTL that a report's figures are of; raises SynthesisError if that is not known.

    It is one tree, or two where either may be the one that was synthesized.
    """
    tell("looking for its RTL")
    if made.equal_at:
        rtl = trees.rtl(made.equal_at, made, flatten)
        if rtl.digest != made.sources:
            raise SynthesisError(f"it was renewed, but {made.equal_at} has another digest")
        return [rtl]
    problem = None
    versions = list(_versions(made))
    for _, version in versions:
        try:
            rtl = trees.rtl(version.commit, version, flatten)
        except SynthesisError as error:
            problem = error
        else:
            if rtl.digest == version.sources:
                return [rtl]
    if problem:
        raise problem
    writer, first = versions[-1]
    if writer:
        rtl = trees.rtl(writer, first, flatten)
        if rtl.digest == first.sources:
            return [trees.rtl(first.commit, first, flatten), rtl]
    raise SynthesisError(f"no digest that it was published with is that of {made.commit}")


def _versions(made: Report) -> Iterator[tuple[str, Report]]:
    """Yields a report and its older versions of the same synthesis, each with its Git commit."""
    yield "", made
    git = ["git", "-C", str(paths.ROOT)]
    log = [*git, "log", "--follow", "--format=@%h", "--name-only", "--", str(made.file)]
    done = subprocess.run(log, capture_output=True, text=True, check=False)
    commit = ""
    for line in filter(None, done.stdout.splitlines()):
        if line.startswith("@"):
            commit = line[1:]
            continue
        text = subprocess.run([*git, "show", f"{commit}:{line}"], capture_output=True, check=False)
        with contextlib.suppress(ValueError, TypeError):
            version = Report(**json.loads(text.stdout))
            if all(version[key] == made[key] for key in FIGURES):
                yield commit, version


class _Trees(contextlib.AbstractContextManager):
    """Holds the trees of older commits in a temporary folder; asks their Python about designs.

    ``netlist`` elaborates RTL as _netlist does, once for reports that follow each other.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="maeslant-renew-")
        self._found: dict[object, Rtl | SynthesisError] = {}
        self.netlist = functools.lru_cache(maxsize=6)(_netlist)

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()

    def rtl(self, commit: str, made: Report, flatten: bool) -> Rtl:
        """Returns the RTL at a commit of the design that a report is of."""
        how = made.recipe
        call = {"name": made.name, "target": made.target, "parameters": made.parameters}
        if made.kind == "asic":
            call |= {"period_ns": how["period_ns"], "flatten": how["flatten"]}
            if [*how["abc"]] != asic.scripts(how["period_ns"], None):
                call["abc"] = next(iter(how["abc"]))
        elif not how["flatten"]:
            call["flatten"] = False
        if "seeds" in how:
            call["seeds"] = how["seeds"]
        key = json.dumps([commit, call, flatten])
        if key not in self._found:
            try:
                self._found[key] = self._ask(commit, [call, flatten])
            except SynthesisError as error:
                self._found[key] = error
        if isinstance(self._found[key], SynthesisError):
            raise self._found[key]
        return self._found[key]

    def _ask(self, commit: str, question: list[object]) -> Rtl:
        """Has the Python of a commit's tree describe its RTL."""
        tree = self._tree(commit)
        env = os.environ | {"PYTHONPATH": str(tree), liberty.FOLDER: str(liberty.folder())}
        env |= {"MAESLANT_BUILD": f"{self._folder.name}/build"}
        ask = [sys.executable, "-c", OLD]
        text = json.dumps(question)
        done = subprocess.run(
            ask, input=text, cwd=tree, env=env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise SynthesisError(f"{commit} cannot read it: {said[-1][:120] if said else ''}")
        return Rtl(commit, *json.loads(done.stdout.splitlines()[-1]))

    def _tree(self, commit: str) -> pathlib.Path:
        """Returns the folder of a commit's files, unpacked from Git."""
        if not commit.isalnum() or commit == "unknown":
            raise SynthesisError(f"it is of {commit}: no commit has its RTL")
        tree = pathlib.Path(self._folder.name) / commit
        if not tree.exists():
            git = ["git", "-C", str(paths.ROOT), "archive", commit]
            packed = subprocess.run(git, capture_output=True, check=False)
            if packed.returncode:
                raise SynthesisError(f"its commit {commit} is not in this clone")
            with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
                files.extractall(tree, filter="data")
        return tree

# SPDX-License-Identifier: Apache-2.0
"""Stores and loads reports of synthesis runs."""

import contextlib
import dataclasses
import fcntl
import gzip
import json
import pathlib
import shutil
import tempfile
from collections.abc import Iterator

from maeslant import paths
from maeslant.errors import MaeslantError

REPORTS = paths.BUILD / "reports"
PUBLISHED = paths.RESULTS / "reports"
SCHEMA = 1
NETLIST = "net.v.gz"


class SynthesisError(MaeslantError):
    """Raised if a synthesis tool fails on a design or if a technology file is missing."""


class UnprovedError(SynthesisError):
    """Raised if a netlist can neither be proved equal to its RTL nor shown to differ from it."""


@dataclasses.dataclass
class Report:
    """Holds the report of a synthesis run: area, timing, power, tools.

    Areas in um2 and kGE, times in ns, frequencies in MHz, power in mW, energy in pJ.

    ``report["area"]`` works as ``report.area`` does. ``file`` is where it stands; unless it is a
    published one, its ``folder`` holds the logs and the mapped netlist, net.v.gz.
    """

    name: str
    top: str
    parameters: dict[str, int]
    target: str
    kind: str
    recipe: dict[str, object]
    tools: dict[str, str]
    sources: str
    commit: str
    left_out: str
    area: dict[str, object]
    timing: dict[str, object] | None
    power: dict[str, object] | None = None
    function: dict[str, object] | None = None
    # Where it was placed: core, wires, and the clock with both and a clock tree (place/flow.py).
    placed: dict[str, object] | None = None
    # How the netlist was checked, and at which commit: ``simulated`` names the tests that passed on
    # it, ``proved`` counts what SAT found equal to the RTL's.
    netlist: dict[str, object] | None = None
    # A later commit whose RTL was shown to give the mapper the same logic as that of ``commit``.
    equal_at: str | None = None
    schema: int = SCHEMA
    file: pathlib.Path | None = dataclasses.field(default=None, compare=False)
    older: bool = dataclasses.field(default=False, compare=False)  # of RTL that has changed since

    def __getitem__(self, key: str) -> object:
        return getattr(self, key)

    @property
    def commits(self) -> str:
        """Returns in words the commits of whose RTL this synthesis report is."""
        later = f", same logic at {self.equal_at}" if self.equal_at else ""
        return f"commit {self.commit}{later}"

    @property
    def folder(self) -> pathlib.Path | None:
        """Returns this synthesis report's folder; None if the report is not stored."""
        return self.file and self.file.parent

    def unpack(self, work: pathlib.Path, file: str = NETLIST) -> pathlib.Path:
        """Decompresses a file of this report into a folder, its netlist; returns the path."""
        packed = self.folder / file
        if not packed.exists():
            what = "netlist" if file == NETLIST else file
            raise SynthesisError(
                f"{self.folder} holds no {what}: remove that folder and synthesize again"
            )
        netlist = work / packed.stem
        with gzip.open(packed) as text, open(netlist, "wb") as plain:
            shutil.copyfileobj(text, plain)
        return netlist

    def as_dict(self) -> dict[str, object]:
        """Returns this synthesis report as a dictionary, the content of report.json."""
        found = dataclasses.asdict(self)
        del found["file"], found["older"]
        return {"schema": found.pop("schema"), **found}

    def write(self, file: pathlib.Path) -> None:
        """Writes this synthesis report to a file, completely or not at all."""
        file.parent.mkdir(parents=True, exist_ok=True)
        paths.write(file, json.dumps(self.as_dict(), indent=1) + "\n")
        self.file = file


def load(file: pathlib.Path) -> Report | None:
    """Reads a synthesis report from a file; returns None if absent or of another format."""
    try:
        found = json.loads(file.read_text())
        made = Report(**found, file=file)
        kinds = {"area": dict, "recipe": dict, "tools": dict, "sources": str, "commit": str}
        kinds |= {"timing": dict | None, "power": dict | None, "function": dict | None}
        kinds |= {"netlist": dict | None, "equal_at": str | None, "placed": dict | None}
        known = all(isinstance(made[name], kind) for name, kind in kinds.items())
        return made if known and made.schema == SCHEMA else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextlib.contextmanager
def locked(key: str) -> Iterator[None]:
    """Locks a synthesis run against other processes until the context ends."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    with open(REPORTS / f".lock-{key}", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def workplace(name: str) -> Iterator[pathlib.Path]:
    """Yields a temporary folder for a synthesis run, deleted at the end of the context."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f".work-{name}-", dir=REPORTS))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def pack(file: pathlib.Path) -> pathlib.Path:
    """Compresses a file as :meth:`Report.unpack` expects it; returns the compressed one."""
    packed = file.with_name(f"{file.name}.gz")
    with open(file, "rb") as plain, gzip.open(packed, "wb", 6) as text:
        shutil.copyfileobj(plain, text)
    return packed


def keep(report: Report, work: pathlib.Path, file: pathlib.Path, files: list[str]) -> Report:
    """Moves a synthesis run's files to the report's folder; writes and returns the report."""
    file.parent.mkdir(parents=True, exist_ok=True)
    for path in {path for name in files for path in work.glob(name)}:
        path.replace(file.parent / path.name)
    report.write(file)
    return report

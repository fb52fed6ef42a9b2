# SPDX-License-Identifier: Apache-2.0
"""Runs the mutation tests: changes RTL and software at listed places, so that a test must fail.

tests/mutations/*.yml list the places. Each is made in a copy of the tree, where the test named
beside it must fail; the same test must pass on the copy as it is. Words on the command line choose
some, or `--list` the lists by their names. `--write` only writes the list into docs/mutations.md;
`--check` sees that each place is still there and the page as the lists are.
"""

import argparse
import concurrent.futures
import contextlib
import io
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from maeslant import paths
from maeslant.synth import liberty

LISTS = sorted((paths.ROOT / "tests" / "mutations").glob("*.yml"))
PAGE = paths.ROOT / "docs" / "mutations.md"
TIMEOUT = 1800  # seconds of a test; one that hangs fails


def copy_tree(folder: pathlib.Path) -> pathlib.Path:
    """Copies the repository, without build results, for mutation tests; returns the copy's path."""
    tree = folder / "tree"

    def ignore(where: str, _names: list[str]) -> set[str]:
        built = {"build"} if pathlib.Path(where) == paths.ROOT else set()  # not maeslant/build
        return {".venv", ".git", "__pycache__", ".pytest_cache"} | built

    shutil.copytree(paths.ROOT, tree, ignore=ignore)
    (tree / ".venv").symlink_to(paths.ROOT / ".venv")
    shared = paths.BUILD / "verilated"
    if shared.is_dir():
        shutil.copytree(shared, tree / "build" / "verilated")
    return tree


class Trees:
    """Lends copies of the repository to the threads that run mutation tests."""

    def __init__(self, folder: pathlib.Path, count: int) -> None:
        """Creates ``count`` copies of the repository in a folder, for mutation tests."""
        self.free: queue.Queue[pathlib.Path] = queue.Queue()
        for number in range(count):
            self.free.put(copy_tree(folder / str(number)))

    @contextlib.contextmanager
    def borrow(self) -> Iterator[pathlib.Path]:
        """Yields a copy of the repository for exclusive use until the context ends."""
        tree = self.free.get()
        try:
            yield tree
        finally:
            self.free.put(tree)

    def passes(self, tree: pathlib.Path, test: str) -> bool:
        """Runs a pytest test in a copy of the repository; returns true if the test passes."""
        command = [str(paths.ROOT / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-x"]
        env = os.environ | {liberty.FOLDER: str(liberty.folder()), "PYTHONDONTWRITEBYTECODE": "1"}
        env["PYTHONPATH"] = str(tree)  # for bin/maeslant too, which runs that of the repository
        result = subprocess.run(
            [*command, f"--timeout={TIMEOUT}", "-p", "no:cacheprovider", "-m", "slow or not slow"]
            + test.split(),
            cwd=tree,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode not in (0, 1):
            sys.exit(f"{test} did not run:\n{result.stdout[-3000:]}{result.stderr[-1000:]}")
        return result.returncode == 0

    def notice(self, item: dict[str, str]) -> bool:
        """Mutates a repository copy, runs a test, undoes the mutation; true if the test failed."""
        with self.borrow() as tree:
            file = tree / item["file"]
            text = file.read_text()
            if text.count(item["find"]) != 1:
                sys.exit(f"{item['name']}: {item['file']} must hold the text to break just once")
            file.write_text(text.replace(item["find"], item["replace"]))
            try:
                return not self.passes(tree, item["test"])
            finally:
                file.write_text(text)

    def check_intact(self, test: str) -> None:
        """Exits with an error if a test of the mutation list fails on the unchanged repository."""
        with self.borrow() as tree:
            if not self.passes(tree, test):
                sys.exit(f"{test} fails on the tree as it is")


def page(items: list[dict[str, str]]) -> str:
    """Returns the Markdown page docs/mutations.md, made from the list of mutations."""
    lines = ["# What happens when something is wrong", ""]
    lines += ["`make mutations` breaks each of these places in a copy of the tree, and the test"]
    lines += ["beside it must fail. Written by `tools/mutate.py --write`.", ""]
    lines += ["| what is broken | where | the test that must notice |", "|---|---|---|"]
    for item in items:
        lines.append(f"| {item['name']} | `{item['file']}` | `{item['test']}` |")
    return "\n".join(lines) + "\n"


def stale(items: list[dict[str, str]], root: pathlib.Path = paths.ROOT) -> list[str]:
    """Returns errors: mutations whose source text or test is missing, an outdated page."""
    found = []
    for item in items:
        file, test = root / item["file"], item["test"].split()[0].split("::")[0]
        if not file.is_file() or file.read_text().count(item["find"]) != 1:
            found.append(f"{item['name']}: {item['file']} holds its text not exactly once")
        if not (root / test).is_file():
            found.append(f"{item['name']}: there is no {test}")
    if not PAGE.is_file() or PAGE.read_text() != page(items):
        found.append("docs/mutations.md is stale; run: python tools/mutate.py --write")
    return found


class Collected:
    """Collects the names of pytest's tests, as a pytest plugin."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Stores the names of all tests that pytest has collected."""
        self.names = [item.nodeid for item in session.items]

    def has(self, test: str) -> bool:
        """Returns true if a test selection, maybe with ``-k WORD``, matches a pytest test."""
        name, _, word = test.partition(" -k ")
        chosen = [n for n in self.names if n == name or n.startswith((name + "::", name + "["))]
        return any(word.lower() in n.lower() for n in chosen)


def absent(tests: list[str]) -> list[str]:
    """Returns an error for each test selection of the mutation list that matches no pytest test."""
    found = Collected()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["--collect-only", "-m", "slow or not slow", "tests"], plugins=[found])
    return [f"no test is selected by: {test}" for test in tests if not found.has(test)]


def main() -> int:
    """Runs mutation tests, by default all; prints each result; returns 0 if all were detected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="run only mutations whose name contains a word")
    parser.add_argument("--list", nargs="+", default=[], help="run only these lists, such as gcm")
    parser.add_argument("--write", action="store_true", help="write docs/mutations.md and stop")
    parser.add_argument("--check", action="store_true", help="check that the lists fit the tree")
    arguments = parser.parse_args()
    lists = {path.stem: yaml.safe_load(path.read_text()) for path in LISTS}
    items = [item for found in lists.values() for item in found]
    if arguments.write:
        paths.write(PAGE, page(items))
        return 0
    if arguments.check:
        found = stale(items) + absent(list(dict.fromkeys(item["test"] for item in items)))
        for line in found:
            print(line, file=sys.stderr)
        return 1 if found else 0
    if unknown := set(arguments.list) - set(lists):
        parser.error(f"no list {min(unknown)}; these are: {', '.join(lists)}")
    if arguments.list:
        items = [item for name in arguments.list for item in lists[name]]
    if arguments.words:
        items = [i for i in items if any(word in i["name"] for word in arguments.words)]
    caught = []
    with (
        tempfile.TemporaryDirectory(prefix="mutation-") as folder,
        concurrent.futures.ThreadPoolExecutor(2) as pool,
    ):
        trees = Trees(pathlib.Path(folder), 2)
        list(pool.map(trees.check_intact, dict.fromkeys(item["test"] for item in items)))
        for item, noticed in zip(items, pool.map(trees.notice, items), strict=True):
            print(f"{'noticed' if noticed else 'MISSED '}  {item['name']}", flush=True)
            caught.append(noticed)
    print(f"{sum(caught)} of {len(caught)} mutations noticed")
    return 0 if all(caught) else 1


if __name__ == "__main__":
    sys.exit(main())

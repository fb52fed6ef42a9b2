# SPDX-License-Identifier: Apache-2.0
"""Tests maeslant.build.made: a file is made again by contents of its inputs, not by times."""

import os
import pathlib

import pytest

from maeslant.build import made


def test_made_when_contents_change(tmp_path: pathlib.Path) -> None:
    """Makes a file again for other contents, names or options, and not for another time."""
    source, target, calls = tmp_path / "source", tmp_path / "out" / "target", []

    def write(new: pathlib.Path) -> None:
        calls.append(new)
        new.write_text(source.read_text().upper())

    def make(*words: str, inputs: tuple[pathlib.Path, ...] = (source,)) -> int:
        calls.clear()
        assert made.make(target, inputs, write, *words) == target
        assert target.read_text() == source.read_text().upper()
        return len(calls)

    source.write_text("one")
    assert [make(), make()] == [1, 0]
    later = target.stat().st_mtime + 3600  # a clock that was set back
    os.utime(source, (later, later))
    assert make() == 0
    times = source.stat().st_atime_ns, source.stat().st_mtime_ns
    source.write_text("two")
    os.utime(source, ns=times)  # changed in the same instant
    os.utime(target, (later + 3600, later + 3600))
    assert [make(), make()] == [1, 0]
    assert [make("-O2"), make("-O2"), make("-O1")] == [1, 0, 1]
    absent = tmp_path / "absent"
    assert [make(inputs=(source, absent)), make(inputs=(source, absent))] == [1, 0]
    absent.write_text("")
    assert make(inputs=(source, absent)) == 1
    target.unlink()
    assert make(inputs=(source, absent)) == 1


def test_made_again_after_failure(tmp_path: pathlib.Path) -> None:
    """Leaves the old file in its place when making fails, and tries again next time."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("one")
    made.make(target, [source], lambda new: new.write_text("1"))

    def fail(new: pathlib.Path) -> None:
        new.write_text("half")
        raise ValueError("the compiler fails")

    source.write_text("two")
    with pytest.raises(ValueError, match="compiler"):
        made.make(target, [source], fail)
    assert target.read_text() == "1"
    made.make(target, [source], lambda new: new.write_text("2"))
    assert target.read_text() == "2"


def test_input_changed_meanwhile(tmp_path: pathlib.Path) -> None:
    """Makes a file again if an input changed while it was made."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("one")

    def write(new: pathlib.Path) -> None:
        new.write_text(source.read_text())
        source.write_text("two")

    made.make(target, [source], write)
    assert target.read_text() == "one"
    made.make(target, [source], write)
    assert target.read_text() == "two"

# SPDX-License-Identifier: Apache-2.0
"""Tests maeslant.build.simulator: what it gives to Verilator, and says where it cannot build."""

import os
import pathlib
import subprocess
import sys

import pytest

from maeslant import paths
from maeslant.build import bus_checkers, configurations, simulator


def test_no_compiler(tmp_path: pathlib.Path) -> None:
    """Without g++ the simulator's build ends with one line that says what is missing."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in pathlib.Path("/usr/bin").iterdir():
        if tool.name not in ("g++", "verilator"):
            (tools / tool.name).symlink_to(tool)
    result = subprocess.run(
        [sys.executable, "-m", "maeslant.build.simulator", "peripheral_small"],
        cwd=paths.ROOT,
        env=os.environ | {"PATH": str(tools), "MAESLANT_BUILD": str(tmp_path / "build")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == "there is no g++: `maeslant doctor` says how to get it"
    assert "Traceback" not in result.stderr


class Given(Exception):
    """Carries what a simulator's build gives to Verilator, and ends the build there."""


@pytest.mark.parametrize("name", simulator.buildable())
def test_bus_checkers(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each simulator has a bus checker at every bus port of its top and of the modules in it."""

    def make(_where: object, _target: object, arguments: list[str], *_rest: object) -> None:
        raise Given(arguments)

    monkeypatch.setattr(paths, "BUILD", tmp_path)
    monkeypatch.setattr(simulator, "_make", make)
    with pytest.raises(Given) as given:
        simulator.build(name)
    (arguments,) = given.value.args
    assert "--assert" in arguments
    found = configurations.load()[name]
    top = paths.rtl_file(found["top"])
    ports = [port for file in paths.rtl_closure([top]) for port in bus_checkers.ports(file)]
    checks = "".join(
        pathlib.Path(word).read_text() for word in arguments if word.endswith("/bus_checks.sv")
    )
    for port in ports:
        assert port.bind() in checks, (port.module, port.prefix)
        assert str(bus_checkers.CHECKERS / f"{bus_checkers.KINDS[port.kind]}.sv") in arguments
    if found.get("device") or found.get("card"):
        assert {port.module for port in ports} >= {found["top"]}

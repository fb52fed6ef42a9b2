# SPDX-License-Identifier: Apache-2.0
"""Tests dist.py (`make dist`): release archive, plain Verilog, version, workflows."""

import importlib.util
import io
import os
import re
import tarfile

import pytest
import yaml

from maeslant import __version__, paths
from maeslant.build import configurations
from maeslant.errors import MaeslantError


@pytest.fixture(scope="module")
def dist() -> object:
    """Imports dist.py as a module."""
    spec = importlib.util.spec_from_file_location(
        "dist", paths.ROOT / "tools" / "packaging" / "dist.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_archive(dist) -> None:
    """dist.archive packs the commit and given files into one folder, always in the same bytes."""
    if not (paths.ROOT / ".git").exists():
        pytest.skip("no git checkout")
    data = dist.archive({"verilog/small.v": "module x; endmodule\n"})
    assert data == dist.archive({"verilog/small.v": "module x; endmodule\n"})
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        names = tar.getnames()
        text = tar.extractfile(f"maeslant-{__version__}/verilog/small.v").read()
    assert text == b"module x; endmodule\n"
    assert f"maeslant-{__version__}/rtl/prim/fifo/mae_fifo.sv" in names
    assert all(name.split("/")[0] == f"maeslant-{__version__}" for name in names)


@pytest.mark.slow
def test_plain_verilog_of_every_recommended_build(dist) -> None:
    """dist.verilog gives a Verilog file for each recommended build and a README that lists them."""
    found = dist.verilog()
    assert found.keys() == {"README.md", *(f"{name}.v" for name in configurations.recommended())}
    for name, build in configurations.recommended().items():
        assert re.search(rf"(?m)^module {build['top']}\(", found[f"{name}.v"])
        assert f"`{name}.v`" in found["README.md"]


def test_pages_agree_on_the_version(dist) -> None:
    """CHANGELOG.md and CITATION.cff state the version of the Python package."""
    dist.check_changelog()
    with pytest.raises(MaeslantError, match="no section for 9.9.9"):
        dist.check_changelog("9.9.9")
    citation = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__ and citation["license"] == "Apache-2.0"
    for name in ("CONTRIBUTING.md", "SECURITY.md"):
        assert (paths.ROOT / name).is_file()


def test_workflows_run_what_is_there() -> None:
    """The GitHub workflows run the commands of .ci and build the documentation site."""
    folder = paths.ROOT / ".github" / "workflows"
    steps = {
        path.stem: [
            step.get("run", "")
            for job in yaml.safe_load(path.read_text())["jobs"].values()
            for step in job["steps"]
        ]
        for path in folder.glob("*.yml")
    }
    for name in ("run", "debian"):
        assert any(f".ci/{name}" in run for run in steps["ci"])
        assert os.access(paths.ROOT / ".ci" / name, os.X_OK)
    assert "make site" in steps["site"]

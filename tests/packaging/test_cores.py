# SPDX-License-Identifier: Apache-2.0
"""Tests the FuseSoC cores: one per product, up to date, with lint targets that pass."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest
import yaml

from maeslant import paths
from maeslant.build import configurations, toolchain
from maeslant.errors import MaeslantError

CORES = sorted(paths.RTL.glob("*.core"))
TARGETS = [
    (path.stem, target)
    for path in CORES
    for target in yaml.safe_load(path.read_text())["targets"]
    if target.startswith("lint")
]
LARGE = ("maeslant", "protected_card", "stream_card")


@pytest.fixture(scope="module")
def generator() -> object:
    """Imports the module tools/gen_core.py for its tests."""
    spec = importlib.util.spec_from_file_location("gen_core", paths.ROOT / "tools" / "gen_core.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gen_core"] = module
    spec.loader.exec_module(module)
    return module


def lint(core: str, target: str, folder: pathlib.Path, *flags: str, root: pathlib.Path) -> str:
    """Runs a FuseSoC core's lint target; returns its complaint or nothing."""
    command = [sys.executable, "-m", "fusesoc.main", "--cores-root", str(root), "run"]
    command += ["--target", target, "--work-root", str(folder / "work"), f"maeslant:aes:{core}"]
    environment = {"PATH": toolchain.search_path(), "HOME": str(folder)}
    done = subprocess.run(
        [*command, *flags], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(
    ("core", "target"),
    [pytest.param(*t, marks=[pytest.mark.slow] * (t[0] in LARGE)) for t in TARGETS],
)
def test_lint(core: str, target: str, tmp_path: pathlib.Path) -> None:
    """Each FuseSoC core passes its lint target without a warning."""
    assert not lint(core, target, tmp_path, root=paths.RTL)


def test_lint_with_parameters(tmp_path: pathlib.Path) -> None:
    """FuseSoC's command line flags set module parameters, enums by their numbers."""
    flags = ("--Lanes", "2", "--Sbox", "2", "--MaxKeyLen", "0")
    assert not lint("gcm", "lint", tmp_path, *flags, root=paths.RTL)


def test_lint_notices_a_file_that_is_missing(tmp_path: pathlib.Path, generator) -> None:
    """The lint target of a core fails if the core's file list lacks a file."""
    core = next(core for core in generator.PRODUCTS if core.name == "cipher")
    entry = generator.document(core, generator.files(core))
    entry["filesets"]["rtl"]["files"].remove("cipher/key/mae_key_expand.sv")
    for folder in ("prim", "cipher"):
        (tmp_path / folder).symlink_to(paths.RTL / folder)
    for name in generator.WAIVERS:
        (tmp_path / name).symlink_to(paths.RTL / name)
    (tmp_path / "cipher.core").write_text("CAPI=2:\n" + yaml.safe_dump(entry))
    assert "mae_key_expand" in lint("cipher", "lint", tmp_path, root=tmp_path)


def test_cores_are_licensed_products(generator) -> None:
    """Each product's top module has a FuseSoC core with an SPDX licence."""
    for path in CORES:
        text = path.read_text()
        assert "SPDX-License-Identifier: Apache-2.0" in text
        assert yaml.safe_load(text)["license"] == "Apache-2.0"
    generator.check_products()
    known, generator.PRODUCTS = generator.PRODUCTS, generator.PRODUCTS[:1]
    try:
        with pytest.raises(MaeslantError, match="no FuseSoC core"):
            generator.check_products()
    finally:
        generator.PRODUCTS = known


def test_builds_say_what_they_are(monkeypatch, tmp_path: pathlib.Path) -> None:
    """Each named build has a kind; products, research and six recommendations exist."""
    kinds = [build["kind"] for build in configurations.load().values()]
    assert kinds == sorted(kinds) and len(configurations.recommended()) == 6
    file = tmp_path / "builds.yml"
    monkeypatch.setattr(configurations, "FILE", file)
    for text, problem in (
        ("{top: mae_x, summary: x}", "kind is none of"),
        ("{top: mae_x, summary: x, kind: research, recommended_for: y}", "only a product"),
    ):
        file.write_text(f"some: {text}\n")
        configurations._read.cache_clear()
        with pytest.raises(MaeslantError, match=problem):
            configurations.load()
    configurations._read.cache_clear()

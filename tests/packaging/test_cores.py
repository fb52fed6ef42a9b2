# SPDX-License-Identifier: Apache-2.0
"""Tests the FuseSoC cores: their lint targets pass, and each product has a core."""

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
LARGE = ("block_card", "maeslant", "protected_card", "stream_card")


@pytest.fixture(scope="module")
def generator() -> object:
    """Imports tools/gen_core.py as a module."""
    spec = importlib.util.spec_from_file_location("gen_core", paths.ROOT / "tools" / "gen_core.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gen_core"] = module
    spec.loader.exec_module(module)
    return module


def lint(
    core: str,
    target: str,
    folder: pathlib.Path,
    *flags: str,
    root: pathlib.Path,
    technology: str | None = None,
) -> str:
    """Runs a FuseSoC core's lint target; returns its output if it fails, else nothing."""
    command = [sys.executable, "-m", "fusesoc.main", "--cores-root", str(root), "run"]
    command += ["--flag", f"technology_{technology}"] if technology else []
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
    """The lint target of each FuseSoC core passes."""
    assert not lint(core, target, tmp_path, root=paths.RTL)


def test_lint_with_parameters(tmp_path: pathlib.Path) -> None:
    """FuseSoC sets the parameters of core gcm by command-line flags."""
    flags = ("--Lanes", "2", "--Sbox", "2", "--MaxKeyLen", "0")
    assert not lint("gcm", "lint", tmp_path, *flags, root=paths.RTL)


@pytest.mark.parametrize("technology", ["xc7", "gatemate"])
def test_lint_with_views(technology: str, tmp_path: pathlib.Path) -> None:
    """A technology's flag takes its views in the place of the generic ones."""
    assert not lint("gcm", "lint", tmp_path, root=paths.RTL, technology=technology)
    (listed,) = (tmp_path / "work").glob("*.vc")
    names = [line for line in listed.read_text().split() if line.endswith("mae_ram.sv")]
    (name,) = names
    assert ("technology/xc7" in name) == (technology == "xc7")


def test_lint_notices_a_file_that_is_missing(tmp_path: pathlib.Path, generator) -> None:
    """A FuseSoC core's lint target fails if its file list lacks a file."""
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
    """Each FuseSoC core states its license, and gen_core.py finds products without a core."""
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
    """Each build of configs/ has a legal kind; only products are recommended for a use."""
    kinds = [build["kind"] for build in configurations.load().values()]
    assert kinds == sorted(kinds) and len(configurations.recommended()) == 7
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

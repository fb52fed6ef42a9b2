# SPDX-License-Identifier: Apache-2.0
"""Tests install.py (`make install` and `uninstall`): files, libraries, man page."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from maeslant import __version__, paths
from maeslant.build import c_driver, simulator

TOOL = paths.ROOT / "tools" / "packaging" / "install.py"
MAJOR = __version__.split(".")[0]
HEADERS = {
    "maeslant": ("maeslant.h", "maeslant_pool.h", "maeslant_records.h"),
    "maeslant_protected": ("maeslant_protected.h",),
}


def install(destdir: pathlib.Path, *steps: str, **more: str) -> subprocess.CompletedProcess:
    """Runs install.py for prefix /usr below a staging folder."""
    environment = os.environ | {"PREFIX": "/usr", "LIBDIR": "", "DESTDIR": str(destdir)} | more
    return subprocess.run(
        [sys.executable, str(TOOL), *steps],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Installs libraries and documents below a staging folder; returns its usr folder."""
    destdir = tmp_path_factory.mktemp("dest")
    done = install(destdir, "library", "documents")
    assert done.returncode == 0, done.stderr
    return destdir / "usr"


def output(*command: object) -> str:
    """Runs a program, asserts success and returns its standard output."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def declared(name: str) -> set[str]:
    """Returns the functions that a library's public C headers declare."""
    text = "".join((c_driver.DRIVER / "include" / file).read_text() for file in HEADERS[name])
    return set(re.findall(r"^MAE_API(?:_VOID)? [^;]*?\b(mae_\w+)\(", text, re.MULTILINE))


@pytest.mark.parametrize("name", HEADERS)
def test_shared_library(installed: pathlib.Path, name: str) -> None:
    """An installed shared library has SONAME, links, hardening and exactly the public functions."""
    folder = installed / "lib"
    library = folder / f"lib{name}.so.{__version__}"
    if name == "maeslant_protected" and not library.exists():
        pytest.skip("no OpenSSL headers on this machine: sudo apt-get install libssl-dev")
    assert (folder / f"lib{name}.so").resolve() == library.resolve()
    dynamic = output("readelf", "-dW", library)
    assert f"[lib{name}.so.{MAJOR}]" in dynamic and "BIND_NOW" in dynamic
    segments = output("readelf", "-lW", library)
    assert "GNU_RELRO" in segments and re.search(r"GNU_STACK.* RW ", segments)
    node = {"maeslant": "MAESLANT", "maeslant_protected": "MAESLANT_PROTECTED"}[name]
    shown = output("nm", "-D", "--defined-only", library)
    assert set(re.findall(rf" T (\w+)@@{node}_\d+\.\d+$", shown, re.MULTILINE)) == declared(name)
    assert len(re.findall(r" [TDBRVW] ", shown)) == len(declared(name))


def test_static_library_and_pkg_config(installed: pathlib.Path) -> None:
    """libmaeslant.a has all public functions, and maeslant.pc gives the flags to link."""
    symbols = output("nm", "-g", "--defined-only", installed / "lib" / "libmaeslant.a")
    assert declared("maeslant") <= set(re.findall(r" T (\w+)", symbols))
    text = (installed / "lib" / "pkgconfig" / "maeslant.pc").read_text()
    assert f"Version: {__version__}" in text and "libdir=${prefix}/lib\n" in text
    assert "Libs.private: -ldl" in text and str(paths.ROOT) not in text
    for name in ("maeslant.h", "maeslant_pool.h", "maeslant_records.h", "maeslant_peripheral.h"):
        assert (installed / "include" / name).is_file()


def link_seal(prefix: pathlib.Path, program: pathlib.Path, *flags: str) -> None:
    """Links examples/c_program/seal_gcm.c with the installed libmaeslant.a."""
    source = paths.ROOT / "examples" / "c_program" / "seal_gcm.c"
    command = ["cc", "-I", prefix / "include", source, prefix / "lib" / "libmaeslant.a", *flags]
    output(*command, "-ldl", "-pthread", "-o", program)


def run_seal(program: pathlib.Path, uri: str, builds: pathlib.Path) -> subprocess.CompletedProcess:
    """Runs the linked seal_gcm program on a device; returns the finished process."""
    environment = os.environ | {"MAESLANT_SIM_PATH": str(builds)}
    return subprocess.run(
        [program, uri], env=environment, capture_output=True, text=True, check=False
    )


def test_static_library_in_a_program(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A program linked with libmaeslant.a runs on a simulated device."""
    simulator.build("peripheral")
    link_seal(installed, tmp_path / "seal")
    assert "libmaeslant" not in output("readelf", "-d", tmp_path / "seal")
    done = run_seal(tmp_path / "seal", "sim:peripheral", paths.BUILD / "sim")
    assert "changed: refused" in done.stdout, done.stderr


def test_static_program_is_told_that_it_cannot_simulate(
    installed: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """A program linked with -static reports that it cannot load a simulator."""
    link_seal(installed, tmp_path / "seal", "-static")
    folder = tmp_path / "some"
    folder.mkdir()
    output("cc", "-shared", "-x", "c", "/dev/null", "-o", folder / "libmae_sim_some.so")
    done = run_seal(tmp_path / "seal", "sim:some", tmp_path)
    assert "linked with -static" in done.stdout + done.stderr and done.returncode > 0


def test_openssl_provider(installed: pathlib.Path) -> None:
    """The OpenSSL provider is installed in the folder for such, and OpenSSL loads it."""
    folder = installed / "lib" / "ossl-modules"
    if not c_driver.has_openssl():
        pytest.skip("no OpenSSL headers on this machine: sudo apt-get install libssl-dev")
    symbols = output("nm", "-D", "--defined-only", folder / "maeslant.so")
    assert re.findall(r" [TDBRVW] (\w+)", symbols) == ["OSSL_provider_init"]
    command = ["openssl", "list", "-providers", "-provider-path", folder, "-provider", "maeslant"]
    shown = subprocess.run(
        [*map(str, command)],
        env=os.environ | {"MAESLANT_DEVICE": "null:"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Maeslant AES accelerator" in shown.stdout and __version__ in shown.stdout, shown.stderr


def test_man_page(installed: pathlib.Path) -> None:
    """The man page describes each command and option of `maeslant --help`."""
    import typer

    from maeslant.cli import app

    page = (installed / "share" / "man" / "man1" / "maeslant.1").read_text()
    plain = page.replace("\\-", "-")
    for name, command in typer.main.get_command(app).commands.items():
        if command.hidden or hasattr(command, "commands"):
            continue
        assert f"\n.SS {name}\n" in plain
        for option in (o for p in command.params for o in p.opts if o.startswith("--")):
            assert option in plain, (name, option)
    assert not re.search(r"(?m)^'", page)


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("bash-completion/completions/maeslant", "complete -o"),
        ("zsh/site-functions/_maeslant", "#compdef maeslant"),
        ("fish/vendor_completions.d/maeslant.fish", "complete --command maeslant"),
    ],
)
def test_completion(installed: pathlib.Path, file: str, part: str) -> None:
    """`make install` installs a completion script for each shell."""
    assert part in (installed / "share" / file).read_text()


@pytest.mark.full
def test_uninstall_takes_all_away_and_nothing_else(tmp_path: pathlib.Path) -> None:
    """`make uninstall` removes all installed files and no other file."""
    assert install(tmp_path, "library", "documents").returncode == 0
    other = tmp_path / "usr" / "lib" / "other.so"
    other.write_text("")
    assert install(tmp_path, "uninstall").returncode == 0
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == [other]


def test_wrong_use(tmp_path: pathlib.Path) -> None:
    """install.py reports wrong arguments and folders in one line and writes nothing."""
    assert "absolute" in install(tmp_path, "library", PREFIX="usr").stderr
    assert "usage" in install(tmp_path, "everything").stderr
    (tmp_path / "usr").write_text("a file where a folder should be")
    done = install(tmp_path, "library")
    assert done.returncode == 1 and "Traceback" not in done.stderr

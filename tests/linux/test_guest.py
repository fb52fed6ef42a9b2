# SPDX-License-Identifier: Apache-2.0
"""Runs Linux guests with a simulated card as their PCI function: the driver, the block card.

Skipped where the guest's Debian packages are not in the cache: `maeslant linux` downloads them.
"""

import gzip
import lzma
import pathlib
import platform
import subprocess

import pytest
from typer.testing import CliRunner

from maeslant.cli import app
from maeslant.errors import MaeslantError
from maeslant.guest import checks, image, machine, packages
from maeslant.guest.card import checks as card_checks


def _names(device: str) -> list:
    """Lists the checks of a card: the first is the short form."""
    first, *others = (case.name for case in checks.every(device, 1000, pathlib.Path()))
    # A removed card keeps the guest's kernel waiting for a minute, a silent one the driver.
    marks = {"removed": pytest.mark.slow, "silent": pytest.mark.slow}
    return [first, *(pytest.param(n, marks=marks.get(n, pytest.mark.full)) for n in others)]


def _why_not(*purposes: str) -> str:
    """Returns why no guest can run here, "" if one can; ``purposes``: of more packages."""
    if platform.machine() != "x86_64":
        return "the guest needs an x86-64 machine"
    for purpose in ("guest", "qemu", *purposes):
        if not packages.folder(purpose).is_dir() and not (purpose == "qemu" and machine.own_qemu()):
            return (
                f"the packages for {purpose} are not in the cache; `maeslant linux` downloads them"
            )
    return ""


def _passes(device: str, name: str) -> None:
    lines: list[str] = []
    (outcome,) = checks.run(device, 1000003, lines.append, [name])
    assert not outcome.problem, "\n".join(lines)
    assert lines[0].startswith(f"passed  {name}")


@pytest.mark.skipif(bool(_why_not()), reason=_why_not())
@pytest.mark.parametrize("name", _names("stream4"))
def test_check(name: str) -> None:
    """A check of `maeslant linux --check` passes, with 1 MB a mode."""
    _passes("stream4", name)


@pytest.mark.skipif(bool(_why_not()), reason=_why_not())
@pytest.mark.parametrize("name", _names("block_small"))
def test_block(name: str) -> None:
    """A check of `maeslant linux --device block --check` passes, on the small card."""
    if name.startswith("kernel") and (reason := _why_not("module", "storage")):
        pytest.skip(reason)
    _passes("block_small", name)


@pytest.mark.skipif(bool(_why_not()), reason=_why_not())
@pytest.mark.parametrize("name", _names("protected_small"))
def test_protected(name: str) -> None:
    """A check of `maeslant linux --device protected --check` passes, on the small card."""
    _passes("protected_small", name)


@pytest.mark.skipif(bool(_why_not()), reason=_why_not())
def test_command() -> None:
    """A command's output and exit status come back, and files are put into the guest."""
    command = "cat note; uname -s; printf 'no end of line'; exit 3"
    result = machine.run(command, machine.Options(), files={"note": b"a note\n"}, seconds=300)
    assert (result.code, result.output) == (3, "a note\nLinux\nno end of line\n")


def test_arguments() -> None:
    """A guest has an IOMMU, huge pages for uio_pci_generic, and a second start only if asked."""

    def words(**given: object) -> list[str]:
        paths = (pathlib.Path("kernel"), pathlib.Path("initrd"), "socket")
        return machine.arguments(machine.Options(**given), *paths)

    plain, uio = words(), words(iommu=False, uio=True)
    assert "-no-reboot" in plain and "-no-reboot" not in words(reboots=True)
    assert any("intel-iommu" in word for word in plain)
    assert not any("intel-iommu" in word for word in uio)
    kernel = uio[uio.index("-append") + 1]
    assert image.UIO in kernel and "hugepages=" in kernel
    assert image.UIO not in plain[plain.index("-append") + 1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--only", "data", "true"], "belong to --check"),
        (["--fio-seconds", "5", "true"], "belong to --check"),
        (["--json", "true"], "belong to --check"),
        (["--check", "--kernel", "k"], "--check takes"),
        (["--check", "true"], "--check takes"),
        (["--modules", "m", "true"], "give both"),
        (["--check", "--only", "datas"], "no check datas; the card has: data, "),
        (["--check", "--fio-seconds", "5"], "stream4 is no block card"),
        (
            ["--check", "--device", "block", "--only", "kernel", "--fio-seconds", "5"],
            "choose it, too",
        ),
    ],
)
def test_options_that_do_not_go_together(words: list[str], why: str) -> None:
    """Options of a guest that contradict each other, and unknown checks, are errors that say so."""
    result = CliRunner().invoke(app, ["linux", *words])
    assert isinstance(result.exception, MaeslantError) and why in str(result.exception)


def test_options_of_checks() -> None:
    """Some checks can be chosen, and fio's writes last as long as asked."""
    folder = pathlib.Path()
    found = checks.every("block_small", 1000, folder)
    chosen = checks.choose(found, ["kernel-resets", "data"])
    assert [case.name for case in chosen] == ["data", "kernel-resets"]
    assert checks.choose(found, []) == found
    assert "--loops=8" in chosen[1].command and "do $1; done" in chosen[1].command
    (longer,) = checks.choose(checks.every("block_small", 1000, folder, 600), ["kernel-resets"])
    assert "--time_based --runtime=600" in longer.command
    assert longer.seconds == chosen[1].seconds + 600


def test_kernel_of_ones_own(tmp_path: pathlib.Path) -> None:
    """A kernel is known by its signature; modules are unpacked, and others are not needed."""
    kernel, folder = tmp_path / "vmlinuz", tmp_path / "modules" / "drivers"
    kernel.write_bytes(bytes(0x202) + b"HdrS")
    image.require_kernel(kernel)
    kernel.write_bytes(bytes(0x202) + b"ELF!")
    with pytest.raises(MaeslantError, match="is no Linux kernel"):
        image.require_kernel(kernel)
    assert image.read_modules(None) == {}
    with pytest.raises(MaeslantError, match="no folder"):
        image.read_modules(folder)
    folder.mkdir(parents=True)
    with pytest.raises(MaeslantError, match="none of the modules"):
        image.read_modules(tmp_path)
    (folder / "vfio.ko.xz").write_bytes(lzma.compress(b"one"))
    (folder / "vfio-pci.ko.gz").write_bytes(gzip.compress(b"two"))
    (folder / "uio.ko").write_bytes(b"three")
    (folder / "ext4.ko.zst").write_bytes(b"of no interest")
    found = {"vfio": b"one", "vfio-pci": b"two", "uio": b"three"}
    assert image.read_modules(tmp_path) == found
    (folder / "irqbypass.ko.zst").write_bytes(b"")
    with pytest.raises(MaeslantError, match="irqbypass.ko.zst: modules are read as"):
        image.read_modules(tmp_path)


def test_archive() -> None:
    """An archive holds each folder once, before its files, in the format newc."""
    archive = image.Archive()
    archive.file("a/b/c", b"12345")
    archive.file("a/b/d", b"")
    data = archive.bytes()
    names, at = [], 0
    while at < len(data):
        assert data[at : at + 6] == b"070701"
        size, length = (int(data[at + i : at + i + 8], 16) for i in (54, 94))
        names.append(data[at + 110 : at + 109 + length].decode())
        at += (110 + length + 3) // 4 * 4
        if names[-1] == "a/b/c":
            assert data[at : at + size] == b"12345"
        at += (size + 3) // 4 * 4
    assert names == ["a", "a/b", "a/b/c", "a/b/d", "TRAILER!!!"]


def test_vectors_without_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Says how to install the published vectors where they are missing."""
    missing = "ModuleNotFoundError: No module named 'cryptography_vectors'"
    failed = subprocess.CompletedProcess([], 1, "", missing)
    monkeypatch.setattr(subprocess, "run", lambda *_words, **_options: failed)
    card_checks.vectors.cache_clear()
    with pytest.raises(MaeslantError, match="make setup-test"):
        card_checks.vectors(37)

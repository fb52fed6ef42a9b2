# SPDX-License-Identifier: Apache-2.0
"""Tests the hardening of the driver's shared libraries, and the enclave's interface to the OS."""

import pathlib
import re
import subprocess

import pytest

from maeslant.build import c_driver

HERE = pathlib.Path(__file__).resolve().parent


def readelf(path, *options: str) -> str:
    """Runs readelf on a shared library; returns its output."""
    command = ["readelf", "--wide", *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["library", "protected", "os", "provider"])
def test_hardened(name: str) -> None:
    """The driver's libraries have stack protector, immediate binding, RELRO and no exec stack."""
    path = {
        "library": c_driver.build,
        "protected": c_driver.build_protected,
        "os": lambda: c_driver.build_os()[1],
        "provider": c_driver.build_provider,
    }[name]()
    headers = readelf(path, "--program-headers")
    assert "GNU_RELRO" in headers
    assert re.search(r"GNU_STACK .* RW ", headers), "the stack can be executed"
    assert re.search(r"\(FLAGS(_1)?\).*(BIND_)?NOW", readelf(path, "--dynamic"))
    assert "__stack_chk_fail" in readelf(path, "--dyn-syms")


# The functions that access memory outside the enclave, where the compiler may put them: `*_load`,
# `*_read` and their kin, or the copies that these call.
ACCESS = ("outside_load", "outside_store", "gate_read", "gate_write")
COPIES = ("copy_in", "copy_unit_in", "copy_out", "store_byte", "put", "get")


def test_copies_of_the_enclave() -> None:
    """The enclave's copies to and from outside memory use no string or vector instructions."""
    path = c_driver.build_protected()
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # A part of a function that the compiler splits off has a suffix, as in copy_in.part.0.
    name = rf"({'|'.join((*ACCESS, *COPIES))})(?:\.[\w.]+)?"
    found = re.findall(rf"(?ms)^[0-9a-f]+ <{name}>:\n(.*?)(?:\n\n|\Z)", text)
    assert {name for name, _ in found} >= set(ACCESS)
    for name, code in found:
        assert not re.search(r"\brep|\bmovs[bwlq]\b|\bmov[au]ps|xmm|ymm|zmm", code), name
    # The store of a byte stands between VERW and the two fences, with nothing else there; that no
    # other store of a byte goes outside is test_each_access_of_the_copies.
    out = "".join(code for name, code in found if name in ("outside_store", *COPIES))
    guarded = re.findall(r"\bverw .*\n.*\bmovb? .*,.*\(.*\n.*\bmfence *\n.*\blfence\b", out)
    assert len(guarded) == out.count("verw") == len(re.findall(r"\bmfence\b", out)) > 0


def test_each_access_of_the_copies(tmp_path) -> None:
    """The enclave's copies access outside memory by aligned 8 bytes, or single bytes after VERW.

    The compiler calls the program's functions before each access to memory.
    """
    program = tmp_path / "outside_accesses"
    source = HERE / "programs" / "watched" / "outside_accesses.c"
    wire = c_driver.DRIVER / "enclave" / "wire.c"
    flags = [*c_driver.FLAGS, "-O2", "-g", *c_driver.INCLUDES]
    watched = program.with_suffix(".o")
    for command in (
        [*flags, "-fsanitize=thread", "-c", str(source), "-o", str(watched)],
        [*flags, str(watched), str(wire), "-o", str(program)],
    ):
        c_driver.run([c_driver.compiler(), *command], "compiling outside_accesses.c")
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_call_out_of_the_enclave_clears_the_direction_flag() -> None:
    """The functions of the outside are called by CALL_OUT and ASK_OUT only, which use CLD."""
    call = r"(\w+\()?(?:session->)?outside(?:\.|->)\w+\("
    found = [
        (path.name, wrapper)
        for path in (c_driver.DRIVER / "enclave").glob("**/*.c")
        for wrapper in re.findall(call, path.read_text())
    ]
    assert len(found) >= 11 and {wrapper for _, wrapper in found} == {"CALL_OUT(", "ASK_OUT("}


def test_page_of_the_gate() -> None:
    """All fields of the page shared by enclave and operating system have 8 bytes."""
    text = (c_driver.DRIVER / "enclave" / "gate.h").read_text()
    fields = re.search(r"struct gate_page \{(.*?)\n\};", text, re.DOTALL)[1]
    kinds = re.findall(r"^    (.*?) ?\w+(?:\[[^;]*\])?;", fields, re.MULTILINE)
    assert len(kinds) > 8 and set(kinds) <= {"uint64_t", "int64_t", "_Atomic uint64_t"}
    copies = re.findall(
        r"^static void (put|get)\((.*)\)",
        (c_driver.DRIVER / "enclave" / "gate.c").read_text(),
        re.MULTILINE,
    )
    assert len(copies) == 2 and all("volatile uint64_t *" in arguments for _, arguments in copies)


def test_no_stand_in_for_provisioning_is_trusted() -> None:
    """The enclave library exports no function that installs the card's root secret."""
    path = c_driver.build_protected()
    exported = re.findall(r"\bGLOBAL\s+DEFAULT\s+\d+ (mae_\w+)", readelf(path, "--dyn-syms"))
    assert "mae_gate_open" in exported
    assert [name for name in exported if "install" in name or "provision" in name] == []
    assert "INSTALL" not in (c_driver.DRIVER / "enclave" / "gate.h").read_text()

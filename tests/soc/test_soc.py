# SPDX-License-Identifier: Apache-2.0
"""Tests mae_soc in its C++ harness: small programs end, trap, sleep and are interrupted."""

import pathlib

import pytest

from maeslant.bench.soc import jobs
from maeslant.bench.soc.jobs import Job, Runner
from maeslant.bench.soc.system import SocError, System
from maeslant.build import firmware


def words(*codes: int) -> bytes:
    """Packs RISC-V instructions into the bytes of a program."""
    return b"".join(code.to_bytes(4, "little") for code in codes)


@pytest.fixture(scope="module")
def system() -> System:
    """Builds the simulated PicoRV32 system for this file's programs."""
    return System()


def start(system: System, program: bytes) -> None:
    """Writes a program to address 0 and resets the SoC."""
    system.console = ""
    system.write(0, program)
    system.reset()


def test_finish(system: System) -> None:
    """A program writes "m" to the SoC's console and ends the run with status 9."""
    start(system, words(0x200000B7, 0x06D00113, 0x0020A023, 0x00900113, 0x0020A823))
    assert system.run(1000) == 9
    assert system.console == "m"


@pytest.mark.parametrize(
    "program",
    (
        words(0),  # no instruction
        words(0x00100073),  # ebreak
        words(0x00102083),  # lw x1, 1(x0): not aligned
        words(0x02000033),  # mul: this CPU has none
    ),
    ids=("illegal", "ebreak", "misaligned", "mul"),
)
def test_trap(system: System, program: bytes) -> None:
    """An illegal RISC-V instruction or access ends the run with an error that says so."""
    start(system, program)
    with pytest.raises(SocError, match="illegal instruction or access"):
        system.run(1000)


def test_limit(system: System) -> None:
    """A program that never ends is stopped at the clock limit with an error."""
    start(system, words(0x0000006F))
    with pytest.raises(SocError, match="does not end"):
        system.run(5000)


def test_memory_bounds(system: System) -> None:
    """soc.System refuses to read or write beyond the simulated SoC's memory."""
    assert system.memory_bytes == 256 * 1024
    system.write(system.memory_bytes - 3, b"end")
    assert system.read(system.memory_bytes - 3, 3) == b"end"
    for address, count in ((system.memory_bytes - 2, 3), (1 << 31, 1), (0xFFFFFFFF, 2)):
        with pytest.raises(SocError, match="not inside the memory"):
            system.read(address, count)
        with pytest.raises(SocError, match="not inside the memory"):
            system.write(address, bytes(count))


def test_no_program(system: System, tmp_path: pathlib.Path) -> None:
    """soc.System refuses to load a program file that is not an ELF file."""
    path = tmp_path / "program"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(SocError, match="no program"):
        system.load(path)


def test_speed_of_the_cpu(system: System) -> None:
    """PicoRV32 takes 3 clocks for an addition and 5 for a load from the SoC's memory."""
    code = [0x200000B7]  # lui x1, 0x20000
    code += [0xC0002173]  # rdcycle x2
    code += [0x00118193] * 16  # addi x3, x3, 1
    code += [0xC0002273]  # rdcycle x4
    code += [0x00002183] * 16  # lw x3, 0(x0)
    code += [0xC00022F3]  # rdcycle x5
    code += [0x40220133, 0x404282B3]  # sub x2, x4, x2; sub x5, x5, x4
    code += [0x40202023, 0x40502223, 0x0000A823]  # sw x2, 0x400(x0); sw x5, 0x404(x0); finish
    start(system, words(*code))
    assert system.run(5000) == 0
    took = [int.from_bytes(system.read(0x400 + 4 * i, 4), "little") for i in range(2)]
    assert took[0] // 16 == 3
    assert took[1] // 16 == 5


def test_interrupt_and_sleep() -> None:
    """The SoC's memory job gives equal results while its program sleeps, works or polls."""
    runner = Runner()
    data, key = bytes(range(256)), bytes(range(16))
    asleep = Job(jobs.INTERRUPT, "ecb", data=data, keys=[key])
    working = Job(jobs.INTERRUPT, "ecb", data=data, keys=[key], work=(0, 4096))
    polled = Job(jobs.POLLED, "ecb", data=data, keys=[key])
    runner.run([asleep, working, polled])
    assert asleep.text == working.text == polled.text != data
    assert asleep.error == working.error == 0
    assert asleep.summed == 0 < working.summed
    assert asleep.instructions < working.instructions


def test_program_is_built_once() -> None:
    """firmware.build does not compile an unchanged program again."""
    path = firmware.build(jobs.PROGRAM)
    made = path.stat().st_mtime_ns
    assert firmware.build(jobs.PROGRAM).stat().st_mtime_ns == made

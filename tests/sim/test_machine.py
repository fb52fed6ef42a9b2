# SPDX-License-Identifier: Apache-2.0
"""Tests the simulator's machine: registers, clocks, options, waveforms and builds."""

import errno
import fractions
import multiprocessing
import pathlib
import subprocess
import sys
import time

import pytest

from maeslant import paths
from maeslant.build import simulator
from maeslant.errors import MaeslantError
from tests.sim.machine import Machine, Probe, SimError, build_probe

HERE = pathlib.Path(__file__).parent


def build_clocks() -> pathlib.Path:
    """Builds the simulator of sim_clocks, a device with two clocks; returns its path."""
    return simulator.build_top("clocks", "sim_clocks", {}, sources=[HERE / "sim_clocks.sv"])


@pytest.mark.parametrize("options", ["", "stall=70&seed=5"])
def test_registers(options: str) -> None:
    """Registers of a simulated device keep values; an unknown address gives EIO."""
    with Probe(options) as machine:
        for value in (0, 0xFFFFFFFF, 0x12345678):
            machine.write(4, value)
            assert machine.read(4) == value
        for access in (lambda: machine.read(0xFFC), lambda: machine.write(0xFFC, 1)):
            with pytest.raises(SimError) as error:
                access()
            assert error.value.errno == errno.EIO
        assert machine.read(0) == 0x50524F42
        with pytest.raises(SimError) as error:
            machine.read(2)
        assert error.value.errno == errno.EINVAL
        assert (machine.stats().register_reads, machine.stats().register_writes) == (5, 4)


def test_registers_time_out() -> None:
    """A register access to a device that does not answer ends with ETIMEDOUT."""
    with Probe("timeout=200") as machine:
        machine.write(0x2C, 6)
        for _ in range(3):
            before = machine.stats().bus_clocks
            with pytest.raises(SimError) as error:
                machine.read(0)
            assert error.value.errno == errno.ETIMEDOUT
            assert machine.stats().bus_clocks - before == 200


@pytest.mark.parametrize("mutation, says", [(4, "told to fail"), (5, "ended the simulation")])
def test_device_stops(mutation: int, says: str, capfd) -> None:
    """A failed assertion or $finish in the simulated device becomes an error of the call."""
    with Probe() as machine:
        with pytest.raises(SimError) as error:
            machine.write(0x2C, mutation)
        assert error.value.errno == errno.EPROTO and says in str(error.value)
    assert capfd.readouterr().out == ""


def test_wait_and_run() -> None:
    """mae_sim_wait ends at the interrupt or its limit; mae_sim_run takes exact clocks."""
    with Probe() as machine:
        machine.map_buffers()
        machine.run(123)
        assert machine.stats().bus_clocks == machine.stats().core_clocks == 123
        assert not machine.wait(50)
        assert machine.stats().bus_clocks == 173
        machine.set_up(bursts=2)
        assert machine.wait(1000)
        now = machine.stats().bus_clocks
        assert machine.wait(1000) and machine.stats().bus_clocks == now, "already high"
        machine.reset_stats()
        assert machine.stats().bus_clocks == 0


@pytest.mark.parametrize("ratio", ["1:1", "3:1", "1:3", "7:5", "100:99"])
def test_two_clocks(ratio: str) -> None:
    """With ratio=C:B core and bus clock run at that ratio, with random phases."""
    core, bus = map(int, ratio.split(":"))
    counts = set()
    for seed in range(6):
        with Machine(build_clocks(), f"ratio={ratio}&seed={seed}") as machine:
            first = machine.read(0)
            machine.reset_stats()
            assert machine.wait(10_000)
            stats = machine.stats()
            wanted = fractions.Fraction(stats.bus_clocks * core, bus)
            assert abs(stats.core_clocks - wanted) <= 1
            last = machine.read(0)
            assert abs(machine.stats().core_clocks - (last - first)) <= 2 * core / bus + 2
            counts.add((first, stats.bus_clocks))
    assert len(counts) > 1 or core < bus, "the phase never changed anything"


def test_without_dma() -> None:
    """A simulated device without a memory port refuses mappings and host copies."""
    with Machine(build_clocks()) as machine:
        for call in (
            lambda: machine.map(0, bytearray(16)),
            lambda: machine.unmap(0, 16),
            lambda: machine.host_copy(0, 0, 16),
        ):
            with pytest.raises(SimError) as error:
                call()
            assert error.value.errno == errno.ENOSYS
        with pytest.raises(SimError) as error:
            machine.write(0, 1)
        assert error.value.errno == errno.EIO
        assert machine.stats().data_width_bits == 0


@pytest.mark.parametrize(
    "options",
    [
        "latency=0",
        "latency=9-3",
        "latency=",
        "latency=1-2-3",
        "order=random",
        "bus=three-way",
        "bandwidth=0",
        "copy=0",
        "bandwidth=101",
        "stall=96",
        "stall=-1",
        "outstanding=0",
        "ratio=3",
        "ratio=3:2",
        "error_at=9-8",
        "error_read=1000001",
        "seed=x",
        "seed=99999999999999999999999",
        "wave=",
        "speed=9",
        "latency",
    ],
)
def test_bad_options(options: str) -> None:
    """The simulator refuses a wrong option and names it."""
    with pytest.raises(ValueError, match=options.split("=")[0]):
        Probe(options)


def test_side_by_side() -> None:
    """Several simulated machines in one process do not affect each other."""
    with Probe("seed=1") as one, Probe("seed=2") as two, Probe("", width=1024) as wide:
        for machine in (one, two, wide):
            machine.map_buffers()
            machine.set_up(bursts=8, beats=4)
        with pytest.raises(SimError):
            one.write(0x2C, 5)
        for machine in (two, wide):
            assert machine.wait(1000)
            size = 32 * machine.beat
            assert machine.dst[:size] == machine.src[:size]


@pytest.mark.full
def test_waveform(tmp_path: pathlib.Path) -> None:
    """A trace build of the simulator writes an FST waveform; other builds refuse wave=."""
    file = tmp_path / "run.fst"
    with pytest.raises(ValueError, match="wave"):
        Probe(f"wave={file}")
    with pytest.raises(ValueError, match="cannot write"):
        Probe(f"wave={tmp_path}/none/run.fst", trace=True)
    with Probe(f"wave={file}", trace=True) as machine:
        machine.map_buffers()
        machine.go(bursts=4)
    data = file.read_bytes()
    # FST: a header block of type 0 and length 329.
    assert data[0] == 0 and int.from_bytes(data[1:9], "big") == 329 and len(data) > 4000
    with Probe(trace=True) as machine:
        machine.map_buffers()
        machine.go(bursts=4)


def test_nothing_is_built_when_nothing_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """simulator.build_top starts no compiler if the library is current."""
    path = build_probe()
    made = path.stat().st_mtime_ns
    monkeypatch.setattr(subprocess, "run", lambda command, **_: pytest.fail(f"ran {command}"))
    assert build_probe() == path
    assert path.stat().st_mtime_ns == made


def test_build_failure(tmp_path: pathlib.Path) -> None:
    """A compile error in a simulator build is reported with the path of the log."""
    source = tmp_path / "sim_broken.sv"
    source.write_text("module sim_broken (input logic clk_i); assign a = missing; endmodule\n")
    with pytest.raises(MaeslantError, match=r"(?s)missing.*build\.log"):
        simulator.build_top("broken", "sim_broken", {}, sources=[source])


def make_parity(source: str) -> str:
    """Builds a simulator in a process of its own; returns the library's path."""
    return str(simulator.build_top("parity", "sim_clocks", {}, sources=[pathlib.Path(source)]))


def test_build_by_two_at_once(tmp_path: pathlib.Path) -> None:
    """Two processes that build the same simulator at once compile it only once."""
    source = tmp_path / "sim_clocks.sv"
    source.write_text((HERE / "sim_clocks.sv").read_text() + f"// {time.time_ns()}\n")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first, second = pool.map(make_parity, [str(source)] * 2)
    assert first == second
    with Machine(pathlib.Path(first)) as machine:
        assert machine.read(0) > 0
    log = (pathlib.Path(first).parent / "build.log").read_text()
    assert log.count("-shared") == 1


def test_command_line() -> None:
    """`python -m maeslant.build.simulator` with an unknown name fails without a traceback."""
    command = [sys.executable, "-m", "maeslant.build.simulator", "no_such_build"]
    result = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "no_such_build" in result.stderr
    assert "Traceback" not in result.stderr

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_sim_set_bus, by which the simulator's caller answers the device's bus accesses."""

import ctypes
import errno

import pytest

from tests.sim.machine import Probe, SimError

READ = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.POINTER(ctypes.c_char)
)
WRITE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_char), ctypes.c_uint32
)


class Played(Probe):
    """Opens a simulated sim_probe whose memory accesses the test answers by callbacks."""

    def __init__(self, options: str = "", width: int = 512) -> None:
        super().__init__(options, width=width)
        self.events: list[tuple[str, int, int]] = []
        self.depth = 0
        self.calls = READ(self._read), WRITE(self._write)
        self._check(self.lib.mae_sim_set_bus(self.sim, *self.calls, None))

    def _read(self, user, address, size, data):
        self.depth += 1
        assert self.depth == 1, "a callback inside another"
        self.events.append(("read", address, size))
        given = self.give(address, size)
        if isinstance(given, bytes):
            ctypes.memmove(data, given, len(given))
            given = len(given)
        self.depth -= 1
        return given

    def _write(self, user, address, data, size):
        self.events.append(("write", address, size))
        at = address - self.DST
        self.dst[at : at + size] = data[:size]
        return self.refuse(address)

    def give(self, address: int, size: int):
        """Returns the data that the test's callback gives for a read."""
        return bytes(self.src[address - self.SRC :][:size])

    def refuse(self, address: int) -> int:
        """Returns 0, so that the test's callback accepts a write."""
        return 0


@pytest.mark.parametrize("options", ["", "latency=3-90&order=shuffled&stall=30&seed=4"])
@pytest.mark.parametrize("width", [512, 128])
def test_copies(options: str, width: int) -> None:
    """Each burst of sim_probe reaches the test's callbacks once and in order."""
    with Played(options, width) as machine:
        inner = machine.give

        def give(address, size):
            assert machine.read(0) == 0x50524F42  # time passes inside
            return inner(address, size)

        machine.give = give
        machine.go(bursts=12, beats=4, ids=0)
        size = 48 * machine.beat
        assert machine.dst[:size] == machine.src[:size]
        reads = [event for event in machine.events if event[0] == "read"]
        burst = 4 * machine.beat
        assert reads == [("read", machine.SRC + i * burst, burst) for i in range(12)]
        writes = sorted(event for event in machine.events if event[0] == "write")
        assert writes == [("write", machine.DST + i * burst, burst) for i in range(12)]
        assert not machine.errors()


def test_errors() -> None:
    """A callback that refuses a read or returns too few bytes causes an SLVERR response."""
    with Played() as machine:
        machine.give = lambda address, size: -1
        machine.go(bursts=1, beats=2, mode=machine.READ)
        assert machine.errors() == {"read slverr"}
        machine.give = lambda address, size: bytes(size - 1)
        machine.go(bursts=1, beats=2, mode=machine.READ)
        assert machine.errors() == {"read slverr"}
        machine.give = lambda address, size: bytes(size)
        machine.go(bursts=1, beats=2, mode=machine.READ)
        assert not machine.errors()
        machine.refuse = lambda address: 1
        machine.go(bursts=1, beats=2, mode=machine.WRITE)
        assert machine.errors() == {"write slverr"}


def test_bytes_more_or_less_are_beats_more_or_less(capfd) -> None:
    """A callback that returns too many or too few beats violates AXI, which is detected."""
    for beats in (0, 1, 3, 4, 5, 7):
        with Played() as machine:
            machine.give = lambda address, size, beats=beats: bytes(64 * beats)
            machine.set_up(bursts=1, beats=4, mode=machine.READ)
            if beats == 4:
                machine.run(200)
            else:
                with pytest.raises(SimError, match="a_last"):
                    machine.run(200)
            assert machine.stats().read_beats == max(1, min(beats, 4))
    capfd.readouterr()


def test_mapped_memory_again() -> None:
    """Without callbacks the mapped buffers answer the bus accesses again."""
    with Played() as machine:
        machine._check(machine.lib.mae_sim_set_bus(machine.sim, None, None, None))
        machine.map_buffers()
        machine.go(bursts=2)
        assert not machine.events and machine.dst[:64] == machine.src[:64]
        with pytest.raises(SimError) as error:
            machine._check(machine.lib.mae_sim_set_bus(machine.sim, machine.calls[0], None, None))
        assert error.value.errno == errno.EINVAL


def test_no_provisioning_port() -> None:
    """Provisioning calls fail with ENOSYS on a simulated device without provisioning port."""
    with Probe() as machine:
        for call in (
            lambda: machine.lib.mae_sim_install(machine.sim, bytes(32), bytes(16), 1),
            lambda: machine.lib.mae_sim_set_nonces(machine.sim, None, None),
        ):
            with pytest.raises(SimError) as error:
                machine._check(call())
            assert error.value.errno == errno.ENOSYS

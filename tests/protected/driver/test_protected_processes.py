# SPDX-License-Identifier: Apache-2.0
"""Tests the C driver's enclave process together with the operating system's process (driver/os)."""

import functools
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

from maeslant import paths
from maeslant.build import c_driver
from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import RESET, RESET_WORD, STATE, State
from maeslant.protected.model.host import PoisonedError
from maeslant.protected.model.workload import Record, expected, first, octets, second
from maeslant.protected.session import Gate, Host, library
from tests.protected.driver.over_a_gate import SECRETS, session

ENCLAVE = paths.ROOT / "driver" / "enclave"
GOLDEN = [sys.executable, "-m", "maeslant.protected.host_process", "{socket}", "{wire}"]


@pytest.fixture
def gate():
    """Starts the operating system's process, which serves the card model to the enclave."""
    with Gate(GOLDEN) as made:
        yield made


def test_a_refused_hello_leaves_no_file_open():
    """mae_gate_open closes all received file descriptors if the HELLO message is wrong."""
    ffi, lib = library()
    before = sorted(os.listdir("/proc/self/fd"))
    version = int(re.search(r"GATE_VERSION = (\d+)", (ENCLAVE / "gate.h").read_text())[1])
    good = struct.pack("<IIQ", version, 0, 4096)
    bad = [good[:4], struct.pack("<IIQ", version + 1, 0, 4096)]
    bad += [struct.pack("<IIQ", version, 0, window) for window in (0, (1 << 40) + 4096)]
    cases = [(hello, 2, False) for hello in bad]
    cases += [(good, count, count == 2) for count in (0, 1, 2, 3, 8)]
    for hello, count, accepted in cases:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            files = [os.memfd_create("given") for _ in range(count)]
            socket.send_fds(theirs, [hello], files)
            for file in files:
                os.close(file)
            handle = ffi.new("mae_gate_t **")
            assert (lib.mae_gate_open(ours.fileno(), handle) == lib.MAE_OK) == accepted
            assert (handle[0] != ffi.NULL) == accepted
            lib.mae_gate_close(handle[0])
        assert sorted(os.listdir("/proc/self/fd")) == before, f"{len(hello)} bytes, {count} files"


def test_a_forked_child_has_no_session(gate):
    """A forked child cannot use its parent's protected session; the parent continues (H2)."""
    host = Host(gate, *SECRETS, timeout=100_000)
    assert gate.install(*SECRETS)
    host.wait(host.open())
    data = octets("before", 4096)
    host.wait(host.h2d(1, 0, data))
    pending, asked = host.d2h(2, 0, len(data)), gate.commands
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (
            lambda: host.h2d(1, 0, b"other"),
            lambda: host.batch(0, [wire.write(card.CONTROL, 1)]),
            lambda: host.close(),
            lambda: host.wait(pending),
        ):
            try:
                call()
            except PoisonedError:
                refused += 1
        host.free()
        os._exit(refused if gate.commands == asked else 100)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    assert host.wait(pending) == data
    host.wait(host.h2d(1, 0, octets("after", 4096)))
    host.wait(host.close())
    host.free()


def test_register_values_stay_in_the_enclave(gate):
    """The C driver copies register values to no shared memory (H10)."""
    host = Host(gate, *SECRETS, timeout=100_000)
    assert gate.install(*SECRETS)
    host.wait(host.open())
    job = host.batch(0, [wire.read(card.SCRATCH, 8)])
    host.wait(job)
    base, size = gate.window
    for at in (base, base + size - 8):
        values = host.ffi.cast("uint64_t *", at)
        assert host.lib.mae_task_values(job.handle, values, 1) == host.lib.MAE_E_ARGUMENT
    values = host.ffi.new("uint64_t *")
    assert host.lib.mae_task_values(job.handle, host.ffi.NULL, 1) == host.lib.MAE_E_ARGUMENT
    assert host.lib.mae_task_values(job.handle, values, 1) == host.lib.MAE_OK
    host.wait(host.close())
    host.free()


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("eager", [False, True])
def test_the_workload_over_two_processes(gate, big, eager):
    """The workload in two processes gives the model's results; the card's memory ends zeroed."""
    record = session(gate, functools.partial(first, big=big), send_while_sealing=eager)
    assert record.results == expected(big).results
    for _name, data in session(gate, second).results:
        assert not any(data)


def test_the_card_is_provisioned_once(gate):
    """The card accepts a root secret once, and again after a reset by the OS (H14)."""
    assert gate.install(*SECRETS) and not gate.install(*SECRETS)
    assert gate.read(STATE, 4)[0] == State.KEYED
    gate.write(RESET, RESET_WORD.to_bytes(4, "little"))
    assert gate.read(STATE, 4)[0] == State.IDLE
    assert gate.install(*SECRETS)


def test_buffers_are_used_again(gate):
    """The C driver reuses shared buffers: 300 transfers each way need at most 12 commands each."""

    def application(host: Host, record: Record) -> None:
        host.wait(host.open())
        data = octets("again", 1 << 14)
        for _ in range(300):  # 4.7 MiB each way through 4 MiB of shared memory
            host.wait(host.h2d(1, 0, data))
            assert host.wait(host.d2h(2, 0, len(data))) == data

    before = gate.commands
    session(gate, application)
    assert gate.commands - before < 600 * 12


def test_a_wrong_secret_poisons(gate):
    """If driver and card have different root secrets, OPEN fails and the session ends."""
    host = Host(gate, *SECRETS, timeout=10_000)
    assert gate.install(octets("another", 32), SECRETS[1])
    with pytest.raises(PoisonedError, match="timeout: OPEN.*TAG at queue 0"):
        host.wait(host.open())


@pytest.mark.parametrize("kill", [False, True])
def test_the_other_process_can_only_end_the_session(gate, kill):
    """If the operating system's process stops or is killed, the driver's requests only time out."""
    host = Host(gate, *SECRETS, timeout=10_000)
    assert gate.install(*SECRETS)
    host.wait(host.open())
    job = host.batch(0, [wire.wait_runs(1), wire.read(card.STATUS)])
    gate.process.send_signal(signal.SIGKILL if kill else signal.SIGSTOP)
    time.sleep(0.05)
    gate.process.send_signal(signal.SIGCONT)
    with pytest.raises(PoisonedError, match="timeout"):
        host.wait(job)
    with pytest.raises(PoisonedError):
        host.open()
    host.free()


def test_a_card_in_a_slot_that_is_not_there():
    """maeslant-os says why it does not have the PCI function that it was given."""
    program, _ = c_driver.build_os()
    for uri, why in (
        ("vfio:0000:ff:1f.7", "there is no PCI function 0000:ff:1f.7"),
        ("vfio:card", "vfio: needs a PCI address"),
    ):
        command = [str(program), "0", "-1", uri, "", "4"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(f"maeslant-os: {uri}: ") and why in done.stderr

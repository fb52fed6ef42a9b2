# SPDX-License-Identifier: Apache-2.0
"""Tests sim/vfio_user as a vfio-user client: what it offers, refuses and survives."""

import array
import contextlib
import errno
import os
import pathlib
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from maeslant.build import simulator
from maeslant.guest import media, server
from maeslant.verify import key_search

VERSION, DMA_MAP, DMA_UNMAP, INFO, REGION_INFO, IRQ_INFO = 1, 2, 3, 4, 5, 7
REGION_READ, REGION_WRITE, RESET = 9, 10, 13
BAR0, CONFIGURATION = 0, 7
COMMAND, CAPABILITIES = 0x04, 0x34
MEK = 0x150  # a register of the block card
STATE, DEVICE_NONCE, IDLE, KEYED = 0x000, 0x020, 2, 3  # of the protected card
PAGE = 4096


class Client:
    """Speaks the vfio-user protocol to a server."""

    def __init__(self, path: pathlib.Path) -> None:
        """Connects to a server's socket and agrees on the protocol's version."""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        error, body = self.call(VERSION, struct.pack("<HH", 0, 1) + b'{"capabilities":{}}\0')
        assert error == 0 and struct.unpack_from("<HH", body) == (0, 1)

    def call(self, command: int, body: bytes, files: list[int] | None = None) -> tuple[int, bytes]:
        """Sends a message; returns the answer's errno and body."""
        head = struct.pack("<HHIII", 7, command, 16 + len(body), 0, 0)
        own = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        self.socket.sendmsg([head], own)
        self.socket.sendall(body)
        number, same, size, flags, error = struct.unpack("<HHIII", self._exactly(16))
        assert (number, same, flags & 0xF) == (7, command, 1)
        assert bool(flags & 0x20) == bool(error)
        return error, self._exactly(size - 16)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            assert part, "the server has gone"
            data += part
        return data

    def read(self, region: int, offset: int, count: int) -> int:
        """Reads a number from a region."""
        error, body = self.call(REGION_READ, struct.pack("<QII", offset, region, count))
        assert error == 0 and len(body) == 16 + count
        return int.from_bytes(body[16:], "little")

    def write(self, region: int, offset: int, value: int, count: int) -> None:
        """Writes a number to a region."""
        head = struct.pack("<QII", offset, region, count)
        assert self.call(REGION_WRITE, head + value.to_bytes(count, "little"))[0] == 0

    def map(self, file: int | None, offset: int, address: int, size: int) -> int:
        """Maps a part of a file at a bus address; returns the errno."""
        body = struct.pack("<IIQQQ", 32, 3, offset, address, size)
        return self.call(DMA_MAP, body, [] if file is None else [file])[0]

    def unmap(self, address: int, size: int) -> int:
        """Unmaps a range of bus addresses; returns the errno."""
        return self.call(DMA_UNMAP, struct.pack("<IIQQ", 24, 0, address, size))[0]


def _ask_until(client: Client, done: Callable[[], bool]) -> None:
    """Asks without a pause, which must not keep the server from what a signal ordered."""
    for _ in range(1000):
        if done():
            return
        client.read(BAR0, 0, 4)
    pytest.fail("1,000 accesses later the signal had no effect")


@contextlib.contextmanager
def _serve(path: pathlib.Path, build: str, *more: str) -> Iterator[tuple[Client, subprocess.Popen]]:
    """Serves a card at a socket; yields a client and the server's process."""
    command = [str(server.build()), str(path), str(simulator.build(build)), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            while not path.exists():
                assert process.poll() is None
                time.sleep(0.01)
            client = Client(path)
            yield client, process
            client.socket.close()
            assert process.wait(30) == 0  # whatever the client sent
        finally:
            process.kill()  # of a test that failed; else it has ended


@pytest.fixture
def served(tmp_path: pathlib.Path) -> Iterator[tuple[Client, subprocess.Popen]]:
    """Serves a stream card; yields a client and the server's process."""
    with _serve(tmp_path / "s", "stream4") as found:
        yield found


def test_what_the_function_is(served: tuple[Client, subprocess.Popen]) -> None:
    """The function shows its numbers, a BAR of 4 KiB, MSI, MSI-X and function-level reset."""
    client, _ = served
    assert client.call(INFO, bytes(16)) == (0, struct.pack("<IIII", 16, 3, 9, 5))
    assert client.read(CONFIGURATION, 0, 4) == 0xAE501234
    found, at = {}, client.read(CONFIGURATION, CAPABILITIES, 1)
    while at:
        found[client.read(CONFIGURATION, at, 1)] = at
        at = client.read(CONFIGURATION, at + 1, 1)
    assert set(found) == {0x05, 0x10, 0x11}
    assert client.read(CONFIGURATION, found[0x10] + 4, 4) >> 28 & 1
    error, body = client.call(REGION_INFO, struct.pack("<IIIIQQ", 32, 0, BAR0, 0, 0, 0))
    assert error == 0 and struct.unpack("<IIIIQQ", body)[4] == PAGE
    counts = []
    for kind in range(5):
        error, body = client.call(IRQ_INFO, struct.pack("<IIII", 16, 0, kind, 0))
        counts.append(struct.unpack("<IIII", body)[3])
    assert counts == [0, 1, 1, 0, 0]
    assert client.read(BAR0, 0, 4) == client.read(BAR0, 0, 8) & 0xFFFFFFFF != 0xFFFFFFFF


def test_what_is_refused(served: tuple[Client, subprocess.Popen]) -> None:
    """Bad messages get an errno, and the server goes on."""
    client, _ = served
    file = os.memfd_create("guest")
    os.ftruncate(file, 16 * PAGE)
    assert client.call(99, b"")[0] == errno.ENOTSUP
    for command in (DMA_MAP, DMA_UNMAP, REGION_INFO, IRQ_INFO, REGION_READ, REGION_WRITE):
        assert client.call(command, b"\1")[0] == errno.EINVAL
    for offset, region, count in ((PAGE - 2, BAR0, 4), (1 << 63, BAR0, 4), (0, 99, 4), (0, 1, 1),
                                  (0, CONFIGURATION, 257)):  # fmt: skip
        assert client.call(REGION_READ, struct.pack("<QII", offset, region, count))[0]
    assert client.call(REGION_WRITE, struct.pack("<QII", 0, BAR0, 64) + bytes(4))[0]
    assert client.map(file, 0, 0x10000, 4 * PAGE) == 0
    assert client.map(file, 0, 0x10000 + 3 * PAGE, PAGE) == errno.EEXIST
    assert client.map(file, 0, 0x10000 - PAGE, 2 * PAGE) == errno.EEXIST
    assert client.map(file, 13 * PAGE, 0x80000, 4 * PAGE) == errno.EINVAL  # beyond the file
    assert client.map(file, 1 << 63, 0x80000, PAGE) == errno.EINVAL
    assert client.map(file, 0, (1 << 64) - PAGE, 2 * PAGE) == errno.EINVAL
    assert client.map(file, 0, 0, 0) == errno.EINVAL
    assert client.unmap(0x10000 + PAGE, PAGE) == errno.EINVAL  # a part of a map
    assert client.unmap(0x10000, 2 * PAGE) == errno.EINVAL
    assert client.map(None, 0, 0x90000, PAGE) == 0  # memory that the card cannot reach
    assert client.unmap(0, 1 << 40) == 0  # all that lies in it
    assert client.map(file, 0, 0x10000 + 3 * PAGE, PAGE) == 0
    assert client.read(CONFIGURATION, 0, 2) == 0x1234
    os.close(file)


@pytest.mark.full
def test_block_card(tmp_path: pathlib.Path) -> None:
    """A block card is a mass storage function without MSI if so asked; its state can be had."""
    path, file = tmp_path / "s", tmp_path / "media"
    media.create(file, 1 << 20)
    word = 0x5EC2E7A1
    with _serve(path, "block_small", f"media={file}", "msix") as (client, process):
        assert client.read(CONFIGURATION, 0, 4) == 0xAE511234
        assert client.read(CONFIGURATION, 8, 4) >> 8 == 0x018000
        error, body = client.call(IRQ_INFO, struct.pack("<IIII", 16, 0, 1, 0))
        assert error == 0 and struct.unpack("<IIII", body)[3] == 0  # no MSI
        assert client.read(BAR0, 0, 4) == 0x4D414542
        client.write(BAR0, MEK, word, 4)
        for number in (1, 2):
            state = path.with_name(f"s.state{number}")
            process.send_signal(signal.SIGUSR2)
            _ask_until(client, state.exists)
            held = key_search.parse(state.read_bytes()).values()
            assert any(word.to_bytes(4, "little") in data for data in held) == (number == 1)
            assert client.call(RESET, b"")[0] == 0


@pytest.mark.parametrize("by_message", [False, True])
def test_reset(served: tuple[Client, subprocess.Popen], by_message: bool) -> None:
    """A reset clears registers and bus mastering, whichever way it is asked for."""
    client, process = served
    client.write(CONFIGURATION, COMMAND, 6, 2)
    client.write(BAR0, 0x84, 0x5A, 4)
    assert client.read(CONFIGURATION, COMMAND, 2) == 6 and client.read(BAR0, 0x84, 4) == 0x5A
    if by_message:
        assert client.call(RESET, b"")[0] == 0
    else:
        at = client.read(CONFIGURATION, CAPABILITIES, 1)  # PCI Express comes first
        client.write(CONFIGURATION, at + 8, 0x8000, 2)
    assert client.read(CONFIGURATION, COMMAND, 2) == 0 and client.read(BAR0, 0x84, 4) == 0
    client.socket.close()
    assert "resets 1," in process.stdout.read()


def test_removal(served: tuple[Client, subprocess.Popen]) -> None:
    """A removed card reads as ones everywhere and takes writes without effect."""
    client, process = served
    process.send_signal(signal.SIGUSR1)
    _ask_until(client, lambda: client.read(CONFIGURATION, 0, 4) == 0xFFFFFFFF)
    client.write(BAR0, 0x80, 1, 4)
    client.write(CONFIGURATION, COMMAND, 6, 2)
    assert client.read(BAR0, 0, 4) == 0xFFFFFFFF
    assert client.call(RESET, b"")[0] == 0
    assert client.read(BAR0, 0, 4) == 0xFFFFFFFF


@pytest.mark.parametrize("size", [0, 15, 1 << 30])
def test_broken_messages(served: tuple[Client, subprocess.Popen], size: int) -> None:
    """A message of an impossible size ends the connection and harms nothing else."""
    client, process = served
    client.socket.sendall(struct.pack("<HHIII", 1, INFO, size, 0, 0))
    assert process.wait(30) == 0


def _until(client: Client, state: int) -> None:
    """Waits until a protected card is in a state."""
    end = time.monotonic() + 60
    while client.read(BAR0, STATE, 4) != state:
        assert time.monotonic() < end, f"the card is not in state {state}"
        time.sleep(0.01)


def test_protected_card(tmp_path: pathlib.Path) -> None:
    """A protected card has 1 MiB of registers, takes a file's secret when told, and new nonces."""
    path = tmp_path / "s"
    with _serve(path, "protected_small") as (client, process):
        assert client.read(CONFIGURATION, 0, 4) == 0xAE521234
        _, body = client.call(REGION_INFO, struct.pack("<IIIIQQ", 32, 0, BAR0, 0, 0, 0))
        assert struct.unpack("<IIIIQQ", body)[4] == 1 << 20
        nonces = set()
        for there in (False, True):
            _until(client, IDLE)
            nonces.add(client.read(BAR0, DEVICE_NONCE + 8, 8))
            if there:
                (tmp_path / "s.secret").write_bytes(bytes(range(48)))
            process.send_signal(signal.SIGHUP)
            _until(client, KEYED if there else IDLE)
            assert client.call(RESET, b"")[0] == 0
        assert len(nonces) == 2

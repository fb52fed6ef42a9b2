# SPDX-License-Identifier: Apache-2.0
"""Runs an accelerator kernel on the protected card over the encrypted channel."""

import contextlib
import secrets
from typing import Self

from maeslant.build import simulator
from maeslant.errors import MaeslantError
from maeslant.protected.model import wire
from maeslant.protected.model.constants import STATE, State
from maeslant.protected.session import Gate, Host
from maeslant.sim.unprotected_jobs import CLOCKS, LIST

CHUNK = 1 << 20
CONTROL = 0
PIECE = 1 << 24  # bytes of host memory at once
TIMEOUT = 50_000_000  # clocks


class ProtectedCard:
    """Opens a protected session with a simulated card and runs its kernel."""

    def __init__(self, build: str, options: str = "", mebibytes: int = 64) -> None:
        library = str(simulator.build(build))
        self.stack = contextlib.ExitStack()
        self.gate = self.stack.enter_context(Gate.simulated(library, options, mebibytes))
        while int.from_bytes(self.gate.read(STATE, 4), "little") != State.IDLE:
            self.gate.pause(None, False)  # the card clears its memory first
        secret, session_id = secrets.token_bytes(32), secrets.token_bytes(16)
        self.host = Host(self.gate, secret, session_id, timeout=TIMEOUT, threads=1)
        if not self.gate.install(secret, session_id):
            raise MaeslantError("the card did not accept the secret")
        self.host.wait(self.host.open())
        self.runs, self.clocks = 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the protected session and the simulated card."""
        self.host.wait(self.host.close())
        self.host.free()
        self.stack.close()

    def load(self, device: int, data: bytes) -> None:
        """Writes data to the card's memory over the protected channel."""
        data = data + bytes(-len(data) % 64)
        for at in range(0, len(data), PIECE):
            part = data[at : at + PIECE]
            self.host.wait(self.host.h2d(1, device + at, part, min(CHUNK, len(part))))

    def fetch(self, device: int, size: int) -> bytes:
        """Returns data read from the card's memory over the protected channel."""
        return self.host.wait(self.host.d2h(2, device, size, min(CHUNK, size)))

    def write(self, offset: int, value: int) -> None:
        """Writes a register of the card's kernel over the protected channel."""
        self.host.wait(self.host.batch(0, [wire.write(offset, value, 8)]))

    def run(self) -> None:
        """Starts the card's kernel, waits until it has ended and stores its clock count."""
        self.runs += 1
        operations = [wire.write(CONTROL, 1), wire.wait_runs(self.runs), wire.read(CLOCKS, 8)]
        (self.clocks,) = self.host.read_values(self.host.batch(0, operations))

    def infer(
        self, commands: int, source: int, data: bytes, result: int, size: int
    ) -> tuple[bytes, int]:
        """Loads input, runs the kernel's command list; returns the result and the card's clocks.

        Returns the result and the card's clocks from the first request to the result; ``clocks``
        are then the kernel's.
        """
        self.runs += 1
        begin = self.gate.clocks
        last = self.host.h2d(1, source, data, min(CHUNK, len(data))).last
        operations = [wire.wait(last.queue, last.sequence), wire.write(LIST, commands, 8)]
        operations += [wire.write(CONTROL, 1)]
        self.host.batch(0, operations)
        found = self.host.wait(self.host.d2h(2, result, size, min(CHUNK, size), after=self.runs))
        clocks = self.gate.clocks - begin
        (self.clocks,) = self.host.read_values(self.host.batch(0, [wire.read(CLOCKS, 8)]))
        return found, clocks

    def read(self, offset: int) -> int:
        """Returns the CLOCKS register of the card's kernel: the clocks of its last run."""
        assert offset == CLOCKS != LIST
        return self.clocks

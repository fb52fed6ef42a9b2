# SPDX-License-Identifier: Apache-2.0
"""Runs the CKKS kernel on the protected card: the host sees sealed keys and ciphertexts only."""

import contextlib
import secrets

from maeslant.build import simulator
from maeslant.errors import MaeslantError
from maeslant.protected.model import wire
from maeslant.protected.model.constants import STATE, State
from maeslant.protected.session import Gate, Host
from maeslant.sim.unprotected_jobs import CLOCKS, LIST

BUILD = "fhe_protected"
CHUNK = 1 << 20
CONTROL = 0
TIMEOUT = 50_000_000  # clocks


class ProtectedCard:
    """Gives card.Evaluator the protected card in place of an unprotected one."""

    def __init__(self, options: str = "", mebibytes: int = 64) -> None:
        library = str(simulator.build(BUILD))
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

    def close(self) -> None:
        """Closes the protected session and the card."""
        self.host.wait(self.host.close())
        self.host.free()
        self.stack.close()

    def load(self, device: int, data: bytes) -> None:
        """Writes device memory over the protected channel."""
        data = data + bytes(-len(data) % 64)
        self.host.wait(self.host.h2d(1, device, data, min(CHUNK, len(data))))

    def fetch(self, device: int, size: int) -> bytes:
        """Reads device memory over the protected channel."""
        return self.host.wait(self.host.d2h(2, device, size, min(CHUNK, size)))

    def write(self, offset: int, value: int) -> None:
        """Writes a register of the CKKS kernel over the protected channel."""
        self.host.wait(self.host.batch(0, [wire.write(offset, value, 8)]))

    def run(self) -> None:
        """Starts the CKKS kernel and waits for its end."""
        self.runs += 1
        operations = [wire.write(CONTROL, 1), wire.wait_runs(self.runs), wire.read(CLOCKS, 8)]
        (self.clocks,) = self.host.read_values(self.host.batch(0, operations))

    def read(self, offset: int) -> int:
        """Reads the register CLOCKS of the CKKS kernel: the clocks of the last run."""
        assert offset == CLOCKS != LIST
        return self.clocks

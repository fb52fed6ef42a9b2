# SPDX-License-Identifier: Apache-2.0
"""Serves a simulated card to an enclave, in a process that acts as the operating system.

Usage: python -m maeslant.protected.card_process SOCKET WIRE ...

As maeslant-os (driver/os), with a simulated card or the reference's, and at its end writes what the
simulator counted. Arguments: numbers of the two sockets, library or "reference", options, MiB of
shared memory, file for the counters (JSON).
"""

import json
import pathlib
import sys

from maeslant.protected.host_process import Server
from maeslant.protected.model.link import Link
from maeslant.sim.machine import Simulator, SimulatorError

INSTALL = 100_000  # clocks
STEP = 256  # clocks that a pause takes at most


class SimulatedServer(Server):
    """Serves a simulated card to the enclave driver by the callbacks of C's struct mae_os_card."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(Link(None, 0))
        self.simulator = simulator

    def _call(self, result: int) -> int:
        return min(result, 0)

    def read(self, _user, offset, data, size) -> int:
        """Reads the simulated card's registers into a driver's buffer; returns 0 or an error."""
        try:
            for at in range(0, size, 4):
                word = self.simulator.read32(offset + at).to_bytes(4, "little")
                self.ffi.memmove(data + at, word, min(4, size - at))
        except SimulatorError as error:
            return -error.code
        return 0

    def write(self, _user, offset, data, size) -> int:
        """Writes a driver's bytes to the simulated card's registers; returns 0 or an error code."""
        given = bytes(self.ffi.buffer(data, size))
        try:
            for at in range(0, size - 3, 4):
                self.simulator.write32(offset + at, int.from_bytes(given[at : at + 4], "little"))
        except SimulatorError as error:
            return -error.code
        return 0

    def map(self, _user, host, memory, size) -> int:
        """Maps host memory into the simulated card's bus address space for DMA; returns 0."""
        sim = self.simulator
        address = int(self.ffi.cast("uintptr_t", memory))
        place = sim.ffi.cast("void *", address)
        return self._call(sim.lib.mae_sim_map(sim.handle, host[0], place, size, 1))

    def pause(self, _user) -> int:
        """Runs the simulated card until an interrupt, at most for 256 clock cycles; returns 0.

        It is a pulse: an old one does not count.
        """
        sim = self.simulator
        error = sim.lib.mae_sim_run(sim.handle, 1)
        return error or self._call(sim.lib.mae_sim_wait(sim.handle, STEP - 1))

    def install(self, _user, secret, session_id) -> int:
        """Passes a session's secret and ID to the simulated card; returns 0 if accepted."""
        ffi = self.ffi
        given = bytes(ffi.buffer(secret, 32)), bytes(ffi.buffer(session_id, 16))
        return 0 if self.simulator.install(*given, INSTALL) else -16

    def clocks(self, _user) -> int:
        """Returns the number of clock cycles for which the card has been simulated."""
        return self.simulator.stats()["bus_clocks"]


def reference() -> Server:
    """Returns a server of the card's Python model with the neural-network kernel."""
    from maeslant.protected.model.keys import Capabilities
    from maeslant.protected.model.nn_card import NnDevice

    device = NnDevice(Capabilities())
    device.bus = Link(device)
    return Server(device.bus)


def main() -> int:
    """Serves a simulated card or a Python model to one enclave process until that process ends."""
    number, wire, library, options, mebibytes, counters = sys.argv[1:]
    if library == "reference":
        server = reference()
    else:
        server = SimulatedServer(Simulator(pathlib.Path(library), options))
    card = server.ffi.new("struct mae_os_card *", server.functions)
    result = server.lib.mae_os_serve(int(number), int(wire), int(mebibytes) << 20, card)
    found = server.simulator.stats() if isinstance(server, SimulatedServer) else {}
    pathlib.Path(counters).write_text(json.dumps(found))
    return int(result != 0)


if __name__ == "__main__":
    sys.exit(main())

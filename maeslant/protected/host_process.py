# SPDX-License-Identifier: Apache-2.0
"""Serves the card model to an enclave, in a process that acts as the operating system.

Usage: python -m maeslant.protected.host_process SOCKET WIRE

For tests of the protected driver's two processes without a simulator; a simulated card is served by
the program maeslant-os (driver/os).
"""

import re
import sys

import cffi

from maeslant import paths
from maeslant.build import c_driver
from maeslant.protected.model.device import Device
from maeslant.protected.model.link import BusError, Link
from maeslant.protected.model.workload import CAPABILITIES

WINDOW = 1 << 22


class Server:
    """Serves the card's Python model to the enclave driver by C's struct mae_os_card."""

    def __init__(self, link: Link) -> None:
        self.link, self.steps = link, 0
        self.ffi = cffi.FFI()
        text = (paths.ROOT / "driver" / "os" / "serve.h").read_text()
        cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
        self.ffi.cdef(cdef.replace("MAE_OS_API", ""))
        self.lib = self.ffi.dlopen(str(c_driver.build_os()[1]))
        kinds = {
            "read": "int(void *, uint64_t, uint8_t *, uint64_t)",
            "write": "int(void *, uint64_t, const uint8_t *, uint64_t)",
            "map": "int(void *, uint64_t *, void *, uint64_t)",
            "pause": "int(void *)",
            "install": "int(void *, const uint8_t *, const uint8_t *)",
            "clocks": "uint64_t(void *)",
        }
        self.functions = {
            name: self.ffi.callback(kind, getattr(self, name), error=0 if name == "clocks" else -5)
            for name, kind in kinds.items()
        }

    def read(self, _user, offset, data, size) -> int:
        """Reads the card model's registers into the driver's buffer; returns 0 or an error code."""
        try:
            self.ffi.memmove(data, self.link.mmio_read(offset, size), size)
        except BusError:
            return -5
        return 0

    def write(self, _user, offset, data, size) -> int:
        """Writes the driver's bytes to the card model's registers; returns 0 or an error code."""
        self.link.mmio_write(offset, bytes(self.ffi.buffer(data, size)))
        return 0

    def map(self, _user, host, memory, size) -> int:
        """Makes the enclave's host memory accessible to the card model's DMA; returns 0."""
        self.link.BASE = host[0]
        self.link.memory = self.ffi.buffer(memory, size)
        return 0

    def pause(self, _user) -> int:
        """Runs the card model for 20 steps while the enclave's driver waits; returns 0."""
        for _ in range(20):
            self.steps += 1
            self.link.step()
        return 0

    def install(self, _user, secret, session_id) -> int:
        """Passes a session's secret and ID to the card model; returns 0 if accepted."""
        ffi = self.ffi
        taken = self.link.card.install(
            bytes(ffi.buffer(secret, 32)), bytes(ffi.buffer(session_id, 16))
        )
        return 0 if taken else -16

    def clocks(self, _user) -> int:
        """Increments and returns the card model's step count, its measure of time."""
        self.steps += 1
        return self.steps

    def serve(self, number: int, wire: int) -> int:
        """Serves the card model to the enclave's process until that process closes the socket."""
        card = self.ffi.new("struct mae_os_card *", self.functions)
        return self.lib.mae_os_serve(number, wire, WINDOW, card)


def main() -> int:
    """Serves the card model to an enclave over two sockets given on the command line."""
    device = Device(CAPABILITIES)
    link = device.bus = Link(device)
    return Server(link).serve(int(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    sys.exit(main())

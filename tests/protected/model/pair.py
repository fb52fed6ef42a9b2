# SPDX-License-Identifier: Apache-2.0
"""Both ends with an honest bus between, for tests."""

from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import Kind, Status
from maeslant.protected.model.device import Device
from maeslant.protected.model.host import Host
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.link import Link
from maeslant.protected.model.workload import octets

CAPABILITIES = Capabilities(queues=3, depth=4, log2_chunk=14, operations=16, log2_memory=14)


class Pair:
    """A host and a device after OPEN."""

    def __init__(self, **limits: int) -> None:
        self.device = Device(CAPABILITIES, limit=limits.get("device", 1 << 30))
        self.link = self.device.bus = Link(self.device, 1 << 21)
        self.host = Host(
            self.link,
            octets("s", 32),
            octets("i", 16),
            octets("n", 32),
            limits.get("host", 1 << 29),
            timeout=60,
        )
        assert self.device.install(octets("s", 32), octets("i", 16))

    def opened(self) -> "Pair":
        """Send OPEN."""
        self.host.wait(self.host.open())
        return self

    def drain(self) -> None:
        """Until nothing is unanswered."""
        for _ in range(500):
            self.host.pump()

    def until_locked(self) -> None:
        """Until a transfer moves."""
        for _ in range(100):
            self.host.pump()
            if any(region.locked for region in self.device.memory.regions):
                return
        raise AssertionError("no transfer has begun")

    def raw(self, queue: int, kind: int, body: bytes) -> Status:
        """Seal what the host would not, and give the status of the answer."""
        sequence = self.host._begin(queue, Kind.BATCH, len(body))
        chunk = kind in (Kind.H2D, Kind.D2H) and len(body) == 64
        where = wire.Transfer.unpack(body) if chunk else None
        return self.status(self.host._seal(queue, kind, sequence, body, where))

    def status(self, request) -> Status:
        """Of the answer to a request."""
        self.drain()
        assert request.response, request.error
        return Status(request.response.status)


def place(**fields: int) -> bytes:
    """The body of a legal chunk, but for some fields."""
    base = {"address": 0, "length": 128, "index": 0, "base": 0, "total": 256, "host": Link.BASE}
    return wire.Transfer(**(base | fields)).pack()


def start(source: int, destination: int, length: int) -> list[wire.Operation]:
    """A run of the kernel."""
    return [
        wire.write(card.SOURCE, source, 8),
        wire.write(card.DESTINATION, destination, 8),
        wire.write(card.LENGTH, length, 8),
        wire.write(card.CONTROL, 1),
    ]

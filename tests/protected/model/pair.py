# SPDX-License-Identifier: Apache-2.0
"""Connects the protocol model's host and device by a bus without attacker, for tests."""

from maeslant.protected.model import card, wire
from maeslant.protected.model.constants import Kind, Status
from maeslant.protected.model.device import Device
from maeslant.protected.model.host import Host
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.link import Link
from maeslant.protected.model.workload import octets

CAPABILITIES = Capabilities(queues=3, depth=4, log2_chunk=14, operations=16, log2_memory=14)


class Pair:
    """Connects the protocol model's host and device; their session is not yet open."""

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
        """Opens the protected session between the model's host and card."""
        self.host.wait(self.host.open())
        return self

    def drain(self) -> None:
        """Lets the model's host and device work until every request has an answer."""
        for _ in range(500):
            self.host.pump()

    def until_locked(self) -> None:
        """Runs the protocol model until the device has locked the memory region of a transfer."""
        for _ in range(100):
            self.host.pump()
            if any(region.locked for region in self.device.memory.regions):
                return
        raise AssertionError("no transfer has begun")

    def raw(self, queue: int, kind: int, body: bytes) -> Status:
        """Sends a sealed request without the host model's checks; returns the answer's status."""
        sequence = self.host._begin(queue, Kind.BATCH, len(body))
        chunk = kind in (Kind.H2D, Kind.D2H) and len(body) == 64
        where = wire.Transfer.unpack(body) if chunk else None
        return self.status(self.host._seal(queue, kind, sequence, body, where))

    def status(self, request) -> Status:
        """Waits for the device model's answer to a request; returns its status."""
        self.drain()
        assert request.response, request.error
        return Status(request.response.status)


def place(**fields: int) -> bytes:
    """Returns the body of a legal request to transfer a chunk, with given fields replaced."""
    base = {"address": 0, "length": 128, "index": 0, "base": 0, "total": 256, "host": Link.BASE}
    return wire.Transfer(**(base | fields)).pack()


def start(source: int, destination: int, length: int) -> list[wire.Operation]:
    """Returns the batch operations that start a run of the card model's kernel."""
    return [
        wire.write(card.SOURCE, source, 8),
        wire.write(card.DESTINATION, destination, 8),
        wire.write(card.LENGTH, length, 8),
        wire.write(card.CONTROL, 1),
    ]

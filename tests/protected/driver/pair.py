# SPDX-License-Identifier: Apache-2.0
"""Connects the protected card's C driver and the card model by an honest bus, for tests."""

from maeslant.protected.attacks.adversary import Adversary
from maeslant.protected.model import card, wire
from maeslant.protected.model.device import Device
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.link import Attack, Link
from maeslant.protected.model.workload import octets
from maeslant.protected.session import Host

CAPABILITIES = Capabilities(queues=3, depth=4, log2_chunk=14, operations=16, log2_memory=14)
SECRETS = (octets("s", 32), octets("i", 16), octets("n", 32))


class Pair:
    """Connects the C driver (host) and the card model (device); their session is not yet open."""

    def __init__(self, attack: Attack | None = None, **limits: int) -> None:
        self.device = Device(CAPABILITIES, limit=limits.get("device", 1 << 30))
        self.tap = attack or Adversary()
        self.link = self.device.bus = Link(self.device, 1 << 21, self.tap)
        self.host = Host(
            self.link,
            *SECRETS,
            limits.get("host", 1 << 29),
            timeout=60,
            send_while_sealing=bool(limits.get("eager")),
            threads=limits.get("threads", 0),
        )
        assert self.device.install(*SECRETS[:2])

    def opened(self) -> "Pair":
        """Opens the protected session between C driver and card model."""
        self.host.wait(self.host.open())
        return self

    def drain(self) -> None:
        """Lets C driver and card model work until every request has an answer."""
        for _ in range(500):
            self.host.pump()


def start(source: int, destination: int, length: int) -> list[wire.Operation]:
    """Returns the batch operations that start a run of the simulated card's kernel."""
    return [
        wire.write(card.SOURCE, source, 8),
        wire.write(card.DESTINATION, destination, 8),
        wire.write(card.LENGTH, length, 8),
        wire.write(card.CONTROL, 1),
    ]

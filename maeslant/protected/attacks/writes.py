# SPDX-License-Identifier: Apache-2.0
"""Records the writes of Ghosh et al.'s protected registers on the bus, for attacks on them."""

from maeslant.protected.model.ghosh import REQUEST_IV, REQUEST_TAG, TARGET
from maeslant.protected.model.link import Event, What


class Writes:
    """Records writes of Ghosh's protected registers on the bus: each with its IV and tag."""

    def __init__(self) -> None:
        self.last: dict[int, Event] = {}  # of the IV and the tag
        self.every: list[tuple[Event, Event, Event]] = []

    def see(self, event: Event) -> bool:
        """Records a bus event; returns true if it writes a protected register of Ghosh's card."""
        if event.what is not What.MMIO_WRITE:
            return False
        if event.address in (REQUEST_IV, REQUEST_TAG):
            self.last[event.address] = event
        if event.address < TARGET:
            return False
        self.every.append((self.last[REQUEST_IV], self.last[REQUEST_TAG], event))
        return True

    def events(self, first: int, end: int) -> list[Event]:
        """Returns the bus events that repeat the recorded writes from ``first`` up to ``end``."""
        return [event for write in self.every[first:end] for event in write]

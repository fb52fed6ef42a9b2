# SPDX-License-Identifier: Apache-2.0
"""Records the writes of Ghosh et al.'s protected registers on the bus, for attacks on them."""

from maeslant.protected.model.ghosh import REQUEST_IV, REQUEST_TAG, TARGET
from maeslant.protected.model.link import Event, What


class Writes:
    """Records bus writes to authenticated registers of Ghosh et al.'s card, with IV and tag."""

    def __init__(self) -> None:
        self.last: dict[int, Event] = {}  # of the IV and the tag
        self.every: list[tuple[Event, Event, Event]] = []

    def see(self, event: Event) -> bool:
        """Records a bus access; returns true if it writes a register with IV and tag."""
        if event.what is not What.MMIO_WRITE:
            return False
        if event.address in (REQUEST_IV, REQUEST_TAG):
            self.last[event.address] = event
        if event.address < TARGET:
            return False
        self.every.append((self.last[REQUEST_IV], self.last[REQUEST_TAG], event))
        return True

    def events(self, first: int, end: int) -> list[Event]:
        """Returns bus accesses that repeat the recorded register writes ``first`` to ``end``."""
        return [event for write in self.every[first:end] for event in write]

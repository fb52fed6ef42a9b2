# SPDX-License-Identifier: Apache-2.0
"""Collects the catalogue of bus attacks on the protected channel, with expected detections.

`catalogue()` lists them: a name, the requirement that answers it, what it would have got, and who
must notice ("nothing": it has no effect, and every result is right).
"""

from maeslant.protected.attacks import flips, orders, places, races, replays
from maeslant.protected.attacks.entry import Entry


def catalogue() -> list[Entry]:
    """Returns all bus attacks of the catalogue, family by family."""
    families = (
        flips.flips,
        replays.replays,
        replays.splices,
        orders.orders,
        orders.losses,
        orders.lengths,
        places.places,
        places.inventions,
        places.fetches,
        races.races,
    )
    return [entry for family in families for entry in family()]

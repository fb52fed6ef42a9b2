# SPDX-License-Identifier: Apache-2.0
"""Catalogues the specified attacks at each place, with the expected detection.

`catalogue()` lists them: a name, the requirement that answers it, what it would have got, and who
must notice ("nothing": it has no effect, and every result is right).
"""

from maeslant.protected.attacks import flips, orders, places, races, replays
from maeslant.protected.attacks.entry import Entry


def catalogue() -> list[Entry]:
    """Lists every attack of all families."""
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

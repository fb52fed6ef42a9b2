# SPDX-License-Identifier: Apache-2.0
"""Encrypts messages on a pool of several AES cards, in this process or on a Dask cluster.

A message is cut into parts that stand for themselves (:mod:`maeslant.driver.pool.parts`), each is
done by some card, and done again by another if that one fails; what comes back is put in order, and
what binds the parts together, chain values and hashes, is kept here
(:mod:`maeslant.driver.pool.messages`).
"""

from maeslant.driver.pool.cards import Pool


def opened(uri: str) -> Pool:
    """Returns the opened pool of AES cards of a URI: "pool:CARD,CARD" or "pool:tcp://HOST:PORT"."""
    if uri.startswith(("pool:tcp://", "pool:tls://")):
        from maeslant.driver.pool.workers import Cluster

        return Cluster(uri)
    from maeslant.driver.pool.local import Local

    return Local(uri)

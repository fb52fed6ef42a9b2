# SPDX-License-Identifier: Apache-2.0
"""A part of `make prove`: every state of mae_memory_arbiter with small jobs is as it must be."""

from maeslant.verify import arbiter_states


def test_small() -> None:
    """Two blocks of each kind of job, with any accesses at any time."""
    reports = arbiter_states.prove(arbiter_states.small(), processes=1)
    assert sum(report["states"] for report in reports) > 1_000_000
    for report in reports:
        assert report["jobs_done"] and report["reads"] and report["writes"]

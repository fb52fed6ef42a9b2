# SPDX-License-Identifier: Apache-2.0
"""Searches all states of mae_memory_arbiter for small jobs, as a part of `make prove`."""

import dataclasses

import pytest

from maeslant.verify import arbiter_states


@pytest.mark.full
def test_small() -> None:
    """No reachable state of mae_memory_arbiter is illegal for jobs of two blocks."""
    reports = arbiter_states.prove(arbiter_states.small(), processes=1)
    assert sum(report["states"] for report in reports) > 1_000_000
    for report in reports:
        assert report["jobs_done"] and report["reads"] and report["writes"]


@pytest.mark.full
def test_pairs() -> None:
    """No reachable state of mae_memory_arbiter is illegal for two jobs of one block at once."""
    for case in arbiter_states.pairs()[:5]:
        jobs = tuple(dataclasses.replace(job, bytes=min(job.bytes, 16)) for job in case.jobs)
        report = arbiter_states.explore(jobs, case.accesses, case.depth, case.toys)
        assert report["jobs_done"] and report["reads"] and report["writes"], case

# SPDX-License-Identifier: Apache-2.0
"""Searches all states of mae_memory_arbiter for small jobs, as a part of `make prove`."""

import pytest

from maeslant.verify import arbiter_states


@pytest.mark.full
def test_small() -> None:
    """No reachable state of mae_memory_arbiter is illegal for jobs of two blocks."""
    reports = arbiter_states.prove(arbiter_states.small(), processes=1)
    assert sum(report["states"] for report in reports) > 1_000_000
    for report in reports:
        assert report["jobs_done"] and report["reads"] and report["writes"]


def explore(cases: list[arbiter_states.Case]) -> None:
    """Explores pairs of jobs; none may reach an illegal state."""
    for report in arbiter_states.prove(cases, processes=1):
        assert report["jobs_done"] and report["reads"] and report["writes"]


@pytest.mark.full
def test_pairs() -> None:
    """No reachable state of mae_memory_arbiter is illegal for two jobs of one block at once."""
    explore(arbiter_states.pairs()[:5])


@pytest.mark.slow
@pytest.mark.parametrize("number", [-2, -1])
def test_out_of_turn(number: int) -> None:
    """No reachable state is illegal for a job whose second block CPU and another job need."""
    explore([arbiter_states.pairs()[number]])

# SPDX-License-Identifier: Apache-2.0
"""Tests every state of mae_memory_arbiter with small jobs: a part of `make prove`."""

import pytest

from maeslant.verify import arbiter_states


@pytest.mark.full
def test_small() -> None:
    """Every state of the memory arbiter is legal for jobs of two blocks and any accesses."""
    reports = arbiter_states.prove(arbiter_states.small(), processes=1)
    assert sum(report["states"] for report in reports) > 1_000_000
    for report in reports:
        assert report["jobs_done"] and report["reads"] and report["writes"]

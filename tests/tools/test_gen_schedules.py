# SPDX-License-Identifier: Apache-2.0
"""Tests that the timing diagrams in docs/schedules equal a new simulation's."""

import pytest

from tools import gen_schedules


@pytest.mark.parametrize("top", gen_schedules.ENGINES)
@pytest.mark.full
def test_recorded_again(top: str) -> None:
    """gen_schedules.record reproduces the timing diagrams of docs/schedules exactly."""
    found = gen_schedules.files(gen_schedules.record(top))
    kept = {path: path.read_text() for path in gen_schedules.OUT.glob(f"{top}-*")}
    assert found == kept

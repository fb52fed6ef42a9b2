# SPDX-License-Identifier: Apache-2.0
"""Tests that the timing diagrams in docs/schedules agree with the engines."""

import pytest

from tools import gen_schedules


@pytest.mark.parametrize("top", gen_schedules.ENGINES)
@pytest.mark.full
def test_recorded_again(top: str) -> None:
    """A simulation reproduces exactly the timing diagrams of docs/schedules."""
    found = gen_schedules.files(gen_schedules.record(top))
    kept = {path: path.read_text() for path in gen_schedules.OUT.glob(f"{top}-*")}
    assert found == kept

# SPDX-License-Identifier: Apache-2.0
"""The timing diagrams in docs/schedules are what the engines do."""

import pytest

from tools import gen_schedules


@pytest.mark.parametrize("top", gen_schedules.ENGINES)
def test_recorded_again(top: str) -> None:
    """A simulation gives the diagrams that are kept, and no others are kept."""
    found = gen_schedules.files(gen_schedules.record(top))
    kept = {path: path.read_text() for path in gen_schedules.OUT.glob(f"{top}-*")}
    assert found == kept

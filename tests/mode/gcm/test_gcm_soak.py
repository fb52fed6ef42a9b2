# SPDX-License-Identifier: Apache-2.0
"""Tests mae_gcm_stream with random messages, as `make soak` does for longer."""

import pytest

from maeslant.verify import soak

SEED = 20
SLOW = [
    pytest.param(lanes, marks=pytest.mark.slow)
    for lanes in (
        1,
        2,
        8,
        10,
        16,
        "gcm1_fpga",
        "gcm1_fpga_ram",
        "gcm4_fpga",
        "gcm4_fpga_ram",
        "gcm4_fpga256",
        "gcm1_deep",
        "gcm4_deep",
    )
]


@pytest.mark.parametrize("lanes", [4, *SLOW])
@pytest.mark.full
def test_part(lanes: int | str) -> None:
    """1,000 random messages through mae_gcm_stream equal OpenSSL's; 1,000 tampered are rejected."""
    counts = soak.soak(1000, SEED, [lanes], processes=1)[lanes]
    assert counts["good"] == counts["tampered"] == 1000
    for name in ("odd", "cut", "aborts", "clears", "keys", *map("tampered {}".format, soak.PLACES)):
        assert counts[name], f"no {name} was seen"

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_min_luts: interface of a block cipher, with the tests of mae_cipher_min_area.

Tests mae_cipher_min_luts and mae_preserved_xor.
"""

import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    begin,
    chained_blocks_leave_no_bubble,
    clear_leaves_nothing,
    clear_unloads,
    flush_leaves_nothing,
    key_timing,
    key_waits_for_its_blocks,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.cipher.test_cipher_min_area import (  # noqa: F401 - the coroutines run from here
    directions_turn,
    first_blocks_at_every_clock,
    no_state_between_answers,
)
from tests.support import bench

ENV = {"CIPHER_LATENCY": "1,0", "CIPHER_EARLY": "1"}
PARAMETERS = {"Dirs": 1, "MaxKeyLen": 0}


@pytest.mark.parametrize("sbox", (5, pytest.param(0, marks=pytest.mark.slow)))
def test_cipher_min_luts(sbox: int) -> None:
    """Builds mae_cipher_min_luts with two S-boxes and runs this file's tests."""
    bench.run("mae_cipher_min_luts", parameters=PARAMETERS | {"Sbox": sbox}, env=ENV)


def test_clear_leaves_nothing() -> None:
    """Two clocks after clear_i no signal of mae_cipher_min_luts holds a secret."""
    bench.run(
        "mae_cipher_min_luts",
        parameters=PARAMETERS,
        env=ENV | {"CIPHER_VISIBLE": "1"},
        test_filter="leaves_nothing",
        visible=True,
    )

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_cipher_lanes_luts: interface of a block cipher, both directions, all key lengths.

That covers its lanes, mae_pipe_rounds_luts, and their rounds, mae_round_luts.
"""

import pytest

from tests.cipher.contract import (  # noqa: F401 - the coroutines run from here
    clear_unloads,
    key_timing,
    key_waits_for_its_blocks,
    known_answers,
    random_traffic,
    throughput,
    unloaded_banks_wait,
)
from tests.cipher.test_cipher_lanes import (
    chained_messages_fill_the_lanes,  # noqa: F401
)
from tests.support import bench


@pytest.mark.parametrize(
    "parameters",
    [{"Lanes": 2}, pytest.param({"Lanes": 4, "MaxKeyLen": 1}, marks=pytest.mark.slow)],
    ids=str,
)
def test_cipher_lanes_luts(parameters: dict[str, int]) -> None:
    """Builds mae_cipher_lanes_luts for several lanes and runs this file's tests."""
    bench.run("mae_cipher_lanes_luts", parameters=parameters, env={"CIPHER_LATENCY": "1,1"})

# SPDX-License-Identifier: Apache-2.0
"""Tests mae_memory_arbiter with random CPU accesses during AES jobs (`make torture`, a part).

Every read is the model's, memory is after every job, and no access is held longer than the header
of mae_memory_arbiter states. With it its parts mae_memory_job_engine, mae_memory_hazard_check,
mae_memory_out_of_order and mae_memory_done_bits, and mae_soc_memory.
"""

import json
import os

import pytest

from maeslant.driver.device import CODES
from maeslant.verify import torture

NETLIST = os.environ.get("MAESLANT_LIBRARY")
COUNTS = """writes held inside edges wipes busy refused scribbles loaded bad_tags key_each
in_place overlapping continued repeated""".split()
TOGETHER = "beside reads_of_other writes_over_other writes_with_other held_by_two".split()
MODES = [name.upper() for name in CODES if name != "copy"]
SLOW = [pytest.param(seed, 250_000, marks=pytest.mark.slow) for seed in (2, 3, 4, 5)]


def check(total: dict, accesses: int, counts: list[str]) -> None:
    """Checks that a run of the torture test met everything that it is to meet."""
    assert total["accesses"] >= accesses
    for name in counts:
        assert total[name], f"no {name} was seen"
    for mode in MODES:
        for direction in ("encrypt", "decrypt"):
            assert total["jobs"][f"{mode} {direction}"], f"no job of {mode} {direction}"


@pytest.mark.parametrize(("seed", "accesses"), [(1, 100_000), *SLOW])
def test_part(seed: int, accesses: int) -> None:
    """Random CPU accesses during AES memory jobs see memory as a sequential model has it."""
    check(torture.torture(accesses, seed, processes=1), accesses, [*COUNTS, "resets"])


@pytest.mark.parametrize(("seed", "accesses"), [(1, 100_000), *SLOW])
@pytest.mark.full
def test_two_peripherals(seed: int, accesses: int) -> None:
    """Jobs of two peripherals and random CPU accesses see memory as a sequential model has it."""
    check(torture.torture(accesses, seed, 1, jobs=2), accesses, [*COUNTS, *TOGETHER])


@pytest.mark.skipif(not NETLIST, reason="for `maeslant synth mae_memory_arbiter --simulate`")
def test_netlist() -> None:
    """The netlist beside the RTL, in a memory of its own size, differs in no output."""
    jobs = json.loads(os.environ["MAESLANT_PARAMETERS"])["Jobs"]
    found = torture.merge([torture.chunk(1, torture.CHUNK, jobs, torture.load(NETLIST))])
    check(found, torture.CHUNK, ["writes", "held", "inside", "bad_tags"])

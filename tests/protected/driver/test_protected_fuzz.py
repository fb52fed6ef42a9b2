# SPDX-License-Identifier: Apache-2.0
"""The targets of driver/fuzz over random inputs, and under libFuzzer where there is clang."""

import json
import subprocess
import sys

import pytest

from maeslant import paths
from maeslant.build import c_driver
from maeslant.verify import driver_fuzz


@pytest.mark.parametrize("target", driver_fuzz.TARGETS)
def test_random_inputs(target):
    """With the address and undefined-behaviour sanitizers; the long run is `make fuzz`."""
    assert driver_fuzz.run_random(target, 1, 500) == 500


@pytest.mark.slow
@pytest.mark.skipif(not driver_fuzz.has_fuzzer(), reason="no clang with libFuzzer")
@pytest.mark.parametrize("target", driver_fuzz.TARGETS)
def test_libfuzzer(target):
    """A minute each."""
    assert driver_fuzz.run_fuzzer(target, 60)["number_of_executed_units"] > 1000


def test_the_copies_can_be_timed():
    """Every chunk there and back is right, or the program fails; rates are not judged here."""
    rates = c_driver.time_copies()
    assert set(rates) == {"library", "memcpy", "seal", "open", "seal_write_ns"}
    assert rates["seal"] > 0 and rates["open"] > 0


def test_the_trusted_computing_base_is_small():
    """All that is trusted of the driver can be read in an afternoon."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.count_tcb", "--json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=paths.ROOT,
    )
    counted = json.loads(done.stdout)
    assert "driver/enclave/answer.c" in counted["files"]
    assert "driver/include/maeslant_protected.h" in counted["files"]
    assert not any("/os/" in name or "/src/" in name for name in counted["files"])
    assert counted["lines"] == sum(counted["files"].values()) < 2500

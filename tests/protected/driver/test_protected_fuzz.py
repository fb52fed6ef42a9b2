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


@pytest.mark.parametrize("target", driver_fuzz.TARGETS)
def test_stored_inputs(target):
    """The tree has some of each target; a run begins with them."""
    assert len(driver_fuzz.stored(target)) >= 5


def test_a_driver_that_fails_is_noticed(monkeypatch, tmp_path):
    """A stored input ends the run where the target does not hold."""
    broken = tmp_path / "gcm_openssl.c"
    text = (c_driver.DRIVER / "enclave" / "gcm_openssl.c").read_text()
    assert text.count("EVP_CTRL_AEAD_SET_TAG, WIRE_TAG,") == 1
    text = text.replace("EVP_CTRL_AEAD_SET_TAG, WIRE_TAG,", "EVP_CTRL_AEAD_SET_TAG, WIRE_TAG - 1,")
    broken.write_text(text.replace('"gcm.h"', f'"{c_driver.DRIVER}/enclave/gcm.h"'))
    real = driver_fuzz.sources

    def sources(target):
        return [broken if path.name.startswith("gcm_") else path for path in real(target)]

    monkeypatch.setenv("MAESLANT_GCM", "openssl")
    monkeypatch.setattr(driver_fuzz, "sources", sources)
    monkeypatch.setattr(driver_fuzz, "FOLDER", tmp_path)
    with pytest.raises(driver_fuzz.MaeslantError):
        driver_fuzz.run_random("gcm", 1, 2000)


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

# SPDX-License-Identifier: Apache-2.0
"""Tests the enclave's AES-GCM implementations against OpenSSL."""

import pathlib
import subprocess

import pytest

from maeslant import paths
from maeslant.build import c_driver

HERE = pathlib.Path(__file__).parent
HEADERS = {"ipsec": "intel-ipsec-mb.h"}


@pytest.mark.parametrize("sanitize", [False, True], ids=["optimised", "sanitized"])
@pytest.mark.parametrize("library", ["openssl", "ipsec"])
def test_agrees_with_openssl(library: str, sanitize: bool, tmp_path: pathlib.Path) -> None:
    """The enclave's AES-GCM equals OpenSSL's for lengths up to 600 and rejects tampered data."""
    header = HEADERS.get(library)
    if header and not any((root / header).exists() for root in c_driver.SYSTEM_HEADERS):
        pytest.skip(f"{library} is not installed")
    enclave = paths.ROOT / "driver" / "enclave"
    sources = [HERE / "gcm_compare.c"]
    sources += [enclave / name for name in (f"crypto/gcm_{library}.c", "crypto/kdf.c", "wire.c")]
    flags = c_driver.SANITIZERS["memory"] if sanitize else c_driver.OPTIMISED
    program = tmp_path / "compare"
    command = [c_driver.compiler(), *c_driver.FLAGS, *flags, *map(str, sources)]
    command += [*c_driver.crypto_libraries(library), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

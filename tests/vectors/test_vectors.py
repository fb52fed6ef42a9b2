# SPDX-License-Identifier: Apache-2.0
"""Tests the published vectors of the unauthenticated AES modes on devices, by the driver."""

import pathlib

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant.driver.device import DECRYPT, ENCRYPT, Device
from tests.vectors import devices, monte_carlo, nist

URIS = ("sim:peripheral", "sim:stream4")
MODES = ("ecb", "cbc", "cfb", "ofb", "ctr", "xts")
# Published XTS data units that do not end on a byte; the hardware takes bytes.
XTS_BIT_UNITS = 1200


def file_id(path: pathlib.Path) -> str:
    """Returns a test's name for a vector file; for XTS with the folder's name."""
    return path.stem if "tweak" not in path.parent.name else f"{path.stem}-{path.parent.name}"


@pytest.mark.parametrize("uri", URIS)
@pytest.mark.parametrize("mode", MODES)
def test_known_answers(uri: str, mode: str) -> None:
    """The devices give the published results of CAVP, RFC 3686 and XTSVS vectors of a mode."""
    ran = 0
    with Device(uri) as device:
        for path in nist.files(mode):
            for vector in nist.parse(path):
                if vector.bits % 8:
                    continue
                source, wanted = vector.plaintext, vector.ciphertext
                direction = ENCRYPT
                if not vector.encrypt:
                    source, wanted, direction = wanted, source, DECRYPT
                iv = None if mode == "ecb" else vector.iv
                got = device.crypt(mode, direction, vector.key, iv, source)
                assert got == wanted, f"{path.name} count {vector.count} encrypt {vector.encrypt}"
                ran += 1
    assert ran >= 9


def test_bit_units_are_counted() -> None:
    """The 4,000 XTS vectors of NIST hold the expected number with lengths of no whole bytes."""
    vectors = [v for path in nist.files("xts") for v in nist.parse(path)]
    left_out = sum(1 for vector in vectors if vector.bits % 8)
    assert (len(vectors), left_out) == (4000, XTS_BIT_UNITS)


def monte_carlo_work(counts: int) -> list[tuple[str, bool, object, list]]:
    """Returns the Monte Carlo tests of every mode, key size and direction."""
    work = []
    for mode in ("cbc", "cfb", "ofb"):
        for path in nist.monte_carlo_files(mode):
            vectors = list(nist.parse(path))
            for encrypt in (True, False):
                chosen = [v for v in vectors if v.encrypt == encrypt]
                assert len(chosen) == 100
                first = chosen[0]
                data = first.plaintext if encrypt else first.ciphertext
                steps = monte_carlo.chain(mode, encrypt, first.key, first.iv, data, counts)
                wanted = [
                    (v.key, v.iv, v.plaintext, v.ciphertext)
                    if encrypt
                    else (v.key, v.iv, v.ciphertext, v.plaintext)
                    for v in chosen[:counts]
                ]
                work.append((mode, encrypt, steps, wanted))
    # The packages carry no ECB Monte Carlo file: the same algorithm over OpenSSL gives the answers.
    for bits in (128, 192, 256):
        for encrypt in (True, False):
            key, data = bytes(range(bits // 8)), bytes(range(16))
            wanted = ecb_by_openssl(encrypt, key, data, counts)
            steps = monte_carlo.chain("ecb", encrypt, key, b"", data, counts)
            work.append(("ecb", encrypt, steps, wanted))
    return work


def ecb_by_openssl(encrypt: bool, key: bytes, data: bytes, counts: int) -> list:
    """Computes the AES-ECB Monte Carlo test by OpenSSL."""
    steps = monte_carlo.chain("ecb", encrypt, key, b"", data, counts)
    out = None
    context = None
    while True:
        try:
            step = steps.send(out)
        except StopIteration as end:
            return end.value
        if isinstance(step, monte_carlo.Key):
            cipher = Cipher(algorithms.AES(step.value), modes.ECB())
            context = cipher.encryptor() if encrypt else cipher.decryptor()
            out = None
        else:
            out = context.update(step.data)


def run_monte_carlo(uri: str, counts: int) -> None:
    """Runs all Monte Carlo tests on a device; asserts the published results."""
    work = monte_carlo_work(counts)
    results = devices.run(uri, [item[:3] for item in work])
    for (mode, encrypt, _, wanted), got in zip(work, results, strict=True):
        assert got == wanted, f"Monte Carlo {mode} encrypt {encrypt}"


@pytest.mark.parametrize("uri", URIS)
def test_monte_carlo_start(uri: str) -> None:
    """The devices give the first published result (1,000 blocks) of each Monte Carlo test."""
    run_monte_carlo(uri, 1)


@pytest.mark.slow
@pytest.mark.parametrize("uri", URIS)
def test_monte_carlo_whole(uri: str) -> None:
    """The devices give all 100 published results of each Monte Carlo test."""
    run_monte_carlo(uri, 100)

# SPDX-License-Identifier: Apache-2.0
"""Tests every published GCM, CCM and CMAC vector on peripheral and stream card, by the driver.

The card has GCM of its own; the driver makes CCM and CMAC of its CBC and CTR. The peripheral has
all three. No vector is left out: all lengths are whole bytes. What no implementation may take (an
IV or a tag of a length that is not allowed, a key of none) must be refused.
"""

import itertools
from collections import Counter
from collections.abc import Iterable

import pytest

from maeslant.driver.device import Device, DeviceError, is_wrong_tag, library
from tests.vectors import authenticated, gcm
from tests.vectors.authenticated import OPENS, REFUSED, Vector

URIS = ("sim:peripheral", "sim:stream4")
PART = {"gcm": 11, "ccm": 3}  # one vector of so many runs every time; primes hit all kinds


def refusal(device: Device, call, *arguments: object) -> int:
    """Asserts that a driver call fails; returns its error code."""
    with pytest.raises(DeviceError) as caught:
        call(*arguments)
    return caught.value.code


def run_cmac(device: Device, vector: Vector) -> None:
    """Runs a CMAC vector on a device; asserts that the tag is accepted or refused as published."""
    _, lib = library()
    if vector.outcome == REFUSED:
        code = refusal(device, device.mac, vector.key, vector.plaintext)
        assert code == lib.MAE_E_KEY, vector.name
        return
    right = device.mac(vector.key, vector.plaintext, len(vector.tag)) == vector.tag
    assert right == (vector.outcome == OPENS), vector.name
    try:
        device.check_mac(vector.key, vector.plaintext, vector.tag)
        assert right, vector.name
    except DeviceError as error:
        assert is_wrong_tag(error) and not right, vector.name


def run_aead(device: Device, vector: Vector) -> None:
    """Decrypts and encrypts a GCM or CCM vector on a device; asserts the published outcome."""
    _, lib = library()
    opened = (vector.mode, vector.key, vector.nonce, vector.ciphertext, vector.tag, vector.aad)
    sealed = (vector.mode, vector.key, vector.plaintext, vector.aad, vector.nonce)
    if vector.outcome == REFUSED:
        assert refusal(device, device.unseal, *opened) == lib.MAE_E_ARGUMENT, vector.name
        code = refusal(device, device.seal, *sealed, len(vector.tag))
        assert code == lib.MAE_E_ARGUMENT, vector.name
    elif vector.outcome == OPENS:
        if vector.encrypts:
            got = device.seal(*sealed, len(vector.tag))
            assert got == (vector.nonce, vector.ciphertext, vector.tag), vector.name
        assert device.unseal(*opened) == vector.plaintext, vector.name
    else:
        assert refusal(device, device.unseal, *opened) == lib.MAE_E_AUTH, vector.name


def run(uri: str, vectors: Iterable[Vector]) -> int:
    """Runs GCM, CCM or CMAC vectors on a device; returns their number."""
    count = 0
    with Device(uri) as device:
        for count, vector in enumerate(vectors, 1):  # noqa: B007
            (run_cmac if vector.mode == "cmac" else run_aead)(device, vector)
    return count


def all_ccm() -> Iterable[Vector]:
    """Yields all CCM vectors of CAVP."""
    files = map(authenticated.ccm_file, authenticated.ccm_files())
    return itertools.chain.from_iterable(files)


def all_gcm() -> Iterable[Vector]:
    """Yields all AES-GCM vectors of CAVP."""
    return itertools.chain.from_iterable(map(authenticated.gcm_file, gcm.files()))


def test_counts() -> None:
    """The readers find all published vectors of GCM, CCM and CMAC."""
    assert Counter(v.outcome for v in all_ccm()) == {OPENS: 2400, authenticated.WRONG: 480}
    assert len(list(all_gcm())) == 47250
    assert len(list(authenticated.cmac())) == 12
    found = {}
    for mode in authenticated.WYCHEPROOF_FILES:
        outcomes = Counter(v.outcome for v in authenticated.wycheproof(mode))
        found[mode] = (outcomes[OPENS], outcomes[authenticated.WRONG], outcomes[REFUSED])
    assert found == {"gcm": (229, 81, 6), "ccm": (405, 81, 66), "cmac": (63, 243, 5)}


@pytest.mark.parametrize("uri", URIS)
@pytest.mark.parametrize("mode", ["gcm", "ccm"])
def test_cavp_part(uri: str, mode: str) -> None:
    """A part of every CAVP file of GCM and CCM gives the published results on the devices."""
    vectors = all_gcm() if mode == "gcm" else all_ccm()
    assert run(uri, itertools.islice(vectors, 0, None, PART[mode])) >= 200


@pytest.mark.parametrize("uri", URIS)
def test_cmac(uri: str) -> None:
    """The CMAC vectors of SP 800-38B and Wycheproof give the published results on the devices."""
    assert run(uri, [*authenticated.cmac(), *authenticated.wycheproof("cmac")]) == 323


@pytest.mark.parametrize("uri", URIS)
@pytest.mark.parametrize("mode", ["gcm", "ccm"])
def test_wycheproof(uri: str, mode: str) -> None:
    """The devices accept or refuse each Wycheproof vector of GCM and CCM as published."""
    assert run(uri, authenticated.wycheproof(mode)) == {"gcm": 316, "ccm": 552}[mode]


@pytest.mark.slow
@pytest.mark.parametrize("uri", URIS)
@pytest.mark.parametrize("path", gcm.files(), ids=lambda path: path.stem)
def test_gcm_whole(uri: str, path) -> None:
    """Every vector of a CAVP file of GCM gives the published result on the devices."""
    assert run(uri, authenticated.gcm_file(path)) == 7875


@pytest.mark.slow
@pytest.mark.parametrize("uri", URIS)
def test_ccm_whole(uri: str) -> None:
    """Every CCM vector of CAVP gives the published result on the devices."""
    assert run(uri, all_ccm()) == 2880

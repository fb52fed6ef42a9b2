# SPDX-License-Identifier: Apache-2.0
"""Tests every published AES-GCM vector on mae_gcm_stream, with several numbers of lanes."""

import pytest

from maeslant.sim.gcm_engine import Engine, Key, Message
from tests.vectors import gcm

SLOW = [pytest.param(lanes, marks=pytest.mark.slow) for lanes in (2, 8, 16)]
# GCM knows no IV of no bytes (SP 800-38D §5.2.1.1); Wycheproof's six are there to be refused.
EMPTY_IVS = 6


def run(lanes: int, vectors: list[gcm.Vector]) -> None:
    """Runs AES-GCM vectors on a simulated mae_gcm_stream; asserts data, tags and verdicts."""
    jobs = []
    for number, vector in enumerate(vectors):
        bank = number % 2
        data = vector.plaintext if vector.encrypt else vector.ciphertext
        jobs.append(Key(bank, vector.key))
        jobs.append(Message(bank, not vector.encrypt, vector.iv, vector.aad, data, vector.tag))
    Engine(lanes).run(jobs)
    for vector, message in zip(vectors, jobs[1::2], strict=True):
        assert message.ended, vector.name
        assert message.ok == vector.valid, vector.name
        if vector.encrypt:
            assert message.text == vector.ciphertext, vector.name
            assert message.found[: len(vector.tag)] == vector.tag, vector.name
        else:
            assert message.found == bytes(16), vector.name
            if vector.valid:
                assert message.text == vector.plaintext, vector.name


def test_counts() -> None:
    """The readers find all published AES-GCM vectors, and their lengths are as expected.

    Their IVs have whole bytes: 1, 12 and 128.
    """
    vectors = gcm.cavp()
    assert len(gcm.files()) == 6
    assert len(vectors) == 47250
    assert {len(vector.iv) for vector in vectors} == {1, 12, 128}
    assert {len(vector.tag) for vector in vectors} == {4, 8, 12, 13, 14, 15, 16}
    assert {len(vector.aad) for vector in vectors} == {0, 16, 20, 48, 90}
    assert {len(vector.ciphertext) for vector in vectors} == {0, 13, 16, 32, 51}
    assert sum(not vector.valid for vector in vectors) == 11908
    assert sum(not vector.iv for vector in gcm.wycheproof()) == EMPTY_IVS


@pytest.mark.parametrize("lanes", [1, 4, 10, *SLOW])
@pytest.mark.full
def test_cavp(lanes: int) -> None:
    """mae_gcm_stream gives the published results of all 47,250 AES-GCM vectors of CAVP."""
    run(lanes, gcm.cavp())


@pytest.mark.parametrize("lanes", [1, 4, 10, *SLOW])
def test_wycheproof(lanes: int) -> None:
    """mae_gcm_stream gives the published results of Wycheproof's AES-GCM vectors."""
    vectors = [vector for vector in gcm.wycheproof() if vector.iv]
    assert len(vectors) == 539
    run(lanes, vectors)

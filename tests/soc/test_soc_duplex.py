# SPDX-License-Identifier: Apache-2.0
"""Tests the peripheral of two jobs at once in the PicoRV32 system, by the firmware's driver."""

import random

import pytest

from maeslant.bench.soc import jobs, oracle
from maeslant.bench.soc.jobs import DECRYPT, ENCRYPT, Job, Runner

pytestmark = pytest.mark.full

MODES = ("ecb", "cbc", "ctr")


@pytest.fixture(scope="module")
def runner() -> Runner:
    """Builds the PicoRV32 system with the peripheral of two jobs."""
    return Runner("soc_duplex")


def job(mode: str, direction: int, length: int, key: bytes, area: int = 0) -> Job:
    """Builds a job with random data for the peripheral of two jobs."""
    made = Job(jobs.DUPLEX, mode, direction, random.randbytes(length), [key])
    made.iv = random.randbytes(16)
    made.source, made.destination = jobs.SOURCE + area, jobs.DESTINATION + area
    return made


@pytest.mark.parametrize("mode", MODES)
def test_alone(runner: Runner, mode: str) -> None:
    """One job alone gives OpenSSL's output in each direction and key size."""
    for key_bytes in (16, 24, 32):
        for direction in (ENCRYPT, DECRYPT):
            one = job(mode, direction, 112, random.randbytes(key_bytes))
            runner.run([one])
            assert (one.error, one.text) == (jobs.OK, oracle.result(one)[0])


def test_both_at_once(runner: Runner) -> None:
    """Two jobs at once of different modes, directions and lengths both give OpenSSL's output."""
    for _ in range(30):
        key = random.randbytes(random.choice((16, 24, 32)))
        pair = []
        for area in (0, 0x1002 if random.random() < 0.3 else 0x1000):  # also not word-aligned
            mode = random.choice(MODES)
            length = random.choice((16, 32, 256, *((5, 41) if mode == "ctr" else ())))
            pair.append(job(mode, random.choice((ENCRYPT, DECRYPT)), length, key, area))
        runner.run_both(*pair)
        assert pair[0].error == jobs.OK
        for one in pair:
            assert one.text == oracle.result(one)[0], (one.mode, one.direction, len(one.data))


def test_second_refused(runner: Runner) -> None:
    """A second job that breaks a rule is an error; the first one has been done all the same."""
    key = random.randbytes(16)
    first, second = job("cbc", DECRYPT, 64, key), job("ecb", ENCRYPT, 33, key, 0x1000)
    second.laid_out = False
    runner.run_both(first, second)
    assert first.error not in (jobs.OK, jobs.ARGUMENT, jobs.AUTH)
    assert first.text == oracle.result(first)[0]


def test_both_faster_than_one_by_one(runner: Runner) -> None:
    """A message each way at once takes fewer clocks than one by one."""
    key = random.randbytes(16)
    pair = [job("ecb", d, 1024, key, 0x1000 * d) for d in (ENCRYPT, DECRYPT)]
    runner.run(pair)
    alone = sum(one.clocks for one in pair)
    runner.run_both(*pair)
    assert pair[0].error == jobs.OK
    assert pair[0].clocks < alone

# SPDX-License-Identifier: Apache-2.0
"""Tests two peripherals on the CPU's memory in the PicoRV32 system, by the firmware's driver."""

import random
import struct

import pytest

from maeslant.bench.soc import jobs, oracle
from maeslant.bench.soc.jobs import DECRYPT, ENCRYPT, Job, Runner

pytestmark = pytest.mark.full

MODES = ("ecb", "cbc", "cfb", "ofb", "ctr")


@pytest.fixture(scope="module")
def runner() -> Runner:
    """Builds the PicoRV32 system with two peripherals on its memory."""
    return Runner("soc_two")


def job(mode: str, direction: int, length: int, source: int, destination: int) -> Job:
    """Builds a memory job with random data and a key of its own."""
    key = random.randbytes(random.choice((16, 24, 32)))
    made = Job(jobs.POLLED, mode, direction, random.randbytes(length), [key])
    made.iv = random.randbytes(16)
    made.source, made.destination = jobs.SOURCE + source, jobs.DESTINATION + destination
    return made


def test_apart(runner: Runner) -> None:
    """Jobs of two peripherals on rows of their own both give OpenSSL's output."""
    for _ in range(12):
        pair = [
            job(random.choice(MODES), random.choice((ENCRYPT, DECRYPT)), 16 * length, area, area)
            for area, length in ((0, random.randrange(1, 40)), (0x1000, random.randrange(1, 40)))
        ]
        runner.run_two(*pair)
        for one in pair:
            assert (one.error, one.text) == (jobs.OK, oracle.result(one)[0]), one.mode


@pytest.mark.parametrize("shift", [0, 16, -32])
def test_chained(runner: Runner, shift: int) -> None:
    """A job reads what an unfinished job of the other peripheral writes, and the CPU reads on."""
    for mode in MODES:
        first = job(mode, ENCRYPT, 512, 0, 0)
        second = job(random.choice(MODES), DECRYPT, 512, 0, 0x1000)
        second.source, second.laid_out = first.destination + shift, False
        around = [runner.system.read(first.destination + at, 32) for at in (-32, 512)]
        first.work = (second.destination, 512)
        runner.run_two(first, second)
        assert first.text == oracle.result(first)[0]
        whole = around[0] + first.text + around[1]
        second.data = whole[32 + shift : 32 + shift + 512]
        text = runner.system.read(second.destination, 512)
        assert (second.error, text) == (jobs.OK, oracle.result(second)[0]), second.mode
        assert first.sum == sum(struct.unpack("<128I", text)) % 2**32, "read too early"


def test_over_the_source(runner: Runner) -> None:
    """A job's result goes where the other peripheral's job has yet to read: it comes too late."""
    for mode in MODES:
        first, second = job(mode, ENCRYPT, 512, 0, 0), job("ecb", ENCRYPT, 512, 0x1000, 0x1000)
        second.destination = first.source
        runner.run_two(first, second)
        for one in (first, second):
            assert (one.error, one.text) == (jobs.OK, oracle.result(one)[0]), one.mode


def test_over_the_result(runner: Runner) -> None:
    """Keeps the second result of two jobs with one destination."""
    first, second = job("cbc", ENCRYPT, 512, 0, 0), job("ctr", ENCRYPT, 512, 0x1000, 0)
    runner.run_two(first, second)
    assert first.error == second.error == jobs.OK
    assert first.text == second.text == oracle.result(second)[0]


def test_refused(runner: Runner) -> None:
    """A second job that breaks a rule is an error of its own; the first one is done."""
    first, second = job("cbc", ENCRYPT, 512, 0, 0), job("ecb", ENCRYPT, 33, 0x1000, 0x1000)
    second.laid_out = False
    runner.run_two(first, second)
    assert (first.error, first.text) == (jobs.OK, oracle.result(first)[0])
    assert second.error not in (jobs.OK, jobs.ARGUMENT, jobs.AUTH)

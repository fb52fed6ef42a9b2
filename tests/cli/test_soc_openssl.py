# SPDX-License-Identifier: Apache-2.0
"""Tests AES jobs of the firmware on the simulated PicoRV32 system against OpenSSL."""

import random
import struct

import pytest

from maeslant.bench.soc import jobs, oracle
from maeslant.bench.soc.jobs import DECRYPT, ENCRYPT, Job, Runner
from maeslant.driver.device import MODES
from maeslant.verify import mode_oracle

pytestmark = pytest.mark.full

PARTIAL = (*mode_oracle.ANY_LENGTH, "gcm", "ccm", "cmac")  # any length of bytes
AEAD = ("gcm", "ccm")
WAYS = {"registers": jobs.REGISTERS, "polled": jobs.POLLED, "interrupt": jobs.INTERRUPT}
LENGTHS = (16, 48, 240)


@pytest.fixture(scope="module")
def runner() -> Runner:
    """Builds the simulated PicoRV32 system and its firmware, once for this file."""
    return Runner()


def random_job(source: random.Random, way: int, mode: str, direction: int, length: int) -> Job:
    """Returns a random AES job with all inputs that its mode needs."""
    key_bytes = source.choice((16, 24, 32) if mode != "xts" else (16, 32))
    keys = [source.randbytes(key_bytes) for _ in range(2 if mode == "xts" else 1)]
    iv_bytes = {"gcm": source.choice((12, 12, 8, 20)), "ccm": source.randrange(7, 14)}.get(mode, 16)
    tag_bytes = {"ccm": source.choice((8, 12, 16)), "gcm": 16}.get(mode, 16)
    job = Job(way, mode, ENCRYPT, source.randbytes(length), keys, iv=source.randbytes(iv_bytes))
    job.tag = bytes(tag_bytes)
    if mode in AEAD:
        job.aad = source.randbytes(source.choice((0, 5, 16, 40)))
    if direction == DECRYPT and mode in (*AEAD, "cmac"):
        text, job.tag = oracle.result(job)
        job.data = text or job.data
    job.direction = direction
    return job


def check(runner: Runner, job: Job) -> None:
    """Runs a job on the simulated PicoRV32 system; asserts that its result is OpenSSL's."""
    expected, tag = oracle.result(job)
    runner.run([job])
    assert job.error == jobs.OK
    if job.mode != "cmac":
        assert job.text == expected
    if job.direction == ENCRYPT and job.mode in (*AEAD, "cmac"):
        assert job.tag == tag


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("direction", (ENCRYPT, DECRYPT), ids=("encrypt", "decrypt"))
@pytest.mark.parametrize("mode", jobs.MODES)
def test_mode(runner: Runner, mode: str, direction: int, way: str) -> None:
    """Firmware jobs by registers or memory equal OpenSSL's for each mode, key and length."""
    source = random.Random(f"{mode} {direction} {way}")
    lengths = [*LENGTHS, 512 + 16 * source.randrange(32)]
    if mode in PARTIAL:
        lengths += [17, 100, 16 * source.randrange(2, 40) + source.randrange(1, 16)]
    for length in lengths:
        check(runner, random_job(source, WAYS[way], mode, direction, length))


@pytest.mark.parametrize("way", ("registers", "interrupt"))
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "xts"])
def test_key_each(runner: Runner, mode: str, way: str) -> None:
    """Firmware jobs with a new key for each block equal OpenSSL's for each key length."""
    source = random.Random(f"{mode} {way}")
    for key_bytes in (16, 24, 32):
        for direction in (ENCRYPT, DECRYPT):
            count = source.randrange(2, 20)
            keys = [source.randbytes(key_bytes) for _ in range(count)]
            data, iv = source.randbytes(16 * count), source.randbytes(16)
            check(runner, Job(WAYS[way], mode, direction, data, keys, True, iv=iv))


@pytest.mark.parametrize("direction", (ENCRYPT, DECRYPT), ids=("encrypt", "decrypt"))
def test_software(runner: Runner, direction: int) -> None:
    """The firmware's software AES, written in C for comparison, equals OpenSSL's."""
    source = random.Random(direction)
    for key_bytes in (16, 24, 32):
        keys = [source.randbytes(key_bytes) for _ in range(3)]
        data = source.randbytes(48)
        check(runner, Job(jobs.SOFTWARE, "ecb", direction, data, keys[:1]))
        check(runner, Job(jobs.SOFTWARE, "ecb", direction, data, keys, True))


@pytest.mark.parametrize("way", ("registers", "polled", "interrupt"))
@pytest.mark.parametrize("mode", (*AEAD, "cmac"))
def test_wrong_tag(runner: Runner, mode: str, way: str) -> None:
    """A memory job with a changed tag bit ends with an error and a zeroed destination."""
    source = random.Random(f"{mode} {way}")
    job = random_job(source, WAYS[way], mode, DECRYPT, 80)
    position = source.randrange(8 * len(job.tag))
    job.tag = bytes(
        byte ^ (1 << position % 8 if index == position // 8 else 0)
        for index, byte in enumerate(job.tag)
    )
    runner.system.write(job.destination, b"\xff" * 96)
    runner.run([job])
    assert job.error == jobs.AUTH
    if mode != "cmac":
        assert job.text == bytes(80)
        assert runner.system.read(job.destination + 80, 16) == b"\xff" * 16


@pytest.mark.parametrize("mode", ("ecb", "cbc", "ctr", "xts", "gcm"))
@pytest.mark.parametrize("direction", (ENCRYPT, DECRYPT), ids=("encrypt", "decrypt"))
def test_read_at_once(runner: Runner, mode: str, direction: int) -> None:
    """A CPU read from a running job's destination returns the final bytes that OpenSSL gives."""
    source = random.Random(f"{mode} {direction} at once")
    job = random_job(source, jobs.GO_ON, mode, direction, 1024)
    job.work = (job.destination, 1024)
    runner.system.write(job.destination, source.randbytes(1024))
    check(runner, job)
    assert job.sum == sum(struct.unpack("<256I", job.text)) % (1 << 32)


@pytest.mark.parametrize("mode", ("ecb", "cbc", "ctr"))
def test_in_place(runner: Runner, mode: str) -> None:
    """Memory jobs in place, or with a destination below the source, equal OpenSSL's."""
    source = random.Random(mode)
    for destination in (jobs.SOURCE, jobs.SOURCE + 0x100):
        job = random_job(source, jobs.POLLED, mode, ENCRYPT, 800)
        job.source, job.destination = jobs.SOURCE + 0x100, destination
        check(runner, job)


@pytest.mark.parametrize(
    ("place", "value"),
    (
        ("source", jobs.SOURCE + 4),
        ("destination", jobs.DESTINATION + 1),
        ("destination", jobs.SOURCE + 16),  # would be overwritten before it is read
        ("destination", 0x4000_0000 - 64),
        ("destination", 0x0004_0000 - 16),  # ends beyond the memory
    ),
)
def test_bad_address(runner: Runner, place: str, value: int) -> None:
    """A memory job with an illegal address is refused, and the next job runs right."""
    job = Job(jobs.POLLED, "ecb", ENCRYPT, bytes(range(64)), [bytes(16)])
    refused = Job(jobs.POLLED, "ecb", ENCRYPT, bytes(range(64)), [bytes(16)], laid_out=False)
    setattr(refused, place, value)
    runner.run([refused])
    assert refused.error == jobs.ARGUMENT
    check(runner, job)

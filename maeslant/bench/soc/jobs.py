# SPDX-License-Identifier: Apache-2.0
"""Runs AES jobs on the firmware of the simulated PicoRV32 system."""

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence

import cffi

from maeslant.bench.soc.system import BUILD, SocError, System
from maeslant.build import firmware
from maeslant.driver import device

PROGRAM = "jobs"
SOFTWARE, REGISTERS, POLLED, INTERRUPT, GO_ON, DUPLEX, BOTH, TWO = range(8)  # enum soc_way
KEY, DATA = range(2)  # enum soc_job_kind
MODES = {name: code for name, code in device.CODES.items() if name != "copy"}
ENCRYPT, DECRYPT = range(2)
OK, ARGUMENT, AUTH = 0, 1, 27  # of maeslant.h's errors
# The 256 KiB of the build are the program, then these areas of 64 KiB.
SOURCE, DESTINATION, KEYS = 0x10000, 0x20000, 0x30000
KEYS_APART = 0x8000  # of each of two jobs, in their area
BYTES = 4096  # for the IV and the additional data of each of two jobs
RESULTS = ("error", "clocks", "instructions", "sum", "summed")


@dataclasses.dataclass(slots=True)
class Job:
    """Holds an AES job for the PicoRV32 system's firmware, and later its results.

    Areas are for data of up to 64 KiB.
    """

    way: int
    mode: str = "ecb"
    direction: int = ENCRYPT
    data: bytes = b""
    keys: Sequence[bytes] = ()  # one, XTS two; with key_each one for each block
    key_each: bool = False
    kind: int = DATA
    iv: bytes = bytes(16)
    aad: bytes = b""
    tag: bytes = bytes(16)  # its length counts; decryption: expected
    work: tuple[int, int] = (0, 0)  # address and bytes, in multiples of 32
    source: int = SOURCE
    destination: int = DESTINATION
    laid_out: bool = True  # data is put at its source, and the result fetched
    # What came of it.
    error: int = -1
    clocks: int = 0
    instructions: int = 0
    sum: int = 0
    summed: int = 0
    text: bytes = b""


@functools.cache
def _ffi() -> cffi.FFI:
    """Returns the CFFI declarations taken from driver/firmware/jobs.h."""
    text = (firmware.FIRMWARE / "jobs.h").read_text()
    ffi = cffi.FFI()
    ffi.cdef(re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1])
    return ffi


class Runner:
    """Runs AES jobs by the firmware of a simulated PicoRV32 system."""

    def __init__(self, build: str = BUILD) -> None:
        self.system = System(build)
        self.system.load(firmware.build(PROGRAM))
        self.mailbox = self.system.symbols["soc_mailbox"]
        # The memory arbiter needs some clocks after a reset before its first job: have them over.
        self.run([Job(POLLED, data=bytes(16), keys=[bytes(16)])])

    def run(self, jobs: Sequence[Job], seen: Callable[[int], None] = lambda clocks: None) -> None:
        """Runs AES jobs one by one on the PicoRV32 system; stores the results in the jobs."""
        for job in jobs:
            self._run_list([job], seen)

    def run_both(self, first: Job, second: Job) -> None:
        """Runs two AES jobs at once under the first job's key; stores the results in the jobs."""
        first.way = BOTH
        self._run_list([first, second], lambda clocks: None)

    def run_two(self, first: Job, second: Job) -> None:
        """Runs two memory jobs at once on two peripherals; stores the results in the jobs."""
        first.way = TWO
        self._run_list([first, second], lambda clocks: None)

    def _run_list(self, jobs: Sequence[Job], seen: Callable[[int], None]) -> None:
        """Runs AES jobs by the PicoRV32 system's firmware; stores the results in the jobs."""
        record = _ffi().new("struct soc_jobs *")
        record.count = len(jobs)
        for index, job in enumerate(jobs):
            self._fill(record, index, job)
        self.system.write(self.mailbox, bytes(_ffi().buffer(record)))
        code = self.system.run(seen=seen)
        if code:
            raise SocError(f"the firmware ended with {code}: {self.system.console.strip()}")
        data = bytearray(self.system.read(self.mailbox, _ffi().sizeof(record[0])))
        for index, job in enumerate(jobs):
            done = _ffi().from_buffer("struct soc_jobs *", data).list[index]
            for name in RESULTS:
                setattr(job, name, getattr(done, name))
            if job.direction == ENCRYPT:
                job.tag = bytes(done.tag)[: len(job.tag)]
            if job.laid_out:
                job.text = self.system.read(job.destination, len(job.data))

    def _fill(self, record: object, index: int, job: Job) -> None:
        """Writes an AES job's data to the PicoRV32 system's memory; fills in the job's C record."""
        done = record.list[index]
        for name in ("way", "kind", "direction", "key_each", "source", "destination"):
            setattr(done, name, int(getattr(job, name)))
        done.mode = MODES[job.mode]
        done.length = len(job.data)
        if job.laid_out:
            self.system.write(job.source, job.data)
        key_bytes = len(job.keys[0])
        stride = 16 if key_bytes == 16 else 32
        keys = KEYS + index * KEYS_APART
        self.system.write(keys, b"".join(key.ljust(stride, b"\0") for key in job.keys))
        done.keys, done.key_bytes = keys, key_bytes
        small = job.iv + job.aad
        at = index * BYTES
        _ffi().memmove(record.bytes + at, small, len(small))
        done.iv = self.mailbox + _ffi().offsetof("struct soc_jobs", "bytes") + at
        done.iv_bytes, done.aad, done.aad_bytes = len(job.iv), done.iv + len(job.iv), len(job.aad)
        done.tag_bytes = len(job.tag)
        done.tag = job.tag.ljust(16, b"\0")
        done.work, done.work_bytes = job.work

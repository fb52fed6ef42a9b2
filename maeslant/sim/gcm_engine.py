# SPDX-License-Identifier: Apache-2.0
"""Runs messages on the simulated GCM engine mae_gcm_stream.

The clocks, the stalls and the order of things at the ports are sim/gcm's; here is the list of jobs.
"""

import dataclasses
import functools
import re
import struct
from collections.abc import Sequence

import cffi

from maeslant import paths
from maeslant.build import configurations, simulator
from maeslant.errors import MaeslantError

TOP = "mae_gcm_stream"
JOB = struct.Struct("<8B4IQ16s")
RESULT = struct.Struct("<16s2B6xQ")
KEY, MESSAGE, ABORT, CLEAR, STALL = range(5)


class EngineError(MaeslantError):
    """Raised if the simulated GCM engine violates the protocol of its ports."""


@dataclasses.dataclass(slots=True)
class Key:
    """Describes a test job that loads a key into one of the GCM engine's key slots."""

    bank: int
    key: bytes


@dataclasses.dataclass(slots=True)
class Message:
    """Describes a message for the GCM engine; :meth:`Engine.run` fills in the output.

    ``odd`` makes its beats disagree with its announced lengths: 1 in bytes, 2 in the last mark.
    """

    bank: int
    decrypt: bool
    iv: bytes
    aad: bytes
    data: bytes
    tag: bytes = b""  # expected, of decryption; its length is what counts
    odd: int = 0
    ended: bool = False  # a tag or verdict came
    ok: bool = False
    text: bytes = b""  # what came out; less than data if aborted
    found: bytes = b""  # the tag port


@dataclasses.dataclass(slots=True)
class Abort:
    """Describes a test job that aborts the GCM engine a number of clocks after the previous job."""

    wait: int
    clear: bool = False


@dataclasses.dataclass(slots=True)
class Stall:
    """Describes a test job that sets the probability of random stalls at the GCM engine's ports."""

    chances: tuple[int, int, int, int, int]


Job = Key | Message | Abort | Stall


def names() -> dict[int | str, str]:
    """Returns the names of the GCM engine's builds, keyed by number of lanes or by name."""
    found = [name for name, build in configurations.load().items() if build["top"] == TOP]
    return {int(name[3:]) if name[3:].isdigit() else name: name for name in found}


def lanes(engine: int | str) -> int:
    """Returns the number of AES blocks per clock that a named GCM engine processes."""
    return int(configurations.get(names()[engine])["parameters"]["Lanes"])


def key_sizes(engine: int | str) -> tuple[int, ...]:
    """Returns the key sizes in bytes that a GCM engine accepts (FIPS 197, section 5)."""
    longest = configurations.get(names()[engine])["parameters"].get("MaxKeyLen", 2)
    return (16, 24, 32)[: int(longest) + 1]


def banks(engine: int | str) -> int:
    """Returns the number of keys that a named GCM engine holds at once."""
    return int(configurations.get(names()[engine])["parameters"]["KeyBanks"])


@functools.cache
def _ffi() -> cffi.FFI:
    """Returns the CFFI declarations taken from sim/gcm/mae_sim_gcm.h."""
    text = (paths.ROOT / "sim" / "gcm" / "mae_sim_gcm.h").read_text()
    ffi = cffi.FFI()
    cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
    ffi.cdef(cdef.replace("MAE_SIM_API", ""))
    return ffi


@functools.cache
def _library(name: str) -> object:
    return _ffi().dlopen(str(simulator.build(name)))


class Engine:
    """Simulates the GCM engine mae_gcm_stream of a given width and runs test jobs on it."""

    def __init__(self, engine: int | str, seed: int = 1) -> None:
        self.lib = _library(names()[engine])
        self.lanes = self.lib.mae_sim_gcm_lanes(_ffi().NULL)
        parameters = configurations.get(names()[engine])["parameters"]
        held = 2 if parameters.get("Deep") or parameters.get("OneMul") else 1
        handle = self.lib.mae_sim_gcm_create(seed, held)
        self.handle = _ffi().gc(handle, self.lib.mae_sim_gcm_destroy)

    @property
    def clocks(self) -> int:
        """Returns the number of clock cycles for which the GCM engine has been simulated."""
        return self.lib.mae_sim_gcm_clocks(self.handle)

    def run(self, jobs: Sequence[Job]) -> None:
        """Runs keys, messages and aborts on the GCM engine; stores outputs in the messages."""
        ffi = _ffi()
        words, data = bytearray(), bytearray()
        for job in jobs:
            words += _pack(job, len(data))
            if isinstance(job, Key):
                data += job.key
            elif isinstance(job, Message):
                data += job.iv
                data += job.aad
                data += job.data
        given = ffi.from_buffer("struct mae_gcm_job[]", words)
        assert ffi.sizeof("struct mae_gcm_job") == JOB.size
        assert ffi.sizeof("struct mae_gcm_result") == RESULT.size
        out, results = bytearray(len(data)), bytearray(RESULT.size * len(jobs))
        status = self.lib.mae_sim_gcm_run(
            self.handle,
            given,
            len(jobs),
            ffi.from_buffer(data),
            ffi.from_buffer(out),
            ffi.from_buffer("struct mae_gcm_result[]", results),
        )
        offset = 0
        for job, result in zip(jobs, RESULT.iter_unpack(results), strict=True):
            if isinstance(job, Key):
                offset += len(job.key)
            elif isinstance(job, Message):
                offset += len(job.iv) + len(job.aad)
                job.found, ended, ok, count = result
                job.ended, job.ok = bool(ended), bool(ok)
                job.text = bytes(out[offset : offset + count])
                offset += len(job.data)
        if status:
            text = ffi.string(self.lib.mae_sim_gcm_message(self.handle)).decode(errors="replace")
            raise EngineError(f"{self.lanes} lanes: {text}")


def _pack(job: Job, offset: int) -> bytes:
    """Encodes a test job of the GCM engine as the simulator's C struct."""
    if isinstance(job, Message):
        tag_bytes = len(job.tag) if job.decrypt else 16
        return JOB.pack(
            MESSAGE,
            job.bank,
            job.decrypt,
            tag_bytes,
            job.odd,
            0,
            0,
            0,
            len(job.iv),
            len(job.aad),
            len(job.data),
            0,
            offset,
            job.tag,
        )
    head, wait, size, text = [STALL, 0], 0, 0, b""
    if isinstance(job, Key):
        head, size = [KEY, job.bank], len(job.key)
    elif isinstance(job, Abort):
        head, wait = [CLEAR if job.clear else ABORT, 0], job.wait
    else:
        text = bytes(job.chances)
    return JOB.pack(*head, 0, 0, 0, size, wait, 0, 0, 0, 0, 0, offset, text)

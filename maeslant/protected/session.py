# SPDX-License-Identifier: Apache-2.0
"""Binds the protected C driver (driver/enclave) to Python: sessions, tasks, callbacks.

`Host` has the methods of maeslant.protected.model.host.Host and raises its errors, so that what
drives the reference drives the C driver.
"""

import functools
import re
import socket
import subprocess
import threading
from collections.abc import Iterable

import cffi

from maeslant import paths
from maeslant.build import c_driver
from maeslant.errors import MaeslantError
from maeslant.protected.model import wire
from maeslant.protected.model.constants import HOST_BLOCKS, Kind
from maeslant.protected.model.host import (
    GivenUpError,
    HostError,
    MisuseError,
    PoisonedError,
    RefusedError,
)
from maeslant.protected.model.keys import BudgetError

FOREVER = 100  # units of time of a step without news; others count 1


@functools.cache
def library() -> tuple[cffi.FFI, object]:
    """Builds the enclave driver's library if out of date, loads it; returns CFFI and library.

    The headers are the only declaration.
    """
    ffi = cffi.FFI()
    for name in ("maeslant.h", "maeslant_protected.h"):
        text = (paths.ROOT / "driver" / "include" / name).read_text()
        cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
        ffi.cdef(re.sub(r"\bMAE_API(_VOID)?\b", "", cdef))
    return ffi, ffi.dlopen(str(c_driver.build_protected()))


class Outside:
    """Implements the C driver's callbacks on the bus model: card registers, shared memory, time.

    What a callback raises is kept and raised again when the driver's call returns.
    """

    def __init__(self, link) -> None:
        self.link = link
        self.lock = threading.Lock()  # a Link does one thing at a time
        self.error: BaseException | None = None
        self.time = 0
        ffi, _ = library()
        self.ffi = ffi
        self.functions = {
            name: ffi.callback(kind, getattr(self, name), onerror=self._failed)
            for name, kind in {
                "read": "void(void *, uint32_t, void *, size_t)",
                "write": "void(void *, uint32_t, const void *, size_t)",
                "allocate": "bool(void *, size_t, uint64_t *, uint64_t *)",
                "load": "void(void *, uint64_t, void *, size_t)",
                "store": "void(void *, uint64_t, const void *, size_t)",
                "now": "uint64_t(void *)",
                "pause": "void(void *, bool)",
            }.items()
        }
        self.struct = ffi.new("struct mae_outside *", self.functions)
        self.window = (link.BASE, len(link.memory))  # where its shared memory lies

    def _failed(self, kind, value, trace) -> None:
        self.error = self.error or value

    def reraise(self) -> None:
        """Raises the Python exception that a callback of the C driver has raised, if any."""
        error, self.error = self.error, None
        if error:
            raise error

    def read(self, _user, offset, data, size) -> None:
        """Reads card registers over the bus model, as a callback of the C driver."""
        self.ffi.memmove(data, self.link.mmio_read(offset, size), size)

    def write(self, _user, offset, data, size) -> None:
        """Writes card registers over the bus model, as a callback of the C driver."""
        self.link.mmio_write(offset, bytes(self.ffi.buffer(data, size)))

    def allocate(self, _user, size, host, at) -> bool:
        """Allocates memory shared with the card on the bus model, as a callback of the C driver."""
        try:
            host[0] = at[0] = self.link.allocate(size)
        except MemoryError:
            return False
        return True

    def load(self, _user, at, data, size) -> None:
        """Reads shared memory over the bus model, as a callback of the C driver."""
        with self.lock:
            self.ffi.memmove(data, self.link.load(at, size), size)

    def store(self, _user, at, data, size) -> None:
        """Writes shared memory over the bus model, as a callback of the C driver."""
        with self.lock:
            self.link.store(at, bytes(self.ffi.buffer(data, size)))

    def now(self, _user) -> int:
        """Returns the time for the C driver's time-outs, in steps of the card."""
        return self.time

    def pause(self, _user, news: bool) -> None:
        """Advances the card by one step while the C driver waits, as the driver's callback."""
        self.time += 1 if self.link.step() else FOREVER


class Gate:
    """Starts the process that plays the operating system and owns the card; links it to the driver.

    `command` is that process; the numbers of its sockets stand in place of "{socket}" and "{wire}".
    The wire stands for the card's provisioning port: the trusted library has no part in it.
    """

    def __init__(self, command: list[str]) -> None:
        self.ffi, self.lib = library()
        ours, theirs = socket.socketpair()
        self.wire, port = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs, port:
            numbers = {"{socket}": str(theirs.fileno()), "{wire}": str(port.fileno())}
            words = [numbers.get(word, word) for word in command]
            self.process = subprocess.Popen(words, pass_fds=[theirs.fileno(), port.fileno()])
        self.socket = ours
        self.wire.settimeout(60)
        handle = self.ffi.new("mae_gate_t **")
        if self.lib.mae_gate_open(ours.fileno(), handle) != self.lib.MAE_OK:
            ours.close()
            self.wire.close()
            status = self.process.wait()
            raise MaeslantError(f"{command[0]} does not serve: exit status {status}")
        self.handle = handle[0]
        self.struct = self.lib.mae_gate_outside(self.handle)
        base, size = self.ffi.new("uint64_t *"), self.ffi.new("uint64_t *")
        self.lib.mae_gate_window(self.handle, base, size)
        self.window = (base[0], size[0])

    @classmethod
    def simulated(cls, library_path: str, options: str = "", mebibytes: int = 64) -> "Gate":
        """Starts a process that owns a simulated card; returns the Gate connected to it."""
        program, _ = c_driver.build_os()
        return cls([str(program), "{socket}", "{wire}", library_path, options, str(mebibytes)])

    def reraise(self) -> None:
        """Does nothing, because the process that owns the card raises no Python exceptions."""

    def pause(self, _user, news: bool) -> None:
        """Advances the simulated card, which another process owns, by some clock cycles."""
        self.struct.pause(self.struct.user, news)

    def read(self, offset: int, size: int) -> bytes:
        """Returns unprotected registers of the card, read by the process that owns the card."""
        data = self.ffi.new("uint8_t[]", size)
        self.struct.read(self.struct.user, offset, data, size)
        return bytes(self.ffi.buffer(data))

    def write(self, offset: int, data: bytes) -> None:
        """Writes unprotected registers of the card through the process that owns the card."""
        self.struct.write(self.struct.user, offset, self.ffi.from_buffer(data), len(data))

    def install(self, secret: bytes, session_id: bytes) -> bool:
        """Installs a session's secret by the card's provisioning port; returns true if accepted."""
        try:
            self.wire.send(secret + session_id)
            return self.wire.recv(1) == b"\1"
        except OSError:  # nobody is at the other end, or he says nothing
            return False

    @property
    def clocks(self) -> int:
        """Returns the number of clock cycles that the card has run."""
        return self.lib.mae_gate_clocks(self.handle)

    @property
    def commands(self) -> int:
        """Returns the number of commands that were sent to the process that owns the card."""
        return self.lib.mae_gate_commands(self.handle)

    def close(self) -> None:
        """Ends the process that owns the card and disconnects the C driver from it.

        May be called twice.
        """
        if self.handle is not None:
            self.socket.close()
            self.wire.close()
            self.process.wait(10)
            self.lib.mae_gate_close(self.handle)
            self.handle = None

    def __enter__(self) -> "Gate":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Job:
    """Tracks a task of the protected C driver: one request, or the chunks of a transfer."""

    def __init__(self, host: "Host", handle, data=None) -> None:
        self.host, self.data = host, data
        self.handle = host.ffi.gc(handle, functools.partial(_free_task, host.core, host.lib))

    @property
    def result(self):
        """Returns the state and result of a C driver's task (struct mae_task_result)."""
        result = self.host.ffi.new("struct mae_task_result *")
        self.host.lib.mae_task_get(self.handle, result)
        return result

    @property
    def last(self):
        """Returns queue and sequence number of a C driver task's last request, to wait for it."""
        result = self.result
        return wire_name(result.queue, result.last)

    @property
    def numbers(self) -> range:
        """Returns the sequence numbers of the requests of a C driver's task."""
        result = self.result
        return range(result.first, result.last + 1)

    @property
    def done(self) -> bool:
        """Returns true once all requests of a C driver's task were answered or have failed."""
        return bool(self.result.done)


class wire_name:  # noqa: N801
    """Names a request by its queue and sequence number."""

    def __init__(self, queue: int, sequence: int) -> None:
        self.queue, self.sequence = queue, sequence


class Core:
    """Holds the C driver's session handle, shared by a Host and its tasks."""

    def __init__(self, handle) -> None:
        self.handle = handle


def _free_task(core: Core, lib, handle) -> None:
    if core.handle is not None:
        lib.mae_task_free(handle)


class Host:
    """Runs the enclave's side of a protected session through the C driver.

    `link` is the untrusted world: a Link, or a Gate.

    `timeout`: a Link's steps without news, or a Gate's clocks. `threads`: those that seal and open
    chunks, this one included; 0: the driver's choice, which is 1 for a Link.
    """

    def __init__(
        self,
        link,
        secret: bytes,
        session_id: bytes,
        nonce: bytes | None = None,
        limit: int = HOST_BLOCKS,
        timeout: int = 400,
        enclave: tuple[int, int] | None = None,
        send_while_sealing: bool = False,
        threads: int = 0,
    ) -> None:
        self.ffi, self.lib = library()
        self.outside = link if isinstance(link, Outside | Gate) else Outside(link)
        self.core = Core(None)
        config = self.ffi.new("struct mae_session_config *")
        self.ffi.memmove(config.secret, secret, 32)
        self.ffi.memmove(config.session_id, session_id, 16)
        if nonce is not None:
            self.ffi.memmove(config.host_nonce, nonce, 32)
            config.nonce_given = 1
        config.send_while_sealing = send_while_sealing
        config.threads = threads
        remote = isinstance(self.outside, Gate)
        enclave = enclave or ((0, 0) if remote else (0x7F00_0000_0000, 1 << 32))
        config.timeout = timeout if remote else FOREVER * timeout
        config.block_limit = limit
        config.enclave_base, config.enclave_bytes = enclave
        config.shared_base, config.shared_bytes = self.outside.window
        handle = self.ffi.new("mae_session_t **")
        code = self.lib.mae_session_begin(self.outside.struct, config, handle)
        self.ffi.memmove(config.secret, bytes(32), 32)
        if handle[0]:
            self.core.handle = handle[0]
        self._check(code)

    @property
    def session(self):
        """Returns the C driver's session handle."""
        return self.core.handle

    def free(self) -> None:
        """Frees the C driver's session, which wipes its keys. May be called twice."""
        if self.core.handle is not None:
            self.lib.mae_session_free(self.core.handle)
            self.core.handle = None

    def __del__(self) -> None:
        if hasattr(self, "core"):
            self.free()

    def _text(self, call) -> str:
        return self.ffi.string(call(self.session)).decode()

    def _check(self, code: int) -> None:
        """Raises the Python exception for an error code of the protected C driver."""
        self.outside.reraise()
        if code == self.lib.MAE_OK:
            return
        detail = self._text(self.lib.mae_session_detail) if self.session else "bad argument"
        if code == self.lib.MAE_E_POISONED:
            raise PoisonedError(detail, self._text(self.lib.mae_session_advice))
        if code == self.lib.MAE_E_LIMIT:
            raise BudgetError(detail)
        raise MisuseError(detail)

    def _job(self, call, *arguments, data=None) -> Job:
        handle = self.ffi.new("mae_task_t **")
        self._check(call(self.session, *arguments, handle))
        return Job(self, handle[0], data)

    def open(self) -> Job:
        """Sends the OPEN request that starts a protected session; returns its Job."""
        return self._job(self.lib.mae_session_open)

    def close(self) -> Job:
        """Sends the CLOSE request that ends a protected session; returns its Job."""
        return self._job(self.lib.mae_session_close)

    def rekey(self, queue: int) -> Job:
        """Sends a REKEY request, which gives a queue the next epoch's keys; returns its Job."""
        return self._job(self.lib.mae_session_rekey, queue)

    def skip(self, queue: int) -> Job:
        """Sends a SKIP request, by which the card abandons a queue's transfer; returns its Job."""
        return self._job(self.lib.mae_session_skip, queue)

    def batch(self, queue: int, operations: Iterable[wire.Operation]) -> Job:
        """Sends a BATCH request of register reads, writes and waits in order; returns its Job."""
        each = [(o.op, o.log2_width, o.zero, o.offset, o.data) for o in operations]
        array = self.ffi.new("struct mae_operation[]", each or 1)
        return self._job(self.lib.mae_session_batch, queue, array, len(each))

    def h2d(
        self,
        queue: int,
        base: int,
        data: bytes,
        chunk: int = 0,
        after: int = 0,
        give_up: int | None = None,
    ) -> Job:
        """Starts a transfer from host to device in encrypted chunks; returns its Job.

        `give_up`: abandon that chunk while it is sealed, by SKIP.
        """
        h2d = self.ffi.new(
            "struct mae_h2d *",
            {"queue": queue, "base": base, "total": len(data), "chunk": chunk, "after": after},
        )
        if give_up is None:
            source = self.ffi.from_buffer(data) if data else self.ffi.new("uint8_t[1]")
            h2d.data = source
            return self._job(self.lib.mae_session_h2d, h2d)
        end = (give_up + 1) * (chunk or len(data))

        def fill(_user, offset, stage, size) -> int:
            """Copies plaintext to the C driver, as its callback; refuses from a given byte on."""
            if offset + size >= min(end, len(data)):
                return 1
            self.ffi.memmove(stage, data[offset : offset + size], size)
            return 0

        h2d.fill = callback = self.ffi.callback("int(void *, uint64_t, void *, size_t)", fill)
        job = self._job(self.lib.mae_session_h2d, h2d)
        del callback
        return job

    def d2h(self, queue: int, base: int, total: int, chunk: int = 0, after: int = 0) -> Job:
        """Starts a transfer from device to host in encrypted chunks; returns its Job."""
        data = self.ffi.new("uint8_t[]", max(total, 1))
        d2h = self.ffi.new(
            "struct mae_d2h *",
            {"queue": queue, "base": base, "total": total, "chunk": chunk, "after": after},
        )
        d2h.data = data
        return self._job(self.lib.mae_session_d2h, d2h, data=data)

    def pump(self) -> bool:
        """Sends requests and takes responses by the C driver; returns true if there were any."""
        news = self.ffi.new("bool *")
        _ = self.lib.mae_session_poll(self.session, news)
        self.outside.pause(None, bool(news[0]))
        self.outside.reraise()
        return bool(news[0])

    def wait(self, job: Job) -> bytes:
        """Waits for a task of the C driver; returns a batch's values or a transfer's bytes."""
        lib, result = self.lib, None
        code = lib.mae_session_wait(self.session, job.handle)
        result = job.result
        if code == lib.MAE_E_REFUSED:
            self.outside.reraise()
            response = wire.Response(result.status, result.executed, result.value)
            raise RefusedError(result.kind, result.queue, result.number, response)
        if code == lib.MAE_E_GIVEN_UP:
            self.outside.reraise()
            raise GivenUpError("the transfer was abandoned")
        self._check(code)
        if job.data is not None:
            return bytes(self.ffi.buffer(job.data))
        return b"".join(value.to_bytes(8) for value in self._values(job, result.values))

    def _values(self, job: Job, count: int) -> list[int]:
        values = self.ffi.new("uint64_t[]", max(count, 1))
        self._check(self.lib.mae_task_values(job.handle, values, count))
        return list(values[0:count])

    def read_values(self, job: Job) -> list[int]:
        """Waits for a BATCH request; returns the register values that it read, in order."""
        data = self.wait(job)
        return [int.from_bytes(data[at : at + 8]) for at in range(0, len(data), 8)]


__all__ = ["BudgetError", "Gate", "Host", "HostError", "Job", "Kind", "Outside", "library"]

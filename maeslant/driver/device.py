# SPDX-License-Identifier: Apache-2.0
"""Binds the C driver to Python: devices, messages of any size, the simulator's counters."""

import contextlib
import functools
import re
import weakref
from collections.abc import Iterator
from typing import Self

import cffi

from maeslant import paths
from maeslant.build import c_driver, configurations, simulator
from maeslant.build.generated import mae_peripheral
from maeslant.errors import MaeslantError

CODES = {mode.name.lower(): int(mode) for mode in mae_peripheral.Mode}  # mae_mode_t
AEAD = ("gcm", "ccm")  # authenticated
MODES = tuple(name for name in CODES if name not in (*AEAD, "cmac", "copy"))  # unauthenticated
PADDED = ("ecb", "cbc", "pcbc")  # whole blocks only: PKCS#7 pads to them
NULL = "null:"  # the driver's backend that touches no data
TAG = 16
NONCE = 12  # bytes that the library draws
BLOCK = 16
ENCRYPT, DECRYPT = 0, 1


class DeviceError(MaeslantError):
    """Raised if a call of the C driver fails; ``code`` holds the mae_error_t of that failure."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.code)  # it may come from another process


@functools.cache
def library() -> tuple[cffi.FFI, object]:
    """Loads the C driver's library, built if out of date; returns (FFI object, library object).

    The headers are the only declarations.
    """
    ffi = cffi.FFI()
    for name in ("maeslant.h", "maeslant_pool.h", "maeslant_records.h"):
        text = (paths.ROOT / "driver" / "include" / name).read_text()
        cdef = re.search(r"/\* cdef begin \*/(.*)/\* cdef end \*/", text, re.DOTALL)[1]
        ffi.cdef(re.sub(r"\bMAE_API(_VOID)?\b", "", cdef))
    return ffi, ffi.dlopen(str(c_driver.build()))


def check(code: int) -> None:
    """Raises DeviceError with the C driver's text if ``code``, a return value, is an error."""
    if code:
        ffi, lib = library()
        message = ffi.string(lib.mae_strerror(code)).decode()
        detail = ffi.string(lib.mae_error_detail()).decode()
        raise DeviceError(f"{message}: {detail}" if detail else message, code)


def devices() -> list[dict[str, object]]:
    """Returns the AES devices that the C driver finds: URI, summary, true if openable."""
    ffi, lib = library()
    count = ffi.new("size_t *")
    room = 64
    infos = ffi.new("struct mae_device_info[]", room)
    check(lib.mae_device_list(infos, room, count))
    return [
        {
            "uri": ffi.string(info.uri).decode(),
            "summary": ffi.string(info.summary).decode(),
            "available": bool(info.available),
        }
        for info in infos[0 : min(room, count[0])]
    ]


def build_simulation(uri: str) -> None:
    """Builds the simulator that a device URI such as "sim:stream4" names, if out of date.

    "sim:stream?lanes=4" is build stream4; other options are the simulator's. What is no named
    build is left to the driver, which says what is wrong. Raises MaeslantError for a card that
    this driver does not open.
    """
    name, _, text = uri.removeprefix("sim:").partition("?")
    options = dict(option.partition("=")[::2] for option in text.split("&") if option)
    name += options.get("lanes", "")
    build = configurations.load().get(name, {})
    if build.get("device"):
        simulator.build(name, trace="wave" in options)
    elif "card" in build:
        raise MaeslantError(
            f"sim:{name} is a card for a host program of its own, which takes no messages to "
            f"encrypt: {build['summary']}"
        )


def is_wrong_tag(error: DeviceError) -> bool:
    """Returns true if a DeviceError reports a wrong authentication tag (code MAE_E_AUTH)."""
    return error.code == library()[1].MAE_E_AUTH


class Device:
    """Opens an AES device through the C driver; encrypts and decrypts messages on the device."""

    def __init__(self, uri: str) -> None:
        self.ffi, self.lib = library()
        self.uri = uri
        if uri.startswith("sim:"):
            build_simulation(uri)
        handle = self.ffi.new("mae_dev_t **")
        try:
            check(self.lib.mae_open(uri.encode(), handle))
        except DeviceError as error:
            if uri.startswith("sim:") and error.code == self.lib.MAE_E_NO_DEVICE:
                named = [key for key, found in configurations.load().items() if found.get("device")]
                # The driver's advice, to build it, holds for a build that there is.
                text = str(error).partition("; make it with")[0]
                error.args = (f"{text}; there are: {', '.join(named)}",)
            raise
        self._handle, self.open_pieces = handle[0], weakref.WeakSet()

    @classmethod
    def of(cls, handle: object, uri: str) -> "Device":
        """Wraps an open device handle of the C driver in a Device; the caller closes the handle."""
        device = cls.__new__(cls)
        device.ffi, device.lib = library()
        device.uri, device._handle, device.open_pieces = uri, handle, weakref.WeakSet()
        return device

    @property
    def handle(self) -> object:
        """Returns the C driver's device handle; raises MaeslantError once the device is closed."""
        if self._handle is None:
            raise MaeslantError(f"{self.uri} is closed")
        return self._handle

    def close(self) -> None:
        """Closes the device, which erases the device's AES keys. May be called twice.

        Messages in pieces are freed first: each keeps memory of the device, and a generator that
        an exception left behind would free its own only after the device is gone.
        """
        if self._handle is not None:
            for pieces in list(self.open_pieces):
                pieces.free()
            self.lib.mae_close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, kind: str, call) -> dict[str, object]:
        """Calls a C function that fills in a C struct; returns the struct as a dictionary."""
        struct = self.ffi.new(f"struct {kind} *")
        check(call(self.handle, struct))
        result = {}
        for name, field in self.ffi.typeof(struct[0]).fields:
            value = getattr(struct, name)
            result[name] = self.ffi.string(value).decode() if field.type.kind == "array" else value
        return result

    def caps(self) -> dict[str, object]:
        """Returns the device's capabilities as a dictionary, the fields of C's struct mae_caps."""
        return self.read("mae_caps", self.lib.mae_get_caps)

    def stats(self) -> dict[str, int]:
        """Returns a simulated device's counters (C's struct mae_stats) as a dictionary."""
        return self.read("mae_stats", self.lib.mae_get_stats)

    def reset_stats(self) -> None:
        """Resets a simulated device's counters (C's struct mae_stats) to zero."""
        check(self.lib.mae_reset_stats(self.handle))

    def run_clocks(self, clocks: int) -> None:
        """Simulates an opened device for a number of clock cycles."""
        check(self.lib.mae_run_clocks(self.handle, clocks))

    def crypt(self, mode: str, direction: int, key: bytes, iv: bytes | None, data: bytes) -> bytes:
        """Encrypts or decrypts a whole message on the device, unauthenticated; returns the output.

        ``key`` holds both keys for XTS; no padding.
        """
        source = self.ffi.from_buffer(data)
        result = self.ffi.new("uint8_t[]", max(1, len(data)))
        iv_pointer = self.ffi.NULL if iv is None else self.ffi.from_buffer(iv)
        check(
            self.lib.mae_crypt(
                self.handle,
                CODES[mode],
                direction,
                self.ffi.from_buffer(key),
                len(key),
                iv_pointer,
                source,
                result,
                len(data),
            )
        )
        return bytes(self.ffi.buffer(result, len(data)))

    def crypt_part(
        self,
        mode: str,
        direction: int,
        key: bytes,
        iv: bytes | None,
        offset: int,
        before: bytes,
        data: bytes,
    ) -> bytes:
        """Encrypts or decrypts a message from byte ``offset`` on; returns the output.

        ``before`` is the source's block in front of that byte.
        """
        result = self.ffi.new("uint8_t[]", max(1, len(data)))
        check(
            self.lib.mae_crypt_part(
                self.handle,
                CODES[mode],
                direction,
                self.ffi.from_buffer(key),
                len(key),
                self.ffi.NULL if iv is None else self.ffi.from_buffer(iv),
                offset,
                self.ffi.from_buffer(before),
                self.ffi.from_buffer(data),
                result,
                len(data),
            )
        )
        return bytes(self.ffi.buffer(result, len(data)))

    def _message(self, mode: str, key: bytes, tag_bytes: int) -> tuple[object, list[object]]:
        """Returns the C struct of a GCM, CCM or CMAC message, and the list of its buffers."""
        if not tag_bytes:  # to the driver 0 is 16, for which there would be no room
            raise MaeslantError(f"{mode} has no tag of 0 bytes")
        message = self.ffi.new("struct mae_message *")
        source = self.ffi.from_buffer(key)
        message.mode = CODES[mode]
        message.key, message.key_bytes = source, len(key)
        message.tag_bytes = tag_bytes
        return message, [source]

    def _fill(self, message, keep: list, nonce: bytes | None, aad: bytes, data: bytes, tag: bytes):
        """Sets nonce, AAD, data and tag in a message's C struct; returns the output buffers."""
        ffi = self.ffi
        nonce_room = ffi.new("uint8_t[]", NONCE if nonce is None else max(1, len(nonce)))
        ffi.memmove(nonce_room, nonce or b"", len(nonce or b""))
        result, tag_room = ffi.new("uint8_t[]", max(1, len(data))), ffi.new("uint8_t[]", tag)
        aad_source, source = ffi.from_buffer(aad), ffi.from_buffer(data)
        keep += [aad_source, source, nonce_room, result, tag_room]
        message.nonce = nonce_room
        message.nonce_bytes = NONCE if nonce is None else len(nonce)
        message.aad, message.aad_bytes = aad_source, len(aad)
        message.src, message.dst, message.length = source, result, len(data)
        message.tag = tag_room
        return nonce_room, result, tag_room

    def seal(
        self,
        mode: str,
        key: bytes | bytearray,
        data: bytes,
        aad: bytes = b"",
        nonce: bytes | None = None,
        tag_bytes: int = TAG,
    ) -> tuple[bytes, bytes, bytes]:
        """Encrypts and authenticates a message on the device; returns (nonce, ciphertext, tag).

        Without ``nonce`` the library draws one. A nonce that is used twice under one key breaks
        GCM: give one only where a protocol lays it down.
        """
        message, keep = self._message(mode, key, tag_bytes)
        room = self._fill(message, keep, nonce, aad, data, bytes(tag_bytes))
        call = self.lib.mae_seal if nonce is None else self.lib.mae_seal_with_chosen_nonce
        check(call(self.handle, message))
        sizes = (message.nonce_bytes, len(data), tag_bytes)
        return tuple(bytes(self.ffi.buffer(*part)) for part in zip(room, sizes, strict=True))

    def unseal(
        self,
        mode: str,
        key: bytes | bytearray,
        nonce: bytes,
        data: bytes,
        tag: bytes,
        aad: bytes = b"",
    ) -> bytes:
        """Decrypts a message on the device and returns it; raises DeviceError on a wrong tag."""
        message, keep = self._message(mode, key, len(tag))
        _, result, _ = self._fill(message, keep, nonce, aad, data, tag)
        check(self.lib.mae_unseal(self.handle, message))
        return bytes(self.ffi.buffer(result, len(data)))

    def mac(self, key: bytes | bytearray, data: bytes, tag_bytes: int = TAG) -> bytes:
        """Returns the CMAC of ``data`` under an AES key, computed on the device."""
        message, keep = self._message("cmac", key, tag_bytes)
        _, _, tag = self._fill(message, keep, b"", b"", data, bytes(tag_bytes))
        check(self.lib.mae_mac(self.handle, message))
        return bytes(self.ffi.buffer(tag, tag_bytes))

    def check_mac(self, key: bytes | bytearray, data: bytes, tag: bytes) -> None:
        """Raises DeviceError unless ``tag`` is the CMAC of ``data``, computed on the AES device."""
        message, keep = self._message("cmac", key, len(tag))
        self._fill(message, keep, b"", b"", data, tag)
        check(self.lib.mae_mac_verify(self.handle, message))

    @contextlib.contextmanager
    def stream(
        self, mode: str, direction: int, key: bytes | bytearray, iv: bytes | None
    ) -> Iterator["Stream"]:
        """Begins an unauthenticated message, processed in chunks on the device; yields a Stream."""
        stream = Stream(self, mode, direction, key, iv)
        try:
            yield stream
        finally:
            stream.free()


class Pieces:
    """Represents a message that the C driver processes in chunks; base of Stream and Aead."""

    ROOM = 1 << 20

    def __init__(self, device: Device, handle: object) -> None:
        self.ffi, self.lib, self._handle = device.ffi, device.lib, handle
        device.open_pieces.add(self)
        self.room = self.ffi.new("uint8_t[]", self.ROOM)
        self.taken = self.ffi.new("size_t *")
        self.given = self.ffi.new("size_t *")

    @property
    def handle(self) -> object:
        """Returns the C driver's message handle; raises MaeslantError once the message is freed."""
        if self._handle is None:
            raise MaeslantError("the message is closed, or its device is")
        return self._handle

    def free(self) -> None:
        """Wipes the buffers of a chunked message and erases the message's keys from the device.

        May be called twice.
        """
        raise NotImplementedError

    def _put(self, call, data: bytes) -> Iterator[bytes]:
        """Passes ``data`` to a C function until all is consumed; yields the output of each call."""
        source = self.ffi.from_buffer(data)
        done = 0
        while done < len(data):
            left = len(data) - done
            check(
                call(self.handle, source + done, left, self.taken, self.room, self.ROOM, self.given)
            )
            done += self.taken[0]
            if self.given[0]:
                yield bytes(self.ffi.buffer(self.room, self.given[0]))

    def _get(self, call) -> Iterator[bytes]:
        """Calls a message's C function until no more output comes; yields each call's output."""
        while True:
            check(call(self.handle, self.room, self.ROOM, self.given))
            if not self.given[0]:
                return
            yield bytes(self.ffi.buffer(self.room, self.given[0]))

    def _free(self, call) -> None:
        """Frees a message by the given C function, only once, and wipes the output buffer."""
        if self._handle is not None:
            call(self._handle)
            self.ffi.memmove(self.room, bytes(self.ROOM), self.ROOM)
            self._handle = None


class Stream(Pieces):
    """Encrypts or decrypts a message chunk by chunk, unauthenticated, by C's mae_stream_*."""

    def __init__(self, device: Device, mode: str, direction: int, key, iv: bytes | None) -> None:
        ffi = device.ffi
        handle = ffi.new("mae_stream_t **")
        iv_pointer = ffi.NULL if iv is None else ffi.from_buffer(iv)
        key_pointer = ffi.from_buffer(key)
        number = CODES[mode]
        check(
            device.lib.mae_stream_begin(
                device.handle,
                number,
                direction,
                key_pointer,
                len(key),
                iv_pointer,
                handle,
            )
        )
        super().__init__(device, handle[0])

    def update(self, data: bytes) -> Iterator[bytes]:
        """Encrypts or decrypts ``data``, the message's next chunk; yields output so far."""
        return self._put(self.lib.mae_stream_update, data)

    def finish(self) -> Iterator[bytes]:
        """Ends a message that was processed in chunks; yields the remaining output."""
        return self._get(self.lib.mae_stream_finish)

    def free(self) -> None:
        """Wipes the buffers of a chunked message and erases the message's keys from the device.

        May be called twice.
        """
        self._free(self.lib.mae_stream_free)

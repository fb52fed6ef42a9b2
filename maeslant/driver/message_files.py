# SPDX-License-Identifier: Apache-2.0
"""Encrypts and decrypts files through a device: padding, bounded memory, atomic output."""

import contextlib
import errno
import hmac
import os
import pathlib
import select
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from maeslant.driver.device import BLOCK, ENCRYPT, Device
from maeslant.errors import MaeslantError, naming

PIECE = 1 << 20


class Source:
    """Reads data from an input file; raises errors that name the file."""

    def __init__(self, file: BinaryIO, name: object) -> None:
        self.file, self.name = file, name

    def read(self, size: int) -> bytes:
        """Returns the next ``size`` bytes, fewer at the end only."""
        with naming(self.name):
            return self.file.read(size)

    def tell(self) -> int:
        """Returns how many bytes of the file are read."""
        return self.file.tell()


@contextlib.contextmanager
def source(name: str) -> Iterator[tuple[Source, int | None]]:
    """Yields a command's input file, for "-" standard input, with the size in bytes if known.

    Gives the file and its size where it is known.
    """
    if name == "-":
        if sys.stdin is None:
            raise MaeslantError("standard input is closed")
        yield Source(sys.stdin.buffer, "standard input"), None
        return
    path = pathlib.Path(name)
    if path.is_dir():
        raise MaeslantError(f"{name} is a folder; give a file")
    try:
        with path.open("rb") as file:
            info = os.fstat(file.fileno())
            yield Source(file, name), info.st_size if path.is_file() else None
    except FileNotFoundError:
        raise MaeslantError(f"{name}: there is no such file") from None
    except PermissionError as error:
        raise MaeslantError(f"{error.filename}: no permission to read or write it") from None


class Sink:
    """Writes data to an unbuffered output file; raises errors that name the file.

    A buffer would fail once more when the file is closed, and hide the first error.
    """

    def __init__(self, file: BinaryIO, name: object) -> None:
        self.file, self.name = file, name

    def write(self, data: bytes) -> None:
        """Writes all of ``data`` to the unbuffered output file."""
        view = memoryview(data)
        with naming(self.name):
            while view:
                count = self.file.write(view)
                if count is None:  # a pipe that does not block, and is full
                    select.select([], [self.file], [])
                view = view[count or 0 :]


def wipe(file: BinaryIO) -> None:
    """Overwrites the unbuffered output file on disk with zeros before the caller discards it."""
    with contextlib.suppress(OSError):  # of a full disk; what failed before is the message
        left = os.fstat(file.fileno()).st_size
        file.seek(0)
        while left > 0:
            left -= file.write(bytes(min(left, PIECE)))


@contextlib.contextmanager
def spool() -> Iterator[tuple[BinaryIO, Sink]]:
    """Yields an unnamed temporary file on disk and its Sink; wipes the file at the end.

    The file is in TMPDIR, or in /tmp if TMPDIR is not set; raises MaeslantError if it cannot be.
    """
    # Python's own choice skips a folder that it cannot use, and would put a message on a disk that
    # the user avoids by TMPDIR, or in the current folder.
    folder = os.environ.get("TMPDIR") or "/tmp"
    name = f"the temporary folder {folder} (TMPDIR)"
    try:
        opened = tempfile.TemporaryFile(dir=folder, buffering=0)
    except OSError as error:
        raise MaeslantError(f"{name}: {error.strerror}") from None
    with opened as file:
        try:
            yield file, Sink(file, name)
        finally:
            wipe(file)


@contextlib.contextmanager
def spooled(sink: Sink) -> Iterator[Sink]:
    """Yields a Sink to a temporary file; copies the file to ``sink`` if the context succeeds.

    Wipes the file in either case.
    """
    with spool() as (file, kept):
        yield kept
        file.seek(0)
        while piece := file.read(PIECE):
            sink.write(piece)


@contextlib.contextmanager
def destination(name: str, force: bool, *, withhold: bool = False) -> Iterator[Sink]:
    """Yields a Sink to a command's output file; the file gets its name only when complete.

    The bytes go to a file beside it that is renamed at the end; on any failure it is removed, and
    a process that is killed leaves nothing under the name that was asked for. ``withhold``: the
    same for what is no file: nothing is given out before the end, and what fails is wiped.
    """
    if name == "-":
        if sys.stdout.isatty():
            raise MaeslantError("will not write binary data to a terminal; name a file or a pipe")
        sys.stdout.flush()
        file = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
        sink = Sink(file, "standard output")
        with spooled(sink) if withhold else contextlib.nullcontext(sink) as given:
            yield given
        return
    path = pathlib.Path(name)
    if path.is_dir():
        raise MaeslantError(f"{name} is a folder; give a file")
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced by a rename
        with path.open("wb", buffering=0) as file:
            sink = Sink(file, name)
            with spooled(sink) if withhold else contextlib.nullcontext(sink) as given:
                yield given
        return
    if path.exists() and not force:
        raise MaeslantError(f"{name} exists; --force replaces it")
    path = path.resolve() if path.is_symlink() else path  # the file is replaced, not its link
    replaced = path.stat() if path.exists() else None
    try:
        file, temporary = new_file(path)
    except FileNotFoundError:
        raise MaeslantError(f"{path.parent}: there is no such folder") from None
    except OSError as error:
        raise MaeslantError(f"{path.parent}: {error.strerror}") from None
    try:
        with file:
            try:
                yield Sink(file, name)
            except BaseException:
                if withhold:
                    wipe(file)
                raise
            with naming(name):
                os.fsync(file.fileno())
            _allow(file.fileno(), replaced)
            appear(file.fileno(), path, force)
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def _allow(handle: int, replaced: os.stat_result | None) -> None:
    """Gives a file the owner and mode of the one that it replaces, or those of a new file."""
    if replaced:
        mode = replaced.st_mode & 0o777
        try:
            os.fchown(handle, replaced.st_uid, replaced.st_gid)
        except OSError:  # only root gives files away; what its group might read, ours may not
            mode &= ~0o070
        os.fchmod(handle, mode)
        return
    umask = os.umask(0)
    os.umask(umask)
    os.fchmod(handle, 0o666 & ~umask)


def new_file(path: pathlib.Path) -> tuple[BinaryIO, pathlib.Path | None]:
    """Opens an unnamed file in the folder of ``path``, which vanishes if the process dies.

    Where the file system has no such thing, one with a name of its own, which is also given.
    """
    try:
        return os.fdopen(os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o600), "w+b", 0), None
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    return os.fdopen(handle, "w+b", 0), pathlib.Path(name)


def appear(handle: int, path: pathlib.Path, force: bool) -> None:
    """Gives an unnamed, complete file a path in one step; overwrites only with ``force``."""
    # link() refuses where rename() would silently replace a file that came meanwhile. A folder
    # handle makes Python call linkat(2), which follows the link in /proc to the unnamed file.
    folder = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.link(str(handle), path, src_dir_fd=folder, follow_symlinks=True)
    except FileExistsError:
        if not force:
            raise MaeslantError(f"{path} exists; --force replaces it") from None
        stage = path.with_name(f".{path.name}.{os.getpid()}.part")
        os.link(str(handle), stage, src_dir_fd=folder, follow_symlinks=True)
        os.replace(stage, path)
    finally:
        os.close(folder)


def pad(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields a message's chunks, followed by PKCS#7 padding (RFC 5652 §6.3).

    It is 1 to 16 bytes, each holding their number.
    """
    total = 0
    for piece in pieces:
        total += len(piece)
        yield piece
    count = BLOCK - total % BLOCK
    yield bytes([count]) * count


def unpad(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields a message's chunks without PKCS#7 padding; raises MaeslantError if it is wrong."""
    held = b""
    for piece in pieces:
        held += piece
        yield held[:-BLOCK]
        held = held[-BLOCK:]
    count = held[-1] if held else 0
    good = len(held) == BLOCK and 1 <= count <= BLOCK
    if not good or not hmac.compare_digest(held[-count:], bytes([count]) * count):
        raise MaeslantError("the padding is wrong: another key, mode or IV, or a damaged file")
    yield held[:-count]


def crypt(
    device: Device,
    mode: str,
    direction: int,
    key: bytes | bytearray,
    iv: bytes | None,
    pieces: Iterable[bytes],
    padding: bool,
) -> Iterator[bytes]:
    """Encrypts or decrypts a chunked message on a device, optionally padded; yields the output."""
    if padding and direction == ENCRYPT:
        pieces = pad(pieces)
    with device.stream(mode, direction, key, iv) as stream:

        def outputs() -> Iterator[bytes]:
            for piece in pieces:
                yield from stream.update(piece)
            yield from stream.finish()

        yield from unpad(outputs()) if padding and direction != ENCRYPT else outputs()


def read(file: Source | BinaryIO, seen: Callable[[int], None]) -> Iterator[bytes]:
    """Yields a file's bytes in chunks of 1 MiB; reports each chunk's size to a callback."""
    while piece := file.read(PIECE):
        seen(len(piece))
        yield piece

# SPDX-License-Identifier: Apache-2.0
"""Makes a file anew when what it is made of has other contents.

Times of files do not count: a clock may be set back, and two changes may have the same second.
"""

import fcntl
import hashlib
import json
import pathlib
from collections.abc import Callable, Iterable


def digest(words: Iterable[str], files: Iterable[pathlib.Path | str]) -> str:
    """Returns a SHA-256 of options, and of names and contents of files, be they there or not."""
    found = hashlib.sha256(json.dumps(list(words)).encode())
    for name in files:
        path = pathlib.Path(name)
        found.update(f"\0{name}\0".encode())
        if not path.exists():
            found.update(b"gone")
            continue
        with open(path, "rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def record(target: pathlib.Path) -> pathlib.Path:
    """Returns the file beside a target that holds the digest of what the target was made of."""
    return target.with_name(f".{target.name}.made-of")


def make(
    target: pathlib.Path,
    inputs: Iterable[pathlib.Path],
    write: Callable[[pathlib.Path], None],
    *words: str,
) -> pathlib.Path:
    """Calls ``write`` with the path of a new file for the target, unless it is up to date.

    It is if it was made of the same ``inputs`` with the same options, ``words``. Of several
    processes that want it at once one makes it; who has the old file open keeps it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.with_name(f".{target.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known, key = record(target), digest(words, inputs)  # before: inputs may change meanwhile
        if not (target.exists() and known.exists() and known.read_text() == key):
            known.unlink(missing_ok=True)
            new = target.with_name(f"{target.name}.new")
            write(new)
            new.replace(target)
            known.write_text(key)
    return target

# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant` on a file system that is really full: a small one in memory, mounted for it.

A limit of the file size gives another error, and memory that is mapped there no signal.
"""

import os
import pathlib
import subprocess
import sys

import pytest

from tests.cli import test_aead, test_cli

# Makes a small file system in a mount namespace of its own, so that nothing stays mounted; runs a
# command and lists what it leaves there.
SHELL = """
mount -t tmpfs -o "$0" tmpfs "$1" || exit 99
disk=$1 list=$2
shift 2
"$@"
status=$?
ls -A "$disk" > "$list"
exit $status
"""


@pytest.fixture
def disk(tmp_path: pathlib.Path) -> pathlib.Path:
    """Returns the folder where :func:`run_there` mounts; skips where nobody may mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if run_there("size=4k", folder, ["true"]).returncode != 0:
        pytest.skip("no file system may be mounted here")
    # Builds driver and simulator elsewhere.
    test_cli.good("mac", "-", *test_aead.options("cmac"), *test_cli.SMALL, data=b"")
    return folder


def run_there(size: str, disk: pathlib.Path, words: list, data: bytes = b""):
    """Runs a command with a small file system at ``disk``; what it leaves is in the file left."""
    alone = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
    command = [*alone, "bash", "-c", SHELL, size, str(disk), str(disk.parent / "left")]
    return subprocess.run(
        [*command, *map(str, words)],
        input=data,
        env=os.environ | {"TMPDIR": str(disk)},
        capture_output=True,
        check=False,
    )


def check_refused(done: subprocess.CompletedProcess, name: str, disk: pathlib.Path) -> None:
    """Asserts exit status 1, one error message with a name in it, no output and no file left."""
    said = done.stderr.decode().replace("\n", "")  # rich breaks a long line within a path
    assert done.returncode == 1 and done.stdout == b"", (done.returncode, said)
    assert "Traceback" not in said and said.count("error:") == 1, said
    assert f"{name}: No space left".replace(" ", "") in said.replace(" ", ""), said
    assert (disk.parent / "left").read_text() == "" and not any(disk.iterdir())


@pytest.mark.parametrize(
    ("size", "named"), [("size=64k", "disk/out"), ("size=64k,nr_inodes=1", "disk")]
)
@pytest.mark.parametrize("mode", ["ctr", "gcm"])
def test_output(mode: str, size: str, named: str, disk: pathlib.Path) -> None:
    """`maeslant encrypt` names an output without room, or its folder, and leaves nothing."""
    source, target = disk.parent / "source", disk / "out"
    source.write_bytes(bytes(1 << 20))
    options = test_cli.options(mode) if mode == "ctr" else test_aead.options(mode)
    command = [test_cli.MAESLANT, "encrypt", source, target, *options, *test_cli.SMALL]
    check_refused(run_there(size, disk, command), str(disk.parent / named), disk)


@pytest.mark.parametrize("mode", ["gcm", "ccm"])
def test_temporary_folder(mode: str, disk: pathlib.Path) -> None:
    """`maeslant decrypt` to a pipe names TMPDIR where it has no room, and gives out nothing."""
    nonce = bytes.fromhex(test_aead.NONCE)
    cipher = test_aead.oracle(mode).encrypt(nonce, bytes(1 << 18), None)
    options = test_aead.options(mode, "--iv", test_aead.NONCE)
    command = [test_cli.MAESLANT, "decrypt", "-", "-", *options, *test_cli.SMALL]
    check_refused(run_there("size=64k", disk, command, cipher), f"{disk} (TMPDIR)", disk)


MEDIA = """
import os, sys
from maeslant.sim.block_card import BlockCard
from maeslant.errors import MaeslantError
with open(sys.argv[1], "wb") as file:
    file.truncate(1 << 20)
try:
    BlockCard("block_small", f"media={sys.argv[1]}")
except MaeslantError as error:
    sys.exit(f"error: {error}")
finally:
    os.remove(sys.argv[1])
"""


def test_media(disk: pathlib.Path) -> None:
    """A card whose memory is a file with holes is refused where the disk has no room for it."""
    test_cli.good("build", "block_small")
    command = [sys.executable, "-c", MEDIA, disk / "media"]
    check_refused(run_there("size=64k", disk, command), str(disk / "media"), disk)

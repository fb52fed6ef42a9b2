# SPDX-License-Identifier: Apache-2.0
"""Lists the checks of the block card's kernel driver, and compares its media with OpenSSL's XTS."""

import functools
import hashlib
import os
import pathlib
import re
import uuid

from maeslant.build import c_driver
from maeslant.guest import machine, media
from maeslant.guest.block import checks as block_checks
from maeslant.guest.case import Case, restart, wrong_restart
from maeslant.guest.kernel import fscrypt, module, tools
from maeslant.verify import key_search

LEAST = 1 << 24  # bytes of the media: a file system with a journal
BYTES = 1 << 20  # of the data
SIZES = (1, 4095, 4096, 70001, BYTES)  # of the files
FOLDERS = ("file", "disk")  # with a key each file, and with one for all
NATIVE = "AES-256-XTS using blk-crypto (native)"
EXT4 = ("mkfs.ext4", "fsck.ext4")
DISK = "/dev/maeb0"
INSERT = f"""
insmod /lib/modules/{module.NAME}.ko || exit 1
fail() {{ echo "failed: $1"; dmesg | tail -n 40; exit 1; }}
driver=$(readlink /sys/bus/pci/devices/$CARD/driver)
[ "${{driver##*/}}" = {module.NAME} ] || fail "the driver is not bound"
"""
MAKE = f"""
mkfs.ext4 -q -b 4096 -O encrypt,stable_inodes {DISK} || fail mkfs
mkdir /mnt
"""
MOUNT = f"""mount -t ext4 -o inlinecrypt {DISK} /mnt || fail mount
key=$(fscrypt_file add /mnt key) || fail key
"""
FILL = f"""
mkdir /mnt/file /mnt/disk /mnt/plain
fscrypt_file set /mnt/file $key && fscrypt_file set /mnt/disk $key lblk64 || fail policy
each() {{ for folder in file disk; do for size in {" ".join(map(str, SIZES))}; do $1; done; done; }}
fill() {{ head -c $size data > /mnt/$folder/$size || fail writing; }}
same() {{ head -c $size data | cmp - /mnt/$folder/$size || fail comparing; }}
each fill
head -c 4096 data > /mnt/plain/4096
sync
"""
TREE = f"""{INSERT}{MAKE}{MOUNT}{FILL}
dmesg | grep -oF "{NATIVE}"
fscrypt_file show /mnt/file/* /mnt/disk/*
echo "uuid $(dmesg | grep -o 'mounted filesystem [0-9a-f-]*' | tail -n 1 | cut -d ' ' -f 3)"
echo {machine.STATE}
sleep 1
umount /mnt
{MOUNT}
each same
echo 1 > /sys/bus/pci/devices/$CARD/reset || fail reset
umount /mnt
{MOUNT}
each same
umount /mnt
rmmod {module.NAME} || fail rmmod
echo {machine.STATE}
sleep 1
echo "the kernel driver is good"
"""
LOOPS = 8  # of fio over its file
RUNTIME = "RUNTIME"  # stands for how long fio writes
# Verified writes, in encrypted files.
LOAD = """fio --name=load --directory=/mnt/file --size=1M --bs=4k-64k --rw=randwrite --direct=1 \\
    --ioengine=libaio --iodepth=16 --verify=crc32c --verify_fatal=1 RUNTIME > /tmp/log || {
    cat /tmp/log
    fail fio
}"""
END = f"""
umount /mnt
fsck.ext4 -fn {DISK} > /tmp/log || {{ cat /tmp/log; fail fsck; }}
echo "the kernel driver is good"
"""
RESETS = f"""{INSERT}{MAKE}{MOUNT}{FILL}
{LOAD} &
job=$!
count=0
while kill -0 $job 2> /dev/null; do
    echo 1 > /sys/bus/pci/devices/$CARD/reset || fail reset
    count=$((count + 1))
    sleep 1
done
wait $job || exit 1
echo "resets $count"
{END}"""
# Writes files and has each on the disk, beside fio, panics, and reads them after the restart.
KEPT = 12  # files
KEPT_BYTES = 17 * 4096
SLOW = "bandwidth=20"  # the card is busy when the kernel has panicked
REBOOTED = restart(
    f"""{INSERT}{MAKE}{MOUNT}
mkdir /mnt/file
fscrypt_file set /mnt/file $key || fail policy
{LOAD.replace(RUNTIME, "--loops=1000")} &
until [ -e /mnt/file/load.0.0 ]; do sleep 0.1; done
n=0
while [ $n -lt {KEPT} ]; do
    dd if=data of=/mnt/file/$n bs=4096 skip=$n count=17 conv=fsync 2> /dev/null || fail writing
    echo "kept $n"
    n=$((n + 1))
done
""",
    f"""echo 1 > /sys/bus/pci/devices/$CARD/reset
{INSERT}
mkdir /mnt
{MOUNT}
sha256sum /mnt/file/[0-9]*
{END}""",
)
# A card whose bus falls silent: requests time out, a wipe does not end, the function is reset.
HANG = "hang=30000"
HANGS = f"""{INSERT}
echo 4000 > /sys/block/maeb0/queue/io_timeout
{MAKE}{MOUNT}
mkdir /mnt/file
fscrypt_file set /mnt/file $key || fail policy
{LOAD.replace(RUNTIME, "--loops=1")}
echo "resets $(dmesg | grep -c 'resetting the function')"
{END}"""
REMOVED = f"""{INSERT}{MAKE}{MOUNT}{FILL}
(while head -c 1000000 data > /mnt/file/more && sync /mnt/file/more; do :; done; echo stopped) &
job=$!
sleep 2
echo {machine.REMOVE}
sleep 1
echo 1 > /sys/bus/pci/devices/$CARD/remove
wait $job
umount /mnt
[ ! -e {DISK} ] || fail "the disk is still there"
rmmod {module.NAME} || fail rmmod
echo "guest alive"
"""


def built() -> dict[str, pathlib.Path]:
    """Compiles the program that encrypts folders in a Linux guest; returns the path by name."""
    source = pathlib.Path(__file__).with_name("fscrypt_file.c")
    return {"fscrypt_file": c_driver.build_program(source)}


def tree(*names: str) -> dict[str, bytes]:
    """Returns the kernel module and some Debian programs, by their paths in a Linux guest."""
    place = f"lib/modules/{module.NAME}.ko"
    return {place: module.build().read_bytes(), **tools.tree(names)}


def file_keys(output: str, master: bytes) -> dict[str, bytes]:
    """Derives the keys of the encrypted files in a guest's output; returns them by file name."""
    disk = uuid.UUID(re.search("^uuid (.*)$", output, re.MULTILINE)[1])
    return {
        each.name: fscrypt.disk_key(master, disk)
        if _shared(each)
        else fscrypt.file_key(master, each)
        for each in fscrypt.parse(output)
    }


def _shared(file: fscrypt.File) -> bool:
    return pathlib.PurePath(file.name).parent.name == "disk"


def wrong_media(found: bytes, output: str, master: bytes, data: bytes) -> str:
    """Returns "" if a guest's files are right in the media's sectors, else an error text."""
    files, keys = fscrypt.parse(output), file_keys(output, master)
    if len(files) != len(FOLDERS) * len(SIZES):
        return f"{len(files)} encrypted files are shown"
    for file in files:
        plain = data[: file.bytes] + bytes(-file.bytes % fscrypt.UNIT)
        seen = 0
        for offset, place, count in file.extents:
            first = fscrypt.first_unit(file, offset, _shared(file))
            part = plain[offset : offset + count]
            same = block_checks.encrypted(keys[file.name], part, fscrypt.UNIT, first)
            if found[place : place + count] != same:
                return f"{file.name}: the media at {place} is not OpenSSL's ciphertext"
            seen += count
        if seen != len(plain):
            return f"{file.name}: {seen} bytes of {len(plain)} are in its extents"
    # The file in a folder without encryption has the first block: the search must find it once.
    blocks = {data[at : at + 16] for at in range(0, BYTES, 16)}
    places = [at for at in range(0, len(found), 16) if found[at : at + 16] in blocks]
    if len(places) != 4096 // 16:
        return f"{len(places)} blocks of 16 bytes are plaintext, not the {4096 // 16} of plain/4096"
    return ""


def _wrong_states(states: tuple[bytes, ...], keys: dict[str, bytes]) -> str:
    """Returns what is wrong with the card's states with files in use and after its driver went."""
    halves = {half for key in keys.values() for half in (key[:32], key[32:])}
    if len(states) != 2:
        return f"{len(states)} states of the card were written, not 2"
    before, after = (key_search.find(key_search.parse(state), halves) for state in states)
    if not before:
        return "the search finds no key in a card that has some"
    return f"pieces of keys are in {', '.join(after)} after the driver went" if after else ""


def _finished(result: machine.Result) -> str:
    """Returns what is wrong with a guest's exit status or interrupts."""
    if result.code or "the kernel driver is good\n" not in result.output:
        return f"exit status {result.code}"
    return "no interrupt came" if re.search(", interrupts 0,", result.card) else ""


def _good(result: machine.Result) -> str:
    """Returns what is wrong with a guest's exit status, interrupts or memory accesses."""
    if wrong := _finished(result):
        return wrong
    unmapped = "accesses refused 0\n" not in result.card
    return f"the card met unmapped memory: {result.card}" if unmapped else ""


def _resets(result: machine.Result) -> str:
    """Returns "" if the driver recovered from a card reset under load, else an error text."""
    count = re.search(r"^resets (\d+)$", result.output, re.MULTILINE)
    return _good(result) or ("" if count and int(count[1]) else "no reset came under load")


def _rebooted(data: bytes, result: machine.Result) -> str:
    """Returns what is wrong where a guest panicked and started again after acknowledged writes."""
    # A restart takes the memory from the card while it works: refused accesses are right then.
    if wrong := wrong_restart(result) or _finished(result):
        return wrong
    kept = re.findall(r"^kept (\d+)$", result.output, re.MULTILINE)
    found = dict(re.findall(r"^([0-9a-f]{64})  /mnt/file/(\d+)$", result.output, re.MULTILINE))
    found = {name: digest for digest, name in found.items()}
    for name in kept:
        part = data[4096 * int(name) :][:KEPT_BYTES]
        if found.get(name) != hashlib.sha256(part).hexdigest():
            return f"file {name}, whose writing was acknowledged, is lost or another"
    return "" if len(kept) >= KEPT - 1 else f"{len(kept)} files were acknowledged"


def _removed(result: machine.Result) -> str:
    """Returns what is wrong where the card was removed from a mounted file system."""
    if result.code or "stopped\n" not in result.output or "guest alive" not in result.output:
        return f"exit status {result.code}; the guest has not gone on"
    return ""


def cases(device: str, folder: pathlib.Path, fio_seconds: int | None = None) -> list[Case]:
    """Returns all checks of the kernel driver in Linux guests; media files are in ``folder``.

    ``fio_seconds``: that fio writes while the card is reset; None: some passes over its file.
    """
    key, data = os.urandom(fscrypt.KEY_BYTES), os.urandom(BYTES)
    files = {"key": key, "data": data}
    size = max(LEAST, media.capacity(device))

    def case(
        name: str,
        title: str,
        command: str,
        wrong,
        names=EXT4,
        more: float = 0,
        **options: object,
    ) -> Case:
        card = machine.Options(
            device=device,
            vfio=False,
            media=folder / f"{name}.media",
            media_size=size,
            **options,
        )
        files_of = functools.partial(tree, *names)
        seconds = Case.seconds + more
        return Case(name, title, card, command, wrong, files, files_of, seconds=seconds)

    def checked(result: machine.Result) -> str:
        found = (folder / "kernel.media").read_bytes()
        return (
            _good(result)
            or ("" if NATIVE in result.output else "the kernel does not use the card's encryption")
            or wrong_media(found, result.output, key, data)
            or _wrong_states(result.states, file_keys(result.output, key))
        )

    fio = (*EXT4, "fio")
    runtime = f"--time_based --runtime={fio_seconds}" if fio_seconds else f"--loops={LOOPS}"
    resets = RESETS.replace(RUNTIME, runtime)
    rebooted = functools.partial(_rebooted, data)
    return [
        case("kernel", "kernel driver: ext4 with inlinecrypt", TREE, checked),
        case("kernel-resets", "kernel driver: resets under load", resets, _resets, fio,
             more=fio_seconds or 0),
        case("kernel-hangs", "kernel driver: time-outs, bus silent", HANGS, _resets, fio,
             card_options=HANG),
        case("kernel-reboot", "kernel driver: panic and restart", REBOOTED, rebooted, fio,
             card_options=SLOW, reboots=True),
        case("kernel-removed", "kernel driver: card removed", REMOVED, _removed),
    ]  # fmt: skip

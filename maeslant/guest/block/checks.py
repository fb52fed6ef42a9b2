# SPDX-License-Identifier: Apache-2.0
"""Lists the checks of a block card in Linux guests, and compares its media with OpenSSL's XTS."""

import os
import pathlib
import re

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant.build import c_driver
from maeslant.guest import machine
from maeslant.guest.case import Case
from maeslant.verify import key_search

FOLDER = pathlib.Path(__file__).parent
SECTOR, BYTES = 512, 1 << 17  # bytes of the data
SECTORS = BYTES // SECTOR
# As `places` of block_check.c: first sector, bytes of a data unit, number of the first one.
PLACES = ((SECTORS, 4096, 2**64 - 2), (2 * SECTORS, 512, 7))
FLUSHED = 9  # data units, after which guest and card end
RUN = "block_check $CARD key data"
CRASHED = f"""{RUN} writes | while read line; do
    echo "$line"
    [ "$line" != "flushed {FLUSHED}" ] || echo {machine.CRASH}
done
"""
UNDER_WAY = f"""{RUN} writes > /tmp/log &
job=$!
until grep -q "flushed" /tmp/log || ! kill -0 $job; do sleep 0.1; done
"""
KILLED = f"""{UNDER_WAY}kill -9 $job
wait $job
echo "killed: $?"
{RUN}
"""
REMOVED = f"""{UNDER_WAY}echo {machine.REMOVE}
wait $job
code=$?
tail -n 1 /tmp/log
echo "guest alive"
exit $code
"""


def built() -> dict[str, pathlib.Path]:
    """Compiles the program that checks a block card in a Linux guest; returns path by name."""
    c_driver.require_openssl()
    more = (FOLDER / "block_host.c",)
    built = c_driver.build_program(FOLDER / "block_check.c", more=more, libraries=("crypto",))
    return {"block_check": built}


def encrypted(key: bytes, data: bytes, unit_bytes: int, first: int) -> bytes:
    """Encrypts data units by OpenSSL's AES-256-XTS; ``first``: number of the first data unit."""
    parts = []
    for n, at in enumerate(range(0, len(data), unit_bytes), first):
        tweak = (n % 2**128).to_bytes(16, "little")
        cipher = Cipher(algorithms.AES(key), modes.XTS(tweak)).encryptor()
        parts.append(cipher.update(data[at : at + unit_bytes]) + cipher.finalize())
    return b"".join(parts)


def wrong_media(media: bytes, key: bytes, data: bytes) -> str:
    """Returns "" if the media are right after the program block_check, else an error text."""
    if media[:BYTES] != data:
        return "the plain sectors of the media are not the data"
    for sector, unit_bytes, first in PLACES:
        at = sector * SECTOR
        if media[at : at + BYTES] != encrypted(key, data, unit_bytes, first):
            return f"the media's data units of {unit_bytes} bytes are not OpenSSL's"
    blocks = {data[at : at + 16] for at in range(0, BYTES, 16)}
    at = next((at for at in range(BYTES, len(media), 16) if media[at : at + 16] in blocks), None)
    return "" if at is None else f"the media holds plaintext at byte {at}"


def _wrong_states(states: list[bytes], key: bytes) -> str:
    """Returns "" if the card's states show the media key only while loaded, else an error text."""
    if len(states) != 2:
        return f"{len(states)} states of the card were written, not 2"
    parsed = [key_search.parse(state) for state in states]
    if parsed[0]["resets"] != parsed[1]["resets"]:
        return "the second state was written after a reset, too late"
    before, after = (key_search.find(state, (key[:32], key[32:])) for state in parsed)
    if not before:
        return "the search does not find a loaded key"
    return f"pieces of the unloaded key are in {', '.join(after)}" if after else ""


def _checked(result: machine.Result) -> str:
    """Returns "" if the program block_check reports success, else an error text."""
    if result.code or "the block card is good\n" not in result.output:
        return f"exit status {result.code}"
    return "no interrupt came" if re.search(", interrupts 0,", result.card) else ""


def _removed(result: machine.Result) -> str:
    """Returns "" if the driver noticed the card's removal amid jobs, else an error text."""
    gone = re.search("(does not answer|does not complete)", result.output)
    if result.code != 1 or not gone:
        return f"exit status {result.code}; no error says that the card is gone"
    return "" if "guest alive" in result.output else "the guest has not gone on"


def cases(device: str, folder: pathlib.Path) -> list[Case]:
    """Returns all checks of a block card in Linux guests; media files are in ``folder``."""
    key, data = os.urandom(64), os.urandom(BYTES)
    files = {"key": key, "data": data}

    def options(name: str, **given: object) -> machine.Options:
        return machine.Options(device=device, media=folder / f"{name}.media", **given)

    def media(name: str) -> bytes:
        return (folder / f"{name}.media").read_bytes()

    def checked(result: machine.Result) -> str:
        return (
            _checked(result)
            or wrong_media(media("data"), key, data)
            or _wrong_states(result.states, key)
        )

    def crashed(result: machine.Result) -> str:
        flushed = result.output.count("\nflushed ")
        if result.code != machine.CRASHED or flushed < FLUSHED:
            return f"exit status {result.code} after {flushed} flushes"
        end, at = min(flushed * 4096, BYTES), SECTORS * SECTOR
        same = media("crash")[at : at + end] == encrypted(key, data[:end], 4096, 0)
        return "" if same else "what was flushed is not on the media"

    def killed(result: machine.Result) -> str:
        if "killed: 137\n" not in result.output:
            return "the process was not killed"
        return _checked(result) or wrong_media(media("killed"), key, data)

    rows = (
        ("data", "OpenSSL's XTS, keys, MSI-X, reset", RUN, checked),
        ("crash", "guest and card killed after flushes", CRASHED, crashed),
        ("killed", "process killed while it writes", KILLED, killed),
        ("removed", "card removed in mid-job", REMOVED, _removed),
    )
    return [
        Case(name, title, options(name, msi=name != "data"), command, wrong, files)
        for name, title, command, wrong in rows
    ]

# SPDX-License-Identifier: Apache-2.0
"""Lists the checks of an AES card in Linux guests: vectors, files, OpenSSL, no IOMMU, faults."""

import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant import paths
from maeslant.build import c_driver
from maeslant.errors import MaeslantError
from maeslant.guest import machine
from maeslant.guest.case import Case

FOLDER = pathlib.Path(__file__).parent
VECTORS = paths.ROOT / "tests" / "vectors" / "export.py"  # a checkout has it
MORE, FEWER = 11, 37  # one of so many of CAVP's vectors, where many or few bytes are asked for
LINES = 6  # of the modes in the report of card_check
MANY = 20_000_000  # bytes
KEY, IV, NONCE = bytes(range(32)), bytes(range(240, 256)), bytes(range(12))
UNDER_WAY = """card_load $CARD > /tmp/log &
job=$!
until grep -q "under way" /tmp/log || ! kill -0 $job; do sleep 0.1; done
"""
AFTERWARDS = """wait $job
echo "ended: $?"
cat /tmp/log
card_check $CARD 5000
"""
TWO = f"""{UNDER_WAY}card_check $CARD 5000
echo "second: $?"
kill -0 $job && echo "first goes on"
kill -9 $job
{AFTERWARDS}"""
# The clock of the machine goes on when it starts again, and says that it did.
REBOOTED = f"""hwclock -s
if [ "$(date +%Y)" -ge 2040 ]; then
    echo "started again"
    card_check $CARD 100003
    exit
fi
date -s 2040.06.01-00:00
hwclock -w
{UNDER_WAY}cat /tmp/log
echo c > /proc/sysrq-trigger
"""
FILE = f"""set -e
check() {{
    card_file $CARD encrypt $1 {KEY.hex()} $2 plain sealed
    sha256sum sealed
    card_file $CARD decrypt $1 {KEY.hex()} $2 sealed again
    cmp plain again
    rm again
}}
check ctr {IV.hex()}
check gcm {NONCE.hex()}
printf x | dd of=sealed bs=1 seek=1000 conv=notrunc 2> /dev/null
if card_file $CARD decrypt gcm {KEY.hex()} {NONCE.hex()} sealed again; then exit 1; fi
[ ! -e again ] && [ ! -e again.part ]
"""
LOADED = "-provider-path /lib -provider maeslant -provider default -propquery ?provider=maeslant"
PROVIDER = f"""set -e
export MAESLANT_DEVICE=$CARD OPENSSL_CONF=/dev/null
openssl list -providers -verbose -provider-path /lib -provider maeslant
for mode in ctr cbc; do
    what="-aes-256-$mode -K {KEY.hex()} -iv {IV.hex()}"
    openssl enc $what -in plain {LOADED} | sha256sum
    openssl enc $what -in plain | sha256sum
done
"""
NO_IOMMU = """card_check ${CARD%\\?*} 5000
echo "without consent: $?"
card_check $CARD """


def programs() -> dict[str, pathlib.Path]:
    """Builds the programs of these checks, for the guest's /bin."""
    names = ("card_vectors", "card_file")
    return {name: c_driver.build_program(FOLDER / f"{name}.c") for name in names}


def openssl() -> dict[str, pathlib.Path]:
    """Returns this machine's openssl and our provider for it; nothing if it has none."""
    found = shutil.which("openssl")
    if not found or not c_driver.has_openssl():
        return {}
    return {"openssl": pathlib.Path(found), "maeslant.so": c_driver.build_provider()}


@functools.cache
def vectors(one_of: int) -> tuple[bytes, dict[str, int]]:
    """Returns the published vectors as card_vectors reads them, and how many each mode has."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "vectors"
        command = [sys.executable, "-m", "tests.vectors.export", str(file), str(one_of)]
        done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MaeslantError(f"reading the test vectors failed:\n{done.stderr}")
        return file.read_bytes(), json.loads(done.stdout)


def equal(result: machine.Result) -> str:
    """Returns what is wrong where all modes of a last card_check should equal OpenSSL's."""
    found = len(re.findall("  equal to OpenSSL's$", result.output, re.MULTILINE))
    if found != LINES or "a changed message is refused" not in result.output or result.code:
        return f"{found} of {LINES} modes equal OpenSSL's, exit status {result.code}"
    return ""


def _vectors(one_of: int, result: machine.Result) -> str:
    """Returns what is wrong with the output of card_vectors."""
    rows = re.findall(r"^(\w+) +(\d+) vectors .*  as published$", result.output, re.MULTILINE)
    found, wanted = {name: int(count) for name, count in rows}, vectors(one_of)[1]
    return "" if found == wanted and not result.code else f"{found} are right of {wanted}"


def _file(data: bytes, result: machine.Result) -> str:
    """Returns what is wrong with the files of card_file."""
    cipher = Cipher(algorithms.AES(KEY), modes.CTR(IV)).encryptor()
    wanted = [cipher.update(data) + cipher.finalize(), AESGCM(KEY).encrypt(NONCE, data, None)]
    found = re.findall(r"^([0-9a-f]{64})  sealed$", result.output, re.MULTILINE)
    if found != [hashlib.sha256(text).hexdigest() for text in wanted]:
        return "the encrypted files are not OpenSSL's"
    return "" if result.code == 0 else "decryption gives another file, or takes a changed one"


def _provider(size: int, result: machine.Result) -> str:
    """Returns what is wrong with the files of openssl enc."""
    found = re.findall(r"^([0-9a-f]{64})  -$", result.output, re.MULTILINE)
    if len(found) != 4 or found[0] != found[1] or found[2] != found[3] or result.code:
        return "the files of the provider are not those of OpenSSL"
    written = re.search("bytes written ([0-9]+)", result.card)
    return "" if written and int(written[1]) >= 2 * size else "the card did not encrypt them"


def _two(result: machine.Result) -> str:
    """Returns what is wrong where a second process wanted a card in use."""
    if not re.search("another process has this (group|device) open", result.output):
        return "no error says that another process has the card"
    if "second: 1\nfirst goes on\n" not in result.output or "ended: 137" not in result.output:
        return "the second process disturbs the first"
    return equal(result)


def _no_iommu(result: machine.Result) -> str:
    """Returns what is wrong where the driver has a card without an IOMMU."""
    if "iommu=off if that is accepted" not in result.output.partition("without consent: 1\n")[0]:
        return "without consent no error says what is not protected"
    return equal(result)


def _rebooted(result: machine.Result) -> str:
    """Returns what is wrong where a guest panicked and started again with jobs in flight."""
    if "under way" not in result.output or "started again\n" not in result.output:
        return "the guest did not start again"
    resets = re.findall(r"reset of an? (busy|idle) card, (\d+) bytes written", result.card)
    busy = [i for i, (state, _) in enumerate(resets[:-1]) if state == "busy"]
    if not busy:
        return "the card was idle when the guest started again"
    if any(resets[i][1] != resets[i + 1][1] for i in busy):
        return "the card wrote memory after a reset that ended its jobs"
    return equal(result)


def _failed(words: str, result: machine.Result) -> str:
    """Returns what is wrong where a job should fail and the card serve the next process."""
    if not re.search(f"ended: 1\nunder way\nwaiting: .*{words}", result.output):
        return f"no error of the driver says: {words}"
    return equal(result)


def cases(device: str, size: int) -> list[Case]:
    """Lists the checks; those of files move ``size`` bytes."""
    small, one_of = min(size, 1000003), MORE if size >= MANY else FEWER
    data = os.urandom(size)

    def options(**given: object) -> machine.Options:
        return machine.Options(device=device, **given)

    plain = {"plain": data}
    file, provider = functools.partial(_file, data), functools.partial(_provider, size)
    bus, stall = (functools.partial(_failed, each) for each in ("bus error", "for too long"))
    slow = {"card_options": "bandwidth=30"}
    uio = {"iommu": False, "uio": True}
    # The address lies in the 9th MB that card_load has, and in no other program's memory.
    errors = {"card_options": "error_at=0x100900000-0x10090003f"}
    job = UNDER_WAY + AFTERWARDS
    found = [
        Case("file", f"a file of {size} bytes, piece by piece", options(), FILE, file, plain),
        Case("two", "second process refused, first killed", options(), TWO, _two),
        Case("rebooted", "panic and restart with jobs in flight",
             options(reboots=True, **slow), REBOOTED, _rebooted),
        Case("bus-error", "memory that answers with an error", options(**errors), job, bus),
        Case("silent", "memory that goes silent", options(card_options="hang=6000"), job, stall),
        Case("uio", "six modes without an IOMMU", options(**uio), f"{NO_IOMMU}{small}", _no_iommu),
        Case("uio-two", "the same, two processes", options(**uio), TWO, _two),
    ]  # fmt: skip
    if VECTORS.exists():
        published = functools.partial(_vectors, one_of)
        found.insert(0, Case("vectors", f"published vectors, 1 of {one_of} of CAVP's", options(),
                             "card_vectors $CARD vectors", published,
                             {"vectors": vectors(one_of)[0]}))  # fmt: skip
    if openssl():
        found.insert(2, Case("provider", "openssl enc on the card", options(), PROVIDER, provider,
                             plain))  # fmt: skip
    return found

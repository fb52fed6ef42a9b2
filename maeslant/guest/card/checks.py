# SPDX-License-Identifier: Apache-2.0
"""Lists the checks of an AES card in Linux guests: data, interrupts, IOMMU, OpenSSL, faults."""

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
from maeslant.guest import machine, programs
from maeslant.guest.case import Case, restart, wrong_restart

FOLDER = pathlib.Path(__file__).parent
# A checkout has them, an installed package not.
DRIVER_TESTS = paths.ROOT / "tests" / "driver" / "programs"
VECTORS = paths.ROOT / "tests" / "vectors" / "export.py"
MORE, FEWER = 11, 37  # one of so many of CAVP's vectors, where many or few bytes are asked for
LINES = 6  # of the modes in the report of card_check
MANY = 20_000_000  # bytes
KEY, IV, NONCE = bytes(range(32)), bytes(range(240, 256)), bytes(range(12))
UNDER_WAY = """card_load $CARD > /tmp/log &
job=$!
until grep -q "under way" /tmp/log || ! kill -0 $job; do sleep 0.1; done
"""
KILLED = f"""{UNDER_WAY}kill -9 $job
wait $job
echo "killed: $?"
cat /tmp/log
card_check $CARD 100003
"""
REMOVED = f"""{UNDER_WAY}echo {machine.REMOVE}
wait $job
code=$?
cat /tmp/log
echo "guest alive"
exit $code
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
REBOOTED = restart(f"{UNDER_WAY}cat /tmp/log", "card_check $CARD 100003")
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


def built() -> dict[str, pathlib.Path]:
    """Compiles the programs for an AES card in a Linux guest; returns their paths by name."""
    c_driver.require_openssl()
    library = c_driver.build()
    found = {
        name: programs.linked(FOLDER / f"{name}.c", library, "-lcrypto")
        for name in ("card_check", "card_load")
    }
    names = ("card_vectors", "card_file")
    return found | {name: c_driver.build_program(FOLDER / f"{name}.c") for name in names}


def driver_tests() -> dict[str, pathlib.Path]:
    """Compiles the driver's C test programs; returns their paths by their names in the guest."""
    found = sorted(DRIVER_TESTS.glob("*.c"))
    return {f"test-{path.stem}": c_driver.build_program(path) for path in found}


def openssl() -> dict[str, pathlib.Path]:
    """Returns this machine's openssl and our provider for it, by their names in the guest."""
    return {
        "openssl": pathlib.Path(shutil.which("openssl")),
        "maeslant.so": c_driver.build_provider(),
    }


@functools.cache
def vectors(one_of: int) -> tuple[bytes, dict[str, int]]:
    """Returns the published vectors as card_vectors reads them, and how many each mode has."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "vectors"
        command = [sys.executable, "-m", "tests.vectors.export", str(file), str(one_of)]
        done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
        if "ModuleNotFoundError" in done.stderr:
            raise MaeslantError("the published vectors are in the tests' packages: make setup-test")
        if done.returncode:
            raise MaeslantError(f"reading the test vectors failed:\n{done.stderr}")
        return file.read_bytes(), json.loads(done.stdout)


def _equal(result: machine.Result) -> str:
    """Returns what is wrong where all modes of a last card_check should equal OpenSSL's."""
    found = len(re.findall("  equal to OpenSSL's$", result.output, re.MULTILINE))
    if found != LINES or "a changed message is refused" not in result.output or result.code:
        return f"{found} of {LINES} modes equal OpenSSL's, exit status {result.code}"
    return ""


def _all_well(result: machine.Result) -> str:
    """Returns "" if all modes are right, and accesses and interrupts of the card, else an error."""
    if wrong := _equal(result):
        return wrong
    if "accesses refused 0\n" not in result.card:
        return f"the card met unmapped memory: {result.card}"
    return "no interrupt came" if re.search(", interrupts 0,", result.card) else ""


def _refused(result: machine.Result) -> str:
    """Returns "" if the driver in the guest refused a card without an IOMMU, else an error text."""
    if "needs an IOMMU" not in result.output or result.code != 1:
        return f"exit status {result.code}; the message does not name the IOMMU"
    return "" if "bytes read 0, bytes written 0" in result.card else "the card moved data"


def _killed(result: machine.Result) -> str:
    """Returns "" if the card works after a process with AES jobs was killed, else an error text."""
    if "killed: 137\nunder way\n" not in result.output:
        return "the process was not killed with jobs in flight"
    if "accesses refused 0\n" in result.card:
        return "the card had nothing in flight when its memory was taken away"
    return _equal(result)


def _removed(result: machine.Result) -> str:
    """Returns "" if the driver reported the card's removal during jobs, else an error text."""
    if result.code != 1 or "under way" not in result.output:
        return f"exit status {result.code}, where an error of the driver was to be"
    good = re.search("^waiting: .*(does not answer|timed out)", result.output, re.MULTILINE)
    return "" if good and "guest alive" in result.output else "no error says that the card is gone"


def _driver_tests(result: machine.Result) -> str:
    """Returns "" if all of the driver's C tests passed in the guest, else the failed tests."""
    failed = re.findall("^failed: (.*)$", result.output, re.MULTILINE)
    return f"failed: {', '.join(failed)}" if failed or result.code else ""


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
    return _equal(result)


def _no_iommu(result: machine.Result) -> str:
    """Returns what is wrong where the driver has a card without an IOMMU."""
    if "iommu=off if that is accepted" not in result.output.partition("without consent: 1\n")[0]:
        return "without consent no error says what is not protected"
    return _equal(result)


def _rebooted(result: machine.Result) -> str:
    """Returns what is wrong where a guest panicked and started again with jobs in flight."""
    if "under way" not in result.output:
        return "no job was under way"
    return wrong_restart(result) or _equal(result)


def _failed(words: str, result: machine.Result) -> str:
    """Returns what is wrong where a job should fail and the card serve the next process."""
    if not re.search(f"ended: 1\nunder way\nwaiting: .*{words}", result.output):
        return f"no error of the driver says: {words}"
    return _equal(result)


def cases(device: str, size: int) -> list[Case]:
    """Lists the checks of an AES card in Linux guests; those of data move ``size`` bytes."""
    small, one_of = min(size, 1000003), MORE if size >= MANY else FEWER
    random = os.urandom(size)

    def options(**given: object) -> machine.Options:
        return machine.Options(device=device, **given)

    def data(count: int) -> str:
        return f"card_check $CARD {count}"

    plain = {"plain": random}
    file, provider = functools.partial(_file, random), functools.partial(_provider, size)
    bus, stall = (functools.partial(_failed, each) for each in ("bus error", "for too long"))
    slow = {"card_options": "bandwidth=30"}
    # The jobs of a process that was killed go on for long.
    slower = options(card_options="bandwidth=10")
    uio = {"iommu": False, "uio": True}
    # The address lies in the 9th MB that card_load has, and in no other program's memory.
    errors = {"card_options": "error_at=0x100900000-0x10090003f"}
    job = UNDER_WAY + AFTERWARDS
    found = [
        Case("data", "six modes, IOMMU, MSI", options(), data(size), _all_well),
        Case("msix", "MSI-X in the place of MSI", options(msi=False), data(small), _all_well),
        Case("no-iommu", "refused without an IOMMU", options(iommu=False), data(small), _refused),
        Case("killed", "process killed with jobs in flight", slower, KILLED, _killed),
        Case("removed", "card removed with jobs in flight", options(), REMOVED, _removed),
    ]
    if names := sorted(path.stem for path in DRIVER_TESTS.glob("*.c")):
        loop = f"for t in {' '.join(names)}; do\n    test-$t > /tmp/log 2>&1 || "
        loop += '{ cat /tmp/log; echo "failed: $t"; }\ndone\n'
        title = f"the driver's {len(names)} C test programs"
        found.append(Case("driver-tests", title, options(), loop, _driver_tests,
                          programs=driver_tests))  # fmt: skip
    if VECTORS.exists():
        published = functools.partial(_vectors, one_of)
        found.append(Case("vectors", f"published vectors, 1 of {one_of} of CAVP's", options(),
                          "card_vectors $CARD vectors", published,
                          {"vectors": vectors(one_of)[0]}))  # fmt: skip
    found.append(
        Case("file", f"a file of {size} bytes, piece by piece", options(), FILE, file, plain)
    )
    if shutil.which("openssl") and c_driver.has_openssl():
        found.append(Case("provider", "openssl enc on the card", options(), PROVIDER, provider,
                          plain, programs=openssl))  # fmt: skip
    return found + [
        Case("two", "second process refused, first killed", options(), TWO, _two),
        Case("rebooted", "panic and restart with jobs in flight",
             options(reboots=True, **slow), REBOOTED, _rebooted),
        Case("bus-error", "memory that answers with an error", options(**errors), job, bus),
        Case("silent", "memory that goes silent", options(card_options="hang=6000"), job, stall),
        Case("uio", "six modes without an IOMMU", options(**uio), f"{NO_IOMMU}{small}", _no_iommu),
        Case("uio-two", "the same, two processes", options(**uio), TWO, _two),
    ]  # fmt: skip

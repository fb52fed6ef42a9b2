# SPDX-License-Identifier: Apache-2.0
"""Checks the driver and a simulated card in Linux guests: data, interrupts, IOMMU, faults."""

import pathlib
import re
import tempfile
import time
from collections.abc import Callable, Iterable

from maeslant import paths
from maeslant.build import c_driver
from maeslant.errors import MaeslantError
from maeslant.guest import block_checks, machine, media, server
from maeslant.guest.card import checks as card_checks
from maeslant.guest.case import Case
from maeslant.guest.kernel import checks as kernel_checks

# A checkout has them, an installed package not.
DRIVER_TESTS = paths.ROOT / "tests" / "driver" / "programs"
SECONDS = 900  # that a guest may take
LINES = 6  # of the modes in the report of card_check
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


def guest_program(name: str) -> pathlib.Path:
    """Compiles a C program of maeslant/guest to run in a Linux guest; returns the path."""
    source = pathlib.Path(__file__).with_name(f"{name}.c")
    target = c_driver.OUT / "guest" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    library = c_driver.build()
    if not any((root / "openssl" / "evp.h").exists() for root in c_driver.SYSTEM_HEADERS):
        raise MaeslantError(
            "OpenSSL's headers are missing; install them: sudo apt-get install libssl-dev"
        )
    if c_driver.stale(target, own=[source]):
        command = [c_driver.compiler(), *c_driver.FLAGS, *c_driver.OPTIMISED, *c_driver.INCLUDES]
        command += [str(source), f"-L{library.parent}", f"-Wl,-rpath,{library.parent}"]
        command += ["-Wl,--as-needed", "-lmaeslant", "-lcrypto", "-o", str(target)]
        c_driver.run(command, f"compiling {source.name}")
    return target


def guest_programs(device: str) -> dict[str, pathlib.Path]:
    """Compiles the test programs of a Linux guest for a card; returns their paths by name."""
    if media.capacity(device):
        return {**block_checks.programs(), **kernel_checks.programs()}
    own = {name: guest_program(name) for name in ("card_check", "card_load")}
    return {**own, **card_checks.programs()}


def programs(device: str) -> dict[str, pathlib.Path]:
    """Compiles a Linux guest's programs, in a checkout also the driver's tests; returns paths."""
    tests = {
        f"test-{path.stem}": c_driver.build_program(path)
        for path in sorted(DRIVER_TESTS.glob("*.c"))
        if not media.capacity(device)
    }
    more = {} if media.capacity(device) else card_checks.openssl()
    return {**guest_programs(device), **tests, **more}


def _equal(result: machine.Result, of: int = LINES) -> str:
    """Returns "" if all AES modes in a guest's output equal OpenSSL's, else an error text."""
    found = len(re.findall("  equal to OpenSSL's$", result.output, re.MULTILINE))
    if found != of or "a changed message is refused" not in result.output or result.code:
        return f"{found} of {of} modes equal OpenSSL's, exit status {result.code}"
    if "accesses refused 0\n" not in result.card:
        return f"the card met unmapped memory: {result.card}"
    if re.search(", interrupts 0,", result.card):
        return "no interrupt came"
    return ""


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
    found = len(re.findall("  equal to OpenSSL's$", result.output, re.MULTILINE))
    return "" if found == LINES and result.code == 0 else "the next process has wrong results"


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


def cases(device: str, size: int) -> list[Case]:
    """Returns all checks of a card in Linux guests; each AES mode processes ``size`` bytes."""
    small = min(size, 1000003)

    def options(**given: object) -> machine.Options:
        return machine.Options(device=device, **given)

    def data(count: int) -> str:
        return f"card_check $CARD {count}"

    # A slow bus: the jobs of a process that was killed would go on for long.
    slow = options(card_options="bandwidth=10")
    found = [
        Case("data", "six modes, IOMMU, MSI", options(), data(size), _equal),
        Case("msix", "MSI-X in the place of MSI", options(msi=False), data(small), _equal),
        Case("no-iommu", "refused without an IOMMU", options(iommu=False), data(small), _refused),
        Case("killed", "process killed with jobs in flight", slow, KILLED, _killed),
        Case("removed", "card removed with jobs in flight", options(), REMOVED, _removed),
    ]
    names = sorted(path.stem for path in DRIVER_TESTS.glob("*.c"))
    if names:
        loop = f"for t in {' '.join(names)}; do\n    test-$t > /tmp/log 2>&1 || "
        loop += '{ cat /tmp/log; echo "failed: $t"; }\ndone\n'
        title = f"the driver's {len(names)} C test programs"
        found.append(Case("driver-tests", title, options(), loop, _driver_tests))
    return [*found, *card_checks.cases(device, size)]


def every(device: str, size: int, folder: pathlib.Path) -> list[Case]:
    """Returns all checks of any card in Linux guests; media files are in ``folder``."""
    if media.capacity(device):
        return [*block_checks.cases(device, folder), *kernel_checks.cases(device, folder)]
    return cases(device, size)


def run(
    device: str, size: int, say: Callable[[str], None], names: Iterable[str] | None = None
) -> list[str]:
    """Runs checks of a card, each in a new Linux guest; returns texts of the failed checks."""
    machine.check()
    server.build()
    own = programs(device)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="maeslant-media-") as folder:
        for case in every(device, size, pathlib.Path(folder)):
            if names is not None and case.name not in names:
                continue
            start = time.monotonic()
            result = machine.run(
                case.command,
                case.options,
                programs=own,
                files=case.files,
                tree=case.tree(),
                seconds=SECONDS,
            )
            problem = case.wrong(result)
            took = time.monotonic() - start
            verdict = "FAILED" if problem else "passed"
            say(f"{verdict}  {case.name:<13} {case.title:<40} {took:6.1f} s")
            if case.name == "data" or problem:
                say(result.output.rstrip())
            if problem:
                say(f"{problem}\nthe card: {result.card}")
                wrong.append(f"{case.name}: {problem}")
    return wrong

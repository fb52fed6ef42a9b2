# SPDX-License-Identifier: Apache-2.0
"""Runs a Linux guest in QEMU with a simulated card as its PCI function."""

import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping

from maeslant import paths
from maeslant.build import c_driver, configurations, simulator
from maeslant.errors import MaeslantError, naming
from maeslant.guest import image, media, packages, server

MEGABYTES = 512  # of the guest's memory
DEVICE = "vfio-user-pci"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
REMOVE = "maeslant-remove"  # a command that prints this line has the card pulled out
STATE = "maeslant-state"  # ... has the card's state written, for the result
SECRET = "maeslant-secret"  # ... has a protected card told the secret of the guest's file "secret"
CRASH = "maeslant-crash"  # ... ends guest and card at once
CRASHED = -1  # the code of a command that they ended with
HUGE_PAGES = 64  # of 2 MiB, where the card is driven without an IOMMU
START_SECONDS = 20  # for the card's server to listen


SECRET_BYTES = 32 + 16  # and a session's number
SIGNALS = {  # to the card
    REMOVE: signal.SIGUSR1,
    STATE: signal.SIGUSR2,
    SECRET: signal.SIGHUP,
    CRASH: signal.SIGKILL,
}


@dataclasses.dataclass(frozen=True)
class Options:
    """Describes a Linux guest: the simulated card and how QEMU runs the guest."""

    device: str = "stream4"  # a named build
    card_options: str = ""  # of the simulator, as in sim:stream4?OPTIONS
    iommu: bool = True
    msi: bool = True  # False: the card has MSI-X only
    accelerator: str = "tcg"
    vfio: bool = True  # False: the card is left to a driver of the guest's kernel
    uio: bool = False  # True: uio_pci_generic has it, in a guest without an IOMMU
    reboots: bool = False  # True: a restart of the guest starts it again
    media: pathlib.Path | None = None  # of a block card; None: a file for this guest only
    media_size: int | None = None  # bytes; None: of the file, or as built
    kernel: pathlib.Path | None = None  # None: Debian's
    modules: pathlib.Path | None = None  # folder of that kernel's; None: all is built in


@dataclasses.dataclass(frozen=True)
class Result:
    """Holds a command's exit status and output in a Linux guest, and the card's report."""

    code: int  # its exit status
    output: str
    card: str  # the card's own report
    states: tuple[bytes, ...] = ()  # of the card, as key_search.parse reads them


def own_qemu() -> str | None:
    """Returns the path of this machine's QEMU if QEMU has the device vfio-user-pci, else None."""
    own = shutil.which("qemu-system-x86_64")
    ask = [own or "", "-device", f"{DEVICE},help"]
    return own if own and subprocess.run(ask, capture_output=True).returncode == 0 else None


def qemu() -> list[str]:
    """Returns the command to start QEMU with vfio-user-pci: this machine's, else Debian's QEMU."""
    if own := own_qemu():
        return [own]
    root = packages.fetch("qemu")
    # Debian's program under Debian's dynamic linker and libraries: this machine's may be older.
    loader = root / LIBRARIES / "ld-linux-x86-64.so.2"
    firmware = (root / "usr/share/qemu", root / "usr/share/seabios")
    command = [str(loader), "--library-path", str(root / LIBRARIES)]
    command += [str(root / "usr/bin/qemu-system-x86_64")]
    return [*command, *(word for folder in firmware for word in ("-L", str(folder)))]


def arguments(options: Options, kernel: pathlib.Path, initrd: pathlib.Path, socket: str) -> list:
    """Returns the command-line arguments with which QEMU runs a Linux guest and its card."""
    # A busy host serves the emulated timer too late for the kernel's check of it, which panics.
    console = "console=ttyS0 quiet panic=-1 no_timer_check"
    if not options.vfio:
        console += f" {image.NO_VFIO}"
    if options.uio:
        console += f" {image.UIO} hugepages={HUGE_PAGES}"
    iommu = []
    if options.iommu:
        iommu = ["-device", "intel-iommu,intremap=on,caching-mode=on"]
        console += " intel_iommu=on"
    machine = "q35,memory-backend=ram"
    if options.iommu and options.accelerator == "kvm":
        machine += ",kernel-irqchip=split"
    memory = f"memory-backend-memfd,id=ram,size={MEGABYTES}M,share=on"
    card = {"driver": DEVICE, "socket": {"type": "unix", "path": socket}}
    return [
        *("-nodefaults", "-no-user-config", "-display", "none"),
        *(() if options.reboots else ("-no-reboot",)),
        *("-machine", machine, "-accel", options.accelerator, "-cpu", "max", "-smp", "1"),
        *("-m", f"{MEGABYTES}M", "-object", memory),
        *iommu,
        *("-kernel", str(kernel), "-initrd", str(initrd), "-append", console),
        *("-device", json.dumps(card)),
    ]


def check() -> None:
    """Raises MaeslantError if this machine cannot run a Linux guest in QEMU."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise MaeslantError(
            f"maeslant linux needs Linux on x86-64, and this is {platform.system()} on "
            f"{platform.machine()}: the guest uses this machine's libraries"
        )


@contextlib.contextmanager
def _card(
    options: Options, folder: pathlib.Path, secret: bytes
) -> Iterator[tuple[subprocess.Popen, str]]:
    """Starts the process that simulates a Linux guest's card; yields (process, socket path)."""
    found = configurations.get(options.device, simulator.buildable())
    if "Lanes" not in found["parameters"] and not found.get("card"):
        raise MaeslantError(f"{options.device} has no bus to the host's memory; try stream4")
    card_options = [options.card_options] if options.card_options else []
    if found.get("card") == "block" or options.media or options.media_size:
        size = media.size(options.device, options.media, options.media_size)
        file = options.media or folder / "media"
        library = media.library(options.device, size)
        media.create(file, size)
        card_options.append(f"media={file.absolute()}")
    else:
        library = simulator.build(options.device)
    socket = folder / "card.sock"
    paths.write(folder / "card.sock.secret", secret)
    command = [str(server.build()), str(socket), str(library), "&".join(card_options)]
    command.append("msi" if options.msi else "msix")
    with open(folder / "card.log", "w") as log:
        card = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + START_SECONDS
        while not socket.exists():
            if card.poll() is not None or time.monotonic() > end:
                raise MaeslantError(f"the card does not start: {(folder / 'card.log').read_text()}")
            time.sleep(0.01)
        yield card, str(socket)
    finally:
        if card.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                card.wait(2)  # QEMU has gone, so it reports and ends
        if card.poll() is None:
            card.kill()
            card.wait()


def _follow(guest: subprocess.Popen, card: subprocess.Popen, show: bool):
    """Reads a guest's console to the end; returns a command's status, output, and other lines."""
    lines, others, code, inside = [], [], None, False
    for line in guest.stdout:
        line = line.replace("\r", "")
        if found := re.search(rf"{image.END} (\d+)", line):
            code, inside = int(found[1]), False
        elif image.BEGIN in line:
            inside = True
        elif inside:
            lines.append(line)
            if show:
                print(line, end="", flush=True)
            if line.strip() in SIGNALS:
                card.send_signal(SIGNALS[line.strip()])
            if line.strip() == CRASH:
                guest.terminate()
                code = CRASHED
        else:
            others.append(line)
    return code, "".join(lines).rstrip("\n") + "\n", others


def run(
    command: str | None,
    options: Options,
    *,
    programs: dict[str, pathlib.Path] | None = None,
    files: Mapping[str, bytes] | None = None,
    tree: Mapping[str, bytes] | None = None,
    seconds: float | None = None,
    show: bool = False,
) -> Result:
    """Runs a shell command in a Linux guest, or a shell on this terminal for None.

    ``programs`` and ``files`` are put into the guest's /bin and /root, the driver's library into
    its /lib, those of ``tree`` at their places. ``seconds``: the guest is ended then. ``show``:
    prints the output as it comes.
    """
    check()
    guest_files = packages.fetch("guest")
    emulator = qemu()
    if options.kernel:
        kernel, modules = options.kernel, image.read_modules(options.modules)
        image.require_kernel(kernel)
    else:
        kernel = next(guest_files.glob("usr/lib/modules/*/vmlinuz"))
        modules = image.read_modules(guest_files / "usr/lib/modules")
    programs = {"libmaeslant.so": c_driver.build(), **(programs or {})}
    files, secret = dict(files or {}), b""
    if configurations.get(options.device).get("card") == "protected":
        files["secret"] = secret = os.urandom(SECRET_BYTES)
    archive = image.make(guest_files, modules, programs, files, command, tree or {})
    with tempfile.TemporaryDirectory(prefix="maeslant-linux-") as name:
        folder = pathlib.Path(name)
        initrd = folder / "initrd"
        with naming(initrd):
            initrd.write_bytes(archive)
        with _card(options, folder, secret) as (card, socket):
            start = [*emulator, *arguments(options, kernel, initrd, socket)]
            if command is None:
                done = subprocess.run([*start, "-serial", "mon:stdio"], check=False)
                code, output = done.returncode, ""
            else:
                code, output = _attended(start, card, seconds, show)
        states = tuple(path.read_bytes() for path in sorted(folder.glob("card.sock.state*")))
        return Result(code, output, (folder / "card.log").read_text(), states)


def _attended(start: list[str], card: subprocess.Popen, seconds, show):
    """Runs QEMU until a guest's command ends; returns the command's status, output, other lines."""
    if seconds is not None:
        start = ["timeout", "--kill-after=5", str(seconds), *start]
    guest = subprocess.Popen(
        [*start, "-serial", "stdio"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        code, output, others = _follow(guest, card, show)
    finally:
        if guest.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                guest.wait(10)
        if guest.poll() is None:
            guest.terminate()
            guest.wait()
    if code is None:
        why = f"within {seconds} s" if guest.returncode == 124 else "at all"
        words = "".join([*others[-10:], *output.splitlines(True)[-10:]])
        raise MaeslantError(f"the guest did not end the command {why}; its last words:\n{words}")
    return code, output

# SPDX-License-Identifier: Apache-2.0
"""Makes the guest's initial file system: Debian's busybox and kernel modules, and our programs.

It is a cpio archive that the kernel unpacks into its memory; there is no disk.
"""

import gzip
import lzma
import pathlib
import re
import stat
import subprocess
from collections.abc import Mapping

from maeslant.errors import MaeslantError, naming

# In the order in which they are loaded.
MODULES = ("irqbypass", "vfio", "vfio_iommu_type1", "vfio-pci-core", "vfio-pci", "uio")
MODULES += ("uio_pci_generic",)
# By the end of a module's name.
UNPACK = {"": bytes, ".xz": lzma.decompress, ".gz": gzip.decompress}
SIGNATURE_AT, SIGNATURE = 0x202, b"HdrS"  # of the kernel's boot protocol
# PCI device numbers of the cards, as sim/vfio_user/config_space.cpp has them.
CARDS = ("0xae50", "0xae51", "0xae52")
NO_VFIO = "maeslant.vfio=0"  # on the kernel's command line: the card is not bound to vfio-pci
UIO = "maeslant.uio=1"  # ... it is bound to uio_pci_generic
FOLDERS = ("bin", "dev", "etc", "lib", "lib64", "proc", "root", "sys", "tmp", "usr", "var")
# Between these lines of the serial console stands the command's output.
BEGIN, END = "maeslant-begin", "maeslant-end"
INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root LD_LIBRARY_PATH=/lib TERM=linux
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
for module in {" ".join(MODULES)}; do
    [ ! -e "/lib/modules/$module.ko" ] || insmod "/lib/modules/$module.ko"
done
ulimit -l unlimited
CARD=none
for function in /sys/bus/pci/devices/*; do
    case "$(cat "$function/vendor" "$function/device" | tr '\\n' ' ')" in
    {" | ".join(f'"0x1234 {card} "' for card in CARDS)})
        CARD="${{function##*/}}"
        grep -qwF {NO_VFIO} /proc/cmdline && continue
        DRIVER=vfio-pci
        URI="vfio:$CARD"
        if grep -qwF {UIO} /proc/cmdline; then
            DRIVER=uio_pci_generic
            URI="uio:$CARD?iommu=off"
        fi
        echo $DRIVER > "$function/driver_override"
        echo "$CARD" > /sys/bus/pci/drivers_probe
        CARD="$URI"
    esac
done
export CARD
cd /root
stty -onlcr
echo {BEGIN}
if [ -f /root/command ]; then
    sh /root/command
    code=$?
else
    stty onlcr
    echo "The card is \\$CARD, $CARD. Leave by exit."
    setsid cttyhack sh
    code=0
fi
echo
echo {END} "$code"
poweroff -f
"""


class Archive:
    """Builds a cpio archive of files in the format newc, for a Linux initial RAM disk."""

    def __init__(self) -> None:
        """Creates an empty cpio archive."""
        self._parts: list[bytes] = []
        self._folders: set[str] = set()

    def _add(self, name: str, mode: int, data: bytes) -> None:
        fields = (len(self._parts) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields)
        head += name.encode() + b"\0"
        self._parts.append(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))

    def folder(self, name: str) -> None:
        """Adds a folder and its parent folders to the cpio archive."""
        if name in self._folders or name in ("", "."):
            return
        self.folder(str(pathlib.PurePosixPath(name).parent))
        self._folders.add(name)
        self._add(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, data: bytes, mode: int = 0o755) -> None:
        """Adds a file and its parent folders to the cpio archive."""
        self.folder(str(pathlib.PurePosixPath(name).parent))
        self._add(name, stat.S_IFREG | mode, data)

    def bytes(self) -> bytes:
        """Returns the cpio archive as bytes."""
        self._add("TRAILER!!!", 0, b"")
        return b"".join(self._parts)


def libraries(program: pathlib.Path) -> dict[str, pathlib.Path]:
    """Returns the shared libraries that a program loads, as a map of guest path to host path."""
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if "not found" in done.stdout:
        raise MaeslantError(f"{program} lacks a library:\n{done.stdout}")
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (/\S+) \(", done.stdout, re.M):
        found[f"lib/{name}"] = pathlib.Path(path)
    for path in re.findall(r"^\s*(/\S+) \(", done.stdout, re.M):  # the dynamic linker
        found[path.lstrip("/")] = pathlib.Path(path)
    return found


def read_modules(folder: pathlib.Path | None) -> dict[str, bytes]:
    """Reads the kernel modules that a guest loads, by name, from a folder; {} for None.

    Those that it lacks are built into the kernel, or missed by what needs them.
    """
    found = {}
    if folder is not None and not folder.is_dir():
        raise MaeslantError(f"{folder} is no folder of kernel modules")
    for path in sorted(folder.glob("**/*.ko*")) if folder else ():
        name, _, kind = path.name.partition(".ko")
        if name in MODULES and name not in found:
            if kind not in UNPACK:
                raise MaeslantError(f"{path}: modules are read as .ko, .ko.xz and .ko.gz")
            found[name] = UNPACK[kind](path.read_bytes())
    if folder and not found:
        raise MaeslantError(f"{folder} has none of the modules {', '.join(MODULES)}")
    return found


def require_kernel(file: pathlib.Path) -> None:
    """Raises MaeslantError unless a file is a Linux kernel that QEMU starts (bzImage)."""
    with naming(file), open(file, "rb") as kernel:
        head = kernel.read(SIGNATURE_AT + len(SIGNATURE))
    if head[SIGNATURE_AT:] != SIGNATURE:
        raise MaeslantError(f"{file} is no Linux kernel for x86 (bzImage, as arch/x86/boot has it)")


def make(
    guest: pathlib.Path,
    modules: Mapping[str, bytes],
    programs: dict[str, pathlib.Path],
    files: Mapping[str, bytes],
    command: str | None,
    tree: Mapping[str, bytes],
) -> bytes:
    """Returns a Linux guest's file system as a cpio archive, to run a command or a shell.

    ``guest``: the unpacked Debian packages. ``modules``: of the kernel, by name. ``programs``: of
    this machine, by their names in the guest's /bin or /lib; the libraries they load come with
    them. ``files``: for its /root. ``tree``: executable files by their places.
    """
    archive = Archive()
    for name in FOLDERS:
        archive.folder(name)
    archive.file("init", INIT.encode())
    archive.file("bin/busybox", (guest / "usr/bin/busybox").read_bytes())
    for name, data in modules.items():
        archive.file(f"lib/modules/{name}.ko", data, 0o644)
    needed = {place: path for path in programs.values() for place, path in libraries(path).items()}
    for name, path in programs.items():
        folder = "lib" if ".so" in name else "bin"
        needed[f"{folder}/{name}"] = path
    for place, path in needed.items():
        archive.file(place, path.read_bytes())
    for place, data in tree.items():
        archive.file(place, data)
    for name, data in files.items():
        archive.file(f"root/{name}", data, 0o644)
    if command is not None:
        archive.file("root/command", command.encode() + b"\n", 0o644)
    return archive.bytes()

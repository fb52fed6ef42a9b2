# SPDX-License-Identifier: Apache-2.0
"""Pins the Debian packages of the Linux guest and its QEMU in configs/linux_packages.json.

Asks apt-get, with folders of its own, for the newest versions in Debian's stable release and its
backports; of QEMU's dependencies it keeps those whose libraries the program loads. Needs Debian's
apt-get and readelf; changes nothing of the system.
"""

import datetime
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.parse

from maeslant.guest import packages

SUITE = "trixie"
SERVER = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
FIRMWARE = {"qemu-system-data", "seabios"}
LIBRARIES = pathlib.PurePath("usr/lib/x86_64-linux-gnu")
PRINTED = re.compile(r"'(\S+)' (\S+)_\S+_\w+\.deb (\d+) SHA256:(\w+)")


def apt(folder: pathlib.Path, *arguments: str) -> str:
    """Runs apt-get with all state in a given folder; returns the program's output."""
    for name in ("lists/partial", "cache/archives/partial", "etc/apt.conf.d", "etc/preferences.d"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    suites = (SUITE, f"{SUITE}-backports")
    sources = [f"deb [signed-by={KEYS}] {SERVER} {suite} main\n" for suite in suites]
    (folder / "sources.list").write_text("".join(sources))
    options = {
        "Dir::Etc": folder / "etc",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State": folder,
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "APT::Architecture": "amd64",
        "APT::Architectures": "amd64",
        "APT::Install-Recommends": "false",
        "Acquire::Languages": "none",
        "Acquire::ForceHash": "SHA256",
    }
    command = ["apt-get", *(word for k, v in options.items() for word in ("-o", f"{k}={v}"))]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def resolve(folder: pathlib.Path, purpose: str, *arguments: str) -> list[packages.Package]:
    """Returns the Debian packages that apt-get installs for given packages on an empty system."""
    found = []
    text = apt(folder, "install", "--yes", "--print-uris", *arguments)
    for url, name, size, digest in PRINTED.findall(text):
        path = urllib.parse.unquote(url).removeprefix(f"{SERVER}/")
        version = pathlib.PurePath(path).name.split("_")[1]
        found.append(packages.Package(purpose, name, version, path, int(size), digest))
    return found


def loaded(root: pathlib.Path) -> set[str]:
    """Returns the names of all libraries that an unpacked QEMU loads, directly or indirectly."""
    names: set[str] = set()
    todo = [root / "usr/bin/qemu-system-x86_64"]
    while todo:
        command = ["readelf", "-d", todo.pop()]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for name in set(re.findall(r"NEEDED.*\[(.*)\]", text)) - names:
            names.add(name)
            todo.append(root / LIBRARIES / name)
    return names


def of_qemu(folder: pathlib.Path) -> list[packages.Package]:
    """Returns the Debian packages that QEMU needs to start."""
    every = resolve(folder, "qemu", "--target-release", f"{SUITE}-backports", "qemu-system-x86")
    snapshot = f"{datetime.date.today():%Y%m%d}T000000Z"
    wanted = packages.WANTED["qemu"]
    for package in every:
        stored = folder / "debs" / package.name
        stored.parent.mkdir(exist_ok=True)
        stored.write_bytes(packages.download(package, snapshot, lambda count: None))
        packages.unpack(stored.read_bytes(), wanted, folder / "root")
    names = loaded(folder / "root")
    kept = []
    for package in every:
        packages.unpack((folder / "debs" / package.name).read_bytes(), wanted, folder / "one")
        own = {path.name for path in (folder / "one" / LIBRARIES).glob("*")}
        if own & names or package.name in FIRMWARE | {"qemu-system-x86"}:
            kept.append(package)
        subprocess.run(["rm", "-r", str(folder / "one")], check=True)
    return kept


def main() -> None:
    """Writes configs/linux_packages.json, the pinned Debian packages for Linux guests."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        apt(folder, "update")
        guest = resolve(folder, "guest", "linux-image-cloud-amd64", "busybox-static")
        found = of_qemu(folder)
        found += [each for each in guest if re.match("linux-image-6|busybox-static", each.name)]
    text = {
        "snapshot": f"{datetime.date.today():%Y%m%d}T000000Z",
        "packages": [vars(each) for each in sorted(found, key=lambda p: (p.purpose, p.name))],
    }
    packages.LOCK.write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main()

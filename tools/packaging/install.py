# SPDX-License-Identifier: Apache-2.0
"""Installs the C libraries, headers, pkg-config files, OpenSSL provider, man page, completions.

usage: install.py library|documents|uninstall   with PREFIX, DESTDIR and LIBDIR in the environment

`library` uses the standard library and a C compiler only; `documents` asks the command line itself.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from maeslant import __version__, python_version

if not python_version.is_new_enough():
    sys.exit(python_version.needed("install"))
import dataclasses
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable

from maeslant.build import c_driver
from maeslant.errors import MaeslantError

PREFIX = pathlib.Path(os.environ.get("PREFIX") or "/usr/local")
LIBDIR = pathlib.Path(os.environ.get("LIBDIR") or PREFIX / "lib")
PROVIDER = LIBDIR / "ossl-modules" / "maeslant.so"  # where OpenSSL looks if LIBDIR is its own
MANPAGE = PREFIX / "share/man/man1/maeslant.1"
COMPLETIONS = {
    "bash": PREFIX / "share/bash-completion/completions/maeslant",
    "zsh": PREFIX / "share/zsh/site-functions/_maeslant",
    "fish": PREFIX / "share/fish/vendor_completions.d/maeslant.fish",
}
MAJOR = __version__.split(".")[0]
PKG_CONFIG = """prefix={prefix}
includedir=${{prefix}}/include
libdir={libdir}

Name: {name}
Description: {description}
Version: {version}
Libs: -L${{libdir}} -l{name}
Libs.private: {private}
Cflags: -I${{includedir}}
"""


@dataclasses.dataclass(frozen=True)
class Library:
    """Describes a C library to install: sources, public headers, required libraries."""

    name: str
    description: str
    headers: tuple[str, ...]
    sources: Callable[[], list[pathlib.Path]]
    libraries: Callable[[], tuple[str, ...]]
    needs: tuple[str, str] | None = None  # a header of the system, and Debian's package

    def files(self) -> dict[str, pathlib.Path]:
        """Returns the installation paths of the C library's files, by file kind or header name."""
        stem = f"lib{self.name}"
        return {
            "shared": LIBDIR / f"{stem}.so.{__version__}",
            "soname": LIBDIR / f"{stem}.so.{MAJOR}",
            "link": LIBDIR / f"{stem}.so",
            "static": LIBDIR / f"{stem}.a",
            "pc": LIBDIR / "pkgconfig" / f"{self.name}.pc",
            **{name: PREFIX / "include" / name for name in self.headers},
        }


LIBRARIES = (
    Library(
        "maeslant",
        "One C interface for every Maeslant AES device, simulated or real",
        ("maeslant.h", "maeslant_pool.h", "maeslant_records.h", "maeslant_peripheral.h"),
        c_driver.sources,
        lambda: ("-ldl", "-pthread"),
    ),
    Library(
        "maeslant_protected",
        "The host's end of Maeslant's protected channel, for an application in an enclave",
        ("maeslant_protected.h",),
        c_driver.protected_sources,
        c_driver.crypto_libraries,
        ("openssl/evp.h", "libssl-dev"),
    ),
)


def staged(path: pathlib.Path) -> pathlib.Path:
    """Returns an installation path prefixed by DESTDIR; creates the parent folder."""
    destdir = os.environ.get("DESTDIR", "")
    place = pathlib.Path(f"{destdir}{path}") if destdir else path
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def put(path: pathlib.Path, data: bytes, mode: int = 0o644) -> None:
    """Installs a file at a path, completely or not at all."""
    place = staged(path)
    part = place.with_name(f".{place.name}.new")
    part.write_bytes(data)
    part.chmod(mode)
    part.replace(place)
    print(f"  {path}")


def link(path: pathlib.Path, to: str) -> None:
    """Installs a symbolic link at a path prefixed by DESTDIR."""
    place = staged(path)
    place.unlink(missing_ok=True)
    place.symlink_to(to)
    print(f"  {path} -> {to}")


def install_library(library: Library, work: pathlib.Path) -> None:
    """Builds and installs a C library, shared and static, with the public headers."""
    where, stem = library.files(), f"lib{library.name}"
    flags = (*c_driver.OPTIMISED, f"-ffile-prefix-map={c_driver.DRIVER}=driver")
    objects = c_driver.compile_objects(work / library.name, flags, library.sources())
    shared, static = work / f"{stem}.so", work / f"{stem}.a"
    command = [c_driver.compiler(), *c_driver.SHARED, c_driver.exports(stem)]
    command += [f"-Wl,-soname,{stem}.so.{MAJOR}", *objects, *library.libraries()]
    c_driver.run([*command, "-o", str(shared)], f"linking {shared.name}")
    c_driver.run(["ar", "rcsD", str(static), *objects], f"making {static.name}")
    put(where["shared"], shared.read_bytes(), 0o755)
    link(where["soname"], where["shared"].name)
    link(where["link"], where["soname"].name)
    put(where["static"], static.read_bytes())
    for name in library.headers:
        put(where[name], (c_driver.DRIVER / "include" / name).read_bytes())
    text = PKG_CONFIG.format(
        prefix=PREFIX,
        libdir=f"${{prefix}}/{LIBDIR.relative_to(PREFIX)}"
        if LIBDIR.is_relative_to(PREFIX)
        else LIBDIR,
        name=library.name,
        description=library.description,
        version=__version__,
        private=" ".join(library.libraries()),
    )
    put(where["pc"], text.encode())


def install_provider(work: pathlib.Path) -> None:
    """Builds and installs the OpenSSL provider if OpenSSL's headers are installed."""
    if not c_driver.has_openssl():
        print("left out maeslant.so, the OpenSSL provider: it needs libssl-dev")
        return
    flags = (*c_driver.OPTIMISED, f"-ffile-prefix-map={c_driver.DRIVER}=driver")
    library = c_driver.compile_objects(work / "maeslant", flags)
    c_driver.link_provider(work / "provider", work / PROVIDER.name, flags, library)
    put(PROVIDER, (work / PROVIDER.name).read_bytes(), 0o755)


def install_libraries() -> None:
    """Installs all C libraries that can be built on this machine, and the OpenSSL provider."""
    with tempfile.TemporaryDirectory() as work:
        for library in LIBRARIES:
            if library.needs:
                header, package = library.needs
                if not any((root / header).exists() for root in c_driver.SYSTEM_HEADERS):
                    print(f"left out lib{library.name}: it needs {package}")
                    continue
            install_library(library, pathlib.Path(work))
        install_provider(pathlib.Path(work))
    ldconfig = shutil.which("ldconfig", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if not os.environ.get("DESTDIR") and os.geteuid() == 0 and ldconfig:
        subprocess.run([ldconfig], check=False)  # what is staged is the package manager's to list


def install_documents() -> None:
    """Installs the man page and the shell completion scripts."""
    from tools.packaging import gen_man

    put(MANPAGE, gen_man.page().encode())
    for shell, path in COMPLETIONS.items():
        put(path, gen_man.completion(shell).encode())


def uninstall() -> None:
    """Removes all files that an install with the same environment variables would create."""
    paths = [path for library in LIBRARIES for path in library.files().values()]
    for path in [*paths, PROVIDER, MANPAGE, *COMPLETIONS.values()]:
        place = pathlib.Path(f"{os.environ.get('DESTDIR', '')}{path}")
        if place.is_symlink() or place.exists():
            place.unlink()
            print(f"  removed {path}")


STEPS = {"library": install_libraries, "documents": install_documents, "uninstall": uninstall}


def main() -> int:
    """Installs or uninstalls libraries and documents, as the command line says."""
    if not sys.argv[1:] or not set(sys.argv[1:]) <= STEPS.keys():
        sys.exit(__doc__)
    if not (PREFIX.is_absolute() and LIBDIR.is_absolute()):
        sys.exit(f"PREFIX and LIBDIR are absolute paths, not {PREFIX} and {LIBDIR}")
    try:
        for step in sys.argv[1:]:
            STEPS[step]()
    except MaeslantError as error:
        sys.exit(f"install: {error}")
    except OSError as error:
        sys.exit(f"install: {error.filename}: {error.strerror}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

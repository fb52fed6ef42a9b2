# SPDX-License-Identifier: Apache-2.0
"""Builds libmaeslant, the enclave's library and C programs that use them, if out of date."""

import json
import os
import pathlib
import platform
import shutil
import subprocess

from maeslant import __version__, paths
from maeslant.build import made
from maeslant.errors import MaeslantError

DRIVER = paths.ROOT / "driver"
OUT = paths.BUILD / "driver"
LIBRARY = OUT / "libmaeslant.so"
SYSTEM_HEADERS = (pathlib.Path("/usr/include"), pathlib.Path("/usr/local/include"))
FLAGS = ("-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC")
FLAGS += ("-pthread",)
# A broken bound ends the program instead of the secrecy; what is linked is bound at start and then
# read only. What a sanitizer instruments it replaces, so these belong to the optimised build.
HARDENED = ("-D_FORTIFY_SOURCE=2", "-fstack-protector-strong", "-fstack-clash-protection")
if platform.machine() == "x86_64":
    HARDENED += ("-fcf-protection",)
OPTIMISED = ("-O2", "-g", *HARDENED)
SHARED = ("-shared", "-Wl,-z,defs", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack")
SANITIZERS = {
    "memory": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "threads": ("-O1", "-g", "-fsanitize=thread"),
}
# GCC's thread sanitizer does not model fences and says so; Clang does not know the warning.
NO_FENCE_WARNING = ("-Wno-unknown-warning-option", "-Wno-tsan")
FOLDERS = (
    "include",
    "src",
    "src/message",
    "src/aead",
    "src/peripheral",
    "src/pool",
    "backend/pci",
    "backend/vfio",
    "backend/uio",
    "provider",
)
INCLUDES = tuple(f"-I{DRIVER / folder}" for folder in FOLDERS)


def sources() -> list[pathlib.Path]:
    """Returns the paths of the C files of libmaeslant."""
    return sorted([*DRIVER.glob("src/**/*.c"), *DRIVER.glob("backend/*/*.c")])


def run(command: list[str], what: str) -> None:
    """Runs a C compiler; raises MaeslantError with the compiler's messages if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MaeslantError(f"{what} failed:\n{done.stdout}{done.stderr}")


def compiler() -> str:
    """Returns the path of this machine's C compiler."""
    found = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not found:
        raise MaeslantError("no C compiler found; install one: sudo apt-get install gcc")
    return found


def inputs(*own: pathlib.Path) -> list[pathlib.Path]:
    """Returns the files on which anything of the C driver may depend, with files of one's own."""
    sim = paths.ROOT / "sim"
    headers = [*DRIVER.glob("**/*.h"), *sim.glob("include/*.h"), *sim.glob("modes/*.h")]
    scripts = [*DRIVER.glob("*.map"), pathlib.Path(__file__)]
    return sorted({*sources(), *headers, *scripts, *own})


def compile_objects(
    folder: pathlib.Path, flags: tuple[str, ...], files: list[pathlib.Path] | None = None
) -> list[str]:
    """Compiles C files, by default those of libmaeslant; returns the object files' paths."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in files or sources():
        target = folder / f"{source.stem}.o"
        run([compiler(), *FLAGS, *flags, *INCLUDES, "-c", str(source), "-o", str(target)],
            f"compiling {source.name}")  # fmt: skip
        objects.append(str(target))
    return objects


def exports(name: str) -> str:
    """Returns the linker option that makes a C library export only its public functions."""
    return f"-Wl,--version-script={DRIVER / f'{name}.map'}"


def build() -> pathlib.Path:
    """Builds build/driver/libmaeslant.so unless the library is up to date; returns the path."""

    def write(new: pathlib.Path) -> None:
        objects = compile_objects(OUT / "objects", OPTIMISED)
        run([compiler(), *SHARED, exports("libmaeslant"), "-pthread", *objects, "-ldl",
             "-o", str(new)], "linking libmaeslant.so")  # fmt: skip

    return made.make(LIBRARY, inputs(), write, *OPTIMISED)


def build_archive(sanitize: str = "") -> pathlib.Path:
    """Builds the static libmaeslant.a for this repository's programs; returns the archive's path.

    ``sanitize``: one of :data:`SANITIZERS`.
    """
    folder = OUT / (f"sanitized-{sanitize}" if sanitize else "programs")
    flags = SANITIZERS[sanitize] if sanitize else OPTIMISED

    def write(new: pathlib.Path) -> None:
        new.unlink(missing_ok=True)  # ar would add to it
        run(["ar", "rcs", str(new), *compile_objects(folder / "objects", flags)],
            "making libmaeslant.a")  # fmt: skip

    return made.make(folder / "libmaeslant.a", inputs(), write, *flags)


def build_program(
    source: pathlib.Path,
    *,
    more: tuple[pathlib.Path, ...] = (),
    sanitize: str = "",
    libraries: tuple[str, ...] = (),
) -> pathlib.Path:
    """Compiles a C source, links it with libmaeslant's object files; returns the program's path.

    ``more``: its other C files. ``sanitize``: one of :data:`SANITIZERS`.
    """
    archive = build_archive(sanitize)
    flags = SANITIZERS[sanitize] if sanitize else OPTIMISED
    files = [str(source), *map(str, more), str(archive)]

    def write(new: pathlib.Path) -> None:
        run([compiler(), *FLAGS, *flags, *INCLUDES, *files,
             *(f"-l{name}" for name in libraries), "-ldl", "-o", str(new)],
            f"compiling {source.name}")  # fmt: skip

    # Some include files of the enclave's, whose functions are private.
    own = [source, *more, archive, *source.parent.glob("**/*.h"), *protected_sources()]
    words = (*flags, *libraries, *files)
    return made.make(archive.parent / source.stem, inputs(*own), write, *words)


def has_openssl() -> bool:
    """Returns true if OpenSSL's headers are installed."""
    return any((root / "openssl" / "evp.h").exists() for root in SYSTEM_HEADERS)


def require_openssl() -> None:
    """Raises MaeslantError if OpenSSL's headers are missing."""
    if not has_openssl():
        raise MaeslantError(
            "OpenSSL's headers are missing; install them: sudo apt-get install libssl-dev"
        )


def provider_sources() -> list[pathlib.Path]:
    """Returns the paths of the OpenSSL provider's C files, without the files of libmaeslant."""
    return sorted(DRIVER.glob("provider/**/*.c"))


def link_provider(
    folder: pathlib.Path, target: pathlib.Path, flags: tuple[str, ...], library: list[str]
) -> None:
    """Compiles the OpenSSL provider and links it with libmaeslant's object files to one library."""
    version = f'-DMAESLANT_VERSION="{__version__}"'
    objects = compile_objects(folder, (*flags, version), provider_sources())
    run([compiler(), *flags, *SHARED, exports("maeslant_provider"), "-pthread", *objects, *library,
         "-ldl", "-lcrypto", "-o", str(target)], f"linking {target.name}")  # fmt: skip


def build_provider(*, sanitize: str = "") -> pathlib.Path:
    """Builds the OpenSSL provider maeslant.so if out of date; returns the file's path.

    ``sanitize``: one of :data:`SANITIZERS`; then only a program with the same can load it.
    """
    require_openssl()
    archive = build_archive(sanitize)
    target = (archive.parent if sanitize else OUT) / "maeslant.so"
    flags = SANITIZERS[sanitize] if sanitize else OPTIMISED

    def write(new: pathlib.Path) -> None:
        link_provider(archive.parent / "provider", new, flags, [str(archive)])

    own = inputs(*provider_sources(), archive)
    return made.make(target, own, write, __version__, *flags)


def gcm_library() -> str:
    """Returns the AES-GCM library to use in the enclave: "ipsec" if installed, else "openssl"."""
    there = any((root / "intel-ipsec-mb.h").exists() for root in SYSTEM_HEADERS)
    return os.environ.get("MAESLANT_GCM") or ("ipsec" if there else "openssl")


def protected_sources(library: str | None = None) -> list[pathlib.Path]:
    """Returns the paths of the C files of the enclave's driver (the trusted computing base)."""
    names = {f"gcm_{name}" for name in ("ipsec", "openssl")}
    other = names - {f"gcm_{library or gcm_library()}"}
    return sorted(path for path in DRIVER.glob("enclave/**/*.c") if path.stem not in other)


def crypto_libraries(library: str | None = None) -> tuple[str, ...]:
    """Returns the linker options for the AES-GCM library that the enclave's driver uses."""
    return ("-lIPSec_MB", "-lcrypto")[(library or gcm_library()) != "ipsec" :]


def build_protected() -> pathlib.Path:
    """Builds libmaeslant_protected, the enclave's driver, if out of date; returns the path."""
    target = OUT / f"libmaeslant_protected_{gcm_library()}.so"

    def write(new: pathlib.Path) -> None:
        require_openssl()
        run([compiler(), *FLAGS, *OPTIMISED, *SHARED, exports("libmaeslant_protected"),
             *INCLUDES, *map(str, protected_sources()), *crypto_libraries(), "-o", str(new)],
            f"making {target.name}")  # fmt: skip

    return made.make(target, inputs(*protected_sources()), write, *OPTIMISED)


def time_copies(library: str | None = None, threads: int = 1) -> dict[str, object]:
    """Measures the bytes per second at which the enclave's driver encrypts, decrypts and copies.

    Returns bytes a second in the fastest tenth of the rounds; ``library`` is openssl or ipsec, by
    default the driver's.
    """
    library = library or gcm_library()
    target = OUT / f"copies_{library}"
    fuzz = DRIVER / "fuzz"
    own = [*protected_sources(library), fuzz / "fake.c", fuzz / "copies.c"]

    def write(new: pathlib.Path) -> None:
        run([compiler(), *FLAGS, *OPTIMISED, *INCLUDES, *map(str, own),
             *crypto_libraries(library), "-o", str(new)], "making copies")  # fmt: skip

    made.make(target, inputs(*own), write, *OPTIMISED)
    command = [str(target), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MaeslantError(f"copies failed:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def build_os() -> tuple[pathlib.Path, pathlib.Path]:
    """Builds the host process maeslant-os, which owns the card, and a library; returns paths.

    The library has the simulated card only.
    """
    archive = build_archive()
    own = sorted((DRIVER / "os").glob("*.c"))
    library = [path for path in own if path.stem not in ("maeslant_os", "slot")]

    def build_one(name: str, files: list[pathlib.Path], more: tuple[str, ...]) -> pathlib.Path:
        def write(new: pathlib.Path) -> None:
            run([compiler(), *FLAGS, *OPTIMISED, *more, *INCLUDES, *map(str, files), "-ldl",
                 "-o", str(new)], f"making {name}")  # fmt: skip

        words = (*OPTIMISED, *more, *map(str, files))
        return made.make(OUT / name, inputs(*own, archive), write, *words)

    program = build_one("maeslant-os", [*own, archive], ())
    return program, build_one("libmaeslant_os.so", library, SHARED)


if __name__ == "__main__":
    print(build())

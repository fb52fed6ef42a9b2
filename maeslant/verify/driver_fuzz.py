# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the enclave's driver with libFuzzer or random inputs (`make fuzz`).

Targets of driver/fuzz, with libFuzzer where there is clang, else over random inputs: `outside`,
where everything the driver reads is fuzz data; `answers`, where a card with the right keys answers
wrongly, and shared memory changes meanwhile; `gate`, where the operating system's process is fuzz
data; `gcm`, the glue to the cipher's library beside OpenSSL. They run under the address and
undefined-behaviour sanitizers. Each run begins with driver/fuzz/corpus, and libFuzzer adds what it
found to reach a new edge there: commit it. What the corpora cover of driver/enclave is printed at
the end.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

from maeslant import paths
from maeslant.build import c_driver, made
from maeslant.build.c_driver import DRIVER
from maeslant.errors import MaeslantError

TARGETS = ("outside", "answers", "gate", "gcm")
CORPUS = DRIVER / "fuzz" / "corpus"
FOLDER = paths.BUILD / "fuzz"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
COVERAGE = ("-fprofile-instr-generate", "-fcoverage-mapping")
PREFIX = bytes((0,)) + bytes((2,)) * 57  # of an input that gets as far as a session


def newest(name: str) -> str | None:
    """Returns the path of an LLVM program on PATH, in the newest version; None if absent."""
    names = (name, *(f"{name}-{version}" for version in range(21, 12, -1)))
    return next(filter(None, map(shutil.which, names)), None)


def sources(target: str) -> list[pathlib.Path]:
    """Returns the C files of a fuzz target and of the enclave's driver."""
    fuzz = DRIVER / "fuzz"
    if target == "gcm":
        names = (f"crypto/gcm_{c_driver.gcm_library()}.c", "crypto/kdf.c", "wire.c")
        return [fuzz / "fuzz_gcm.c", *(DRIVER / "enclave" / name for name in names)]
    own = [fuzz / f"fuzz_{target}.c", fuzz / "script.c", fuzz / "fake.c"]
    return [*own, *c_driver.protected_sources("openssl")]


def build(target: str, *, fuzzer: bool, coverage: bool = False) -> pathlib.Path:
    """Builds the program of a driver's fuzz target if out of date; returns the path."""
    name = f"{target}{'' if fuzzer else '_random'}{'_coverage' if coverage else ''}"
    files = sources(target)
    if not fuzzer:
        files.append(DRIVER / "fuzz" / "standalone.c")
    flags = ("-fsanitize=fuzzer",) if fuzzer else ()
    flags += COVERAGE if coverage else SANITIZERS

    def write(new: pathlib.Path) -> None:
        compiler = newest("clang") if fuzzer or coverage else c_driver.compiler()
        libraries = c_driver.crypto_libraries(None if target == "gcm" else "openssl")
        c_driver.run(
            [str(compiler), *c_driver.FLAGS, "-O1", "-g", *flags, *c_driver.INCLUDES,
             *map(str, files), *libraries, "-pthread", "-o", str(new)],
            f"making {name}",
        )  # fmt: skip

    return made.make(FOLDER / name, c_driver.inputs(*files), write, *flags)


def has_fuzzer() -> bool:
    """Returns true if PATH has a clang that can link libFuzzer programs."""
    clang = newest("clang")
    if clang is None:
        return False
    asked = [clang, "-print-file-name=libclang_rt.fuzzer-x86_64.a"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    runtime = subprocess.run(
        [clang, "-print-runtime-dir"], capture_output=True, text=True, check=False
    ).stdout.strip()
    places = [pathlib.Path(found), *pathlib.Path(runtime).glob("libclang_rt.fuzzer-*.a")]
    return any(path.is_absolute() and path.exists() for path in places)


def run_random(target: str, seed: int, count: int) -> int:
    """Runs a fuzz target on stored inputs, then on ``count`` random inputs; returns ``count``."""
    program = build(target, fuzzer=False)
    for words in (stored(target), [str(seed), str(count)]):
        done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise MaeslantError(f"{program} {' '.join(words)}:\n{done.stdout}{done.stderr}")
    return count


def stored(target: str) -> list[str]:
    """Returns the paths of a fuzz target's inputs in driver/fuzz/corpus."""
    return sorted(map(str, (CORPUS / target).glob("*")))


def corpus(target: str) -> pathlib.Path:
    """Creates a corpus folder with a fuzz target's initial inputs; returns the path."""
    folder = FOLDER / f"corpus_{target}"
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    for index in range(64):
        rest = bytes(draw.randrange(draw.choice((4, 16, 256))) for _ in range(1 << index % 12))
        (folder / f"seed{index:02}").write_bytes(PREFIX + rest)
    return folder


def grow(target: str) -> int:
    """Stores a fuzz target's inputs that increase code coverage; returns how many."""
    folder, before = CORPUS / target, len(stored(target))
    folder.mkdir(parents=True, exist_ok=True)
    program = build(target, fuzzer=True)
    words = ["-merge=1", "-use_counters=0", str(folder), str(corpus(target))]
    done = subprocess.run([str(program), *words], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise MaeslantError(f"{target}: merging failed:\n{done.stderr[-3000:]}")
    return len(stored(target)) - before


def run_fuzzer(target: str, seconds: int) -> dict[str, int]:
    """Runs a fuzz target of the driver under libFuzzer; returns libFuzzer's statistics."""
    program, folder = build(target, fuzzer=True), corpus(target)
    options = [f"-max_total_time={seconds}", "-max_len=8192", "-len_control=0"]
    options += ["-print_final_stats=1", f"-artifact_prefix={FOLDER}/{target}-"]
    done = subprocess.run(
        [str(program), *options, str(folder), *filter(os.path.isdir, [CORPUS / target])],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=8"},
    )
    if done.returncode:
        raise MaeslantError(f"{target} failed; its input is in {FOLDER}:\n{done.stderr[-6000:]}")
    return {
        name: int(value) for name, value in re.findall(r"stat::(\w+):\s+(\d+)", done.stderr)
    } | {"inputs": len(list(folder.iterdir()))}


def covered() -> dict[str, tuple[int, int]]:
    """Returns (covered lines, all lines) of each file of the enclave's driver, by file."""
    data, programs = [], []
    for target in TARGETS:
        program = build(target, fuzzer=True, coverage=True)
        raw = FOLDER / f"{target}.profraw"
        subprocess.run(
            [str(program), "-runs=0", str(corpus(target))],
            env={**os.environ, "LLVM_PROFILE_FILE": str(raw)},
            capture_output=True,
            check=True,
        )
        data.append(str(raw))
        programs.append(str(program))
    merged = FOLDER / "all.profdata"
    subprocess.run([str(newest("llvm-profdata")), "merge", *data, "-o", str(merged)], check=True)
    shown = subprocess.run(
        [str(newest("llvm-cov")), "export", "-summary-only", f"-instr-profile={merged}",
         programs[0], *(word for path in programs[1:] for word in ("-object", path))],
        capture_output=True,
        check=True,
    )  # fmt: skip
    files = json.loads(shown.stdout)["data"][0]["files"]
    result = {}
    for entry in files:
        path, lines = pathlib.Path(entry["filename"]), entry["summary"]["lines"]
        if "enclave" in path.parts:
            result[path.name] = (lines["covered"], lines["count"])
    return result


def main() -> int:
    """Fuzzes the enclave's driver with all fuzz targets, prints run counts; returns exit code."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    try:
        if not has_fuzzer():
            print("no clang with libFuzzer (sudo apt-get install clang): random inputs instead")
            for target in TARGETS:
                print(f"{target}: {run_random(target, seconds, 100 * seconds)} runs, nothing found")
            return 0
        for target in TARGETS:
            stats = run_fuzzer(target, seconds)
            found = f"{grow(target)} inputs added to {CORPUS.relative_to(paths.ROOT) / target}"
            print(f"{target}: {stats.get('number_of_executed_units')} runs, nothing found; {found}")
        for name, (hit, count) in covered().items():
            print(f"{name:16} {hit:4} of {count:4} lines")
    except MaeslantError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

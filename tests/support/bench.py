# SPDX-License-Identifier: Apache-2.0
"""Build a module with Verilator and run a file of cocotb tests on it.

A test file holds both halves: the ``@cocotb.test()`` coroutines that run inside the
simulator, and pytest functions that call :func:`run` once for each configuration.
"""

import fcntl
import hashlib
import inspect
import json
import os
import pathlib
import sys

from cocotb_tools.runner import get_runner

from maeslant import paths

# Warnings stay on; a waiver stands in the RTL beside its reason.
ARGS = ["--assert", "-Wall", "-Wno-fatal", "--x-assign", "unique", "--x-initial", "unique"]


def run(
    top: str,
    *,
    parameters: dict[str, object] | None = None,
    sources: list[str | pathlib.Path] | None = None,
    env: dict[str, str] | None = None,
    test_filter: str | None = None,
    module: str | None = None,
) -> None:
    """Run the cocotb tests of the calling file on ``top``.

    ``parameters`` are the module's; ``sources`` adds files outside rtl/ (a test's own wrapper);
    ``env`` reaches the cocotb side through os.environ; ``test_filter`` is a regular expression
    on test names. The seed is MAESLANT_SEED (default 1), and a failure prints how to rerun.
    A build is kept under build/bench by its configuration and made again when a source changed.
    """
    parameters = parameters or {}
    caller = inspect.stack()[1].filename
    module = module or ".".join(
        pathlib.Path(caller).resolve().relative_to(paths.ROOT).with_suffix("").parts
    )
    key = hashlib.sha256(
        json.dumps([top, sorted((k, str(v)) for k, v in parameters.items())]).encode()
    ).hexdigest()[:10]
    folder = paths.BUILD / "bench" / f"{top}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{paths.ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    files = [*paths.rtl_packages(), *(sources or [])]
    own = [path for path in paths.RTL.glob(f"*/**/{top}.sv")]
    waves = bool(os.environ.get("MAESLANT_WAVES"))
    runner = get_runner("verilator")
    with open(folder / ".lock", "w") as lock:  # pytest-xdist: one builds, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        runner.build(
            sources=[*files, *own],
            hdl_toplevel=top,
            parameters=parameters,
            build_dir=folder,
            build_args=[*ARGS, *paths.verilator_sources(), "-MAKEFLAGS", "OPT_FAST=-O1", "-j", "2"],
            timescale=("1ns", "1ps"),
            waves=waves,
            always=True,  # Verilator itself skips what has not changed
            log_file=folder / "build.log",
        )
    seed = os.environ.get("MAESLANT_SEED", "1")
    test_dir = folder / (f"run-{os.getpid()}")
    results = runner.test(
        hdl_toplevel=top,
        test_module=module,
        build_dir=folder,
        test_dir=test_dir,
        seed=seed,
        parameters=parameters,
        waves=waves,
        extra_env={
            "PYTHONPATH": os.pathsep.join([str(paths.ROOT), *sys.path]),
            "MAESLANT_PARAMETERS": json.dumps(parameters),
            **(env or {}),
        },
        test_filter=test_filter,
        log_file=folder / f"run-{os.getpid()}.log",
    )
    check(results, folder, caller, seed)


def check(results: pathlib.Path, folder: pathlib.Path, caller: str, seed: str) -> None:
    """Fail with the log's tail and the command to rerun when a cocotb test failed."""
    from cocotb_tools.check_results import get_results

    total, failed = get_results(results)
    log = folder / f"run-{os.getpid()}.log"
    if failed or not total:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-60:])
        file = pathlib.Path(caller).resolve().relative_to(paths.ROOT)
        raise AssertionError(
            f"{failed} of {total} failed in {folder.name}\n{tail}\n"
            f"rerun: MAESLANT_SEED={seed} MAESLANT_WAVES=1 .venv/bin/pytest {file}"
        )


def parameters() -> dict[str, object]:
    """Inside the simulator: the parameters that :func:`run` built the module with."""
    return json.loads(os.environ["MAESLANT_PARAMETERS"])

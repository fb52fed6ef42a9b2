# SPDX-License-Identifier: Apache-2.0
"""Runs OpenSSL with the provider on a simulated device."""

import os
import pathlib
import shutil
import subprocess

import pytest

from maeslant import paths
from maeslant.build import c_driver, simulator

NO_HEADERS = "no OpenSSL headers on this machine: sudo apt-get install libssl-dev"
needs_headers = pytest.mark.skipif(not c_driver.has_openssl(), reason=NO_HEADERS)
SECONDS = 240
# What the provider has goes through it; OpenSSL's random numbers stay with OpenSSL.
CONFIGURATION = """openssl_conf = start
[start]
providers = providers
alg_section = algorithms
random = random
[providers]
default = theirs
maeslant = ours
[theirs]
activate = 1
[ours]
module = {module}
device = {device}
activate = 1
[algorithms]
default_properties = ?provider=maeslant
[random]
properties = provider=default
"""


def environment(device: str = "", **more: str) -> dict[str, str]:
    """Returns the environment for a program that uses the provider, on a device if one is named."""
    build = device.removeprefix("sim:").partition("?")[0]
    if device.startswith("sim:"):
        simulator.build(build)
    named = {"MAESLANT_DEVICE": device} if device else {}
    dropped = ("MAESLANT_DEVICE", "OPENSSL_CONF")
    rest = {name: value for name, value in os.environ.items() if name not in dropped}
    return rest | {"MAESLANT_SIM_PATH": str(paths.BUILD / "sim")} | named | more


def configured(folder: pathlib.Path, device: str) -> dict[str, str]:
    """Writes a configuration of OpenSSL with the provider on a device; returns the environment."""
    file = folder / f"{device.partition(':')[0]}.cnf"
    file.write_text(CONFIGURATION.format(module=c_driver.build_provider(), device=device))
    found = environment(device, OPENSSL_CONF=str(file))
    del found["MAESLANT_DEVICE"]
    return found


def run(*words: object, env: dict[str, str] | None = None, data: bytes | None = None):
    """Runs a program; returns the finished process, with its output as bytes."""
    command = [str(word) for word in words]
    return subprocess.run(
        command,
        env=env or environment(),
        input=data,
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )


def openssl(*words: object, env: dict[str, str] | None = None, data: bytes | None = None) -> bytes:
    """Runs a command of openssl, asserts success and returns its output."""
    done = run(shutil.which("openssl") or "openssl", *words, env=env, data=data)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout

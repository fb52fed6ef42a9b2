# SPDX-License-Identifier: Apache-2.0
"""Tests the Python driver's object lifetimes: a closed device closes its open messages first."""

import subprocess
import sys

import pytest

from maeslant import paths

BEGIN = """
URI = "null:"
from maeslant.driver import aead
from maeslant.driver.device import Device
device = Device(URI)
"""
# What leaves a message open when its device is closed, and touches it afterwards.
LEFT = {
    "stream": 'm = device.stream("ctr", 0, bytes(16), bytes(16))',
    "cmac": "m = aead.cmac(device, bytes(16))",
    "gcm": "m = aead.seal(device, 'gcm', bytes(16))",
    "gcm opened": "m = aead.unseal(device, 'gcm', bytes(16), bytes(12), unverified=True)",
}
END = """
opened = m.__enter__()
device.close()
try:
    (opened.aad(bytes(64)) if hasattr(opened, "aad") else list(opened.update(bytes(64))))
except Exception as error:
    print(error)
m.__exit__(None, None, None)
opened.free()
device.close()
"""


@pytest.mark.parametrize("kind", LEFT)
def test_freed_before_the_device(kind: str) -> None:
    """A message object that outlives its device can be freed, and its use raises an error."""
    # null: has no GCM.
    begin = BEGIN.replace("null:", "sim:peripheral") if kind.startswith("gcm") else BEGIN
    command = [sys.executable, "-c", begin + LEFT[kind] + END]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert "closed" in done.stdout


def test_a_closed_device_is_refused() -> None:
    """Every call on a closed device object raises an error instead of crashing."""
    text = (
        BEGIN + "device.close()\nfor call in (device.caps, lambda: device.mac(bytes(16), b'')):\n"
    )
    text += "    try:\n        call()\n    except Exception as error:\n        print(error)\n"
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout.count("closed") == 2

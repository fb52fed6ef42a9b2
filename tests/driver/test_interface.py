# SPDX-License-Identifier: Apache-2.0
"""Tests the C driver's interface: header, error texts, device names, list of devices."""

import ctypes
import re
import subprocess

import pytest

from maeslant import paths
from maeslant.build import c_driver
from maeslant.driver import device

INCLUDE = paths.ROOT / "driver" / "include"
HEADERS = [INCLUDE / name for name in ("maeslant.h", "maeslant_pool.h", "maeslant_records.h")]


def test_header_in_c_and_cpp(tmp_path) -> None:
    """The driver's header compiles alone in C17 and in C++."""
    for compiler, suffix, standard in (("cc", "c", "c17"), ("g++", "cpp", "c++17")):
        source = tmp_path / f"empty.{suffix}"
        names = ("maeslant.h", "maeslant_pool.h", "maeslant_ring.h", "maeslant_peripheral.h")
        names = names if suffix == "c" else names[:3]
        source.write_text("".join(f'#include "{name}"\n' for name in names))
        command = [compiler, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror"]
        subprocess.run([*command, c_driver.INCLUDES[0], "-fsyntax-only", source], check=True)


def test_results_must_be_used(tmp_path) -> None:
    """A C program that ignores a result of the driver gets a compiler warning."""
    source = tmp_path / "drop.c"
    source.write_text('#include "maeslant.h"\nvoid f(mae_dev_t *d) { mae_key_erase(d, 0); }\n')
    done = subprocess.run(
        ["cc", "-Werror", c_driver.INCLUDES[0], "-c", source, "-o", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "warn_unused_result" in done.stderr


def test_exports() -> None:
    """The driver library exports exactly the functions that its headers declare."""
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", c_driver.build()],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    exported = set(re.findall(r" T ([^@\s]+)", listing))
    text = "".join(path.read_text() for path in HEADERS)
    declared = set(re.findall(r"MAE_API(?:_VOID)? [\w *]*?(mae_\w+)\(", text))
    assert exported == declared


def test_one_message_a_value() -> None:
    """mae_strerror returns a different text for each error code of the driver."""
    ffi, lib = device.library()
    texts = [ffi.string(lib.mae_strerror(value)).decode() for value in range(lib.MAE_E_COUNT)]
    assert len(set(texts)) == lib.MAE_E_COUNT == 32
    assert all(text and not text.endswith(".") and "\n" not in text for text in texts)
    # Values that the enumeration does not have; cffi would refuse them.
    library = ctypes.CDLL(str(c_driver.build()))
    library.mae_strerror.restype = ctypes.c_char_p
    for value in (-1, lib.MAE_E_COUNT, 1000):
        assert library.mae_strerror(value) == b"unknown error"


@pytest.mark.parametrize(
    ("uri", "error", "words"),
    [
        ("", "MAE_E_URI", "sim:stream?lanes=4"),
        ("sim", "MAE_E_URI", "should begin with"),
        ("usb:1", "MAE_E_URI", "should begin with"),
        ("simx:stream4", "MAE_E_URI", "should begin with"),
        ("sim:", "MAE_E_URI", "name of a build"),
        ("sim:../evil", "MAE_E_URI", "letters, digits"),
        ("sim:a b", "MAE_E_URI", "letters, digits"),
        ("sim:" + "x" * 100, "MAE_E_URI", "name of a build"),
        ("sim:stream?lanes=", "MAE_E_URI", "lanes="),
        ("sim:stream?lanes=four", "MAE_E_URI", "lanes="),
        ("sim:stream?lanes=4444", "MAE_E_URI", "lanes="),
        ("sim:stream?x=" + "y" * 2000, "MAE_E_URI", "characters of options"),
        ("sim:nosuch", "MAE_E_NO_DEVICE", "no simulated build 'nosuch'; there are: peripheral"),
        ("sim:stream?lanes=7", "MAE_E_NO_DEVICE", "no simulated build 'stream7'"),
        ("sim:stream?seed=1&lanes=77&x=1", "MAE_E_NO_DEVICE", "no simulated build 'stream77'"),
        ("null:x", "MAE_E_URI", "no name"),
        ("vfio:0000:ff:1f.7", "MAE_E_NO_DEVICE", "PCI function"),
    ],
)
def test_names_that_cannot_be_opened(uri: str, error: str, words: str) -> None:
    """Each illegal device name gives its own error code and a text that names the mistake."""
    _, lib = device.library()
    with pytest.raises(device.DeviceError) as caught:
        device.Device(uri)
    assert caught.value.code == getattr(lib, error), caught.value
    assert words in str(caught.value)


def test_a_library_that_is_none(tmp_path, monkeypatch) -> None:
    """The driver refuses to load a simulator library that is none, and says why."""
    _, lib = device.library()
    monkeypatch.setenv("MAESLANT_SIM_PATH", f"/nowhere:{tmp_path}")
    (tmp_path / "odd").mkdir()
    target = tmp_path / "odd" / "libmae_sim_odd.so"
    target.write_text("not a library")
    with pytest.raises(device.DeviceError) as caught:
        device.Device("sim:odd")
    assert caught.value.code == lib.MAE_E_SYSTEM and "libmae_sim_odd" in str(caught.value)
    target.unlink()
    subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", target], check=True)
    with pytest.raises(device.DeviceError) as caught:
        device.Device("sim:odd")
    assert caught.value.code == lib.MAE_E_NOT_OURS and "of another version" in str(caught.value)
    assert {"uri": "sim:odd", "summary": "simulated build", "available": True} in device.devices()


def test_listing_has_room_for_some(tmp_path, monkeypatch) -> None:
    """mae_device_list counts all devices, even if the caller's array is too short."""
    ffi, lib = device.library()
    for folder, name in (("a", "one"), ("a", "two"), ("b", "two"), ("b", "three-trace")):
        where = tmp_path / folder / name
        where.mkdir(parents=True)
        (where / f"libmae_sim_{name.removesuffix('-trace')}.so").touch()
    monkeypatch.setenv("MAESLANT_SIM_PATH", f"{tmp_path}/a:{tmp_path}/b")
    uris = [found["uri"] for found in device.devices()]
    assert uris[:2] == ["sim:one", "sim:two"] and uris[-1] == "null:"
    assert not [uri for uri in uris[2:] if uri.startswith("sim:")]
    infos = ffi.new("struct mae_device_info[]", 1)
    count = ffi.new("size_t *")
    for room in (0, 1):
        assert lib.mae_device_list(infos if room else ffi.NULL, room, count) == lib.MAE_OK
        assert count[0] == len(uris)
    assert ffi.string(infos[0].uri) == b"sim:one"

# SPDX-License-Identifier: Apache-2.0
"""Tests the OpenSSL provider by the commands of openssl: list, enc, mac, speed."""

import pathlib
import random
import re

import pytest

from maeslant.build import c_driver
from tests.provider import openssl
from tests.provider.openssl import run

pytestmark = openssl.needs_headers
KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"


def loaded(*, default: bool = True) -> list[str]:
    """Returns the options by which a command of openssl loads the provider without a file."""
    folder = c_driver.build_provider().parent
    found = ["-provider-path", str(folder), "-provider", "maeslant"]
    return (
        [*found, "-provider", "default", "-propquery", "?provider=maeslant"] if default else found
    )


def test_list_from_a_configuration(tmp_path: pathlib.Path) -> None:
    """The provider is loaded by OpenSSL's configuration, which names the device."""
    env = openssl.configured(tmp_path, "sim:peripheral?seed=3")
    shown = openssl.openssl("list", "-providers", "-verbose", env=env).decode()
    assert re.search(r"maeslant\n +name: Maeslant.*\n +version: .*\n +status: active", shown)
    assert "build info: sim:peripheral?seed=3" in shown


@pytest.mark.parametrize(
    ("device", "macs"), [("sim:stream4", {"CMAC", "GMAC"}), ("null:", {"CMAC"})]
)
def test_offers_what_the_device_has(device: str, macs: set[str]) -> None:
    """The provider lists the ciphers and MACs of the device that it has opened."""
    options = loaded(default=False)
    env = openssl.environment(device)
    shown = openssl.openssl("list", "-cipher-algorithms", "-mac-algorithms", *options, env=env)
    found = re.findall(r"^  (.*) @ maeslant", shown.decode(), re.MULTILINE)
    names = {name.strip() for line in found for name in line.strip("{}").split(",")}
    ciphers = {f"AES-{bits}-{mode}" for bits in (128, 192, 256) for mode in ("ECB", "CBC", "CTR")}
    ciphers |= {"AES-128-XTS", "AES-256-XTS"}
    assert ciphers <= names and {"CMAC", "GMAC"} & {n.split(":")[0] for n in names} == macs
    for bits in (128, 192, 256):
        assert f"id-aes{bits}-CCM" in names
        assert (f"id-aes{bits}-GCM" in names) == ("GMAC" in macs)


@pytest.mark.parametrize(
    ("device", "text"),
    [
        ("", "no device is named: set `device`"),
        ("sim:none", "device 'sim:none' cannot be opened"),
        ("vfio:0000:7f:1f.7", "device 'vfio:0000:7f:1f.7' cannot be opened"),
        ("stream4", "should begin with sim:, vfio:, uio: or null:"),
    ],
)
def test_says_why_it_is_not_loaded(device: str, text: str) -> None:
    """Without a device, or with one that cannot be opened, loading fails with the reason."""
    env = openssl.environment() | ({"MAESLANT_DEVICE": device} if device else {})
    done = run("openssl", "list", "-providers", *loaded(default=False), env=env)
    assert done.returncode != 0 and text in done.stderr.decode()


@pytest.mark.parametrize("device", ["sim:stream4", "sim:peripheral"])
def test_enc(device: str, tmp_path: pathlib.Path) -> None:
    """`openssl enc` gives with the provider what it gives without, in both directions."""
    env = openssl.configured(tmp_path, device)
    data = random.Random(1).randbytes(20003)
    for cipher in ("aes-128-ecb", "aes-192-cbc", "aes-256-cbc", "aes-128-ctr", "aes-256-ctr"):
        words = ["enc", f"-{cipher}", "-K", KEY[: int(cipher[4:7]) // 4]]
        words += [] if cipher.endswith("ecb") else ["-iv", IV]
        sealed = openssl.openssl(*words, env=env, data=data)
        assert sealed == openssl.openssl(*words, data=data), cipher
        assert openssl.openssl(*words, "-d", env=env, data=sealed) == data, cipher


def test_enc_goes_through_the_device(tmp_path: pathlib.Path) -> None:
    """`openssl enc` on the device that touches no data gives back its input."""
    env = openssl.configured(tmp_path, "null:")
    data = bytes(range(256))
    words = ["enc", "-aes-128-ctr", "-K", KEY[:32], "-iv", IV]
    assert openssl.openssl(*words, env=env, data=data) == data


def test_mac(tmp_path: pathlib.Path) -> None:
    """`openssl mac` computes CMAC and GMAC with the provider as without."""
    env = openssl.configured(tmp_path, "sim:stream4")
    options = ["-macopt", f"hexkey:{KEY[:32]}", "-in", "-"]
    iv = ["-macopt", f"hexiv:{IV[:24]}"]
    for words in (["-cipher", "AES-128-CBC", "CMAC"], ["-cipher", "AES-128-GCM", *iv, "GMAC"]):
        shown = openssl.openssl("mac", *options, *words, env=env, data=b"attack at dawn" * 9)
        assert shown == openssl.openssl("mac", *options, *words, data=b"attack at dawn" * 9)


@pytest.mark.parametrize("more", [[], ["-async_jobs", "4"], ["-aead"]], ids=["", "async", "aead"])
def test_speed(more: list[str]) -> None:
    """`openssl speed` runs on the provider: one message at a time, ASYNC jobs, TLS records."""
    env = openssl.environment("sim:stream4")
    cipher = "aes-128-gcm" if "-aead" in more else "aes-256-ctr"
    words = ["speed", *loaded(), "-seconds", "1", "-evp", cipher, *more]
    shown = openssl.openssl(*words, *([] if "-aead" in more else ["-bytes", "1024"]), env=env)
    assert re.search(rf"^{cipher}( +[\d.]+k?)+", shown.decode(), re.IGNORECASE | re.MULTILINE)


def test_device_that_is_removed(tmp_path: pathlib.Path) -> None:
    """A device that is removed in the middle of a file makes `openssl enc` fail with the reason."""
    env = openssl.configured(tmp_path, "sim:stream4?dies=20000")
    words = ["enc", "-aes-128-ctr", "-K", KEY[:32], "-iv", IV]
    done = run("openssl", *words, env=env, data=bytes(1000000))
    assert done.returncode != 0 and b"was removed at clock 20000" in done.stderr, done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Tests protocol.json against the protocol model, `cryptography` and OpenSSL.

Without it: keys by the `openssl kdf` command and by CMAC alone, messages and chunks by AES-GCM of
the cryptography package with IV and AAD put together here, from docs/protocol.md.
"""

import hashlib
import json
import pathlib
import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.cmac import CMAC

from maeslant.protected.model.constants import State, Status
from maeslant.protected.model.device import Device
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.link import Link
from tools import gen_protocol_vectors

VECTORS = json.loads((pathlib.Path(__file__).parents[2] / "vectors" / "protocol.json").read_text())
SESSION = {name: bytes.fromhex(value) for name, value in VECTORS["session"].items()}
KEYS = {(entry["class"], entry["epoch"]): entry for entry in VECTORS["keys"]}


def key_of(cls: int, epoch: int) -> tuple[AESGCM, bytes]:
    """Returns the AES-GCM object and the IV mask of a key listed in protocol.json."""
    entry = KEYS[cls, epoch]
    return AESGCM(bytes.fromhex(entry["key"])), bytes.fromhex(entry["mask"])


def iv_of(mask: bytes, cls: int, queue: int, sequence: int) -> bytes:
    """Computes the IV of a message or chunk by docs/protocol.md §2."""
    counter = bytes([cls, queue, 0, 0]) + sequence.to_bytes(8, "big")
    return bytes(a ^ b for a, b in zip(mask, counter, strict=True))


def test_the_file_is_what_the_model_makes():
    """tests/vectors/protocol.json equals the output of gen_protocol_vectors."""
    assert gen_protocol_vectors.make() == VECTORS


@pytest.mark.parametrize("entry", VECTORS["keys"], ids=lambda e: f"{e['class']}-{e['epoch']}")
def test_keys_are_cmacs_of_the_fields(entry):
    """The keys in protocol.json equal an SP 800-108 derivation written out in the test (H3)."""
    context = b"".join(
        (
            SESSION["session_id"],
            SESSION["host_nonce"],
            SESSION["device_nonce"],
            entry["class"].to_bytes(1, "big"),
            entry["epoch"].to_bytes(4, "big"),
            SESSION["capabilities"],
        )
    )
    assert context.hex() == entry["context"] and len(context) == 93
    output = b""
    for index in (1, 2, 3):
        mac = CMAC(algorithms.AES256(SESSION["secret"]))
        mac.update(index.to_bytes(4, "big") + b"maeslant1\0" + context + (352).to_bytes(4, "big"))
        output += mac.finalize()
    assert output[:44].hex() == entry["key"] + entry["mask"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl command")
@pytest.mark.parametrize("entry", VECTORS["keys"], ids=lambda e: f"{e['class']}-{e['epoch']}")
def test_keys_are_those_of_openssl(entry):
    """The keys in protocol.json equal those of the `openssl kdf` command."""
    options = {
        "cipher": "AES-256-CBC",
        "mac": "CMAC",
        "mode": "COUNTER",
        "hexkey": SESSION["secret"].hex(),
        "salt": "maeslant1",
        "hexinfo": entry["context"],
    }
    args = [arg for name, value in options.items() for arg in ("-kdfopt", f"{name}:{value}")]
    done = subprocess.run(
        ["openssl", "kdf", "-keylen", "44", *args, "KBKDF"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip().replace(":", "").lower() == entry["key"] + entry["mask"]


def test_messages_and_responses_open_with_gcm_alone():
    """AES-GCM of `cryptography` opens the messages and responses in protocol.json."""
    for entry in VECTORS["exchanges"]:
        where = bytes([entry["queue"], entry["kind"]]) + entry["epoch"].to_bytes(4, "big")
        where += entry["sequence"].to_bytes(8, "big")
        for cls, sealed, plain in ((1, "message", "body"), (2, "response", "answer")):
            cipher, mask = key_of(cls, entry["epoch"])
            iv = iv_of(mask, cls, entry["queue"], entry["sequence"])
            header = bytes([1, cls]) + where
            data = bytes.fromhex(entry[sealed])
            assert data[:16] == header
            assert cipher.decrypt(iv, data[16:], header).hex() == entry[plain]


def test_chunks_are_gcm_alone():
    """AES-GCM of `cryptography` gives the ciphertext and tag of each chunk in protocol.json."""
    for entry in VECTORS["chunks"]:
        cls, length = entry["class"], entry["length"]
        cipher, mask = key_of(cls, entry["epoch"])
        iv = iv_of(mask, cls, entry["queue"], entry["sequence"])
        aad = bytes.fromhex(entry["aad"])
        assert iv.hex() == entry["iv"] and len(aad) == 48
        assert aad[:3] == bytes([1, cls, entry["queue"]])
        assert int.from_bytes(aad[24:28], "big") == length
        if entry["plaintext"] == "pattern":
            plain = bytes((167 * i + i // 256 + length) % 256 for i in range(length))
        else:
            plain = bytes.fromhex(entry["plaintext"])
        sealed = cipher.encrypt(iv, plain, aad)
        text = entry["ciphertext"]
        if text.startswith("sha256:"):
            assert "sha256:" + hashlib.sha256(sealed[:-16]).hexdigest() == text
        else:
            assert sealed[:-16].hex() == text
        assert sealed[-16:].hex() == entry["tag"]


def test_chunks_of_all_lengths_and_both_directions_are_there():
    """protocol.json has chunks of all lengths, in both directions and in two key epochs."""
    found = {(entry["class"], entry["length"]) for entry in VECTORS["chunks"]}
    lengths = set(gen_protocol_vectors.LENGTHS)
    assert {(cls, length) for cls in (3, 4) for length in lengths} <= found
    assert {entry["epoch"] for entry in VECTORS["chunks"]} == {0, 1}


def test_no_iv_serves_twice_under_one_key():
    """No two entries of protocol.json use the same IV under one key (H2, H11)."""
    used = [(1, e["epoch"], e["queue"], e["sequence"]) for e in VECTORS["exchanges"]]
    used += [(c["class"], c["epoch"], c["queue"], c["sequence"]) for c in VECTORS["chunks"]]
    ivs = [
        (KEYS[cls, epoch]["key"], iv_of(key_of(cls, epoch)[1], cls, queue, sequence))
        for cls, epoch, queue, sequence in used
    ]
    assert len(set(ivs)) == len(ivs)


@pytest.mark.parametrize("case", VECTORS["refused"], ids=lambda case: case["what"])
def test_what_must_be_refused_is(case):
    """The device model refuses each message that protocol.json lists as refused."""
    nonce = SESSION["device_nonce"]
    word = int.from_bytes(SESSION["capabilities"], "big")
    device = Device(Capabilities.unpack(word), lambda: nonce[8:])
    link = device.bus = Link(device)
    link.mmio_write(0x040, SESSION["host_nonce"])
    link.mmio_write(0x1428, link.BASE.to_bytes(8, "little"))
    assert device.install(SESSION["secret"], SESSION["session_id"])

    def ring(message: bytes, blocks: int) -> None:
        link.mmio_write(0x1000, message)
        link.mmio_write(0x1420, blocks.to_bytes(4, "little"))
        for _ in range(20):
            device.step()

    ring(bytes.fromhex(VECTORS["exchanges"][0]["message"]), 1)
    assert device.state == State.RUN
    ring(bytes.fromhex(case["message"]), case["blocks"])
    if case["outcome"].startswith("fatal "):
        assert device.state == State.DEAD
        assert device.cause[0].name == case["outcome"].removeprefix("fatal ")
        return
    assert device.state == State.RUN
    if case["outcome"] == "OK":
        assert device.queues[0].batch  # taken: it waits for queue 1
        return
    slot = link.load(link.BASE + 1024 * 2, 1024)
    assert int.from_bytes(slot[:8], "big") == 2
    cipher, mask = key_of(2, 0)
    size = 64 if slot[19] == 4 else 48
    body = cipher.decrypt(iv_of(mask, 2, 0, 2), slot[32 : 16 + size], slot[16:32])
    assert Status(int.from_bytes(body[:2], "big")).name == case["outcome"]
    assert not any(body[2:])

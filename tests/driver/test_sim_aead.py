# SPDX-License-Identifier: Apache-2.0
"""Tests the driver's authenticated encryption on simulated devices against `cryptography`."""

import os
import random
import subprocess

import pytest
from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.cmac import CMAC

from maeslant import paths
from maeslant.build import c_driver, simulator
from maeslant.driver import aead, device
from maeslant.driver.device import AEAD, DeviceError, is_wrong_tag
from tests.driver.test_sim_devices import AWKWARD, opened
from tests.driver.test_sim_devices import oracle as plain_oracle

SEED = int(os.environ.get("MAESLANT_SEED", "1"))
PLACES = [("stream4", AWKWARD), ("peripheral", "")]


def oracle(mode: str, key: bytes, nonce: bytes, aad: bytes, data: bytes, tag: int = 16) -> bytes:
    """Computes a message's ciphertext and tag by GCM or CCM of `cryptography`."""
    if mode == "ccm":
        return AESCCM(key, tag_length=tag).encrypt(nonce, data, aad)
    sealed = AESGCM(key).encrypt(nonce, data, aad)
    return sealed[: len(data) + tag]


def cmac(key: bytes, data: bytes) -> bytes:
    """Computes a CMAC by `cryptography`."""
    made = CMAC(algorithms.AES(key))
    made.update(data)
    return made.finalize()


def pick(source: random.Random, mode: str, largest: int) -> tuple:
    """Returns a random key, nonce, AAD, data and tag length for an authenticated message."""
    key = source.randbytes(source.choice((16, 24, 32)))
    nonce = source.randbytes(
        source.choice((12, 12, 8, 16, 33)) if mode == "gcm" else source.randrange(7, 13)
    )
    aad = source.randbytes(source.choice((0, 0, 1, 16, 20, 100)))
    data = source.randbytes(source.choice((0, 1, 15, 16, 17, 63, 64, 65, 300, largest)))
    return key, nonce, aad, data, source.choice((16, 16, 12, 8, 4))


@pytest.mark.parametrize(("build", "options"), PLACES)
@pytest.mark.parametrize("mode", AEAD)
def test_messages(build: str, options: str, mode: str) -> None:
    """The driver's ciphertext and tag equal `cryptography`'s; a changed bit is refused."""
    source = random.Random(SEED)
    with opened(build, options) as found:
        for _ in range(40):
            key, nonce, aad, data, tag_bytes = pick(source, mode, 2000)
            _, text, tag = found.seal(mode, key, data, aad, nonce, tag_bytes)
            assert text + tag == oracle(mode, key, nonce, aad, data, tag_bytes)
            assert found.unseal(mode, key, nonce, text, tag, aad) == data
            parts = [bytearray(part) for part in (nonce, text, tag, aad)]
            part = source.choice([part for part in parts if part])
            part[source.randrange(len(part))] ^= 1 << source.randrange(8)
            with pytest.raises(DeviceError) as caught:
                found.unseal(mode, key, *(bytes(part) for part in parts))
            assert is_wrong_tag(caught.value)


@pytest.mark.full
def test_long_messages() -> None:
    """The driver decrypts messages longer than its buffers and refuses a changed last byte."""
    source = random.Random(SEED)
    with opened("stream4", "latency=50-300&order=shuffled&seed=3") as found:
        for mode, length in (("gcm", 1_100_001), ("ccm", 70_001)):
            key, nonce = source.randbytes(32), source.randbytes(12)
            aad, data = source.randbytes(70_000), source.randbytes(length)
            _, text, tag = found.seal(mode, key, data, aad, nonce)
            assert text + tag == oracle(mode, key, nonce, aad, data)
            assert found.unseal(mode, key, nonce, text, tag, aad) == data
            wrong = text[:-1] + bytes([text[-1] ^ 1])
            with pytest.raises(DeviceError) as caught:
                found.unseal(mode, key, nonce, wrong, tag, aad)
            assert is_wrong_tag(caught.value)


def test_nothing_is_left_in_memory() -> None:
    """The driver erases decrypted data from the caller's buffer if the tag is wrong."""
    ffi, lib = device.library()
    source = random.Random(SEED)
    with opened("stream4", AWKWARD) as found:
        key, nonce = source.randbytes(16), source.randbytes(12)
        for length in (1, 33, 5000, (1 << 20) + 5000):  # the last: two jobs of one message
            data = source.randbytes(length)
            _, text, tag = found.seal("gcm", key, data, b"", nonce)
            room = ffi.new("uint8_t[]", b"\xee" * (length + 1))
            message = ffi.new("struct mae_message *")
            keep = [ffi.from_buffer(part) for part in (key, text)]
            nonce_room, tag_room = ffi.new("uint8_t[]", nonce), ffi.new("uint8_t[]", tag)
            tag_room[15] ^= 0x80
            message.mode, message.key, message.key_bytes = lib.MAE_GCM, keep[0], 16
            message.nonce, message.nonce_bytes = nonce_room, 12
            message.src, message.dst, message.length = keep[1], room, length
            message.tag, message.tag_bytes = tag_room, 16
            assert lib.mae_unseal(found.handle, message) == lib.MAE_E_AUTH
            left = bytes(ffi.buffer(room, length + 1))
            assert left[length] == 0xEE
            assert left[:length] in (bytes(length), b"\xee" * length)
            if length > 1 << 16:
                assert left[:length] == bytes(length)


@pytest.mark.parametrize(("build", "options"), PLACES)
def test_streams_take_turns(build: str, options: str) -> None:
    """Three authenticated streams and whole messages on one device at the same time end right."""
    source = random.Random(SEED)
    largest = 3000 if build == "peripheral" else 300_000
    with opened(build, options) as found:
        messages = []
        for number in range(3):
            mode = AEAD[number % 2]
            key, nonce, aad, _, _ = pick(source, mode, 0)
            data = source.randbytes(source.randrange(largest) // (10 if mode == "ccm" else 1))
            lengths = (len(aad), len(data))
            way = source.choice((aead.seal, aead.unseal))
            sealed = oracle(mode, key, nonce, aad, data)
            feed = data if way is aead.seal else sealed[:-16]
            context = way(found, mode, key, nonce, lengths)
            messages.append((context, context.__enter__(), way, aad, feed, data, sealed))
        outputs = [b""] * len(messages)
        for message in messages:
            message[1].aad(message[3][:5])
            message[1].aad(message[3][5:])
        places = [0] * len(messages)
        while any(place < len(m[4]) for place, m in zip(places, messages, strict=True)):
            number = source.randrange(len(messages))
            piece = source.randrange(1, largest)
            feed = messages[number][4][places[number] : places[number] + piece]
            got = b"".join(messages[number][1].update(feed))
            assert messages[number][2] is aead.seal or not got  # withheld
            outputs[number] += got
            places[number] += len(feed)
            key = source.randbytes(16)
            assert found.mac(key, feed[:50]) == cmac(key, feed[:50])
        for number, (context, message, way, _, _, data, sealed) in enumerate(messages):
            tag = message.finish(None if way is aead.seal else sealed[-16:])
            outputs[number] += b"".join(message.read())
            assert outputs[number] == (sealed[:-16] if way is aead.seal else data)
            assert tag == sealed[-16:]
            context.__exit__(None, None, None)


@pytest.mark.parametrize(("build", "options"), PLACES)
def test_macs(build: str, options: str) -> None:
    """The driver's CMAC equals that of `cryptography`, in one call and in two pieces."""
    source = random.Random(SEED)
    with opened(build, options) as found:
        for length in (0, 1, 15, 16, 17, 32, 100, 1000):
            key, data = source.randbytes(source.choice((16, 24, 32))), source.randbytes(length)
            assert found.mac(key, data) == cmac(key, data)
            with aead.cmac(found, key) as message:
                message.aad(data[:20])
                message.aad(data[20:])
                assert message.finish() == cmac(key, data)


@pytest.mark.parametrize(("build", "options"), PLACES)
@pytest.mark.parametrize("mode", ["cbc", "cfb", "ofb", "ctr"])
def test_plain_messages_go_on(build: str, options: str, mode: str) -> None:
    """The jobs of an unauthenticated message continue right after authenticated ones in between."""
    ffi, lib = device.library()
    source = random.Random(SEED)
    key, iv, data = source.randbytes(16), source.randbytes(16), source.randbytes(160)
    with opened(build, options) as found:
        number, memory = ffi.new("uint32_t *"), ffi.new("void **")
        done, count = ffi.new("struct mae_completion *"), ffi.new("size_t *")
        job = ffi.new("struct mae_job *")
        job.mode, job.iv, job.length = device.CODES[mode], list(iv), 32
        device.check(lib.mae_key_alloc(found.handle, key, 16, number))
        job.key_slot = number[0]
        device.check(lib.mae_context_alloc(found.handle, number))
        job.context = number[0]
        device.check(lib.mae_mem_alloc(found.handle, 32, memory))
        job.src = job.dst = memory[0]
        got = b""
        for at in range(0, len(data), 32):
            ffi.memmove(memory[0], data[at : at + 32], 32)
            job.init = at == 0
            device.check(lib.mae_submit(found.handle, job))
            device.check(lib.mae_wait(found.handle, done, 1, count, 1_000_000))
            device.check(done.error)
            got += bytes(ffi.buffer(memory[0], 32))
            for other in AEAD:
                found.seal(other, source.randbytes(32), source.randbytes(33), b"aad")
            found.mac(source.randbytes(32), b"123")
        assert got == plain_oracle(mode, key, iv, data, device.ENCRYPT)


def test_drawn_nonces_differ() -> None:
    """The driver draws a new nonce for each of 20 messages; each decrypts with its own."""
    with opened("stream4") as found:
        sealed = [found.seal("gcm", bytes(16), b"same") for _ in range(20)]
        assert len({nonce for nonce, _, _ in sealed}) == 20
        for nonce, text, tag in sealed:
            assert found.unseal("gcm", bytes(16), nonce, text, tag) == b"same"


def test_example() -> None:
    """The C example seal_gcm prints the right ciphertext and refuses a changed message."""
    simulator.build("stream4")
    program = c_driver.build_program(paths.ROOT / "examples" / "c_program" / "seal_gcm.c")
    folder = simulator.folder("stream4").parent
    environment = {"MAESLANT_SIM_PATH": str(folder), **os.environ}
    done = subprocess.run([program], capture_output=True, text=True, env=environment, check=True)
    lines = done.stdout.splitlines()
    nonce, text, tag = (bytes.fromhex(line.split()[1]) for line in lines[:3])
    assert AESGCM(bytes(range(32))).decrypt(nonce, text + tag, b"header") == b"attack at dawn"
    assert lines[3:] == ["opened: attack at dawn", "changed: refused"]


def test_bus_errors_give_no_plaintext() -> None:
    """A bus error during GCM decryption gives an error without plaintext; later ones end right."""
    source = random.Random(SEED)
    key, nonce, data = source.randbytes(16), source.randbytes(12), source.randbytes(20000)
    sealed = oracle("gcm", key, nonce, b"aad", data)
    good = failed = 0
    with opened("stream4", f"error_read=6000&seed={SEED}") as found:
        for _ in range(40):
            try:
                assert found.unseal("gcm", key, nonce, sealed[:-16], sealed[-16:], b"aad") == data
                good += 1
            except DeviceError as error:
                assert error.code in (found.lib.MAE_E_BUS_READ, found.lib.MAE_E_BUS_LIST)
                failed += 1
    assert good and failed

# SPDX-License-Identifier: Apache-2.0
"""Tests the driver's key records on a simulated stream card against `cryptography`."""

import random

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.driver import device
from maeslant.driver.device import DeviceError, check
from tests.driver.test_sim_devices import AWKWARD, opened

pytestmark = pytest.mark.full

RECORDS = 400  # more than the card caches, and than bits 7:0 of a record's number count
DATA_BYTES = 300


class Keys:
    """Loads keys into slots and records of a device, and seals under them."""

    def __init__(self, found: device.Device) -> None:
        self.found, self.ffi, self.lib = found, found.ffi, found.lib
        self.keys: dict[int, bytes] = {}

    def alloc(self, key: bytes) -> int:
        """Loads a key where there is room; returns its number."""
        slot = self.ffi.new("uint32_t *")
        check(self.lib.mae_key_alloc(self.found.handle, key, len(key), slot))
        self.keys[slot[0]] = key
        return slot[0]

    def seal(self, slot: int, data: bytes, nonce: bytes) -> tuple[bytes, bytes]:
        """Seals a message under a slot's or record's key; returns ciphertext and tag."""
        out, tag = self.ffi.new("uint8_t[]", len(data)), self.ffi.new("uint8_t[16]")
        source, copy = self.ffi.from_buffer(data), self.ffi.new("uint8_t[]", nonce)
        message = self.ffi.new("struct mae_message *")
        message.mode, message.key_slot = self.lib.MAE_GCM, slot
        message.nonce, message.nonce_bytes = copy, len(nonce)
        message.src, message.dst, message.length = source, out, len(data)
        message.tag, message.tag_bytes = tag, 16
        check(self.lib.mae_seal_with_chosen_nonce(self.found.handle, message))
        return bytes(out), bytes(tag)


def test_more_keys_than_slots() -> None:
    """Hundreds of keys are in slots and records; replaced and erased ones are gone."""
    source = random.Random(1)
    with opened("stream4_records", AWKWARD) as found:
        keys, lib = Keys(found), found.lib
        check(lib.mae_key_records(found.handle, RECORDS))
        slots = [keys.alloc(source.randbytes(source.choice((16, 32)))) for _ in range(RECORDS)]
        assert max(slots) > lib.MAE_RECORD_FIRST + 255
        for slot in source.choices(slots, k=100):
            data, nonce = source.randbytes(DATA_BYTES), source.randbytes(12)
            if source.random() < 0.2:
                keys.keys[slot] = source.randbytes(24)
                check(lib.mae_key_load(found.handle, slot, keys.keys[slot], 24))
            sealed = b"".join(keys.seal(slot, data, nonce))
            assert sealed == AESGCM(keys.keys[slot]).encrypt(nonce, data, b"")
        check(lib.mae_key_erase(found.handle, slots[-1]))
        with pytest.raises(DeviceError, match="is empty"):
            keys.seal(slots[-1], b"data", bytes(12))
        # XTS has its keys in slots only.
        with pytest.raises(DeviceError, match="XTS takes its keys in slots"):
            found.crypt("xts", device.ENCRYPT, source.randbytes(32), bytes(16), bytes(64))


def test_slots_only() -> None:
    """A device without record slots refuses a table and goes on with its slots."""
    with device.Device("null:") as found:
        code = found.lib.mae_key_records(found.handle, RECORDS)
        assert code == found.lib.MAE_E_UNSUPPORTED
        assert found.lib.mae_key_records(found.handle, 0) == found.lib.MAE_E_ARGUMENT
        assert Keys(found).alloc(bytes(16)) == 0

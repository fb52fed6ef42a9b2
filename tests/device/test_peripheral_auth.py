# SPDX-License-Identifier: Apache-2.0
"""mae_peripheral's authenticated modes over its registers: GCM, GMAC, CCM and CMAC."""

import random

import cocotb
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.device.peripheral import begin
from tests.support import bench


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def gcm(dut) -> None:
    """Key sizes, lengths."""
    p = await begin(dut)
    for size in (16, 24, 32):
        for aad_bytes, data_bytes in ((0, 0), (0, 16), (5, 33), (40, 0), (16, 64), (3, 7)):
            key, iv = random.randbytes(size), random.randbytes(12)
            aad, data = random.randbytes(aad_bytes), random.randbytes(data_bytes)
            await p.load_key(0, key)
            await p.write_words("iv", iv + bytes([0, 0, 0, 1]))
            if aad:
                await p.auth("gcm", aad, "aad", init=True)
            got = await p.auth("gcm", data, init=not aad, final=True)
            got += await p.words("tag")
            assert await p.error() == 0
            assert got == AESGCM(key).encrypt(iv, data, aad), (size, aad_bytes, data_bytes)


PARAMETERS = {"KeySlots": 4, "KeyBanks": 2, "Dirs": 3, "MaxKeyLen": 2, "Sbox": 0}


def test_peripheral_auth() -> None:
    """The named build."""
    bench.run("mae_peripheral", parameters=PARAMETERS, visible=True)

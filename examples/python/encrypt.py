# SPDX-License-Identifier: Apache-2.0
"""Encrypts in Python on a device, and compares with the package `cryptography`.

usage: encrypt.py [DEVICE]   for example sim:peripheral; without, sim:stream?lanes=4
"""

import secrets
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.driver.device import ENCRYPT, Device, DeviceError, is_wrong_tag

uri = sys.argv[1] if len(sys.argv) > 1 else "sim:stream?lanes=4"
key, text, header = secrets.token_bytes(32), b"attack at dawn", b"header"

with Device(uri) as device:  # a simulated one is built on first use: a minute or more
    print(f"{uri} has modes for bits {device.caps()['modes']:#x}")
    nonce, sealed, tag = device.seal("gcm", key, text, header)
    print("equal:", AESGCM(key).encrypt(nonce, text, header) == sealed + tag)
    print("opened:", device.unseal("gcm", key, nonce, sealed, tag, header).decode())
    try:
        device.unseal("gcm", key, nonce, sealed, bytes(16), header)
    except DeviceError as error:
        if not is_wrong_tag(error):
            raise
        print("changed: refused")
    counter = bytes(16)
    print("CTR:", device.crypt("ctr", ENCRYPT, key, counter, bytes(16)).hex())

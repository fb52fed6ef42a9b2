# SPDX-License-Identifier: Apache-2.0
"""Computes all secrets of a protected session: keys, round keys, H, keystream, plaintexts."""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from maeslant.driver import gf128
from maeslant.protected.model.constants import Class
from maeslant.protected.model.keys import Session
from maeslant.protected.model.workload import CAPABILITIES, Machine, device_nonce, octets


def session_of(machine: Machine, name: str = "first", nonce: int = 0) -> Session:
    """Recomputes the secrets of a test machine's session from the machine's seed."""
    label = f"{machine.seed} {name}"
    return Session(
        octets(f"{label} secret", 32),
        octets(f"{label} id", 16),
        octets(f"{label} host nonce", 32),
        device_nonce(machine.seed, nonce),
        CAPABILITIES.word(),
    )


def _sbox() -> list[int]:
    """Computes the AES S-box by its definition: inversion in GF(2^8), then an affine map."""
    powers, value = [], 1
    for _ in range(255):
        powers.append(value)
        value ^= (value << 1) ^ (0x11B if value & 0x80 else 0)
        value &= 0xFF
    box = [0x63] * 256
    for index, power in enumerate(powers):
        inverse = powers[-index % 255]
        doubled = inverse | inverse << 8
        box[power] = 0x63
        for shift in range(5):
            box[power] ^= doubled >> (8 - shift) & 0xFF
    return box


def round_keys(key: bytes) -> bytes:
    """Expands an AES-256 key to its 15 round keys (240 bytes)."""
    box = _sbox()
    words = [key[at : at + 4] for at in range(0, 32, 4)]
    constant = 1
    for index in range(8, 60):
        word = words[-1]
        if index % 8 == 0:
            word = bytes(box[byte] for byte in word[1:] + word[:1])
            word = bytes((word[0] ^ constant,)) + word[1:]
            constant = constant << 1 ^ (0x11B if constant & 0x80 else 0)
        elif index % 8 == 4:
            word = bytes(box[byte] for byte in word)
        words.append(bytes(a ^ b for a, b in zip(word, words[-8], strict=True)))
    return b"".join(words)


def secrets_of(session: Session, plain: dict[str, bytes]) -> dict[str, bytes]:
    """Returns all secrets of a session by name, with the plaintexts ``plain`` added."""
    found = {"secret": session.secret, **plain}
    for cls in Class:
        for epoch in (0, 1):
            output = session.derive(cls, epoch)
            key, mask = output[:32], output[32:]
            name = f"{cls.name} {epoch}"
            found[f"round keys {name}"] = round_keys(key)
            found[f"mask {name}"] = mask
            encrypt = Cipher(algorithms.AES256(key), modes.ECB()).encryptor().update
            h = encrypt(bytes(16))
            value = int.from_bytes(h)
            found[f"H {name}"] = h
            power = value
            for exponent in range(2, 5):
                power = gf128.multiply(power, value)
                found[f"H^{exponent} {name}"] = power.to_bytes(16)
            for queue in range(3 if epoch == 0 else 0):
                for sequence in range(1, 5):
                    counter = bytes((cls, queue, 0, 0)) + sequence.to_bytes(8)
                    iv = bytes(a ^ b for a, b in zip(mask, counter, strict=True))
                    stream = b"".join(encrypt(iv + n.to_bytes(4)) for n in range(1, 11))
                    found[f"keystream {name} {queue}:{sequence}"] = stream
    return found

# SPDX-License-Identifier: Apache-2.0
"""Computes the expected results of the PicoRV32 system's AES jobs with OpenSSL."""

from cryptography.hazmat.decrepit.ciphers.modes import CFB, OFB
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.cmac import CMAC

from maeslant.bench.soc.jobs import ENCRYPT, Job

PLAIN = {"cbc": modes.CBC, "cfb": CFB, "ofb": OFB, "ctr": modes.CTR}


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def _crypt(key: bytes, mode: object, direction: int, data: bytes) -> bytes:
    """Encrypts or decrypts data by OpenSSL; returns the result that an AES job must give."""
    cipher = Cipher(algorithms.AES(key), mode)
    context = cipher.encryptor() if direction == ENCRYPT else cipher.decryptor()
    return context.update(data) + context.finalize()


def _block(key: bytes, direction: int, block: bytes) -> bytes:
    return _crypt(key, modes.ECB(), direction, block)


def _key_each(job: Job) -> bytes:
    """Returns the expected result of an AES job with a key for each block, from OpenSSL's ECB."""
    chain, out = job.iv, []
    for index in range(len(job.data) // 16):
        key, block = job.keys[index], job.data[16 * index : 16 * index + 16]
        if job.mode == "ctr":
            count = (int.from_bytes(job.iv, "big") + index) % (1 << 128)
            result = _xor(_block(key, ENCRYPT, count.to_bytes(16, "big")), block)
        elif job.mode == "ecb":
            result = _block(key, job.direction, block)
        elif job.mode == "ofb":
            chain = _block(key, ENCRYPT, chain)
            result = _xor(chain, block)
        elif job.mode == "cfb":
            result = _xor(_block(key, ENCRYPT, chain), block)
            chain = result if job.direction == ENCRYPT else block
        elif job.direction == ENCRYPT:  # cbc, pcbc
            result = _block(key, ENCRYPT, _xor(block, chain))
            chain = result if job.mode == "cbc" else _xor(result, block)
        else:
            result = _xor(_block(key, job.direction, block), chain)
            chain = block if job.mode == "cbc" else _xor(result, block)
        out.append(result)
    return b"".join(out)


def result(job: Job) -> tuple[bytes, bytes]:
    """Returns the output and tag that an AES job on the PicoRV32 system must give, by OpenSSL.

    A decryption that authenticates is right only if OpenSSL finds its tag right.
    """
    key, data, encrypts = job.keys[0], job.data, job.direction == ENCRYPT
    if job.mode == "gcm":
        if encrypts:
            sealed = AESGCM(key).encrypt(job.iv, data, job.aad)
            return sealed[:-16], sealed[len(data) :][: len(job.tag)]
        return AESGCM(key).decrypt(job.iv, data + job.tag, job.aad), b""
    if job.mode == "ccm":
        cipher = AESCCM(key, len(job.tag))
        if encrypts:
            sealed = cipher.encrypt(job.iv, data, job.aad)
            return sealed[: len(data)], sealed[len(data) :]
        return cipher.decrypt(job.iv, data + job.tag, job.aad), b""
    if job.mode == "cmac":
        mac = CMAC(algorithms.AES(key))
        mac.update(data)
        return b"", mac.finalize()[: len(job.tag)]
    if job.mode == "xts":
        return _crypt(key + job.keys[1], modes.XTS(job.iv), job.direction, data), b""
    if job.key_each:
        return _key_each(job), b""
    if job.mode == "ecb":
        return _crypt(key, modes.ECB(), job.direction, data), b""
    if job.mode == "pcbc":  # OpenSSL has none: by its definition, around its ECB
        count = len(data) // 16
        return _key_each(Job(job.way, "pcbc", job.direction, data, [key] * count, iv=job.iv)), b""
    return _crypt(key, PLAIN[job.mode](job.iv), job.direction, data), b""

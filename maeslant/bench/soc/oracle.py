# SPDX-License-Identifier: Apache-2.0
"""Computes the expected results of the PicoRV32 system's AES jobs with OpenSSL."""

from cryptography.hazmat.primitives.ciphers import algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM
from cryptography.hazmat.primitives.cmac import CMAC

from maeslant.bench.soc.jobs import ENCRYPT, Job
from maeslant.verify import mode_oracle


def result(job: Job) -> tuple[bytes, bytes]:
    """Returns the output and tag that an AES job on the PicoRV32 SoC must give, from OpenSSL.

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
    decrypt = not encrypts
    if job.key_each:
        return mode_oracle.crypt_blocks(job.mode, decrypt, job.keys, job.iv, data), b""
    return mode_oracle.crypt(job.mode, decrypt, key, job.iv, data, b"".join(job.keys[1:])), b""

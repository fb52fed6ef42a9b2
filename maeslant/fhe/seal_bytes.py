# SPDX-License-Identifier: Apache-2.0
"""Reads and writes Microsoft SEAL's serialized ciphertexts, plaintexts and keys.

A ciphertext: SEAL's header of 16 bytes; the name of its parameters, 32 bytes; in NTT form or not, a
byte; its polynomials, N and primes, 8 bytes each; its scale; a factor of BGV; then a header of 16
bytes, the number of coefficients and these, 8 bytes each. All numbers little-endian.
"""

import dataclasses
import struct

import numpy as np
import seal

from maeslant.errors import MaeslantError
from maeslant.fhe.sets import DATA, ParameterSet

MAGIC, HEADER_BYTES = 0xA15E, 16
HEADER = struct.Struct("<HBBBBHQ")
CIPHERTEXT = struct.Struct("<32sBQQQdQ")
PLAINTEXT = struct.Struct("<32sQd")
VERSION = (4, 4)


@dataclasses.dataclass
class Ciphertext:
    """Holds the polynomials of a SEAL ciphertext and its scale."""

    data: np.ndarray
    scale: float

    @property
    def level(self) -> int:
        """Returns the number of data primes of the SEAL ciphertext."""
        return self.data.shape[1]


def _header(data: bytes, at: int, what: str) -> int:
    """Checks the header of a serialized SEAL object; returns the object's size in bytes."""
    if len(data) < at + HEADER_BYTES:
        raise MaeslantError(f"{what} is cut short")
    magic, length, _, _, compressed, _, size = HEADER.unpack_from(data, at)
    if magic != MAGIC or length != HEADER_BYTES:
        raise MaeslantError(f"{what} is not SEAL's")
    if compressed:
        raise MaeslantError(f"{what} is compressed; save it with compr_mode_type.none")
    if at + size > len(data):
        raise MaeslantError(f"{what} is cut short")
    return size


def _write_header(size: int) -> bytes:
    return HEADER.pack(MAGIC, HEADER_BYTES, *VERSION, 0, 0, size)


def _fields(layout: struct.Struct, data: bytes, at: int, what: str) -> tuple:
    if len(data) < at + layout.size:
        raise MaeslantError(f"{what} is cut short")
    return layout.unpack_from(data, at)


def _level(parms_id: bytes, params: ParameterSet, what: str, key: bool = False) -> int:
    """Returns the number of primes of a SEAL parameter identifier; raises for an unknown one."""
    if parms_id not in params.parms_ids:
        raise MaeslantError(f"{what} is not of the parameter set {params.name!r}")
    primes = params.parms_ids.index(parms_id) + 1
    if key != (primes > DATA):
        raise MaeslantError(f"{what} is of {'data' if key else 'key'} parameters")
    return primes


def _coefficients(
    data: bytes, at: int, shape: tuple[int, ...], params: ParameterSet, what: str
) -> np.ndarray:
    """Returns the polynomials of serialized SEAL data as an array, each coefficient checked."""
    count = int(np.prod(shape))
    _header(data, at, what)
    (stored,) = struct.unpack_from("<Q", data, at + HEADER_BYTES)
    if stored != count:
        seeded = "; expand it by loading it into SEAL and saving it again" if stored < count else ""
        raise MaeslantError(f"{what} has {stored} coefficients and not {count}{seeded}")
    if len(data) < at + HEADER_BYTES + 8 + 8 * count:
        raise MaeslantError(f"{what} is cut short")
    found = np.frombuffer(data, "<u8", count, at + HEADER_BYTES + 8).reshape(shape)
    primes = np.array(params.primes[: shape[1]], np.uint64)
    if (found >= primes[None, :, None]).any():
        raise MaeslantError(f"{what} is damaged: a coefficient is not below its prime")
    return found


def parse_ciphertext(
    data: bytes, params: ParameterSet, what: str = "the ciphertext", at: int = 0, key: bool = False
) -> Ciphertext:
    """Returns the ciphertext in serialized SEAL data; raises MaeslantError if it is malformed."""
    _header(data, at, what)
    begin = at + HEADER_BYTES
    parms_id, ntt, size, n, primes, scale, factor = _fields(CIPHERTEXT, data, begin, what)
    if primes != _level(parms_id, params, what, key) or n != params.n:
        raise MaeslantError(f"{what} is damaged: its sizes are not its parameters'")
    if not ntt or factor != 1:
        raise MaeslantError(f"{what} is not of CKKS in NTT form")
    if not 2 <= size <= 3:
        raise MaeslantError(f"{what} has {size} polynomials; 2 or 3 are possible")
    at = begin + CIPHERTEXT.size
    return Ciphertext(_coefficients(data, at, (size, primes, n), params, what), scale)


def ciphertext_bytes(found: Ciphertext, params: ParameterSet) -> bytes:
    """Returns a ciphertext as bytes in SEAL's format."""
    size, primes, n = found.data.shape
    coefficients = np.ascontiguousarray(found.data, "<u8").tobytes()
    inner = _write_header(HEADER_BYTES + 8 + len(coefficients))
    fields = CIPHERTEXT.pack(params.parms_ids[primes - 1], 1, size, n, primes, found.scale, 1)
    body = fields + inner + struct.pack("<Q", size * primes * n) + coefficients
    return _write_header(HEADER_BYTES + len(body)) + body


def parse_plaintext(data: bytes, params: ParameterSet, what: str = "the plaintext") -> Ciphertext:
    """Returns the plaintext in serialized SEAL data: one polynomial in NTT form."""
    _header(data, 0, what)
    parms_id, count, scale = _fields(PLAINTEXT, data, HEADER_BYTES, what)
    primes = _level(parms_id, params, what)
    if count != primes * params.n:
        raise MaeslantError(f"{what} is damaged: its sizes are not its parameters'")
    at = HEADER_BYTES + PLAINTEXT.size
    return Ciphertext(_coefficients(data, at, (1, primes, params.n), params, what), scale)


def parse_keys(data: bytes, params: ParameterSet, what: str = "the keys") -> dict[int, np.ndarray]:
    """Returns the evaluation keys in serialized SEAL data, by index."""
    _header(data, 0, what)
    parms_id, rows = _fields(struct.Struct("<32sQ"), data, HEADER_BYTES, what)
    _level(parms_id, params, what, key=True)
    at = HEADER_BYTES + 40
    found = {}
    for index in range(rows):
        (digits,) = _fields(struct.Struct("<Q"), data, at, what)
        at += 8
        if digits not in (0, DATA):
            raise MaeslantError(f"{what} have {digits} digits and not {DATA}")
        parts = []
        for _ in range(digits):
            size = _header(data, at, what)
            # A key is a public key of SEAL's: a ciphertext inside a header of its own.
            parts.append(parse_ciphertext(data, params, what, at, key=True).data)
            at += size
        if parts:
            found[index] = np.stack(parts)
    return found


def galois_keys(keys: seal.GaloisKeys, params: ParameterSet) -> dict[int, np.ndarray]:
    """Returns the arrays of SEAL's Galois keys, by Galois element."""
    found = parse_keys(keys.to_string(), params, "the Galois keys")
    return {2 * index + 1: key for index, key in found.items()}


def relin_key(keys: seal.RelinKeys, params: ParameterSet) -> np.ndarray:
    """Returns the array of SEAL's relinearization key."""
    found = parse_keys(keys.to_string(), params, "the relinearisation keys")
    if 0 not in found:
        raise MaeslantError("the relinearisation keys have none for three polynomials")
    return found[0]

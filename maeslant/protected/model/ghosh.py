# SPDX-License-Identifier: Apache-2.0
"""Models the protected channel of Ghosh et al.: its card, as mae_ghosh_card, and its driver.

Faithful to Ghosh §3: one key; the user-mode driver starts the card's engine with an IV, encrypts
into the DMA buffer, the OS moves the data, the driver asks the engine to finalize and reads the
card's tag in plain ("AT transfer does not need confidentiality", §3), and compares it inside the
enclave. The engine computes "over all data received since initialization until asked to finalize".
Ghosh's protected MMIO: a tag of the request over its offset, written before the access, and after a
write a protected read of its verdict (§3.1). How the IV of such a request is made, and what makes
it fresh, Ghosh does not say; here the driver counts and sends it along, and the card remembers
nothing, so an old start is a good start.
"""

import dataclasses

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.build.generated.mae_ghosh_card import (
    ANSWER_TAG,
    ENGINE_TAG,
    FINALIZE,
    HOST_LO,
    MOVE,
    REQUEST_IV,
    REQUEST_TAG,
    START,
    TARGET,
    VERDICT,
)
from maeslant.protected.model.keys import TagError
from maeslant.protected.model.link import BusError, Event, Link, What

KEY_BYTES = 16  # AES-128, as the paper's
IN, OUT = 0, 1
ACCESS, DATA = "a protected access", "the tag of the data"  # what the driver finds wrong
GO = (1).to_bytes(4, "little")


def target_word(direction: int, address: int, length: int) -> bytes:
    """Returns the value of the register `target` of Ghosh's card for a transfer."""
    return (direction << 63 | length << 32 | address).to_bytes(8, "little")


def data_iv(start: bytes) -> bytes:
    """Returns the IV of a transfer's data on Ghosh's card, from its register `start`."""
    return b"dma\0" + start


def answer_iv(iv: bytes) -> bytes:
    """Returns the IV of Ghosh's answer to a protected read, from the IV of the request."""
    return bytes((iv[0] ^ 0x80,)) + iv[1:]


class GhoshDevice:
    """Models the card of Ghosh et al. with its GCM engine, DMA controller and memory."""

    def __init__(self, key: bytes, memory: int = 1 << 14) -> None:
        self.key = key
        self.memory = bytearray(memory)
        self.bus: Link | None = None
        self.plain = bytearray(TARGET)
        self.target = bytes(8)
        self.verdict = False
        self.iv: bytes | None = None  # of the transfer that was started
        self.transfer = (IN, 0, 0)  # its direction, address and length
        self.tag = bytes(16)
        self.finished = False

    def close(self) -> None:
        """Does nothing, because the model of Ghosh's card holds nothing open."""

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a register of the model of Ghosh's card."""
        if address >= TARGET:
            self._write(address, data)
            return
        self.plain[address : address + len(data)] = data
        if address == MOVE and self.iv:
            self._move(int.from_bytes(self.plain[HOST_LO : HOST_LO + 8], "little"))
        elif address == FINALIZE and self.finished:
            self.plain[ENGINE_TAG : ENGINE_TAG + 16] = self.tag

    def mmio_read(self, address: int, size: int) -> bytes:
        """Returns register values of the model of Ghosh's card; anyone may read the GCM tag."""
        return self._read(address) if address >= TARGET else bytes(self.plain[address:][:size])

    def step(self) -> bool:
        """Does nothing, because the model of Ghosh's card acts within register writes."""
        return False

    def _open(self, address: int, sealed: bytes) -> bytes | None:
        """Returns a request to Ghosh's card, decrypted; None if its tag is wrong (§3.1)."""
        tag = bytes(self.plain[REQUEST_TAG : REQUEST_TAG + 16])
        try:
            return AESGCM(self.key).decrypt(self._request_iv(), sealed + tag, address.to_bytes(4))
        except Exception:
            return None

    def _request_iv(self) -> bytes:
        return bytes(self.plain[REQUEST_IV : REQUEST_IV + 12])

    def _write(self, address: int, sealed: bytes) -> None:
        """Writes a protected register of Ghosh's card if the request's tag is right."""
        value = self._open(address, sealed)
        self.verdict = value is not None
        if value is None:
            return
        self.plain[ANSWER_TAG : ANSWER_TAG + 16] = self.plain[REQUEST_TAG : REQUEST_TAG + 16]
        if address == TARGET:
            self.target = value
        elif address == START:
            word = int.from_bytes(self.target, "little")
            at, length = word & 0xFFFF_FFFF, word >> 32 & 0x7FFF_FFFF
            if at % 64 == 0 and length and at + length <= len(self.memory):
                self.iv, self.finished = data_iv(value), False
                self.transfer = (word >> 63, at, length)

    def _read(self, address: int) -> bytes:
        """Returns a protected register of Ghosh's card, sealed; all ones if the tag is wrong."""
        if self._open(address, b"") is None:
            return b"\xff" * 8
        value = {VERDICT: bytes((self.verdict,)).ljust(8, b"\0"), TARGET: self.target}
        self.verdict &= address != VERDICT
        sealed = AESGCM(self.key).encrypt(
            answer_iv(self._request_iv()), value.get(address, bytes(8)), address.to_bytes(4)
        )
        self.plain[ANSWER_TAG : ANSWER_TAG + 16] = sealed[8:]
        return sealed[:8]

    def _move(self, host: int) -> None:
        """Moves data between host memory and Ghosh's card through its GCM engine."""
        direction, at, length = self.transfer
        if direction == IN:
            # Counter mode: the same operation both ways.
            stream = Cipher(algorithms.AES(self.key), modes.GCM(self.iv)).encryptor()
            self.memory[at : at + length] = stream.update(self.bus.dma_read(host, length))
        sealed = AESGCM(self.key).encrypt(self.iv, bytes(self.memory[at : at + length]), b"")
        if direction == OUT:
            self.bus.dma_write(host, sealed[:-16])
        # Both directions end in a tag over the ciphertext, verified or not (H1).
        self.tag, self.finished, self.iv = sealed[-16:], True, None


@dataclasses.dataclass
class GhoshHost:
    """Models the user-mode driver of Ghosh et al., which holds the key."""

    link: Link
    key: bytes
    count: int = 0

    def _request(self, register: int, value: bytes) -> tuple[bytes, bytes]:
        """Seals a protected request and writes its IV and tag; returns IV and sealed value."""
        self.count += 1
        iv = b"mmio" + self.count.to_bytes(8)
        sealed = AESGCM(self.key).encrypt(iv, value, register.to_bytes(4))
        self.link.mmio_write(REQUEST_IV, iv)
        self.link.mmio_write(REQUEST_TAG, sealed[-16:])
        return iv, sealed[:-16]

    def read(self, register: int) -> bytes:
        """Returns a protected register of Ghosh's card (Figure 3); raises TagError if forged."""
        iv, _ = self._request(register, b"")
        sealed = self.link.mmio_read(register, 8) + self.link.mmio_read(ANSWER_TAG, 16)
        try:
            return AESGCM(self.key).decrypt(answer_iv(iv), sealed, register.to_bytes(4))
        except Exception:
            raise TagError(ACCESS) from None

    def write(self, register: int, value: bytes) -> None:
        """Writes a protected register of Ghosh's card (Figure 4); raises TagError if refused."""
        _, sealed = self._request(register, value)
        self.link.mmio_write(register, sealed)
        if not self.read(VERDICT)[0] & 1:
            raise TagError(ACCESS)

    def _start(self, direction: int, address: int, length: int) -> bytes:
        self.write(TARGET, target_word(direction, address, length))
        start = self.count.to_bytes(8)
        self.write(START, start)
        return data_iv(start)

    def _move(self, buffer: int) -> bytes:
        """Starts a transfer's data on Ghosh's card, as its OS does; returns the tag it shows."""
        self.link.mmio_write(HOST_LO, buffer.to_bytes(8, "little"))
        self.link.mmio_write(MOVE, GO)
        self.link.mmio_write(FINALIZE, GO)
        return self.link.mmio_read(ENGINE_TAG, 16)

    def send(self, address: int, data: bytes) -> None:
        """Sends data to Ghosh's card and compares GCM tags; raises TagError if the tags differ."""
        iv = self._start(IN, address, len(data))
        sealed = AESGCM(self.key).encrypt(iv, data, b"")
        buffer = self.link.allocate(len(data))
        self.link.store(buffer, sealed[:-16])
        if self._move(buffer) != sealed[-16:]:
            raise TagError(DATA)

    def receive(self, address: int, length: int) -> bytes:
        """Returns data received from Ghosh's card; raises TagError if its GCM tag is wrong."""
        iv = self._start(OUT, address, length)
        buffer = self.link.allocate(length)
        tag = self._move(buffer)
        sealed = self.link.load(buffer, length)
        try:
            return AESGCM(self.key).decrypt(iv, sealed + tag, b"")
        except Exception:
            raise TagError(DATA) from None


def raw_write(link: Link, address: int, data: bytes) -> None:
    """Writes a card's register on the bus model, without passing the attack."""
    link.raw(Event(What.MMIO_WRITE, address, len(data), data))


def raw_read(link: Link, address: int, size: int) -> bytes:
    """Returns a card's register from the bus model, without passing the attack."""
    try:
        return link.raw(Event(What.MMIO_READ, address, size))
    except BusError:
        return b""

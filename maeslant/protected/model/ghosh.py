# SPDX-License-Identifier: Apache-2.0
"""Models the protected channel of Ghosh et al., which the GCM tag oracle breaks (H1).

Faithful to Ghosh §3: one key; the user-mode driver starts the card's engine with an IV, encrypts
into the DMA buffer, the OS moves the data, the driver asks the engine to finalize and reads the
card's tag in plain ("AT transfer does not need confidentiality", §3), and compares it inside the
enclave. The engine computes "over all data received since initialization until asked to finalize".
Ghosh's protected MMIO: a tag of the request over its offset, written before the access (§3.1). How
the IV of such a request is made, and what makes it fresh, Ghosh does not say; here the driver
counts and sends it along, and the card remembers nothing, so an old start is a good start.
"""

import dataclasses

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant.protected.model.keys import TagError
from maeslant.protected.model.link import BusError, Event, Link, What

# Plain registers: the tag and IV of the next protected access, finalize, the engine's tag, and the
# DMA controller's host address and length, which the OS sets.
REQUEST, FINALIZE, ENGINE_TAG, MOVE = 0x100, 0x180, 0x190, 0x1A0
# Protected: start with {direction 4, device address 4, IV 8}.
START = 0x800
IN, OUT = 0, 1


class GhoshDevice:
    """Models the card of Ghosh et al. with its GCM engine, DMA controller and memory."""

    def __init__(self, key: bytes, memory: int = 1 << 12) -> None:
        self.key = key
        self.memory = bytearray(memory)
        self.bus: Link | None = None
        self.request = bytes(28)
        self.engine = None
        self.address = self.direction = 0
        self.tag = bytes(16)

    def mmio_write(self, address: int, data: bytes) -> None:
        """Writes a register of the model of Ghosh's card."""
        if address == REQUEST:
            self.request = data
        elif address == START:
            self._start(data)
        elif address == MOVE:
            self._move(int.from_bytes(data[:8]), int.from_bytes(data[8:12]))
        elif address == FINALIZE and self.engine:
            self.engine.finalize()
            # Both directions end in a tag over the ciphertext.
            self.tag = self.engine.tag if self.direction == OUT else self._tag_in()
            self.engine = None

    def mmio_read(self, address: int, size: int) -> bytes:
        """Reads a register of the model of Ghosh's card, where anyone may read the tag."""
        return self.tag if address == ENGINE_TAG else bytes(size)

    def step(self) -> bool:
        """Does nothing, because the model of Ghosh's card acts within register writes."""
        return False

    def _start(self, sealed: bytes) -> None:
        """Starts a transfer of Ghosh's card if the command's GCM tag is right (§3.1)."""
        iv, tag = self.request[:12], self.request[12:]
        try:
            plain = AESGCM(self.key).decrypt(iv, sealed + tag, START.to_bytes(4))
        except Exception:
            return  # refused: does nothing
        self.direction = int.from_bytes(plain[:4])
        self.address = int.from_bytes(plain[4:8])
        self.iv = b"dma\0" + plain[8:]
        self.received = b""
        self.engine = Cipher(algorithms.AES256(self.key), modes.GCM(self.iv)).encryptor()

    def _tag_in(self) -> bytes:
        """Computes the GCM tag of data that Ghosh's card has received, unverified (H1)."""
        plain = bytes(self.memory[self.address : self.address + len(self.received)])
        return AESGCM(self.key).encrypt(self.iv, plain, b"")[-16:]

    def _move(self, host: int, length: int) -> None:
        """Moves data between host memory and Ghosh's card through its GCM engine."""
        if self.engine is None:
            return
        at = self.address
        if self.direction == IN:
            data = self.bus.dma_read(host, length)
            self.received += data
            # Counter mode: the same operation both ways.
            self.memory[at : at + length] = self.engine.update(data)
        else:
            self.bus.dma_write(host, self.engine.update(bytes(self.memory[at : at + length])))


@dataclasses.dataclass
class GhoshHost:
    """Models the user-mode driver of Ghosh et al., which holds the key."""

    link: Link
    key: bytes
    count: int = 0

    def _start(self, direction: int, address: int) -> bytes:
        self.count += 1
        iv = b"dma\0" + self.count.to_bytes(8)
        plain = direction.to_bytes(4) + address.to_bytes(4) + iv[4:]
        mmio_iv = b"mmio" + self.count.to_bytes(8)
        sealed = AESGCM(self.key).encrypt(mmio_iv, plain, START.to_bytes(4))
        self.link.mmio_write(REQUEST, mmio_iv + sealed[-16:])
        self.link.mmio_write(START, sealed[:-16])
        return iv

    def _tag(self) -> bytes:
        self.link.mmio_write(FINALIZE, b"\1")
        return self.link.mmio_read(ENGINE_TAG, 16)

    def send(self, address: int, data: bytes) -> None:
        """Sends data to Ghosh's card and compares GCM tags; raises TagError if they differ."""
        iv = self._start(IN, address)
        sealed = AESGCM(self.key).encrypt(iv, data, b"")
        buffer = self.link.allocate(len(data))
        self.link.store(buffer, sealed[:-16])
        self.link.mmio_write(MOVE, buffer.to_bytes(8) + len(data).to_bytes(4))
        if self._tag() != sealed[-16:]:
            raise TagError

    def receive(self, address: int, length: int) -> bytes:
        """Receives data from Ghosh's card; raises TagError if its GCM tag is wrong."""
        iv = self._start(OUT, address)
        buffer = self.link.allocate(length)
        self.link.mmio_write(MOVE, buffer.to_bytes(8) + length.to_bytes(4))
        sealed = self.link.load(buffer, length)
        try:
            return AESGCM(self.key).decrypt(iv, sealed + self._tag(), b"")
        except Exception as error:
            raise TagError from error


def raw_write(link: Link, address: int, data: bytes) -> None:
    """Writes a card's register directly on the bus model, past the attack."""
    link.raw(Event(What.MMIO_WRITE, address, len(data), data))


def raw_read(link: Link, address: int, size: int) -> bytes:
    """Reads a card's register directly on the bus model, past the attack."""
    try:
        return link.raw(Event(What.MMIO_READ, address, size))
    except BusError:
        return b""

# SPDX-License-Identifier: Apache-2.0
"""Cuts GCM, CCM and CMAC messages into the jobs that the AES peripheral expects."""

import random

from tests.device import oracle
from tests.device.peripheral_host import Peripheral


def ccm_head(nonce: bytes, aad: bytes, length: int, tag_bytes: int) -> tuple[bytes, bytes]:
    """Returns CCM's first counter block A0 and the bytes to authenticate before the data."""
    q = 15 - len(nonce)
    flags = (64 if aad else 0) + 8 * ((tag_bytes - 2) // 2) + q - 1
    head = bytes([flags]) + nonce + length.to_bytes(q, "big")
    if 0 < len(aad) < 65280:
        head += len(aad).to_bytes(2, "big")
    elif aad:
        head += b"\xff\xfe" + len(aad).to_bytes(4, "big")
    return bytes([q - 1]) + nonce + bytes(q), head + aad


class Message:
    """Holds a GCM, CCM or CMAC message as a list of jobs for the AES peripheral."""

    def __init__(
        self,
        mode: str,
        key: bytes,
        nonce: bytes = b"",
        aad: bytes = b"",
        data: bytes = b"",
        *,
        decrypt: bool = False,
        tag_bytes: int = 16,
        key_slot: int = 0,
    ) -> None:
        self.mode, self.key, self.decrypt, self.key_slot = mode, key, decrypt, key_slot
        text, self.tag = oracle.seal(mode, key, nonce, aad, data, tag_bytes)
        source, self.want = (text, data) if decrypt else (data, text)
        self.iv = b""
        self.jobs: list[tuple[str, bytes]] = []
        if mode == "gcm":
            if len(nonce) == 12:
                self.iv = nonce + b"\0\0\0\1"
            else:
                self.jobs.append(("iv", nonce))
            if aad:
                self.jobs.append(("aad", aad))
            self.jobs.append(("data", source))
        elif mode == "ccm":
            self.iv, head = ccm_head(nonce, aad, len(data), tag_bytes)
            self.jobs += [("aad", head), ("data", source)]
        else:
            self.want = b""
            self.jobs.append((random.choice(("aad", "data")), data))
        self.done = 0
        self.got = b""

    def cut(self) -> "Message":
        """Cuts the message's jobs into more, some of them empty; returns the message."""
        jobs: list[tuple[str, bytes]] = []
        for phase, data in self.jobs:
            parts = []
            while phase != "iv" and len(data) > 16 and random.random() < 0.8:
                at = 16 * random.randint(1, (len(data) - 1) // 16)
                parts.append(data[:at])
                data = data[at:]
                if random.random() < 0.3:
                    parts.append(b"")
            jobs += [(phase, part) for part in [*parts, data]]
        if self.mode != "cmac" and random.random() < 0.5:
            jobs.append(("data", b""))
        self.jobs = jobs
        return self

    @property
    def over(self) -> bool:
        """Returns true if all jobs of the message have run."""
        return self.done == len(self.jobs)

    async def step(self, p: Peripheral, tag: bytes | None = None) -> None:
        """Runs the message's next job on the peripheral and collects its output."""
        if self.done == 0 and self.iv:
            await p.write_words("iv", self.iv)
        phase, data = self.jobs[self.done]
        final = self.done == len(self.jobs) - 1
        if final and self.decrypt:
            await p.expect(self.tag if tag is None else tag)
        self.got += await p.auth(
            self.mode,
            data,
            phase,
            init=self.done == 0,
            final=final,
            decrypt=self.decrypt,
            key_slot=self.key_slot,
        )
        self.done += 1

    async def check(self, p: Peripheral, what: object = None) -> None:
        """Asserts that the message's output and tag equal OpenSSL's, without an error."""
        assert await p.error() == 0, what
        assert self.got == self.want, what
        tag = await p.words("tag")
        assert tag[: len(self.tag)] == (bytes(len(self.tag)) if self.decrypt else self.tag), what
        assert await p.words("hash") == bytes(16), what

    async def run(self, p: Peripheral, what: object = None) -> None:
        """Loads the key, runs all jobs of the message on the peripheral and checks the result."""
        assert await p.load_key(self.key_slot, self.key) == 0
        while not self.over:
            await self.step(p)
        await self.check(p, what)

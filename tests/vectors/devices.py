# SPDX-License-Identifier: Apache-2.0
"""Runs AES Monte Carlo tests on a device, many chains of block operations at the same time."""

from collections.abc import Generator

from maeslant.driver.device import CODES, DECRYPT, ENCRYPT, Device, check
from tests.vectors.monte_carlo import Block, Key


class Chain:
    """Runs one Monte Carlo test: a chain of AES operations on blocks, each on the last result."""

    def __init__(self, device: Device, mode: str, encrypt: bool, steps: Generator) -> None:
        self.device, self.steps, self.result = device, steps, None
        ffi, lib = device.ffi, device.lib
        memory = ffi.new("void **")
        check(lib.mae_mem_alloc(device.handle, 32, memory))
        self.memory = ffi.cast("uint8_t *", memory[0])
        self.slot = None
        self.me = ffi.new_handle(self)
        self.job = ffi.new("struct mae_job *")
        self.job.mode = CODES[mode]
        self.job.direction = ENCRYPT if encrypt else DECRYPT
        self.job.init, self.job.length = 1, 16
        self.job.src, self.job.dst, self.job.user = (
            self.memory,
            self.memory + 16,
            self.me,
        )

    def start(self) -> bool:
        """Allocates a context of the device and submits the chain's first block."""
        context = self.device.ffi.new("uint32_t *")
        check(self.device.lib.mae_context_alloc(self.device.handle, context))
        self.job.context = context[0]
        return self.advance(None)

    def end(self) -> None:
        """Frees the chain's context and key slot on the device."""
        check(self.device.lib.mae_context_free(self.device.handle, self.job.context))
        check(self.device.lib.mae_key_erase(self.device.handle, self.slot))

    def key(self, value: bytes) -> None:
        """Loads the chain's next key into its key slot."""
        ffi, lib = self.device.ffi, self.device.lib
        if self.slot is None:
            slot = ffi.new("uint32_t *")
            check(lib.mae_key_alloc(self.device.handle, value, len(value), slot))
            self.slot = self.job.key_slot = slot[0]
        else:
            check(lib.mae_key_load(self.device.handle, self.slot, value, len(value)))

    def advance(self, out: bytes | None) -> bool:
        """Passes a result to the chain and submits its next block; returns false at the end."""
        try:
            step = self.steps.send(out)
            while isinstance(step, Key):
                self.key(step.value)
                step = self.steps.send(None)
        except StopIteration as end:
            self.result = end.value
            return False
        assert isinstance(step, Block)
        ffi = self.device.ffi
        if step.iv is not None:
            ffi.memmove(self.job.iv, step.iv, 16)
        ffi.memmove(self.memory, step.data, 16)
        check(self.device.lib.mae_submit(self.device.handle, self.job))
        return True

    def output(self) -> bytes:
        """Returns the output block of the chain's last operation."""
        return bytes(self.device.ffi.buffer(self.memory + 16, 16))


def run(uri: str, work: list[tuple[str, bool, Generator]]) -> list[object]:
    """Runs Monte Carlo tests side by side on a device; returns their results."""
    with Device(uri) as device:
        ffi, lib = device.ffi, device.lib
        chains = [Chain(device, *item) for item in work]
        together = min(device.caps()["key_slots"], device.caps()["contexts"])
        done = ffi.new("struct mae_completion[64]")
        count = ffi.new("size_t *")
        waiting = list(reversed(chains))
        active = 0
        while waiting or active:
            while waiting and active < together:
                active += waiting.pop().start()
            check(lib.mae_wait(device.handle, done, 64, count, 1_000_000))
            for completion in done[0 : count[0]]:
                check(completion.error)
                chain = ffi.from_handle(completion.user)
                if not chain.advance(chain.output()):
                    active -= 1
                    chain.end()
        return [chain.result for chain in chains]

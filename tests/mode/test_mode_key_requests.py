# SPDX-License-Identifier: Apache-2.0
"""Tests mae_mode_key_requests: which key slots the contexts want, can use and have lost."""

import dataclasses
import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge, Timer

from tests.support import bench
from tests.support.stream import start

XTS = 6
FORWARD = (3, 4, 5)  # CFB, OFB, CTR
SLOTS = (0, 3, 17, 40, 62, 63)  # few, so that contexts and banks meet


@dataclasses.dataclass
class Context:
    """Models the key slots that a context of mae_mode_engine needs now and later."""

    needs: list[tuple[int, int]]
    active: bool = True
    lost: bool = False
    tweaked: bool = False  # it needs another key than it was configured with


class Keys:
    """Drives mae_mode_key_requests and compares its outputs with a model in each clock."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.lanes, self.contexts = (bench.parameters()[n] for n in ("Lanes", "Contexts"))
        self.held: dict[int, Context] = {}
        self.banks = [(0, 0, 0, 0)] * 4  # leaving, encrypt, decrypt, slot
        self.valid = sum(1 << slot for slot in SLOTS)

    async def reset(self) -> None:
        """Resets mae_mode_key_requests with no job, and no key in any bank."""
        await start(self.dut, cfg_valid_i=0, tweak_done_i=0, active_i=0, waits_i=0, keys_i=0)

    def usable(self, need: tuple[int, int]) -> bool:
        """Returns true if a key bank holds the needed slot for the needed direction."""
        return any(bank[3] == need[0] and not bank[0] and bank[1 + need[1]] for bank in self.banks)

    async def step(
        self,
        cfg: tuple[int, int, int, int, int, int] | None = None,
        tweaked: int | None = None,
        changed: int | None = None,
    ) -> None:
        """Runs one clock of mae_mode_key_requests, with or without a new job; checks outputs."""
        dut = self.dut
        dut.cfg_valid_i.value = cfg is not None
        banks = sum(
            (b[0] << 8 | b[1] << 7 | b[2] << 6 | b[3]) << 9 * n for n, b in enumerate(self.banks)
        )
        change = 0 if changed is None else 1 << 6 | changed
        dut.keys_i.value = (change << 64 | self.valid) << 36 | banks
        dut.active_i.value = sum(c.active << n for n, c in self.held.items())
        dut.tweak_done_i.value = 0
        for context in self.held.values():
            if context.active and changed in (slot for slot, _ in context.needs):
                context.lost = True
        if tweaked is not None:
            width = max(1, (max(1, self.contexts // self.lanes) - 1).bit_length())
            lane, slot = tweaked % self.lanes, tweaked // self.lanes
            dut.tweak_done_i.value = 1 << lane
            dut.tweak_slot_i.value = slot << lane * width
            self.held[tweaked].needs.pop(0)
            self.held[tweaked].tweaked = True
        if cfg is not None:
            n, mode, decrypt, init, slot, tweak = cfg
            dut.cfg_ctx_i.value = n
            dut.cfg_i.value = (
                (((mode << 1 | decrypt) << 1 | init) << 1) << 12 | slot << 6 | tweak
            ) << 128 | random.getrandbits(128)
            needs = [(slot, 0 if mode in FORWARD else decrypt)]
            if mode == XTS and init:
                needs.insert(0, (tweak, 0))
            lost = any(not self.valid >> s & 1 or s == changed for s, _ in needs)
            self.held[n] = Context(needs, lost=lost)
        await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        if cfg is not None:
            assert int(dut.want_o.value) >> self.held[cfg[0]].needs[0][0] & 1, "wanted at once"
        for n, context in self.held.items():
            assert int(dut.key_ok_o.value) >> n & 1 == self.usable(context.needs[0]), n
            assert int(dut.lost_o.value) >> n & 1 == context.lost, n
            if context.active and not context.tweaked:
                assert int(dut.want_o.value) >> context.needs[0][0] & 1, "wanted until it ends"

    def random_cfg(self, n: int) -> tuple[int, int, int, int, int, int]:
        """Returns a random job configuration for a context."""
        two = random.randrange(2), random.randrange(2)
        return (n, random.choice((*range(7), XTS, XTS)), *two, *random.choices(SLOTS, k=2))


@cocotb.test(timeout_time=200, timeout_unit="us")
async def needs_and_losses(dut) -> None:
    """mae_mode_key_requests reports usable and lost keys of each context as the model does."""
    keys = Keys(dut)
    await keys.reset()
    for _ in range(1500):
        cfg = tweaked = changed = None
        for context in keys.held.values():
            context.active &= random.random() < 0.95
        if random.random() < 0.2:
            place = random.randrange(4)
            keys.banks[place] = (*(random.randrange(2) for _ in range(3)), random.choice(SLOTS))
        idle = [n for n in range(keys.contexts) if n not in keys.held or not keys.held[n].active]
        if idle and random.random() < 0.4:
            cfg = keys.random_cfg(random.choice(idle))
        waiting = [n for n, c in keys.held.items() if c.active and len(c.needs) == 2]
        if waiting and random.random() < 0.2:
            tweaked = random.choice(waiting)
        elif random.random() < 0.1:
            changed = random.choice(SLOTS)
        keys.valid ^= 1 << random.choice(SLOTS) if random.random() < 0.1 else 0
        await keys.step(cfg, tweaked, changed)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def wants_what_active_jobs_need(dut) -> None:
    """mae_mode_key_requests asks one clock later for exactly the active contexts' key slots."""
    keys = Keys(dut)
    await keys.reset()
    for _ in range(20):
        for n in range(keys.contexts):
            if random.random() < 0.7:
                if n in keys.held:
                    keys.held[n].active = False
                    await keys.step()
                await keys.step(keys.random_cfg(n))
        for n, context in keys.held.items():
            if len(context.needs) == 2 and random.random() < 0.5:
                await keys.step(tweaked=n)
            context.active &= random.random() < 0.8  # only a job makes it active again
        waits = random.getrandbits(keys.contexts)
        dut.waits_i.value = waits
        await keys.step()
        active = {n: c.needs[0][0] for n, c in keys.held.items() if c.active}
        assert int(dut.want_o.value) == sum(1 << slot for slot in set(active.values()))
        waiting = {slot for n, slot in active.items() if waits >> n & 1}
        assert int(dut.waits_o.value) == sum(1 << slot for slot in waiting)


@pytest.mark.parametrize(
    "parameters",
    ({"Lanes": 1, "Contexts": 1}, {"Lanes": 2, "Contexts": 6}, {"Lanes": 4, "Contexts": 16}),
    ids=str,
)
def test_mode_key_requests(parameters: dict[str, int]) -> None:
    """Builds mae_mode_key_requests for one and many contexts and runs this file's tests."""
    bench.run("mae_mode_key_requests", parameters=parameters)

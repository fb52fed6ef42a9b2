# SPDX-License-Identifier: Apache-2.0
"""Tests mae_ghash_interleaved: hashes of many contexts at once, against OpenSSL's GCM tags.

Covers mae_ghash_memories, in which Small = 1 keeps hashes and powers of H.
"""

import random
from collections.abc import Callable

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from tests.mode import gcm_oracle
from tests.support import bench
from tests.support.stream import start

SET_H, POWER, BLOCK, CLEAR = range(4)
ROW, LOOK = "row", "look"
# A step of a context: an operation with its power and block; a row's bytes; the hash that it has.
Step = tuple[int, int, int] | tuple[str, bytes] | tuple[str, int]


class Hasher:
    """Drives mae_ghash_interleaved and predicts in each clock what it accepts."""

    def __init__(self, dut) -> None:
        self.dut = dut
        given = bench.parameters()
        self.lanes, self.contexts, self.slots = (
            given[name] for name in ("Lanes", "Contexts", "KeySlots")
        )
        self.small = bool(given.get("Small"))
        self.row_bytes = 16 * self.lanes
        self.clock = 0
        self.looks = [0, 0]  # hashes that were compared, and those as early as they may be
        self.powered: dict[int, int] = {}  # the clock from which on a context has its powers
        self.pair: int | None = None  # the context with two sums
        self.newer_odd = False  # the newer of them is the second one
        self.busy: tuple[int | None, str] = (None, "")  # the product under way: context and kind

    async def begin(self) -> None:
        """Resets mae_ghash_interleaved and erases all contexts and key slots."""
        names = "wipe_i wipe_index_i erase_valid_i erase_slot_i row_valid_i row_offered_i"
        names += " row_ctx_i row_slot_i row_data_i row_bytes_i op_valid_i op_i op_ctx_i op_slot_i"
        names += " op_power_i op_block_i look_ctx_i look_clear_i"
        await start(self.dut, **dict.fromkeys(names.split(), 0))
        for index in range(max(self.contexts, self.slots)):
            await self.wipe(index)

    def slot(self, context: int) -> int:
        """Returns the key slot that a context uses; its number differs from the context's."""
        return (context + 1) % self.slots

    async def wipe(self, context: int) -> None:
        """Erases the context and key slot of a number; asserts that nothing else is accepted."""
        self._advance(None, "")
        if self.pair == context:
            self.pair = None
        self.dut.wipe_i.value, self.dut.wipe_index_i.value = 1, context
        self.dut.row_valid_i.value, self.dut.row_bytes_i.value = 1, 1
        await RisingEdge(self.dut.clk_i)
        assert (self.dut.row_ready_o.value, self.dut.op_ready_o.value) == (0, 0)
        self.dut.wipe_i.value = self.dut.row_valid_i.value = 0

    def rows(self, data: bytes) -> list[Step]:
        """Returns the steps that hash data in rows of random size."""
        steps: list[Step] = []
        while data:
            count = 16 * random.choice((self.lanes, random.randint(1, self.lanes)))
            steps.append((ROW, data[:count]))
            data = data[count:]
        return steps

    def key(self, key: bytes) -> list[Step]:
        """Returns the steps that load H of a key and compute its powers."""
        powers: list[Step] = [(POWER, power, 0) for power in range(2, self.lanes + 1)]
        return [(SET_H, 0, gcm_oracle.hash_key(key)), *powers]

    def message(self, key: bytes) -> list[Step]:
        """Returns the steps that hash a random GCM message and compare the hash with its tag."""
        iv, aad, data = (
            random.randbytes(n) for n in (12, random.randrange(80), random.randrange(200))
        )
        text, tag = gcm_oracle.encrypt(key, iv, aad, data)
        mask = gcm_oracle.encrypt_block(key, gcm_oracle.first_counter(key, iv))
        return [
            *self.rows(aad),
            *self.rows(text),
            (BLOCK, 0, gcm_oracle.lengths(aad, text)),
            (LOOK, int.from_bytes(tag, "big") ^ mask),
        ]

    def _drive(self, op: tuple | None, row: tuple | None) -> None:
        dut = self.dut
        dut.op_valid_i.value = op is not None
        if op:
            dut.op_ctx_i.value, dut.op_slot_i.value = op[0], self.slot(op[0])
            dut.op_i.value, dut.op_power_i.value, dut.op_block_i.value = op[1]
        dut.row_valid_i.value = dut.row_offered_i.value = row is not None
        if row:
            data = row[1][1]
            junk = data + random.randbytes(self.row_bytes - len(data))
            blocks = gcm_oracle.blocks(junk)
            dut.row_ctx_i.value, dut.row_bytes_i.value = row[0], len(data)
            dut.row_slot_i.value = self.slot(row[0])
            dut.row_data_i.value = sum(block << 128 * i for i, block in enumerate(blocks))

    async def rest(self) -> None:
        """Runs one clock of mae_ghash_interleaved without an input."""
        await RisingEdge(self.dut.clk_i)
        self.clock += 1
        self._advance(None, "")

    async def check_no_powers(self, context: int) -> None:
        """Asserts that all powers of H of a context's key slot are zero, by hashing random rows.

        No operation follows them: its product with H itself would hide the others.
        """
        for blocks in range(1, self.lanes + 1):
            await self.run({context: [(CLEAR, 0, 0), (ROW, random.randbytes(16 * blocks))]})
            await self.rest()
            await self.rest()
            self.dut.look_ctx_i.value = context
            await self.rest()
            assert self.dut.look_o.value == 0, f"a power of H up to the {blocks}th is left"

    def _advance(self, context: int | None, kind: str) -> None:
        """Updates the model's partial sums for the operation or row accepted in this clock."""
        if self.busy[1] == "join":
            self.pair = None
        if kind == "start":
            self.pair, self.newer_odd = context, True
        self.busy = context, kind

    def _predict(self, op: tuple | None, row: tuple | None) -> tuple[bool, bool]:
        """Returns which of the offered operation and row the RTL must accept in this clock."""
        busy, kind = self.busy
        # Powers are of a slot: they wait for a power alone, and contexts do not wait for them.
        op_context = op[0] if op and op[1][0] in (BLOCK, CLEAR) else None
        op_taken = op is not None and op_context not in (busy, self.pair)
        if op and op_context is None:
            op_taken = kind != "power"
        # In memories with one write port a sum goes before an erasure, which lets no row begin.
        clears = self.small and op is not None and op[1][0] == CLEAR
        if clears and kind in ("hash", "join"):
            op_taken = False
        fits, starts = row is not None, False
        full = row is not None and len(row[1][1]) > 16 * (self.lanes - 1)
        if row and row[0] == self.pair:
            fits = full and kind not in ("start", "join")
        elif row and row[0] == busy:
            fits = starts = full and self.pair is None
        joins = False
        if self.pair is not None and self.pair != busy:
            waits = row is not None and not fits and (full or row[0] == self.pair)
            joins = op_context == self.pair or (waits and not op_taken)
        row_taken = fits and not (op_taken or clears) and op_context != (self.pair if joins else -1)
        if joins:
            self._advance(self.pair, "join")
        elif op_taken and op[1][0] in (POWER, BLOCK):
            self._advance(op_context, "power" if op[1][0] == POWER else "hash")
        elif row_taken and row[0] == self.pair:
            self.newer_odd = not self.newer_odd
            self._advance(row[0], "odd" if self.newer_odd else "hash")
        elif row_taken:
            self._advance(row[0], "start" if starts else "hash")
        else:
            self._advance(None, "")
        return op_taken, row_taken

    async def run(self, todo: dict[int, list[Step]], stall: float = 0.0) -> None:
        """Runs the contexts' steps in order, many contexts at once; checks ready in each clock."""
        dut = self.dut
        op = row = None  # offered: (context, step)
        settled = dict.fromkeys(todo, self.clock)  # from when on the hash shows the last step

        def pick(wanted: Callable[[Step], bool]) -> tuple[int, Step] | None:
            offered = [offer[0] for offer in (op, row) if offer]
            some = [c for c, steps in todo.items() if steps and wanted(steps[0])]
            # The last power of a slot is in its register two clocks after its operation.
            some = [c for c in some if c not in offered and self.powered.get(c, 0) <= self.clock]
            if not some or random.random() < stall:
                return None
            context = random.choice(some)
            return context, todo[context].pop(0)

        while op or row or any(todo.values()):
            self.clock += 1
            op = op or pick(lambda step: step[0] not in (ROW, LOOK))
            row = row or pick(lambda step: step[0] == ROW)
            self._drive(op, row)
            looks = [
                c for c, s in todo.items() if s and s[0][0] == LOOK and c not in offers(op, row)
            ]
            looks = [c for c in looks if settled[c] <= self.clock]
            if looks:
                look = min(looks, key=settled.__getitem__)
                dut.look_ctx_i.value = look
            await RisingEdge(dut.clk_i)
            if looks:
                assert int(dut.look_o.value) == todo[look].pop(0)[1]
                self.looks[0] += 1
                self.looks[1] += settled[look] == self.clock
            op_taken, row_taken = self._predict(op, row)
            assert op is None or dut.op_ready_o.value == op_taken
            assert row is None or dut.row_ready_o.value == row_taken
            if op_taken:
                settled[op[0]] = self.clock + 1 + (op[1][0] in (POWER, BLOCK))
                if op[1][0] == POWER and (not todo[op[0]] or todo[op[0]][0][0] != POWER):
                    self.powered[op[0]] = self.clock + 2
                op = None
            if row_taken:
                row = None
        dut.op_valid_i.value = dut.row_valid_i.value = dut.row_offered_i.value = 0


def offers(*offered: tuple[int, Step] | None) -> list[int]:
    """Returns the contexts whose operation or row is now offered to the RTL."""
    return [offer[0] for offer in offered if offer]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def messages(dut) -> None:
    """mae_ghash_interleaved hashes messages of all contexts at once right, with stalls."""
    hasher = Hasher(dut)
    await hasher.begin()
    for stall in (0.0, 0.5):
        todo: dict[int, list[Step]] = {context: [] for context in range(hasher.contexts)}
        for steps in todo.values():
            for size in random.choices((16, 24, 32), k=6):
                key = random.randbytes(size)
                steps += [*hasher.key(key), *hasher.message(key), (CLEAR, 0, 0), (LOOK, 0)]
                steps += [*hasher.message(key), (CLEAR, 0, 0)]
        await hasher.run(todo, stall)
    assert 0 < hasher.looks[1] <= hasher.looks[0] == 2 * hasher.contexts * 6 * 3


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def wipes(dut) -> None:
    """A wipe of mae_ghash_interleaved erases one context and one slot; others go on right."""
    hasher = Hasher(dut)
    await hasher.begin()
    for wiped in range(hasher.contexts):
        keys = [random.randbytes(16) for _ in range(hasher.contexts)]
        whole = {c: [*hasher.key(key), *hasher.message(key)] for c, key in enumerate(keys)}
        begun = {c: random.randint(hasher.lanes, len(steps) - 2) for c, steps in whole.items()}
        await hasher.run({c: steps[: begun[c]] for c, steps in whole.items()})
        await hasher.rest()  # the last product
        await hasher.wipe(wiped)
        rest = {c: steps[begun[c] :] for c, steps in whole.items()}
        for context, steps in rest.items():
            if hasher.slot(context) == wiped:  # its hash counts no more, only its powers
                steps[:] = [(CLEAR, 0, 0)]
        rest[wiped] = [(LOOK, 0), (CLEAR, 0, 0)]
        await hasher.run(rest)
        for context in rest:
            if hasher.slot(context) == wiped:
                await hasher.check_no_powers(context)
        await hasher.run({c: [(CLEAR, 0, 0)] for c in range(hasher.contexts)})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def erasure(dut) -> None:
    """After a key slot's erasure mae_ghash_interleaved holds none of its powers of H."""
    hasher = Hasher(dut)
    await hasher.begin()
    for rows in range(8):
        for delay in range(5):
            context = random.randrange(hasher.contexts)
            key = random.randbytes(16)
            data = random.randbytes(rows * hasher.row_bytes)
            pieces = [data[i : i + hasher.row_bytes] for i in range(0, len(data), hasher.row_bytes)]
            steps = [*hasher.key(key), *((ROW, piece) for piece in pieces)]
            await hasher.run({context: steps})
            for _ in range(delay):
                await hasher.rest()
            dut.erase_valid_i.value, dut.erase_slot_i.value = 1, hasher.slot(context)
            await hasher.rest()
            dut.erase_valid_i.value = 0
            for _ in range(3):
                await hasher.rest()
            assert dut.double_q.value == 0
            await hasher.check_no_powers(context)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def erasure_of_a_power_in_progress(dut) -> None:
    """A power of H that mae_ghash_interleaved computes during its slot's erasure ends as zero."""
    hasher = Hasher(dut)
    await hasher.begin()
    for power in range(2, hasher.lanes + 1):
        for after in range(3):
            context = random.randrange(hasher.contexts)
            *before, last = hasher.key(random.randbytes(16))[:power]
            await hasher.run({context: before})
            await hasher.rest()
            for clock in range(3):
                hasher._drive((context, last) if clock == 0 else None, None)
                dut.erase_valid_i.value = clock == after
                dut.erase_slot_i.value = hasher.slot(context)
                await hasher.rest()
            dut.erase_valid_i.value = 0
            await hasher.rest()
            await hasher.check_no_powers(context)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def looks_and_clears(dut) -> None:
    """mae_ghash_interleaved can clear a context in the clock in which its hash is read."""
    hasher = Hasher(dut)
    await hasher.begin()
    for context in range(hasher.contexts):
        key = random.randbytes(16)
        await hasher.run({context: [*hasher.key(key), *hasher.message(key)]})
        dut.look_ctx_i.value, dut.look_clear_i.value = context, 1
        await hasher.rest()
        dut.look_clear_i.value = 0
        await hasher.run({context: [(LOOK, 0), *hasher.message(key), (CLEAR, 0, 0)]})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def clears_beside_sums(dut) -> None:
    """mae_ghash_interleaved clears a context while the sum of another one is written."""
    hasher = Hasher(dut)
    if hasher.contexts == 1:
        return
    await hasher.begin()
    for context in range(hasher.contexts):
        keys = [random.randbytes(16) for _ in range(2)]
        other = (context + 1) % hasher.contexts
        steps = [*hasher.key(keys[1]), *hasher.message(keys[1])]
        await hasher.run({context: [*hasher.key(keys[0]), *hasher.message(keys[0])]})
        await hasher.run({other: steps[:-2]})
        dut.look_ctx_i.value, dut.look_clear_i.value = context, 1
        await hasher.rest()  # a sum of the other context may be written in this clock
        dut.look_clear_i.value = 0
        for _ in range(3):
            await hasher.rest()
        end = [(LOOK, 0), *hasher.message(keys[0]), (CLEAR, 0, 0)]
        await hasher.run({context: end, other: [*steps[-2:], (CLEAR, 0, 0)]})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def full_rate(dut) -> None:
    """mae_ghash_interleaved takes a full row per clock, except for one wait at the third."""
    hasher = Hasher(dut)
    await hasher.begin()
    for context in range(hasher.contexts):
        for count in (1, 2, 3, 4, 5, 30, 31):
            key, iv = random.randbytes(16), random.randbytes(12)
            await hasher.run({context: hasher.key(key)})
            text, tag = gcm_oracle.encrypt(key, iv, b"", random.randbytes(count * hasher.row_bytes))
            mask = gcm_oracle.encrypt_block(key, gcm_oracle.first_counter(key, iv))
            await hasher.rest()  # the last power
            begun = hasher.clock
            rows = [text[i : i + hasher.row_bytes] for i in range(0, len(text), hasher.row_bytes)]
            await hasher.run({context: [(ROW, row) for row in rows]})
            assert hasher.clock - begun == count + (count > 2)
            want = int.from_bytes(tag, "big") ^ mask
            begun = hasher.clock
            await hasher.run({context: [(BLOCK, 0, gcm_oracle.lengths(b"", text)), (LOOK, want)]})
            assert hasher.clock - begun == (6 if count > 1 else 4)
            assert dut.pair_q.value == 0 and dut.odd_q.value == 0 and dut.double_q.value == 0
            await hasher.run({context: [(CLEAR, 0, 0)]})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def two_contexts(dut) -> None:
    """In mae_ghash_interleaved a context with full rows takes the second partial sum over."""
    hasher = Hasher(dut)
    if hasher.contexts == 1:
        return
    await hasher.begin()
    keys = [random.randbytes(16) for _ in range(2)]
    texts = []
    for key in keys:
        iv = random.randbytes(12)
        text, tag = gcm_oracle.encrypt(key, iv, b"", random.randbytes(40 * hasher.row_bytes))
        mask = gcm_oracle.encrypt_block(key, gcm_oracle.first_counter(key, iv))
        texts.append((text, int.from_bytes(tag, "big") ^ mask))
    await hasher.run({c: hasher.key(key) for c, key in enumerate(keys)})
    size = 10 * hasher.row_bytes
    for at in range(4):
        for context, (text, _) in enumerate(texts):
            part = text[at * size : (at + 1) * size]
            begun = hasher.clock
            rows = [part[i : i + hasher.row_bytes] for i in range(0, size, hasher.row_bytes)]
            await hasher.run({context: [(ROW, row) for row in rows]})
            assert hasher.clock - begun <= 10 + 3
    for context, (text, want) in enumerate(texts):
        end = [(BLOCK, 0, gcm_oracle.lengths(b"", text)), (LOOK, want)]
        await hasher.run({context: end})


@pytest.mark.parametrize("small", [0, 1])
@pytest.mark.parametrize(("lanes", "contexts"), [(1, 1), (3, 2), (4, 6)])
def test_ghash_interleaved(lanes: int, contexts: int, small: int) -> None:
    """Builds mae_ghash_interleaved for several lanes and contexts and runs this file's tests."""
    slots = contexts + (contexts > 1)
    parameters = {"Lanes": lanes, "Contexts": contexts, "KeySlots": slots, "Small": small}
    bench.run("mae_ghash_interleaved", parameters=parameters)

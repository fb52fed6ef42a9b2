# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_request_executor with the protocol model's host: rules, attacks, latency.

Covers mae_guard_request_executor and, in it, mae_guard_request_handler, mae_guard_request_parser,
mae_guard_credits, mae_guard_operation_check, mae_guard_batch_executor, mae_guard_wait_conditions,
mae_guard_epoch_keys, mae_guard_response_sealer, mae_guard_response_packer and
mae_guard_response_writer. The model's transfers, kernel and memory stand beside it.
"""

import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Iterator

import cocotb
import pytest
from cocotb.task import bridge

from maeslant.protected.attacks import catalogue
from maeslant.protected.attacks.races import InQuarantine
from maeslant.protected.model import card, wire, workload
from maeslant.protected.model.constants import Cause, State
from maeslant.protected.model.host import PoisonedError
from maeslant.protected.model.keys import Capabilities
from maeslant.protected.model.workload import CAPABILITIES
from tests.guard.executor import Bench, Card
from tests.protected.model import pair, test_channel, test_session
from tests.support.bench import run

QUEUES, DEPTH, OPERATIONS = CAPABILITIES.queues, CAPABILITIES.depth, CAPABILITIES.operations
BUDGET = 3000
# They look into the model's parts that are the module here, or into the host alone.
NOT_HERE = """test_writes_to_a_busy_mailbox_are_dropped test_a_part_of_a_word_is_not_taken
 test_the_last_epoch_is_the_last test_the_host_stops_before_a_keys_limit
 test_the_device_stops_at_a_keys_limit test_a_long_chunk_counts_all_its_blocks
 test_authentic_but_impossible_answers_poison test_capabilities_in_their_word""".split()


@dataclasses.dataclass
class Beside:
    """Replaces the card model by a Card around the RTL request executor while tests run."""

    bench: Bench

    def __enter__(self) -> "Beside":
        workload.expected(False)
        workload.expected(True)
        workload.expected_of_careless(InQuarantine)
        self.kept = workload.Machine.make_device, pair.Device
        workload.Machine.make_device = lambda _, capabilities, nonce: Card(
            self.bench, capabilities, nonce
        )
        pair.Device = lambda capabilities, limit: Card(self.bench, capabilities)
        pair.CAPABILITIES = dataclasses.replace(pair.CAPABILITIES, depth=DEPTH)
        test_session.CAPABILITIES = pair.CAPABILITIES
        return self

    def __exit__(self, *_: object) -> None:
        workload.Machine.make_device, pair.Device = self.kept


async def play(dut, test: Callable[[Bench], None], **options: float) -> None:
    """Runs a test of the protocol model with the RTL request executor as the card's front end."""
    bench = Bench(dut, **({"queues": QUEUES} | options))
    await bench.reset()

    def inside() -> None:
        with Beside(bench):
            test(bench)

    await bridge(inside)()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def sessions(dut) -> None:
    """Two consecutive workload sessions on the RTL request executor give the model's results."""

    def test(bench: Bench) -> None:
        for big in (False, True):
            want = workload.expected(big)
            machine = workload.Machine()
            record = machine.session("first", functools.partial(workload.first, big=big))
            if record.error:
                raise record.error
            assert record.results == want.results
            assert workload.by_unit(record.monitor) == workload.by_unit(want.monitor)
            assert bench.clocks > 5000
            last = machine.session("second", workload.second)
            if last.error:
                raise last.error
            assert not workload.judge_second(last)

    await play(dut, test)


def rules() -> Iterator[tuple[str, Callable[[], None]]]:
    """Yields each test of the protocol rules (tests/protected/model), for all its parameters."""
    for module in (test_channel, test_session):
        for name, function in vars(module).items():
            if not name.startswith("test_") or name in NOT_HERE:
                continue
            marks = [mark.args for mark in getattr(function, "pytestmark", [])]
            names = [tuple(n) if isinstance(n, tuple) else (n,) for n, _ in marks]
            for values in itertools.product(*(values for _, values in marks)):
                given = {}
                for keys, value in zip(names, values, strict=True):
                    given |= dict(zip(keys, value if len(keys) > 1 else (value,), strict=True))
                yield f"{name} {given}", functools.partial(function, **given)


# Without its variable a test is left out: the RTL under test has other sizes than it knows.
@cocotb.test(timeout_time=1000, timeout_unit="ms", skip="RULES" not in os.environ)
async def kept_rules(dut) -> None:
    """The tests of the protocol rules pass with the RTL request executor in the model's place."""

    def test(bench: Bench) -> None:
        count = 0
        share = int(os.environ["RULES"])
        for name, function in list(rules())[::share]:
            code = function.func.__code__
            needs_pair = "pair" in code.co_varnames[: code.co_argcount]
            try:
                function(pair.Pair().opened()) if needs_pair else function()
            except pytest.skip.Exception:
                continue
            except BaseException:
                bench.dut._log.error(name)
                raise
            count += 1
        assert count > 80 // share, count

    await play(dut, test, seed=2)


@cocotb.test(timeout_time=1000, timeout_unit="ms", skip="BUDGET" not in os.environ)
async def budgets(dut) -> None:
    """The request executor ends the session when a key of any message class reaches its limit."""

    def until_budget(bench: Bench, ask: Callable[[pair.Pair], object]) -> Card:
        both = pair.Pair().opened()
        with pytest.raises(PoisonedError, match="BUDGET"):
            for _ in range(BUDGET):
                both.host.wait(ask(both))
        assert both.device.state == State.DEAD and both.device.cause[0] == Cause.BUDGET
        return both.device

    def test(bench: Bench) -> None:
        reads = [wire.read(card.STATUS)] * OPERATIONS
        waits = [wire.wait_runs(0)] * OPERATIONS
        device = until_budget(bench, lambda both: both.host.batch(0, waits))
        assert device.cause[2] == (BUDGET - 1 - 2) // (OPERATIONS + 1) + 2
        device = until_budget(bench, lambda both: both.host.batch(0, [*reads]))
        long = 1 << CAPABILITIES.log2_chunk

        def ask(both: pair.Pair) -> object:
            both.link.free = both.link.BASE + (1 << 20)
            return both.host.h2d(1, 0, bytes(long))

        device = until_budget(bench, ask)
        assert device.cause[1:] == (1, (BUDGET - 1) // (long // 16 + 1) + 1)

    await play(dut, test, seed=3)


@cocotb.test(timeout_time=10000, timeout_unit="ms", skip="EVERY" not in os.environ)
async def attacks(dut) -> None:
    """The request executor detects each attack of the catalogue where its entry says."""

    def test(bench: Bench) -> None:
        share = int(os.environ["EVERY"])
        for entry in catalogue()[::share]:
            verdict = entry.play()
            assert verdict.fired, entry.name
            assert not verdict.wrong, (entry.name, verdict)
            assert verdict.caught in entry.expect, (entry.name, verdict)
            assert verdict.second == entry.second, (entry.name, verdict)

    await play(dut, test, seed=4)


# Clocks from a doorbell to the number behind the answer, memory acknowledging in the next clock, by
# the parameter Small.
LATENCIES = {
    0: {"write": 61, "read": 63, "64 writes": 187, "64 reads": 219, "skip": 61},
    1: {"write": 143, "read": 160, "64 writes": 1214, "64 reads": 1725, "skip": 143},
}


@cocotb.test(timeout_time=100, timeout_unit="ms", skip="SMALL" not in os.environ)
async def latencies(dut) -> None:
    """From doorbell to response the request executor takes the clocks stated in its header."""
    found = {}

    def test(bench: Bench) -> None:
        pair.CAPABILITIES = Capabilities(log2_memory=14)
        host = pair.Pair().opened().host
        asks = {
            "write": lambda: host.batch(0, [wire.write(card.SCRATCH, 1)]),
            "read": lambda: host.batch(0, [wire.read(card.SCRATCH)]),
            "64 writes": lambda: host.batch(0, [wire.write(card.SCRATCH, 1)] * 64),
            "64 reads": lambda: host.batch(0, [wire.read(card.SCRATCH, 8)] * 64),
            "skip": lambda: host.skip(1),
        }
        for name, ask in asks.items():
            bench.log.clear()
            host.wait(ask())
            begin = next(clocks for what, clocks, _ in bench.log if what == "doorbell")
            *_, end = (clocks for what, clocks, at in bench.log if what == "burst" and at % 64 == 0)
            found[name] = end - begin
            dut._log.info(f"{name}: {[(w, c - begin) for w, c, _ in bench.log]}")

    await play(dut, test, queues=4, stall=0)
    assert found == LATENCIES[int(os.environ["SMALL"])], found


def build(every: int, rules_every: int, only: str) -> None:
    """Builds mae_guard_request_executor with the model's sizes and runs the named tests."""
    parameters = {"Queues": QUEUES, "Depth": DEPTH, "Operations": OPERATIONS, "Budget": BUDGET}
    run(
        "mae_guard_request_executor",
        parameters=parameters,
        env={"EVERY": str(every), "RULES": str(rules_every), "BUDGET": "1"},
        test_filter=only,
        optimize="-O2",
    )


@pytest.mark.slow
def test_guard_request_executor() -> None:
    """Runs sessions, key limits, every 8th rule test and every 50th attack on the RTL executor."""
    build(50, 8, "sessions|kept_rules|budgets|attacks")


@pytest.mark.slow
@pytest.mark.parametrize("small", LATENCIES)
def test_guard_executor_latencies(small: int) -> None:
    """Runs the latency test of mae_guard_request_executor with 64 operations a batch."""
    run(
        "mae_guard_request_executor",
        parameters={"Small": small},
        env={"SMALL": str(small)},
        test_filter="latencies",
        optimize="-O2",
    )


@pytest.mark.slow
def test_guard_executor_all() -> None:
    """Runs every rule test and every attack on mae_guard_request_executor."""
    build(1, 1, "kept_rules|attacks")

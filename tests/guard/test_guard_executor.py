# SPDX-License-Identifier: Apache-2.0
"""From doorbell to answer against the golden host: whole sessions, refusals, attacks, latencies.

Covers mae_guard_executor and, in it, mae_guard_requests, mae_guard_body, mae_guard_outstanding,
mae_guard_operations, mae_guard_batches, mae_guard_outcomes, mae_guard_epochs, mae_guard_answers,
mae_guard_lines and mae_guard_slots. The model's transfers, kernel and memory stand beside it.
"""

import functools

import cocotb
from cocotb.task import bridge

from maeslant.protocol import workload
from maeslant.protocol.workload import CAPABILITIES
from tests.guard.executor import Bench, Card
from tests.support.bench import run

QUEUES, DEPTH, OPERATIONS = CAPABILITIES.queues, CAPABILITIES.depth, CAPABILITIES.operations


def card_of(bench: Bench):
    """What Machine calls instead of Device."""
    return lambda capabilities, nonce: Card(bench, capabilities, nonce)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def sessions(dut) -> None:
    """Two sessions after one another do what they do with the model's card."""
    bench = Bench(dut, QUEUES)
    await bench.reset()

    def play() -> None:
        for big in (False, True):
            want = workload.expected(big)
            original, workload.Device = workload.Device, card_of(bench)
            try:
                machine = workload.Machine()
                record = machine.session("first", functools.partial(workload.first, big=big))
                if record.error:
                    raise record.error
                assert record.results == want.results
                assert workload.by_unit(record.witness) == workload.by_unit(want.witness)
                last = machine.session("second", workload.second)
                if last.error:
                    raise last.error
                assert not workload.judge_second(last)
            finally:
                workload.Device = original

    await bridge(play)()


def test_guard_executor() -> None:
    """As the golden card is."""
    parameters = {"Queues": QUEUES, "Depth": DEPTH, "Operations": OPERATIONS}
    run("mae_guard_executor", parameters=parameters)

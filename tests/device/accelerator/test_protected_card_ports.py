# SPDX-License-Identifier: Apache-2.0
"""Tests mae_protected_card by its ports alone, with the C driver in another process.

So a netlist can be tested in the RTL's place (`maeslant synth --simulate`): MAESLANT_LIBRARY names
the simulator's library then, MAESLANT_PARAMETERS the card's parameters.
"""

import functools
import json
import os

import pytest

from maeslant.build import simulator
from maeslant.protected import inference
from maeslant.protected.model.host import PoisonedError
from maeslant.protected.model.workload import Record, expected, first, octets, second
from maeslant.protected.network import digits
from maeslant.protected.session import Gate, Host
from maeslant.synth.design import all_parameters, enum_values, find
from tests.protected.driver.over_a_gate import SECRETS, ready, session

BUSES = ("latency=1", "latency=50-300&order=shuffled&step=16")
NETLIST = os.environ.get("MAESLANT_LIBRARY")
PARAMETERS = json.loads(os.environ.get("MAESLANT_PARAMETERS", "{}")) or all_parameters(
    find("protected_small")
)
KERNELS = enum_values("mae_kernel_pkg::kernel_e")
IMAGES = 3


@pytest.fixture(scope="module")
def library() -> str:
    """Builds the simulator of a small protected card, or takes the one that is given."""
    return NETLIST or str(simulator.build("protected_small"))


def has(kernel: str) -> bool:
    """Returns true if the card has a kernel of mae_kernel_pkg."""
    return PARAMETERS["Kernel"] == KERNELS[f"mae_kernel_pkg::{kernel}"]


@pytest.mark.skipif(not has("KernelMap"), reason="the workload is for KernelMap")
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("options", BUSES)
def test_workload(library: str, big: bool, options: str) -> None:
    """The workload on C driver and card gives the card model's results, and leaves nothing."""
    with Gate.simulated(library, options) as gate:
        record = session(ready(gate), functools.partial(first, big=big), send_while_sealing=True)
        assert record.results == expected(big).results
        for _name, data in session(ready(gate), second).results:
            assert not any(data)
        assert gate.commands < gate.clocks / 4  # far from a round trip a clock


def test_transfers_and_key_changes(library: str) -> None:
    """Data come back as they were sent while keys change; the next session finds zeros."""
    data = octets("there and back", 5000)

    def transfers(host: Host, record: Record) -> None:
        host.wait(host.open())
        for epoch in range(2):
            for at in (0, 0x2000):
                host.wait(host.h2d(1, at, data[: len(data) - 64 * epoch], 1024))
                record.results.append((f"{at}", host.wait(host.d2h(2, at, len(data) - 64 * epoch))))
            for queue in range(PARAMETERS["Queues"]):
                host.wait(host.rekey(queue))
        host.wait(host.close())

    def look(host: Host, record: Record) -> None:
        host.wait(host.open())
        record.results.append(("left", host.wait(host.d2h(1, 0, 0x4000))))
        host.wait(host.close())

    with Gate.simulated(library, BUSES[1]) as gate:
        found = [result for _name, result in session(ready(gate), transfers).results]
        assert found == [data, data, data[:-64], data[:-64]]
        assert not any(session(ready(gate), look).results[0][1])


@pytest.mark.full
@pytest.mark.skipif(bool(NETLIST) and not has("KernelNn"), reason="other kernels classify nothing")
def test_inference() -> None:
    """Images of digits get the labels that integer arithmetic gives them."""
    library = NETLIST or str(simulator.build("protected"))
    pixels = digits.held_out()[0][:IMAGES]
    network = digits.load()
    labels, _counts = inference.protected(
        inference.groups(network, pixels), library, lambda count: None
    )
    assert labels == digits.labels(network, pixels)


def test_changed_chunk(library: str) -> None:
    """The card detects a bit changed in a ciphertext chunk in shared memory."""
    with Gate.simulated(library, "latency=50") as gate:
        ready(gate)
        data = octets("sound", 4096)
        host = Host(gate, *SECRETS, timeout=100_000)
        assert gate.install(*SECRETS)
        host.wait(host.open())
        host.wait(host.h2d(1, 0, data))
        # The driver takes the buffer that it gave back; the OS knows where that is.
        place = gate.ffi.new("uint64_t[2]")
        assert gate.struct.allocate(gate.struct.user, len(data), place, place + 1)
        gate.struct.release(gate.struct.user, place[0], place[1], len(data))
        job = host.h2d(1, 0, octets("spoilt", 4096))
        gate.ffi.cast("uint8_t *", place[1])[100] ^= 1
        with pytest.raises(PoisonedError, match="timeout: H2D.*CHUNK at queue 1, number 2"):
            host.wait(job)
        host.free()

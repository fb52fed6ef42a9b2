# SPDX-License-Identifier: Apache-2.0
"""Tests mae_protected_card and mae_guard with slow and out-of-order host memory, under load.

Sessions, attacks and the search of what is left: tests/protected/model/test_rtl.py.
"""

import collections

import pytest

from maeslant.protected import rtl_card
from maeslant.protected.model.host import Host, Job, MisuseError
from maeslant.protected.model.workload import Machine, Record, expected, first, judge, octets

BUSES = ("latency=1", "latency=50-300&order=shuffled&stall=20&seed=3")
CARDS = [
    *((options, rtl_card.BUILDS[0]) for options in BUSES),
    *(pytest.param((BUSES[1], build), marks=pytest.mark.full) for build in rtl_card.BUILDS[1:]),
]
SLOT, SLOTS, CHUNK = 0x800, 8, 0x200  # of device memory: transfers of four chunks
TRANSFERS, EPOCHS = 48, 6
STANDSTILL = 400  # looks of 64 clocks


@pytest.fixture(params=CARDS)
def machine(request: pytest.FixtureRequest):
    """Makes a machine with a protected card's RTL on a host bus of some kind."""
    options, build = request.param
    made = rtl_card.machine(build, options=options)(timeout=4000)
    made.slow = options == BUSES[1]
    yield made
    made.close()


def test_session(machine: Machine) -> None:
    """The protected card runs the workload's session with right results on each host bus."""
    record = machine.session("first", first)
    assert record.error is None and not judge(record, expected())


class Rekeys:
    """Changes the key epoch of a protected session, one queue after the other."""

    def __init__(self, host: Host) -> None:
        self.host, self.job, self.queue, self.done = host, None, 0, 0

    def step(self) -> None:
        """Requests the next key change when the previous one is answered and the host allows it."""
        if self.job is None:
            try:
                self.job = self.host.rekey(self.queue)
            except MisuseError:  # something of the epoch before is still unanswered
                return
        if self.job.done:
            self.host.wait(self.job)
            self.job, self.done = None, self.done + 1
            self.queue = self.done % len(self.host.channels)


def test_rekey_under_load(machine: Machine) -> None:
    """The protected card loses no data while all queues change keys under full load."""
    depth = machine.device.capabilities.depth
    full = collections.Counter()

    def application(host: Host, record: Record) -> None:
        host.wait(host.open())
        rekeys = Rekeys(host)
        settled: dict[int, bytes] = {}
        ups: collections.deque[tuple[int, bytes, Job]] = collections.deque()
        downs: collections.deque[tuple[bytes, Job]] = collections.deque()
        begun = number = 0
        while begun < TRANSFERS or ups or downs or rekeys.done < EPOCHS * len(host.channels):
            rekeys.step()
            if begun < TRANSFERS and len(ups) < 2 and not host.channels[1].switching:
                slot = begun % SLOTS
                if all(job.done for _, job in downs) or slot >= SLOTS // 2:
                    data = octets(f"transfer {begun}", SLOT - 5)
                    settled.pop(slot, None)
                    ups.append((slot, data, host.h2d(1, SLOT * slot, data, CHUNK)))
                    begun += 1
            free = [slot for slot in settled if slot < SLOTS // 2]
            busy = {slot for slot, _, _ in ups}
            free = [slot for slot in free if slot not in busy]
            if begun < TRANSFERS and free and len(downs) < 2 and not host.channels[2].switching:
                slot = free[number % len(free)]
                downs.append((settled[slot], host.d2h(2, SLOT * slot, SLOT - 5, CHUNK)))
                number += 1
            host.pump()
            assert host.poison_error is None, host.poison_error
            assert host.idle < STANDSTILL, "nothing happens any more"
            for queue in (1, 2):
                status = machine.device.mmio_read(0x1000 * (1 + queue) + 0x424, 4)
                full[queue] += status[1] == depth
            while ups and ups[0][2].done:
                slot, data, job = ups.popleft()
                host.wait(job)
                settled[slot] = data
            while downs and downs[0][1].done:
                data, job = downs.popleft()
                assert host.wait(job) == data
        if rekeys.job:
            host.wait(rekeys.job)
        for slot, data in settled.items():
            assert host.wait(host.d2h(2, SLOT * slot, len(data))) == data
        assert min(channel.epoch for channel in host.channels) >= EPOCHS
        assert number >= TRANSFERS // 4
        host.wait(host.close())

    record = machine.session("first", application)
    assert record.error is None, record.error
    released = [entry[3] for entry in record.monitor if entry[0] == "release"]
    assert released == [octets(f"transfer {n}", SLOT - 5) for n in range(TRANSFERS)]
    assert not machine.slow or min(full.values()) > 20, full

# SPDX-License-Identifier: Apache-2.0
"""Tests the simulator's host memory and its options (latency, order, errors, ...) on sim_probe."""

import errno

import pytest

from tests.sim.machine import Probe, SimError

ORDERS = ["order=in", "order=shuffled"]


@pytest.fixture
def probe():
    """Returns a function that opens sim_probe devices, which are closed after the test."""
    made = []

    def make(options: str = "", **how: object) -> Probe:
        made.append(Probe(options, **how))
        made[-1].map_buffers()
        return made[-1]

    yield make
    for machine in made:
        machine.__exit__()


@pytest.mark.parametrize("width", [512, 32, 1024])
@pytest.mark.parametrize(
    "options",
    [
        "",
        "latency=50-300&order=shuffled",
        "latency=1-40&order=shuffled&bus=one-way&stall=40",
        "latency=7&bandwidth=30&outstanding=1",
        "latency=1-9&order=shuffled&outstanding=3&stall=80&bus=one-way&bandwidth=99",
    ],
)
def test_copies(probe, width: int, options: str) -> None:
    """sim_probe copies data right at each bus width, and the statistics count all beats."""
    machine = probe(options, width=width)
    machine.go(bursts=31, beats=8)
    size = 31 * 8 * machine.beat
    assert machine.dst[:size] == machine.src[:size]
    assert not any(machine.dst[size:])
    assert machine.errors() == set()
    stats = machine.stats()
    assert stats.data_width_bits == width
    assert stats.read_beats == stats.write_beats == 31 * 8
    assert stats.read_bytes == stats.write_bytes == size


@pytest.mark.parametrize("options", ["latency=23", "latency=23&order=shuffled"])
def test_latency_exact(probe, options: str) -> None:
    """With a fixed latency the simulated memory answers each access after exactly that time."""
    machine = probe(options)
    machine.go(beats=1, mode=Probe.READ)
    assert set(machine.read_clocks(64)) == {23}
    machine.go(beats=1, mode=Probe.WRITE)
    assert set(machine.write_clocks(64)) == {23}


def test_latency_spread(probe) -> None:
    """With a latency range the simulated memory's answers cover the range evenly."""
    machine = probe("latency=50-300&order=shuffled&seed=3")
    reads, writes = [], []
    for _ in range(40):
        machine.go(bursts=8, beats=1, mode=Probe.BOTH)
        reads += machine.read_clocks(8)
        writes += machine.write_clocks(8)
    for clocks in (reads, writes):
        # Few answers are under way at once, so that hardly one waits for another.
        assert 50 <= min(clocks) < 60 and 290 < max(clocks) <= 303
        quarters = [sum(50 + 63 * q <= c < 113 + 63 * q for c in clocks) for q in range(4)]
        assert all(50 < count < 110 for count in quarters), quarters
    detail = machine.detail()
    assert detail.read_latency_min == min(reads) and detail.read_latency_max == max(reads)
    assert detail.write_latency_min == min(writes) and detail.write_latency_max == max(writes)


def test_shuffled_overtakes(probe) -> None:
    """With order=shuffled answers overtake each other between IDs, but not within an ID."""
    machine = probe("latency=10-100&order=shuffled")
    machine.go()
    assert machine.read(0x38) > 0
    assert machine.detail().overtakes > 10 and machine.detail().interleaved > 100
    machine.reset_stats()
    machine.go(ids=0)
    assert machine.read(0x38) == 0 and machine.dst == machine.src
    assert machine.detail().interleaved == 0
    machine.go(ids=3)
    assert machine.dst == machine.src

    ordered = probe("latency=10-100")
    ordered.go()
    assert ordered.read(0x38) == 0
    assert ordered.detail().overtakes == ordered.detail().interleaved == 0


@pytest.mark.parametrize("order", ORDERS)
def test_one_way(probe, order: str) -> None:
    """With bus=one-way no clock carries a read and a write beat, and none is lost."""
    machine = probe(f"bus=one-way&latency=20-60&{order}")
    clocks = machine.go(mode=Probe.BOTH)
    assert machine.stats().one_way == 1
    assert machine.read(0x34) == 0 and machine.detail().both_ways_clocks == 0
    assert 2048 <= clocks < 2048 + 150
    span = machine.stats().last_data_clock - machine.stats().first_data_clock + 1
    assert 2048 <= span < 2048 + 80

    both = probe(f"latency=20-60&{order}")
    clocks = both.go(mode=Probe.BOTH)
    assert both.read(0x34) == both.detail().both_ways_clocks > 900
    assert 1024 <= clocks < 1024 + 150


@pytest.mark.parametrize("percent", [10, 25, 50, 90])
def test_bandwidth(probe, percent: int) -> None:
    """With bandwidth=N the simulated memory uses N percent of the data clocks."""
    machine = probe(f"bandwidth={percent}")
    assert machine.go(mode=Probe.BOTH) == pytest.approx(1024 * 100 / percent, rel=0.05, abs=20)
    shared = probe(f"bandwidth={percent}&bus=one-way")
    assert shared.go(mode=Probe.BOTH) == pytest.approx(2048 * 100 / percent, rel=0.05, abs=20)


def test_stall(probe) -> None:
    """With stall=N the bus channels pause for about N percent of the clocks."""
    clocks = [probe(f"stall={percent}&latency=9").go(mode=Probe.BOTH) for percent in (0, 30, 60)]
    assert clocks[0] < 1100
    assert clocks[1] == pytest.approx(1024 / 0.7, rel=0.1)
    assert clocks[2] == pytest.approx(1024 / 0.4, rel=0.1)


def test_outstanding(probe) -> None:
    """With outstanding=N the simulated memory holds at most N unanswered bursts."""
    machine = probe("outstanding=5&latency=100")
    machine.go()
    assert machine.detail().max_reads_outstanding == 5
    assert machine.detail().max_writes_outstanding == 5
    assert machine.dst == machine.src
    assert probe("latency=300").go(mode=Probe.READ) < 1400


@pytest.mark.parametrize("order", ORDERS)
def test_same_seed_same_clocks(probe, order: str) -> None:
    """Runs with equal seeds take equal clocks and statistics; other seeds differ."""
    seen = {}
    for seed in (1, 2, 1, 2):
        machine = probe(f"latency=1-200&{order}&stall=20&error_read=50000&seed={seed}")
        run = (machine.go(), tuple(machine.read_clocks(64)), tuple(machine.write_clocks(64)))
        run += (bytes(machine.stats()), bytes(machine.detail()), bytes(machine.errors() != set()))
        assert seen.setdefault(seed, run) == run
    assert seen[1] != seen[2]


def test_errors_everywhere(probe) -> None:
    """With the highest error rate every burst to the simulated memory fails."""
    machine = probe("error_read=1000000")
    machine.go(mode=Probe.READ)
    assert machine.errors() == {"read slverr", "read decerr"}
    assert machine.stats().errors_injected == 64
    machine = probe("error_write=1000000")
    machine.go()
    assert machine.errors() == {"write slverr", "write decerr"}
    assert machine.stats().errors_injected == 64
    assert not any(machine.dst), "a refused write must not reach memory"


def test_errors_rate(probe) -> None:
    """With an error rate only that share of bursts fails; the others write right."""
    machine = probe("error_write=250000&order=shuffled&latency=1-30")
    machine.go(beats=4)
    bad = 0
    for i in range(0, 64 * 256, 256):
        wrong = machine.dst[i : i + 256] != machine.src[i : i + 256]
        assert not wrong or not any(machine.dst[i : i + 256])
        bad += wrong
    assert bad == machine.stats().errors_injected and 6 <= bad <= 28


def test_errors_at(probe) -> None:
    """With error_at accesses to an address range fail with DECERR, and others do not."""
    at = Probe.SRC + 5 * 256 + 64
    machine = probe(f"error_at={at:#x}-{at:#x}")
    machine.go(beats=4)
    assert machine.errors() == {"read decerr"} and machine.stats().errors_injected == 1
    assert machine.dst[5 * 256 + 64 : 5 * 256 + 128] == b"\xee" * 64
    assert machine.dst[5 * 256 : 5 * 256 + 64] == machine.src[5 * 256 : 5 * 256 + 64]
    assert machine.dst[5 * 256 + 128 : 64 * 256] == machine.src[5 * 256 + 128 : 64 * 256]

    at = Probe.DST + 5 * 256 + 64
    machine = probe(f"error_at={at}-{at + 1}")
    machine.go(beats=4)
    assert machine.errors() == {"write decerr"} and machine.stats().errors_injected == 1
    assert not any(machine.dst[5 * 256 : 6 * 256])
    assert machine.dst[: 5 * 256] == machine.src[: 5 * 256]


def test_unmapped(probe) -> None:
    """Accesses to unmapped memory, and writes to read-only memory, fail with DECERR."""
    machine = probe("latency=5")
    machine.go(src=0x5000_0000, bursts=3)
    assert machine.errors() == {"read decerr"}
    assert machine.detail().decode_errors == 48
    before = bytes(machine.src)
    machine.go(dst=Probe.SRC, bursts=3)
    assert machine.errors() == {"write decerr"} and machine.src == before
    machine.go(dst=0xFFFF_FFFF_FFFF_0000, bursts=3)
    assert machine.errors() == {"write decerr"}
    machine.dst[:] = bytes(65536)
    machine.unmap(Probe.DST, 65536)
    machine.go(bursts=3)
    assert machine.errors() == {"write decerr"} and not any(machine.dst)
    machine.map(Probe.DST, machine.dst)
    machine.go(bursts=3)
    assert machine.errors() == set() and any(machine.dst)


def test_unmapped_under_way(probe) -> None:
    """After an unmapping during a burst the burst's further beats fail with DECERR."""
    machine = probe("bandwidth=10")
    machine.set_up(bursts=1, mode=Probe.READ)
    machine.run(60)
    before = machine.stats().read_beats
    assert 3 < before < 12
    machine.unmap(Probe.SRC, 65536)
    assert machine.wait(1000)
    assert machine.errors() == {"read decerr"}
    assert machine.detail().decode_errors == 16 - before


def test_partly_mapped(probe) -> None:
    """A beat that is only partly mapped reads 0xa5 outside, and cannot be written."""
    machine = probe("latency=3")
    data = bytearray(b"\x11" * 300)
    machine.map(0x7000 + 10, data)
    machine.go(src=0x7000, bursts=1, beats=5)
    assert machine.errors() == set()
    assert machine.dst[:320] == b"\xa5" * 10 + b"\x11" * 300 + b"\xa5" * 10
    machine.go(dst=0x7000, bursts=1, beats=5)
    assert machine.errors() == {"write decerr"}
    assert data == machine.src[10:310]
    # Two mappings that meet in the middle of a beat.
    left, right = bytearray(100), bytearray(156)
    machine.map(0x9000, left)
    machine.map(0x9000 + 100, right)
    machine.go(dst=0x9000, bursts=1, beats=4)
    assert machine.errors() == set() and left + right == machine.src[:256]
    machine.go(src=0x9000, bursts=1, beats=4)
    assert machine.dst[:256] == machine.src[:256]


def test_partly_mapped_row(probe) -> None:
    """A narrow bus's beat with no mapped byte reads 0xa5 if its row has one, otherwise DECERR."""
    machine = probe("latency=3", width=32, row=16)
    machine.map(0x7000 + 10, data := bytearray(b"\x11" * 23))  # of 3 rows, the last 1 byte
    machine.go(src=0x7000, bursts=1, beats=12)
    assert machine.errors() == set() and machine.detail().decode_errors == 0
    assert machine.dst[:48] == b"\xa5" * 10 + data + b"\xa5" * 15
    for src, beats in ((0x6FF0, 4), (0x7030, 4)):  # the rows on both sides
        machine.go(src=src, bursts=1, beats=beats)
        assert machine.errors() == {"read decerr"}
    assert machine.detail().decode_errors == 8


def test_mapping_rules(probe) -> None:
    """The simulator refuses mappings that overlap or wrap, and unmappings of unknown ones."""
    machine = probe()
    for iova, size in ((Probe.SRC - 1, 2), (Probe.SRC + 65535, 9), (Probe.SRC + 8, 8)):
        with pytest.raises(SimError) as error:
            machine.map(iova, bytearray(size))
        assert error.value.errno == errno.EEXIST
    machine.map(Probe.SRC - 1, bytearray(1))
    machine.map(0xFFFF_FFFF_FFFF_FFF0, bytearray(16))
    with pytest.raises(SimError) as error:
        machine.map(0xFFFF_FFFF_FFFF_FF00, bytearray(257))
    assert error.value.errno == errno.EINVAL
    for iova, size in ((Probe.SRC, 65535), (Probe.SRC + 1, 65535), (0x1234, 1)):
        with pytest.raises(SimError) as error:
            machine.unmap(iova, size)
        assert error.value.errno == errno.ENOENT


def test_writes_land_with_their_response(probe) -> None:
    """Written data appears in the simulated memory only with the write's response."""
    machine = probe("latency=200")
    machine.go()
    machine.dst[:] = bytes(65536)
    machine.reset_stats()
    machine.set_up(bursts=1, mode=Probe.WRITE)
    machine.run(100)
    assert machine.stats().write_beats == 16 and not any(machine.dst)
    assert machine.wait(200)
    assert machine.dst[:1024] == machine.src[:1024]


@pytest.mark.parametrize("bus, clocks", [("two-way", 1024), ("one-way", 2048)])
def test_host_copy(probe, bus: str, clocks: int) -> None:
    """The simulated host's copy takes a read and a write beat for each bus word."""
    machine = probe(f"bus={bus}&latency=80")
    machine.reset_stats()
    machine.host_copy(Probe.DST, Probe.SRC, 65536 - 3)
    assert machine.dst[:-3] == machine.src[:-3] and not any(machine.dst[-3:])
    stats = machine.stats()
    assert stats.host_copy_beats == 2048 and stats.read_beats == stats.write_beats == 0
    assert clocks <= stats.bus_clocks <= clocks + 10
    with pytest.raises(SimError) as error:
        machine.host_copy(Probe.DST, Probe.SRC + 1, 65536)
    assert error.value.errno == errno.ENOENT


def test_host_copy_shares(probe) -> None:
    """On a one-way bus the simulated host's copy and a busy device share the clocks."""
    machine = probe("bus=one-way&latency=10-50&order=shuffled")
    machine.map(0x3_0000_0000, copied := bytearray(65536))
    machine.set_up(mode=Probe.BOTH)
    machine.reset_stats()
    machine.host_copy(0x3_0000_0000, Probe.SRC, 65536)
    assert machine.wait(4000)
    assert copied == machine.src
    assert 4096 <= machine.stats().bus_clocks < 4096 + 300
    assert machine.read(0x34) == 0


@pytest.mark.parametrize("percent", [40, 100, 250])
def test_host_copy_apart(probe, percent: int) -> None:
    """With copy=N the simulated host copies N percent of a word a clock, whatever the bus does."""
    machine = probe(f"bus=one-way&latency=10-50&order=shuffled&copy={percent}")
    machine.map(0x3_0000_0000, copied := bytearray(65536))
    machine.set_up(mode=Probe.BOTH)
    machine.reset_stats()
    machine.host_copy(0x3_0000_0000, Probe.SRC, 65536)
    assert copied == machine.src
    assert machine.stats().host_copy_beats == 2048
    assert abs(machine.stats().bus_clocks - 1024 * 100 / percent) <= 3
    assert machine.wait(4000)
    assert machine.stats().bus_clocks < max(2048, 1024 * 100 / percent) + 150


def test_payload_and_control(probe) -> None:
    """Beats with the top ID bit set count as control traffic, not as payload."""
    machine = probe()
    machine.go(mode=Probe.READ, bursts=5, beats=4, ids=0x7F)
    assert machine.stats().read_beats == 20
    assert machine.detail().payload_read_beats == 0 and machine.stats().first_data_clock == 0
    machine.go(mode=Probe.READ, bursts=5, beats=4)
    detail = machine.detail()
    assert detail.payload_read_beats == 20
    assert detail.last_read_clock - detail.first_read_clock == 19


def test_hang(probe) -> None:
    """With hang=N the simulated memory stops after N bursts; registers still answer."""
    machine = probe("hang=10&latency=20&timeout=500")
    machine.set_up()
    assert not machine.wait(3000)
    assert machine.read(0x08) & 1, "registers still answer"
    assert machine.detail().read_bursts + machine.detail().write_bursts in (10, 11)
    with pytest.raises(SimError) as error:
        machine.host_copy(Probe.DST, Probe.SRC, 640)
    assert error.value.errno == errno.ETIMEDOUT and "silent" in str(error.value)


@pytest.mark.parametrize(
    "mutation, how, says",
    [
        (1, {"options": "stall=90"}, "AR: changed"),
        (2, {}, "no WLAST"),
        (3, {}, "4 KiB"),
        (7, {"options": "stall=90"}, "W: changed"),
    ],
)
def test_breaches(probe, mutation: int, how: dict, says: str) -> None:
    """A simulated device that violates AXI makes this and every later call fail with a reason."""
    machine = probe(how.get("options", ""))
    with pytest.raises(SimError) as error:
        machine.go(mutation=mutation)
    assert error.value.errno == errno.EPROTO and says in str(error.value)
    with pytest.raises(SimError) as again:
        machine.read(0)
    assert again.value.errno == errno.EPROTO and says in str(again.value)


def test_data_without_address(probe) -> None:
    """A timeout of the simulator reports write data that came without an address."""
    machine = probe("timeout=300&hang=0")
    machine.set_up(mode=Probe.WRITE, mutation=8)
    assert not machine.wait(500)
    assert machine.stats().write_beats == 0
    with pytest.raises(SimError) as error:
        machine.host_copy(Probe.DST, Probe.SRC, 64)
    assert "write data without an address" in str(error.value)

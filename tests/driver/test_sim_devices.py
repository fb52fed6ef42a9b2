# SPDX-License-Identifier: Apache-2.0
"""Tests the C driver with simulated cards and peripherals against `cryptography`."""

import contextlib
import os
import random
import re
import subprocess
from collections.abc import Iterator

import pytest

from maeslant import paths
from maeslant.build import c_driver, simulator
from maeslant.driver import device
from maeslant.driver.device import DECRYPT, ENCRYPT, MODES
from tests.device import oracle as modes_oracle
from tests.support.crc32c import crc32c

SEED = int(os.environ.get("MAESLANT_SEED", "1"))
AWKWARD = "latency=20-200&order=shuffled&stall=20&seed=" + str(SEED)


@contextlib.contextmanager
def opened(build: str, options: str = "") -> Iterator[device.Device]:
    """Builds a simulator if needed and opens it as a device of the driver."""
    simulator.build(build)
    with device.Device(f"sim:{build}?{options}" if options else f"sim:{build}") as found:
        yield found


def oracle(mode: str, key: bytes, iv: bytes, data: bytes, direction: int) -> bytes:
    """Computes a message's expected output in any mode by `cryptography`."""
    return modes_oracle.crypt(mode, direction == DECRYPT, key, iv, data)


def key_for(mode: str, bits: int, source: random.Random) -> bytes:
    """Returns a random key of a mode; for XTS it has twice the length."""
    return source.randbytes(bits // 8 * (2 if mode == "xts" else 1))


def lengths(mode: str, largest: int) -> list[int]:
    """Returns message lengths near the limits of a cipher mode and of the driver's jobs."""
    if mode not in modes_oracle.ANY_LENGTH:
        return [16, 48, 4096, largest // 16 * 16]
    return [length for length in (1, 16, 31, 33, 47, 4095, largest) if mode != "xts" or length > 15]


@pytest.mark.parametrize("direction", [ENCRYPT, DECRYPT], ids=["encrypt", "decrypt"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("build", ["stream4", "peripheral"])
def test_messages(build: str, mode: str, direction: int) -> None:
    """Messages of every mode, direction and key size equal those of `cryptography`."""
    source = random.Random(SEED)
    with opened(build, AWKWARD if build == "stream4" else "") as found:
        for bits in (128, 192, 256) if mode != "xts" else (128, 256):
            for length in lengths(mode, 70001 if build == "stream4" else 301):
                key, iv = key_for(mode, bits, source), source.randbytes(16)
                data = source.randbytes(length)
                got = found.crypt(mode, direction, key, None if mode == "ecb" else iv, data)
                assert got == oracle(mode, key, iv, data, direction), (bits, length)


@pytest.mark.parametrize("build", ["peripheral_small", "peripheral_duplex"])
def test_small_peripherals(build: str) -> None:
    """A small peripheral has one key slot and three modes; its messages equal `cryptography`'s."""
    source = random.Random(SEED)
    with opened(build) as found:
        for mode in ("ecb", "cbc", "ctr"):
            for direction in (ENCRYPT, DECRYPT):
                for bits in (128, 192, 256):
                    key, iv = key_for(mode, bits, source), source.randbytes(16)
                    data = source.randbytes(117 if mode == "ctr" else 112)
                    got = found.crypt(mode, direction, key, None if mode == "ecb" else iv, data)
                    assert got == oracle(mode, key, iv, data, direction), (mode, bits)
        with pytest.raises(device.DeviceError):
            found.crypt("xts", ENCRYPT, bytes(range(64)), bytes(16), bytes(16))


@pytest.mark.parametrize("mode", MODES)
def test_streams(mode: str) -> None:
    """Streams of 3 MiB in pieces of random size equal messages of `cryptography`."""
    source = random.Random(SEED)
    total = (3 << 20) + (7 if mode in modes_oracle.ANY_LENGTH else 16)
    directions = [DECRYPT]
    if modes_oracle.chains(mode, True):
        directions = [ENCRYPT]
        total -= 5 << 19  # a block at a time: slow to simulate
    with opened("stream4", "latency=20-100&order=shuffled") as found:
        for direction in directions:
            key, iv = key_for(mode, 256, source), source.randbytes(16)
            data = source.randbytes(total)
            given, at = b"", 0
            with found.stream(mode, direction, key, None if mode == "ecb" else iv) as stream:
                while at < total:
                    piece = source.randrange(300000)
                    given += b"".join(stream.update(data[at : at + piece]))
                    at += piece
                given += b"".join(stream.finish())
            assert given == oracle(mode, key, iv, data, direction)


def test_chained_jobs_interleave() -> None:
    """CBC messages cut into jobs end right if the jobs of all 16 contexts interleave."""
    ffi, lib = device.library()
    source = random.Random(SEED)
    contexts, parts, part = 16, 3, 160
    with opened("stream4", AWKWARD) as found:
        dev = found.handle
        memory_pointer, number = ffi.new("void **"), ffi.new("uint32_t *")
        device.check(lib.mae_mem_alloc(dev, contexts * 4096, memory_pointer))
        memory = ffi.cast("uint8_t *", memory_pointer[0])
        jobs, messages = [], []
        for _ in range(contexts):
            key, iv, data = source.randbytes(16), source.randbytes(16), source.randbytes(480)
            device.check(lib.mae_key_alloc(dev, key, 16, number))
            slot = number[0]
            device.check(lib.mae_context_alloc(dev, number))
            messages.append((key, iv, data, slot, number[0]))
        kept = []
        for index in range(parts):
            for _, iv, data, slot, context in messages:
                place = memory + 4096 * context + 1000 * index + source.randrange(64)
                cut = source.randrange(part)
                ffi.memmove(place, data[part * index : part * (index + 1)], part)
                lists = ffi.new("struct mae_segment[]", [(place, cut), (place + cut, part - cut)])
                out = place + 400
                job = ffi.new("struct mae_job *")
                job.mode, job.direction = lib.MAE_CBC, lib.MAE_ENCRYPT
                job.key_slot, job.context, job.init = slot, context, index == 0
                job.iv, job.length, job.dst = list(iv), part, out
                job.src_list, job.src_entries = lists, 2
                kept.append((lists, job, out, context, index))
                device.check(lib.mae_submit(dev, job))
        done, count, total = ffi.new("struct mae_completion[]", 64), ffi.new("size_t *"), 0
        while total < contexts * parts:
            device.check(lib.mae_wait(dev, done, 64, count, 10000))
            assert all(done[i].error == lib.MAE_OK for i in range(count[0]))
            total += count[0]
        results = {(c, i): bytes(ffi.buffer(out, part)) for _, _, out, c, i in kept}
        for key, iv, data, _, context in messages:
            got = b"".join(results[context, index] for index in range(parts))
            assert got == oracle("cbc", key, iv, data, ENCRYPT)
        del jobs


@pytest.mark.parametrize("kind", ["read", "write"])
def test_bus_errors_hit_their_own_message(kind: str) -> None:
    """A simulated bus error fails only the message that it hits; the next one ends right."""
    _, lib = device.library()
    source = random.Random(SEED)
    key, iv = source.randbytes(16), source.randbytes(16)
    own = {"read": lib.MAE_E_BUS_READ, "write": lib.MAE_E_BUS_WRITE}[kind]
    # On the rings: a descriptor is lost with its job, a completion with the card.
    ring = {"read": lib.MAE_E_BUS_LIST, "write": lib.MAE_E_BUS}[kind]
    codes, good = [], 0
    with opened("stream4", f"error_{kind}=4000&seed={SEED}") as found:
        for _ in range(60):
            data = source.randbytes(20000)
            try:
                got = found.crypt("ctr", ENCRYPT, key, iv, data)
                assert got == oracle("ctr", key, iv, data, ENCRYPT)
                good += 1
            except device.DeviceError as error:
                codes.append(error.code)
                if error.code == lib.MAE_E_BUS:
                    break
        assert found.stats()["errors_injected"] >= len(codes)
    assert codes and set(codes) <= {own, ring}
    assert good


def test_memory_that_goes_silent() -> None:
    """If host memory stops answering, the driver's call times out and the device can be closed."""
    _, lib = device.library()
    with opened("stream4", "hang=100") as found:
        device.check(lib.mae_set_stall_timeout(found.handle, 500))
        with pytest.raises(device.DeviceError) as caught:
            found.crypt("ctr", ENCRYPT, bytes(16), bytes(16), bytes(100000))
        assert caught.value.code == lib.MAE_E_TIMEOUT
        with pytest.raises(device.DeviceError) as caught:
            found.crypt("ctr", ENCRYPT, bytes(16), bytes(16), bytes(16))
        assert caught.value.code == lib.MAE_E_DEAD


def test_devices_side_by_side() -> None:
    """Two cards and a peripheral, opened at the same time, each encrypt right in turns."""
    source = random.Random(SEED)
    with opened("stream4", "seed=1") as a, opened("stream4", AWKWARD) as b, \
            opened("peripheral") as c:  # fmt: skip
        for _ in range(3):
            for found in (a, b, c):
                key, iv, data = source.randbytes(16), source.randbytes(16), source.randbytes(200)
                assert found.crypt("ctr", ENCRYPT, key, iv, data) == oracle(
                    "ctr", key, iv, data, ENCRYPT
                )
        assert a.stats()["bus_clocks"] != b.stats()["bus_clocks"]


def test_idle_clocks_are_few() -> None:
    """A 2 MiB CTR message takes at most 10 % more clocks than its data need on the bus."""
    with opened("stream4", "latency=50-300&order=shuffled") as found:
        data = bytes(2 << 20)
        found.reset_stats()
        found.crypt("ctr", ENCRYPT, bytes(16), bytes(16), data)
        assert found.stats()["bus_clocks"] < 1.1 * len(data) / 64
        found.reset_stats()
        with found.stream("ctr", ENCRYPT, bytes(16), bytes(16)) as stream:
            for at in range(0, len(data), 1 << 18):
                for _ in stream.update(data[at : at + (1 << 18)]):
                    pass
            for _ in stream.finish():
                pass
        assert found.stats()["bus_clocks"] < 1.1 * len(data) / 64


@pytest.mark.full
def test_copy_card() -> None:
    """The copy card copies data of any length to any alignment."""
    ffi, lib = device.library()
    source = random.Random(SEED)
    with opened("copy4", AWKWARD) as found:
        assert found.caps()["modes"] == 1 << lib.MAE_COPY and found.caps()["key_slots"] == 0
        for length in (1, 63, 4097, 300001):
            data, room = source.randbytes(length), ffi.new("uint8_t[]", length + 64)
            out = room + source.randrange(64)
            nothing = ffi.NULL
            device.check(
                lib.mae_crypt(found.handle, lib.MAE_COPY, 0, nothing, 0, nothing,
                              ffi.from_buffer(data), out, length)
            )  # fmt: skip
            assert bytes(ffi.buffer(out, length)) == data
        assert lib.mae_key_load(found.handle, 0, bytes(16), 16) == lib.MAE_E_SLOT


@pytest.mark.full
def test_copy_card_sums() -> None:
    """A completion of the copy card crc4 has the CRC-32C of the job's data, lists or not."""
    ffi, lib = device.library()
    source = random.Random(SEED)
    with opened("crc4", AWKWARD) as found:
        number, memory = ffi.new("uint32_t *"), ffi.new("void **")
        done, count = ffi.new("struct mae_completion *"), ffi.new("size_t *")
        device.check(lib.mae_context_alloc(found.handle, number))
        device.check(lib.mae_mem_alloc(found.handle, 1 << 17, memory))
        start = ffi.cast("uint8_t *", memory[0])
        job = ffi.new("struct mae_job *")
        job.mode, job.context = lib.MAE_COPY, number[0]
        for length in (1, 3, 63, 64, 65, 4097, 50001):
            data, first = source.randbytes(length), source.randrange(64)
            cut = source.randrange(length + 1)
            lists = ffi.new(
                "struct mae_segment[]",
                [(start + first, cut), (start + first + cut, length - cut)],
            )
            ffi.memmove(start + first, data, length)
            job.src_list, job.src_entries = lists, 2
            job.length, job.dst = length, start + 65536 + source.randrange(64)
            device.check(lib.mae_submit(found.handle, job))
            device.check(lib.mae_wait(found.handle, done, 1, count, 1_000_000))
            device.check(done.error)
            assert bytes(ffi.buffer(job.dst, length)) == data
            assert bytes(done.tag) == crc32c(data).to_bytes(16, "little")


@pytest.mark.slow
@pytest.mark.parametrize(
    "build", ["stream1", "stream1_narrow", "stream2", "stream8", "stream4_async"]
)
def test_other_cards(build: str) -> None:
    """Cards with 1, 2 and 8 lanes and with two clocks equal `cryptography` in every mode."""
    source = random.Random(SEED)
    options = AWKWARD + ("&ratio=3:2" if build.endswith("async") else "")
    with opened(build, options) as found:
        for mode in MODES:
            for direction in (ENCRYPT, DECRYPT):
                for length in lengths(mode, 70001):
                    key, iv = key_for(mode, 128, source), source.randbytes(16)
                    data = source.randbytes(length)
                    got = found.crypt(mode, direction, key, None if mode == "ecb" else iv, data)
                    assert got == oracle(mode, key, iv, data, direction), (mode, length)


def test_options_reach_the_simulator() -> None:
    """The driver passes options of a device name to the simulator, which refuses unknown ones."""
    _, lib = device.library()
    simulator.build("stream4")
    with pytest.raises(device.DeviceError) as caught:
        device.Device("sim:stream4?colour=red")
    assert caught.value.code == lib.MAE_E_URI and "colour" in str(caught.value)
    with device.Device("sim:stream?seed=2&lanes=4&latency=9-9") as found:
        assert found.caps()["name"] == "stream4" and found.caps()["lanes"] == 4


def test_keys_are_gone_after_close() -> None:
    """The register write with which the driver closes a device erases the key slots."""
    ffi, lib = device.library()
    with opened("peripheral") as found:
        number, value = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        device.check(lib.mae_key_alloc(found.handle, bytes(16), 16, number))
        device.check(lib.mae_register_read(found.handle, 0x68, value))
        assert value[0] == 1
        device.check(lib.mae_register_write(found.handle, 0x20, 1 << 30))  # what close does
        device.check(lib.mae_run_clocks(found.handle, 4096))
        device.check(lib.mae_register_read(found.handle, 0x68, value))
        assert value[0] == 0
        device.check(lib.mae_register_read(found.handle, 0x40, value))
        assert value[0] == 0  # the window cannot be read
        assert lib.mae_register_read(found.handle, 0xFFC, value) == lib.MAE_E_BUS
        assert lib.mae_register_read(found.handle, 2, value) == lib.MAE_E_ARGUMENT


def test_example() -> None:
    """The C example encrypt_ctr prints the ciphertext of NIST SP 800-38A F.5.1."""
    simulator.build("stream4")
    program = c_driver.build_program(paths.ROOT / "examples" / "c_program" / "encrypt_ctr.c")
    folder = simulator.folder("stream4").parent
    environment = {**os.environ, "MAESLANT_SIM_PATH": str(folder)}
    done = subprocess.run([program], capture_output=True, text=True, env=environment, check=True)
    want = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
    assert done.stdout.strip() == want
    failed = subprocess.run([program, "sim:nosuch"], capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and re.search(r"no such device: .*nosuch", failed.stderr)

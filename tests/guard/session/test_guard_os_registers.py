# SPDX-License-Identifier: Apache-2.0
"""Tests mae_guard_os_registers against regs/mae_guard.rdl and the addresses of the protocol."""

import random

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiResp

from maeslant import paths
from maeslant.protected.model import constants
from tests.device.registers import Registers, layout
from tests.support.bench import run
from tests.support.stream import start

QUEUES, PAGE, WIDTH = 3, 0x1000, 17
MAP = "mae_guard"


class Watch:
    """Records the write, reset and nonce pulses of mae_guard_os_registers."""

    def __init__(self, dut: SimHandleBase) -> None:
        self.dut, self.told = dut, []
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            if dut.write_valid_o.value:
                place = int(dut.write_queue_o.value), int(dut.write_offset_o.value)
                self.told.append(("write", *place, int(dut.write_data_o.value)))
            if dut.reset_o.value:
                self.told.append(("reset",))
            if int(dut.host_nonce_write_o.value):
                words = int(dut.host_nonce_write_o.value)
                self.told.append(("nonce", words, int(dut.host_nonce_word_o.value)))

    def take(self) -> list[tuple]:
        """Returns and clears the pulses recorded since the last call."""
        told, self.told[:] = list(self.told), []
        return told


async def begin(dut: SimHandleBase) -> tuple[Registers, Watch, bytearray]:
    """Resets mae_guard_os_registers; returns bus, recorder and the expected register contents."""
    chooser = random.Random(1)
    nonce, word = chooser.randbytes(32), chooser.getrandbits(64)
    ready, outstanding = 0b101, [chooser.getrandbits(8) for _ in range(QUEUES)]
    following = [chooser.getrandbits(64) for _ in range(QUEUES)]
    number = chooser.getrandbits(64)
    await start(
        dut,
        clear_i=0,
        state_i=constants.State.RUN,
        cause_i=constants.Cause.BEAT << 72 | 0x5A << 64 | number,
        device_nonce_i=int.from_bytes(nonce),
        capabilities_i=word,
        ready_i=ready,
        outstanding_i=sum(value << 8 * i for i, value in enumerate(outstanding)),
        next_i=sum(value << 64 * i for i, value in enumerate(following)),
    )
    image = bytearray(PAGE * (1 + QUEUES))

    def put(at: int, value: int, size: int) -> None:
        image[at : at + size] = value.to_bytes(size, "little")

    put(constants.STATE, constants.State.RUN, 4)
    put(constants.CAUSE, 0x5A << 8 | constants.Cause.BEAT, 4)
    put(constants.CAUSE_SEQUENCE, number, 8)
    put(constants.CAPABILITIES, word, 8)
    image[constants.DEVICE_NONCE : constants.DEVICE_NONCE + 32] = nonce
    for q in range(QUEUES):
        page = PAGE * (1 + q)
        put(page + constants.STATUS, outstanding[q] << 8 | ready >> q & 1, 4)
        put(page + constants.NEXT, following[q], 8)
    return Registers(dut, MAP), Watch(dut), image


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def reads(dut: SimHandleBase) -> None:
    """mae_guard_os_registers returns each register's value, and SLVERR beyond the last page."""
    registers, watch, image = await begin(dut)
    for address in range(0, len(image), 4):
        value, response = await registers.read_at(address)
        assert response == AxiResp.OKAY
        assert value == int.from_bytes(image[address : address + 4], "little"), hex(address)
    for address in (*range(len(image), 1 << WIDTH, 0x3FC), (1 << WIDTH) - 4):
        value, response = await registers.read_at(address)
        assert response == AxiResp.SLVERR and value == 0, hex(address)
    assert not watch.take()


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def writes(dut: SimHandleBase) -> None:
    """A whole-word write to mae_guard_os_registers causes one pulse; a shorter one causes none."""
    registers, watch, image = await begin(dut)
    chooser = random.Random(2)
    bases = [0] * QUEUES
    for _ in range(1500):
        page = chooser.randrange(QUEUES + 3)
        offset = chooser.choice(
            (0, 0x18, 0x18, 0x3C, 0x40 + 4 * chooser.randrange(9), 0x420, 0x428, 0x42C)
            + (4 * chooser.randrange(1024),)
        )
        value = chooser.choice((chooser.getrandbits(32), constants.RESET_WORD))
        cut = chooser.random() < 0.2
        size, shift = (chooser.choice(((1, 0), (1, 3), (2, 2), (3, 1)))) if cut else (4, 0)
        data = value.to_bytes(4, "little")[:size]
        response = (await registers.bus.write(PAGE * page + offset + shift, data)).resp
        assert (response == AxiResp.SLVERR) == (page > QUEUES), (page, hex(offset))
        expected = []
        if not cut and page == 0:
            if offset == constants.RESET and value == constants.RESET_WORD:
                expected = [("reset",)]
            if constants.HOST_NONCE <= offset < constants.HOST_NONCE + 32:
                expected = [("nonce", 1 << (offset - constants.HOST_NONCE) // 4, value)]
        elif not cut and page <= QUEUES:
            expected = [("write", page - 1, offset, value)]
            if offset in (constants.RESPONSE_BASE, constants.RESPONSE_BASE + 4):
                shift = 8 * (offset - constants.RESPONSE_BASE)
                bases[page - 1] &= ~(0xFFFFFFFF << shift)
                bases[page - 1] |= value << shift
                bases[page - 1] &= ~63
        assert watch.take() == expected, (page, hex(offset))
        assert int(dut.response_base_o.value) == sum(b << 64 * q for q, b in enumerate(bases))
    for q in range(QUEUES):
        page = PAGE * (1 + q) + constants.RESPONSE_BASE
        assert (await registers.read_at(page))[0] == bases[q] & 0xFFFFFFFF
        assert (await registers.read_at(page + 4))[0] == bases[q] >> 32
    assert all(bases)
    dut.clear_i.value = 1
    await RisingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await RisingEdge(dut.clk_i)
    assert int(dut.response_base_o.value) == 0


def test_guard_os_registers() -> None:
    """Builds mae_guard_os_registers for three queues and runs this file's tests on it."""
    bench = paths.ROOT / "tests" / "guard" / "session" / "os_registers_bench.sv"
    parameters = {"Queues": QUEUES, "AddrWidth": WIDTH}
    run("os_registers_bench", sources=[bench], parameters=parameters)


def test_map() -> None:
    """regs/mae_guard.rdl has the register addresses of the protocol model's constants."""
    found = {name: offset for name, (offset, _, _) in layout(MAP).items()}
    page = {
        "state": constants.STATE,
        "cause": constants.CAUSE,
        "cause_sequence_lo": constants.CAUSE_SEQUENCE,
        "capabilities_lo": constants.CAPABILITIES,
        "reset_word": constants.RESET,
        "device_nonce": constants.DEVICE_NONCE,
        "host_nonce": constants.HOST_NONCE,
    }
    queue = {
        "mailbox": constants.MAILBOX,
        "doorbell": constants.DOORBELL,
        "status": constants.STATUS,
        "response_base_lo": constants.RESPONSE_BASE,
        "next_lo": constants.NEXT,
    }
    page |= {f"queue.{name}": PAGE + offset for name, offset in queue.items()}
    high = {name for name in found if name.endswith("_hi")}
    assert found.items() >= page.items() and found.keys() == page.keys() | high
    assert all(found[name] == found[name[:-2] + "lo"] + 4 for name in high)

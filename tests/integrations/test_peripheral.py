# SPDX-License-Identifier: Apache-2.0
"""Tests the AES peripheral in LiteX SoCs, by a bus master and by firmware, against OpenSSL.

Without a CPU a bus master of the test drives the registers through LiteX's interconnect; with one,
PicoRV32 runs firmware made of the driver's freestanding part and LiteX's own headers and start-up.
"""

import logging
import os
import random
import subprocess
import sys

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiResp
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from maeslant import paths
from maeslant.integrations.litex import TOPS, MaeslantAES
from tests.device import oracle
from tests.device.peripheral_host import PERIOD_NS, Peripheral
from tests.support import bench

ORIGIN = 0x9000_0000
FOLDER = paths.BUILD / "litex"


class Behind(Peripheral):
    """Drives the AES peripheral's registers over the bus of a LiteX SoC."""

    async def read_at(self, offset: int) -> tuple[int, AxiResp]:
        return await super().read_at(ORIGIN + offset)

    async def write_at(self, offset: int, value: int) -> AxiResp:
        return await super().write_at(ORIGIN + offset, value)


async def begin(dut) -> None:  # noqa: ANN001 - cocotb's handle
    """Starts the clock and resets the LiteX SoC."""
    dut.rst_ni.value = 0
    Clock(dut.clk_i, PERIOD_NS, unit="ns").start()
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 2)


@cocotb.test(timeout_time=2, timeout_unit="ms", skip="firmware" in os.environ.get("LITEX", ""))
async def host(dut) -> None:  # noqa: ANN001
    """ECB, CTR and GCM over the LiteX SoC's bus give OpenSSL's output."""
    random.seed(int(os.environ.get("MAESLANT_SEED", "1")))
    aes = Behind(dut)
    await begin(dut)
    while await aes.field("status.wiping"):
        pass
    assert await aes.read("id") == 0x4D414550
    assert await aes.field("caps.key_slots") == 8
    assert await aes.field("features.sbox") == 1  # SboxTower
    for mode in ("ecb", "ctr"):
        key, iv, data = random.randbytes(16), random.randbytes(16), random.randbytes(80)
        cipher = oracle.crypt(mode, False, key, iv, data)
        assert await aes.crypt(mode, False, key, iv, data) == cipher
        assert await aes.crypt(mode, True, key, iv, cipher) == data
    key, nonce, aad, data = (random.randbytes(n) for n in (16, 12, 20, 50))
    await aes.load_key(0, key)
    await aes.write_words("iv", nonce + bytes([0, 0, 0, 1]))
    await aes.auth("gcm", aad, "aad", init=True)
    answer = await aes.auth("gcm", data, final=True)
    assert answer + await aes.words("tag") == AESGCM(key).encrypt(nonce, data, aad)
    assert (await aes.read_at(0xFFC))[1] == AxiResp.SLVERR  # no register


@cocotb.test(timeout_time=5, timeout_unit="ms", skip="firmware" not in os.environ.get("LITEX", ""))
async def firmware(dut) -> None:  # noqa: ANN001
    """The firmware on the LiteX SoC prints the ciphertexts and tags that OpenSSL gives."""
    printed = bytearray()
    dut.serial_source_ready.value = 1
    dut.serial_sink_valid.value = 0
    await begin(dut)
    while not printed.endswith(b"end\n"):
        await RisingEdge(dut.clk_i)
        if dut.serial_source_valid.value:
            printed.append(int(dut.serial_source_data.value))
    lines = dict(line.split(" ") for line in printed.decode().splitlines() if " " in line)
    logging.getLogger("firmware").info(printed.decode())
    found = {name: bytes.fromhex(value) for name, value in lines.items()}
    key, iv, data = bytes(range(16)), bytes(range(0xF0, 0x100)), bytes(range(7, 7 + 80))
    assert found["ecb"] == oracle.crypt("ecb", False, key, iv, data)
    assert found["ctr"] == oracle.crypt("ctr", False, key, iv, data[:77])
    assert found["gcm"] == AESGCM(key).encrypt(iv[:12], data[:77], data[:20])
    assert found["opened"] == data[:77]
    assert found["keys"] == bytes([1])  # AES-128 alone
    # An interrupt for each job: ECB, CTR, and two of GCM, sealed and opened.
    assert int(found["interrupts"].hex(), 16) == 6


def elaborated(name: str, **options: object) -> list[str]:
    """Lets LiteX write a SoC in a process of its own; returns the list of its files."""
    folder = FOLDER / name
    program = (
        f"from tests.integrations import soc; soc.make({name!r}, {str(folder)!r}, **{options!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=paths.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return (folder / "sources.f").read_text().splitlines()


def simulated(name: str, **options: object) -> None:
    """Builds a LiteX SoC and runs this file's simulation tests on it."""
    sources = [line for line in elaborated(name, **options) if not line.startswith("+")]
    bench.run(name, sources=sources, env={"LITEX": name}, optimize="-O0")


@pytest.mark.parametrize("top", TOPS)
def test_files(top: str) -> None:
    """Verilator compiles a LiteX SoC from only the files that the integration gives to LiteX."""
    name = f"{top}_litex_files"
    elaborated(name, aes={"top": top, "Sbox": "SboxTower"}, cpu_type=None, with_uart=False)
    command = [paths.tool("verilator"), "--lint-only", "-Wno-fatal", "--top-module", name]
    command += ["-f", str(FOLDER / name / "sources.f")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.full
def test_bus() -> None:
    """A bus master drives the AES peripheral in a LiteX SoC with an AXI-Lite bus and no CPU."""
    simulated(
        "mae_litex_host",
        aes={"plain": True, "KeySlots": 8, "Sbox": "SboxTower"},
        host=True,
        bus_standard="axi-lite",
        cpu_type=None,
        with_uart=False,
    )


@pytest.mark.full
def test_firmware() -> None:
    """Firmware on PicoRV32 in a LiteX SoC uses the AES peripheral and its interrupt."""
    simulated(
        "mae_litex_firmware",
        aes={"MaxKeyLen": "Aes128"},
        firmware=True,
        cpu_type="picorv32",
        uart_name="sim",
        integrated_rom_size=0x4000,
    )


def test_parameters() -> None:
    """MaeslantAES refuses an unknown parameter by its name."""
    with pytest.raises(ValueError, match="no parameter Lanes"):
        MaeslantAES(None, Lanes=4)
    with pytest.raises(ValueError, match="no peripheral"):
        MaeslantAES(None, top="mae_stream_card")

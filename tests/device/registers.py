# SPDX-License-Identifier: Apache-2.0
"""Reads and writes a device's registers by their names in regs/*.rdl over AXI4-Lite."""

import functools
import logging

from cocotb.handle import SimHandleBase
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp
from systemrdl.node import FieldNode, RegNode

from tools import gen_regs

KEY_LENGTHS = {16: 0, 24: 1, 32: 2}


@functools.cache
def layout(name: str) -> dict[str, tuple[int, int, dict[str, tuple[int, int]]]]:
    """Returns offset, stride and fields of each register in a map of regs/."""
    found = {}
    top = gen_regs.elaborate(name)
    for node in top.descendants(unroll=False):
        if not isinstance(node, RegNode):
            continue
        path = node.get_path().split(".", 1)[1].replace("[]", "")
        offset, parent = node.raw_address_offset, node.parent
        if parent != top:
            offset += parent.raw_address_offset
        fields = {
            f.inst_name: (f.low, f.width) for f in node.children() if isinstance(f, FieldNode)
        }
        found[path] = (offset, 4, fields)
    return found


class Registers:
    """Reads and writes the registers of a simulated device by name over AXI4-Lite."""

    def __init__(
        self,
        dut: SimHandleBase,
        map_name: str,
        clock: SimHandleBase | None = None,
        reset: SimHandleBase | None = None,
    ) -> None:
        bus = AxiLiteBus.from_prefix(dut, "s_axil")
        self.bus = AxiLiteMaster(
            bus,
            dut.clk_i if clock is None else clock,
            dut.rst_ni if reset is None else reset,
            reset_active_level=False,
        )
        for side in (self.bus.read_if, self.bus.write_if):
            side.log.setLevel(logging.WARNING)  # else a line for each access
        self.layout = layout(map_name)

    async def read_at(self, offset: int) -> tuple[int, AxiResp]:
        """Reads the word at a register address; returns data and AXI response."""
        result = await self.bus.read(offset, 4)
        return int.from_bytes(result.data, "little"), result.resp

    async def write_at(self, offset: int, value: int) -> AxiResp:
        """Writes the word at a register address; returns the AXI response."""
        return (await self.bus.write(offset, value.to_bytes(4, "little"))).resp

    async def read(self, name: str, index: int = 0) -> int:
        """Reads a register by its name, which must give OKAY."""
        value, resp = await self.read_at(self.layout[name][0] + 4 * index)
        assert resp == AxiResp.OKAY, (name, resp)
        return value

    async def fields(self, name: str, index: int = 0) -> dict[str, int]:
        """Reads a register by its name; returns all its fields."""
        value = await self.read(name, index)
        return {
            field: (value >> low) & ((1 << width) - 1)
            for field, (low, width) in self.layout[name][2].items()
        }

    async def field(self, name: str) -> int:
        """Reads one field of a register, given as `register.field`."""
        register, field = name.rsplit(".", 1)
        return (await self.fields(register))[field]

    def pack(self, name: str, **fields: int) -> int:
        """Packs fields into a register's value; fields not given are 0."""
        value = 0
        for field, number in fields.items():
            low, width = self.layout[name][2][field]
            assert 0 <= number < 1 << width, (name, field, number)
            value |= number << low
        return value

    async def write(self, name: str, value: int | None = None, index: int = 0, **fields: int):
        """Writes a register by its name, as a value or by fields; must give OKAY."""
        if value is None:
            value = self.pack(name, **fields)
        resp = await self.write_at(self.layout[name][0] + 4 * index, value)
        assert resp == AxiResp.OKAY, (name, resp)

    async def write_words(self, name: str, data: bytes) -> None:
        """Writes bytes to consecutive registers, little-endian."""
        for i in range(0, len(data), 4):
            await self.write(name, int.from_bytes(data[i : i + 4], "little"), i // 4)

    async def key_command(self, **fields: int) -> int:
        """Gives a key command to the device, waits and returns its error code."""
        await self.write("key_cmd", go=1, **fields)
        while (status := await self.fields("key_status"))["busy"]:
            pass
        return status["error"]

    async def load_key(self, slot: int, key: bytes) -> int:
        """Loads a key into a key slot of the device; returns the error code."""
        await self.write_words("key", key)
        return await self.key_command(slot=slot, len=KEY_LENGTHS[len(key)])

    async def erase_key(self, slot: int) -> int:
        """Erases a key slot of the device; returns the error code."""
        return await self.key_command(slot=slot, op=1)

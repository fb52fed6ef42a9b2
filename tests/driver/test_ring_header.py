# SPDX-License-Identifier: Apache-2.0
"""Compares the C driver's ring structs and constants with those of the RTL package."""

import re

import pytest

from maeslant import paths

PACKAGE = (paths.RTL / "dma" / "mae_dma_pkg.sv").read_text()
HEADER = (paths.ROOT / "driver" / "include" / "maeslant_ring.h").read_text()
PUBLIC = (paths.ROOT / "driver" / "include" / "maeslant.h").read_text()
SIZES = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8}
STRUCTS = {
    "desc_t": "mae_ring_desc",
    "sg_entry_t": "mae_ring_sg_entry",
    "completion_t": "mae_ring_completion",
    "key_record_t": "mae_ring_key_record",
}
TYPES = {"addr_t": 64}


def hardware(name: str) -> list[tuple[str, int, int]]:
    """Lists the members of a packed struct in the RTL package as (name, offset, bytes)."""
    body = re.search(rf"typedef struct packed \{{([^}}]*)\}} {name};", PACKAGE)[1]
    found = []
    for width, kind, member in re.findall(
        r"^\s*(?:logic\s*(?:\[(\d+):0\])?|(\w+))\s+(\w+);", body, re.MULTILINE
    ):
        bits = TYPES[kind] if kind else int(width or 0) + 1
        assert bits % 8 == 0, member
        found.append((member, bits // 8))
    offset, result = 0, []
    for member, size in reversed(found):  # the last member has the lowest bits
        result.append((member, offset, size))
        offset += size
    return result


def software(name: str) -> list[tuple[str, int, int]]:
    """Lists the members of a struct in the C ring header as (name, offset, bytes)."""
    body = re.search(rf"struct {name} \{{([^}}]*)\}};", HEADER)[1]
    offset, result = 0, []
    for kind, member, count in re.findall(
        r"^\s*(uint\d+_t) (\w+)(?:\[(\d+)\])?;", body, re.MULTILINE
    ):
        size = SIZES[kind] * int(count or 1)
        assert offset % SIZES[kind] == 0, f"{member} would be padded"
        result.append((member, offset, size))
        offset += size
    return result


@pytest.mark.parametrize("name", STRUCTS)
def test_layout(name: str) -> None:
    """The ring structs in C and SystemVerilog have the same names, offsets and sizes."""
    c_name = STRUCTS[name]
    layout = software(c_name)
    assert layout == hardware(name)
    asserted = re.findall(rf"MAE_RING_ASSERT\({c_name}, (\w+), (0x\w+)\);", HEADER)
    assert [(member, int(offset, 16)) for member, offset in asserted] == [
        (member, offset) for member, offset, _ in layout
    ]
    body = re.search(rf"typedef struct packed \{{([^}}]*)\}} {name};", PACKAGE)[1]
    comments = re.findall(r"(\w+);\s*// (0x[0-9a-f]{2})", body)
    assert {(member, int(offset, 16)) for member, offset in comments} == {
        (member, offset) for member, offset, _ in layout
    }


def snake(name: str) -> str:
    """Converts a name from UpperCamelCase to UPPER_SNAKE_CASE."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()


def test_flags() -> None:
    """The flag bits of a ring descriptor are the same in the C header and the RTL package."""
    rtl = dict(re.findall(r"localparam int unsigned Flag(\w+)\s*= (\d+);", PACKAGE))
    ours = dict(re.findall(r"MAE_DESC_(\w+) = 1 << (\d+)", HEADER))
    assert rtl and {snake(name): bit for name, bit in rtl.items()} == ours


def test_statuses() -> None:
    """The status numbers of a ring completion are the same in the C header and the RTL package."""
    body = re.search(r"typedef enum logic \[7:0\] \{([^}]*)\} status_e;", PACKAGE)[1]
    rtl = dict(re.findall(r"Status(\w+)\s*= 8'd(\d+)", body))
    ours = dict(re.findall(r"MAE_STATUS_(\w+) = (\d+)", HEADER))
    assert len(rtl) == 14 and {snake(name): number for name, number in rtl.items()} == ours


def test_modes() -> None:
    """The numbers of the cipher modes are the same in C header, RTL and register description."""
    package = (paths.RTL / "mode" / "mae_mode_pkg.sv").read_text()
    rtl = {n.upper(): int(v) for n, v in re.findall(r"(\w+)\s*= ModeWidth'\((\d+)\),?\n", package)}
    del rtl["CTR32"]  # inside the hardware only
    regs = (paths.ROOT / "regs" / "mae_common.rdl").read_text()
    regs = re.search(r"enum mae_mode_e \{(.*?)\n\};", regs, re.DOTALL)[1]
    named = {n.upper(): int(v) for n, v in re.findall(r"(\w+)\s*= 5'd(\d+)", regs)}
    body = re.search(r"typedef enum mae_mode \{([^}]*)\}", PUBLIC)[1]
    ours = {n: int(v) for n, v in re.findall(r"MAE_(\w+) = (\d+)", body)}
    assert len(ours) == 11 and named == ours
    assert {name: value for name, value in ours.items() if value < 7}.items() <= rtl.items()


def test_phases() -> None:
    """The phases of an authenticated message have the same numbers in C header and RTL."""
    package = (paths.RTL / "mode" / "mae_mode_pkg.sv").read_text()
    rtl = {n.upper(): int(v) for n, v in re.findall(r"Phase(\w+)\s*= 2'd(\d)", package)}
    regs = (paths.ROOT / "regs" / "mae_peripheral.rdl").read_text()
    body = re.search(r"enum phase_e \{(.*?)\};\n {8}\};", regs, re.DOTALL)[1]
    named = {n.upper(): int(v) for n, v in re.findall(r"(\w+)\s*= 2'd(\d)", body)}
    ours = {n: int(v) for n, v in re.findall(r"MAE_PHASE_(\w+) = (\d)", PUBLIC)}
    assert len(ours) == 3 and rtl == ours and named == ours

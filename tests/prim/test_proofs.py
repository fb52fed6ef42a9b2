# SPDX-License-Identifier: Apache-2.0
"""Tests that the formal proofs of formal/proofs.yml hold, and fail if the RTL has a defect."""

import pathlib
import shutil

import pytest

from maeslant import paths
from maeslant.verify.prove import proofs

BREAKS = {
    "fifo1": ("prim/mae_fifo.sv", "count_q != CountWidth'(Depth)", "1'b1"),
    "fifo3": ("prim/mae_fifo.sv", "(read_q == PtrWidth'(Depth - 1)) ? '0 :", ""),
    "fifo4": ("prim/mae_fifo.sv", "if (pop && !push)", "if (pop)"),
    "stream_reg": (
        "prim/mae_stream_reg.sv",
        "assign in_ready_o  = !skid_valid_q",
        "assign in_ready_o = 1'b1",
    ),
    "rr_arb": ("prim/mae_rr_arb.sv", "(after != '0) ? after : req_i", "req_i"),
    "axil_port": ("bus/mae_axil_to_reg.sv", "wrote = aw_valid && w_valid", "wrote = aw_valid"),
    "card_control": (
        "device/card/mae_card_control.sv",
        ".wr_err_i   (wr_err),\n",
        ".wr_err_i   (wr_err),\n.axil_i(axil_i | axil_req_t'{b_ready: 1'b1, default: '0}),\n",
    ),
    "peripheral": (
        "device/peripheral/mae_peripheral.sv",
        ".axil_i(axil_req),",
        ".axil_i(axil_req | mae_axi_pkg::axil_req_t'{r_ready: 1'b1, default: '0}),",
    ),
    "host_read": (
        "dma/read/mae_dma_read_engine.sv",
        ".id_busy_i       (id_busy),",
        ".id_busy_i       (1'b0),",
    ),
    "host_write": (
        "dma/block/mae_dma_host_write.sv",
        "      .w_ready_i,",
        "      .w_ready_i(1'b1),",
    ),
    "fifo_async": ("prim/mae_fifo_async.sv", "to_gray(write_d);", "write_d;"),
    "fifo_async_keep": (
        "prim/mae_fifo_async.sv",
        "write_q - free_q != pointer_t'(Depth)",
        "write_q - free_q != pointer_t'(Depth + 1)",
    ),
    "sbox_table": ("cipher/sbox/mae_sbox_table_pkg.sv", "8'h63, 8'h7c", "8'h62, 8'h7c"),
    "sbox_tower": ("cipher/sbox/mae_sbox_tower.sv", "8'h63", "8'h62"),
    "sbox_boolean": (
        "cipher/sbox/mae_sbox_boolean.sv",
        "~(pair[0] ^ x[b][7])",
        "(pair[0] ^ x[b][7])",
    ),
    "sbox_shallow": ("cipher/sbox/mae_sbox_low_depth.sv", "= x[2] ^ l[32];", "= x[2];"),
    "sbox_onehot": ("cipher/sbox/mae_sbox_onehot.sv", "6*h+2], four[6*h+0]", "6*h+2], four[6*h+1]"),
    "round": ("cipher/mae_round_pkg.sv", "(top << 4) ^ (top << 3)", "(top << 4) ^ (top << 2)"),
}
PROOFS = {proof.name: proof for proof in proofs.load()}
LONG = ("host_read", "host_write")  # minutes
NAMES = [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in PROOFS]


@pytest.mark.parametrize("name", NAMES)
def test_proved(name: str) -> None:
    """A formal proof of formal/proofs.yml holds for the RTL."""
    assert PROOFS[name].run() == ""


@pytest.mark.parametrize("name", NAMES)
def test_refuted(name: str, tmp_path: pathlib.Path) -> None:
    """A formal proof fails if the test plants a defect in the RTL that it covers."""
    file, find, replace = BREAKS[name]
    copy = tmp_path / "rtl"
    shutil.copytree(paths.RTL, copy)
    text = (copy / file).read_text()
    assert text.count(find) == 1
    (copy / file).write_text(text.replace(find, replace))
    assert PROOFS[name].run(copy).startswith("violated")


def test_page() -> None:
    """The page on formal proofs in docs/ equals the one generated from formal/proofs.yml."""
    assert proofs.PAGE.read_text() == proofs.page()

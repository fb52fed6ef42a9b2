# SPDX-License-Identifier: Apache-2.0
"""Tests that the formal proofs of formal/proofs.yml hold, and fail if the RTL has a defect."""

import pathlib
import shutil
from collections.abc import Iterable

import pytest

from maeslant import paths
from maeslant.verify.prove import proofs

BREAKS = {
    "fifo1": ("prim/fifo/mae_fifo.sv", "count_q != CountWidth'(Depth)", "1'b1"),
    "fifo3": ("prim/fifo/mae_fifo.sv", "(read_q == PtrWidth'(Depth - 1)) ? '0 :", ""),
    "fifo4": ("prim/fifo/mae_fifo.sv", "if (pop && !push)", "if (pop)"),
    "fifo_keep": ("prim/fifo/mae_fifo.sv", "(write_q == PtrWidth'(Depth - 1)) ? '0 :", ""),
    "fifo3/erased": (
        "prim/fifo/mae_fifo.sv",
        "else if (clear_i) store_q <= '{default: '0};",
        "",
    ),
    "fifo_scrubbed": ("prim/fifo/mae_fifo_scrubbed.sv", " || write_q == scrub_q", ""),
    "fifo_scrubbed/erased": (
        "prim/fifo/mae_fifo_scrubbed.sv",
        ".write_i     (push || scrub),",
        ".write_i     (push),",
    ),
    "delay_line": ("prim/mae_delay_line.sv", "erasing ? '0 : words_q", "words_q"),
    "delay_line/erased": (
        "prim/mae_delay_line.sv",
        "if (valid_i || erasing || clear_i) begin",
        "if (valid_i || clear_i) begin",
    ),
    "page_buffer": (
        "dma/mae_dma_page_buffer.sv",
        "wr_valid_i ? strobe & (wr_row_i[0] ? wrapped",
        "wr_valid_i ? strobe & (wr_row_i[0] ? ~wrapped",
    ),
    "page_buffer/page": (
        "dma/mae_dma_page_buffer.sv",
        "pages[row[RowWidth-1]], row",
        "pages[0], row",
    ),
    "page_buffer_rows/erased": (
        "dma/mae_dma_page_buffer.sv",
        "= clearing_q && !clear_last_q;",
        "= 1'b0;",
    ),
    "page_buffer_rows": (
        "dma/mae_dma_page_buffer.sv",
        "assign odd_we    = wr_valid_i && wr_row_i[0];",
        "assign odd_we = wr_valid_i;",
    ),
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
    "mode_output_arbiter": ("mode/mae_mode_output_arbiter.sv", "if (out_key_lost_o)", "if (1'b0)"),
    "mode_output_arbiter/bytes": (
        "mode/mae_mode_output_arbiter.sv",
        "& first_bytes(out_bytes_o[3:0])",
        "",
    ),
    "mode_output_arbiter/row": (
        "mode/mae_mode_output_arbiter.sv",
        ".advance_i(out_ready_i)",
        ".advance_i(1'b1)",
    ),
    "read_row_arbiter": (
        "dma/read/mae_dma_read_row_arbiter.sv",
        "pick_hot : '0)) | wake_i",
        "pick_hot : '0))",
    ),
    "read_row_arbiter/committed": (
        "dma/read/mae_dma_read_row_arbiter.sv",
        "row != commit_row_i || aborted_q[pick_ctx];",
        "1'b1;",
    ),
    "read_row_arbiter/last": (
        "dma/read/mae_dma_read_row_arbiter.sv",
        "ended_q[pick_ctx] && row == last_row.row",
        "row == last_row.row",
    ),
    "read_row_arbiter/pages": ("dma/read/mae_dma_read_row_arbiter.sv", "(last || row[", "(row["),
    "guard_host_port": ("guard/bus/mae_guard_halt_reg.sv", "&& room_i && !halt_i", "&& room_i"),
    "guard_host_port/zeros": (
        "guard/bus/mae_guard_host_writes.sv",
        "w_strb = halt_i ? '0 :",
        "w_strb =",
    ),
    "guard_host_port/last": (
        "guard/bus/mae_guard_host_writes.sv",
        "beat_q == order_len",
        "beat_q == '0",
    ),
    "guard_host_port/split": (
        "guard/bus/mae_guard_response_bursts.sv",
        "7'(aw_beats_i) > to_boundary",
        "7'(aw_beats_i) > to_boundary + 7'd1",
    ),
    "fifo_async": ("prim/fifo/mae_fifo_async.sv", "to_gray(write_d);", "write_d;"),
    "fifo_async_keep": (
        "prim/fifo/mae_fifo_async.sv",
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
    "sbox_table/decryption": ("cipher/sbox/mae_sbox_table_pkg.sv", "8'h52, 8'h09", "8'h53, 8'h09"),
    "sbox_tower/decryption": (
        "cipher/sbox/mae_sbox_tower.sv",
        "return linear(FromTower, y);",
        "return linear(FromTower, y ^ 8'h01);",
    ),
    "sbox_boolean/encryption": (
        "cipher/sbox/mae_sbox_boolean_fwd.sv",
        "c.y14 = u3 ^ u5;",
        "c.y14 = u3 & u5;",
    ),
    "sbox_boolean/decryption": (
        "cipher/sbox/mae_sbox_boolean_inv.sv",
        "c.y0 = u0 ^ u3;",
        "c.y0 = u0 | u3;",
    ),
    "sbox_onehot/decryption": (
        "cipher/sbox/mae_sbox_onehot.sv",
        "(Kind == DirsDecrypt || w == 1)",
        "(w == 1)",
    ),
    "sbox_onehot": ("cipher/sbox/mae_sbox_onehot.sv", "6*h+2], four[6*h+0]", "6*h+2], four[6*h+1]"),
    "sbox_lut": ("cipher/sbox/mae_sbox_lut.sv", "inverse ? Inv[i][j]", "inverse ? Inv[i][7-j]"),
    "round": ("cipher/mae_round_pkg.sv", "(top << 4) ^ (top << 3)", "(top << 4) ^ (top << 2)"),
    "round/directions": (
        "cipher/mae_round.sv",
        "(Dirs == DirsDecrypt) ? Decrypt : Encrypt;",
        "Encrypt;",
    ),
    "round_luts": ("cipher/luts/mae_round_luts.sv", "Made = 8'h66", "Made = 8'h67"),
    "round_luts/encryption": (
        "cipher/luts/mae_round_luts.sv",
        "j inside {1, 3, 4}) begin",
        "j inside {1, 2, 4}) begin",
    ),
    "round_luts/decryption": (
        "cipher/luts/mae_round_luts.sv",
        "(j inside {1, 2, 4, 5}) top",
        "(j inside {1, 2, 4}) top",
    ),
    "round_luts/last": (
        "cipher/luts/mae_round_luts.sv",
        "(decrypt_i ? {16{Added}} : enc_key_i)",
        "(decrypt_i ? '0 : enc_key_i)",
    ),
    "sbox_rom": ("cipher/sbox/mae_sbox_rom.sv", "rom[in_i[i+p]]", "rom[in_i[i]]"),
    "sbox_rom/doubled": ("cipher/sbox/mae_sbox_rom.sv", "8'(xtime(32'(Fwd[x])))", "Fwd[x]"),
    "round_rom": (
        "cipher/mae_pipe_rounds_rom.sv",
        "^ {a[15:0], a[31:16]}",
        "^ {a[23:0], a[31:24]}",
    ),
    "round_rom/last": ("cipher/mae_pipe_rounds_rom.sv", "r > 1 && c < 4", "c < 4"),
    "round_rom_cut": (
        "cipher/mae_pipe_rounds_rom.sv",
        "shift_rows(substituted)",
        "substituted",
    ),
}
PROOFS = {proof.name: proof for proof in proofs.load()}
LONG = ("host_read", "host_write")  # minutes


def cases(names: Iterable[str]) -> list:
    """Returns the names of proofs as cases of a test, the long ones marked slow."""
    return [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in names]


def test_every_proof_is_refuted() -> None:
    """BREAKS has a defect for each formal proof, by its name or its name and what is broken."""
    assert {name.partition("/")[0] for name in BREAKS} == PROOFS.keys()


@pytest.mark.parametrize("name", cases(PROOFS))
def test_proved(name: str) -> None:
    """A formal proof of formal/proofs.yml holds for the RTL."""
    assert PROOFS[name].run() == ""


@pytest.mark.parametrize("name", cases(BREAKS))
def test_refuted(name: str, tmp_path: pathlib.Path) -> None:
    """A formal proof fails if the test plants a defect in the RTL that it covers."""
    file, find, replace = BREAKS[name]
    copy = tmp_path / "rtl"
    shutil.copytree(paths.RTL, copy)
    text = (copy / file).read_text()
    assert text.count(find) == 1
    (copy / file).write_text(text.replace(find, replace))
    assert PROOFS[name.partition("/")[0]].run(copy).startswith("violated")


def test_page() -> None:
    """The page on formal proofs in docs/ equals the one generated from formal/proofs.yml."""
    assert proofs.PAGE.read_text() == proofs.page()

# SPDX-License-Identifier: Apache-2.0
"""Tests by a path search in netlists that no cipher handshake depends on a key or on data."""

import dataclasses
import pathlib
from collections.abc import Container, Iterable

import pytest

from maeslant import paths
from maeslant.synth import design
from maeslant.verify.prove import independence

# Of each module: a file, a place in it, what leaks there, and the output that is reached.
LEAKS = {
    "small": (
        "cipher/mae_cipher_min_area.sv",
        "assign rsp_valid_o[0] = answer;",
        "assign rsp_valid_o[0] = answer && !keyed[0];",
        "rsp_valid_o",
    ),
    "serial": (
        "cipher/mae_cipher_serial.sv",
        "assign rsp_valid_o = phase_q == Answer;",
        "assign rsp_valid_o = phase_q == Answer && !key_i[0];",
        "rsp_valid_o",
    ),
    "iter": (
        "cipher/mae_cipher_iter_unit.sv",
        "assign rsp_valid_o = last;",
        "assign rsp_valid_o = last && rsp_o.block != '0;",
        "rsp_valid_o",
    ),
    "peripheral": (
        "device/peripheral/mae_block_registers.sv",
        "assign push = hand_over && room_o != '0;",
        "assign push = hand_over && room_o != '0 && write_data_i != '0;",
        "s_axil_arready",
    ),
    "gcm_axis": (
        "mode/gcm/mae_gcm_axis.sv",
        "assign in_valid      = open_q &&",
        "assign in_valid      = open_q && s_axis_tdata[0] &&",
        "m_axis_tvalid",
    ),
    "small_luts": (
        "cipher/luts/mae_cipher_min_luts.sv",
        "assign rsp_valid_o[0] = last_q;",
        "assign rsp_valid_o[0] = last_q && rsp_o[0].block != '0;",
        "rsp_valid_o",
    ),
    "luts4": (
        "cipher/luts/mae_cipher_luts4.sv",
        "assign rsp_valid_o[0] = last_q;",
        "assign rsp_valid_o[0] = last_q && rsp_o[0].block != '0;",
        "rsp_valid_o",
    ),
    "pipe": (
        "cipher/mae_pipe_rounds.sv",
        "assign rsp_valid_o = valid_q[0];",
        "assign rsp_valid_o = valid_q[0] && rsp_o.block != '0;",
        "rsp_valid_o",
    ),
    "lanes_luts": (
        "cipher/luts/mae_pipe_rounds_luts.sv",
        "assign rsp_valid_o = valid_q[0];",
        "assign rsp_valid_o = valid_q[0] && rsp_o.block != '0;",
        "rsp_valid_o",
    ),
    "lanes_aligned": (
        "cipher/mae_pipe_rounds_aligned.sv",
        "assign rsp_valid_o = valid_q[Rounds];",
        "assign rsp_valid_o = valid_q[Rounds] && state_q[Rounds] != '0;",
        "rsp_valid_o",
    ),
    "gcm_stream": (
        "mode/gcm/mae_gcm_stream.sv",
        "assign in_ready_o = in_room && !stop;",
        "assign in_ready_o = in_room && !stop && in_data_i != '0;",
        "in_ready_o",
    ),
    "lanes_systolic": (
        "cipher/mae_cipher_lanes_systolic.sv",
        "req_valid_i[i] && open &&",
        "req_valid_i[i] && open && req_i[i].block != '0 &&",
        "rsp_valid_o",
    ),
    "per_block_key": (
        "cipher/luts/mae_cipher_per_block_key.sv",
        "assign valid_o = last_q;",
        "assign valid_o = last_q && block_o != '0;",
        "valid_o",
    ),
    "gcm_iter": (
        "mode/gcm/mae_gcm_iter.sv",
        "assign tag_valid_o = state_q == Verdict;",
        "assign tag_valid_o = state_q == Verdict && tag_o != '0;",
        "tag_valid_o",
    ),
    "gcm_multi_key": (
        "mode/gcm/mae_gcm_multi_key.sv",
        "assign msg_ready_o = msg_ready;",
        "assign msg_ready_o = msg_ready && key_i.key != '0;",
        "msg_ready_o",
    ),
    "mode_axis": (
        "device/mae_mode_axis.sv",
        "(frame.refused || row_ready));",
        "(frame.refused || row_ready) && s_axis_tdata != '0);",
        "s_axis_tready",
    ),
    "peripheral_small": (
        "device/peripheral/mae_peripheral_window.sv",
        "rsp_valid_i && asked_q && !clear_i;",
        "rsp_valid_i && asked_q && !clear_i && rsp_block_i != '0;",
        "irq_o",
    ),
    "gcm_single": (
        "mode/gcm_single/mae_gcm_single_tag.sv",
        "rsp_valid_o <= valid_q[1];",
        "rsp_valid_o <= valid_q[1] && rsp_o.data != '0;",
        "rsp_valid_o",
    ),
    "block_card": (
        "device/block/mae_block_card.sv",
        ".mov_w_valid_i (w_valid[Wr]),",
        ".mov_w_valid_i (w_valid[Wr] && w_data[Wr] != '0),",
        "m_axi_mem_wvalid",
    ),
    "lanes": (
        "cipher/mae_pipe_rounds.sv",
        "assign req_ready_o = bank_ready && above_free;",
        "assign req_ready_o = bank_ready && above_free && req_i.block != '0;",
        "req_ready_o",
    ),
    "gcm_stream_small": (
        "mode/gcm/mae_gcm_tag_unit.sv",
        "assign verdict_valid = end_valid && mask_valid &&",
        "assign verdict_valid = end_valid && mask_valid && mask_i != '0 &&",
        "tag_valid_o",
    ),
    "gcm_stream_rom": (
        "mode/ghash/mae_ghash_one_multiplier.sv",
        "assign hash_valid_o = hash_valid_q;",
        "assign hash_valid_o = hash_valid_q && hash_o != '0;",
        "tag_valid_o",
    ),
    "gcm_prefetch": (
        "mode/gcm_single/mae_gcm_prefetch.sv",
        "load_free = !state_q[s].live && flight_q[s] == '0;",
        "load_free = !state_q[s].live && flight_q[s] == '0 && h_q[s] == '0;",
        "load_ready_o",
    ),
    "stream_card": (
        "device/card/mae_stream_card.sv",
        ".row_valid_i   (in_valid),",
        ".row_valid_i   (in_valid && in_data != '0),",
        "m_axi_awvalid",
    ),
    "copy_card": (
        "device/card/mae_copy_card.sv",
        ".row_valid_i   (out_valid),",
        ".row_valid_i   (out_valid && out_data != '0),",
        "m_axi_wvalid",
    ),
    "protected_card": (
        "guard/bus/mae_guard_host_writes.sv",
        "assign w_last = beat_q == order_len;",
        "assign w_last = beat_q == order_len && w_data != '0;",
        "m_axi_wlast",
    ),
}
SHOWN = {shown.name: shown for shown in independence.load()}
LONG = {"gcm_stream_rom", "gcm_multi_key", "protected_card"}  # to elaborate


def cases(names: Iterable[str], long: Container[str]) -> list:
    """Returns names as cases of a test, the long ones marked slow."""
    return [pytest.param(n, marks=[pytest.mark.slow] if n in long else []) for n in names]


@pytest.mark.parametrize("name", cases(SHOWN, LONG))
def test_independent(name: str) -> None:
    """No path in the netlist leads from a secret input to a handshake output of the module."""
    assert SHOWN[name].run() == ""


@pytest.mark.parametrize("name", cases(LEAKS, {"protected_card"}))
def test_leak(name: str, tmp_path: pathlib.Path) -> None:
    """The path search finds a path that the test adds from a key to a handshake output."""
    file, find, replace, output = LEAKS[name]
    what = design.find(SHOWN[name].top, SHOWN[name].parameters)
    text = (paths.RTL / file).read_text()
    assert text.count(find) == 1
    copy = tmp_path / pathlib.Path(file).name
    copy.write_text(text.replace(find, replace))
    files = [copy if path == paths.RTL / file else path for path in what.files]
    said = SHOWN[name].run(dataclasses.replace(what, files=tuple(files)))
    assert said.startswith("reached: ") and output in said


@pytest.mark.parametrize(
    ("name", "output"),
    [("peripheral", "irq_o"), ("stream_card", "m_axi_aw"), ("block_card", "irq_o")],
)
def test_verdict(name: str, output: str) -> None:
    """The path search reports a module's tag verdict unless it is declared as an exception."""
    assert output in dataclasses.replace(SHOWN[name], verdicts=()).run()

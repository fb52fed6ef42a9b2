# SPDX-License-Identifier: Apache-2.0
"""Tests that tools/check_ports.py finds combinational paths through bus ports."""

import dataclasses
import pathlib

import pytest

from maeslant import paths
from maeslant.synth import design
from maeslant.verify.prove import through
from tools import check_ports


def changed(name: str, tmp_path: pathlib.Path, file: str, find: str, replace: str) -> design.Design:
    """Changes one file of a design for a test of the port check."""
    what = design.find(name)
    text = (paths.RTL / file).read_text()
    assert text.count(find) == 1
    copy = tmp_path / pathlib.Path(file).name
    copy.write_text(text.replace(find, replace))
    files = [copy if path == paths.RTL / file else path for path in what.files]
    return dataclasses.replace(what, files=tuple(files))


@pytest.mark.parametrize("name", ["mae_axil_to_reg", "mae_axil_cdc", "mae_apb_to_axil"])
def test_clean(name: str) -> None:
    """tools/check_ports.py accepts a small module of each kind."""
    assert check_ports.forbidden(name) == []


def test_response_to_request(tmp_path: pathlib.Path) -> None:
    """tools/check_ports.py finds a path from bready to awready through a stream register."""
    broken = changed(
        "mae_axil_to_reg",
        tmp_path,
        "prim/mae_stream_reg.sv",
        "= !skid_valid_q;",
        "= !skid_valid_q || out_ready_i;",
    )
    found = check_ports.forbidden("mae_axil_to_reg", broken)
    for path in ("bready -> s_axil_awready", "bready -> s_axil_wready", "rready -> s_axil_arready"):
        assert f"mae_axil_to_reg: s_axil_{path}" in found


def test_beyond_what_is_meant(tmp_path: pathlib.Path) -> None:
    """tools/check_ports.py reports an unlisted path within the APB bridge's AXI side."""
    broken = changed(
        "mae_apb_to_axil",
        tmp_path,
        "bus/mae_apb_to_axil.sv",
        "assign m_axil_bready  = access && s_apb_pwrite;",
        "assign m_axil_bready  = access && s_apb_pwrite && m_axil_bvalid;",
    )
    assert check_ports.forbidden("mae_apb_to_axil", broken) == [
        "mae_apb_to_axil: m_axil_bvalid -> m_axil_bready"
    ]


def test_registers_end_paths() -> None:
    """tools/check_ports.py finds no combinational path through a clock crossing."""
    assert through.found_in(design.find("mae_axi_cdc")) == set()


def test_unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every module with a bus port is in the tables of tools/check_ports.py."""
    assert check_ports.unlisted() == []
    monkeypatch.delitem(check_ports.TOPS, "mae_copy_card")
    monkeypatch.setitem(check_ports.TOPS, "mae_fifo", {})
    assert len(check_ports.unlisted()) == 2

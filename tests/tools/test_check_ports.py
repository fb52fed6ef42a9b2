# SPDX-License-Identifier: Apache-2.0
"""Tests check_ports.py, which forbids combinational paths between bus ports."""

import dataclasses
import pathlib

import pytest

from maeslant import paths
from maeslant.synth import design
from maeslant.verify.prove import through
from tools.checks import check_ports


def changed(
    name: str,
    tmp_path: pathlib.Path,
    file: str,
    find: str,
    replace: str,
    parameters: dict[str, object] | None = None,
) -> design.Design:
    """Returns a design in which a text of one RTL file is replaced."""
    what = design.find(name, parameters)
    text = (paths.RTL / file).read_text()
    assert text.count(find) == 1
    copy = tmp_path / pathlib.Path(file).name
    copy.write_text(text.replace(find, replace))
    files = [copy if path == paths.RTL / file else path for path in what.files]
    return dataclasses.replace(what, files=tuple(files))


@pytest.mark.parametrize("name", ["mae_axil_to_reg", "mae_axil_cdc", "mae_apb_to_axil"])
def test_clean(name: str) -> None:
    """check_ports.py reports nothing for a small module of each bus."""
    assert check_ports.forbidden(name) == []


def test_response_to_request(tmp_path: pathlib.Path) -> None:
    """check_ports.py reports a planted path from bready to awready."""
    change = ("prim/mae_stream_reg.sv", "= !skid_valid_q;", "= !skid_valid_q || out_ready_i;")
    broken = changed("mae_axil_to_reg", tmp_path, *change)
    found = check_ports.forbidden("mae_axil_to_reg", what=broken)
    assert "mae_axil_to_reg: axil_i -> axil_o" in found
    bench = paths.ROOT / "tests" / "bus" / "axil_to_reg_bench.sv"  # with a port for each signal
    broken = changed(str(bench), tmp_path, *change)
    found = check_ports.forbidden("mae_axil_to_reg", what=broken)
    for path in ("bready -> s_axil_awready", "bready -> s_axil_wready", "rready -> s_axil_arready"):
        assert f"mae_axil_to_reg: s_axil_{path}" in found


@pytest.mark.slow  # to elaborate the card
def test_response_to_provisioning_port(tmp_path: pathlib.Path) -> None:
    """check_ports.py reports a planted path from the protected card's bready to install_ready_o."""
    name = "mae_protected_card"
    change = ("prim/mae_stream_reg.sv", "= !skid_valid_q;", "= !skid_valid_q || out_ready_i;")
    broken = changed(check_ports.BUILDS[name], tmp_path, *change)
    found = check_ports.forbidden(name, what=broken)
    assert f"{name}: s_axil_bready -> install_ready_o" in found


def test_beyond_what_is_meant(tmp_path: pathlib.Path) -> None:
    """check_ports.py reports a planted path that is not among the bridge's permitted ones."""
    broken = changed(
        "mae_apb_to_axil",
        tmp_path,
        "bus/mae_apb_to_axil.sv",
        "assign m_axil_bready  = access && s_apb_pwrite;",
        "assign m_axil_bready  = access && s_apb_pwrite && m_axil_bvalid;",
    )
    assert check_ports.forbidden("mae_apb_to_axil", what=broken) == [
        "mae_apb_to_axil: m_axil_bvalid -> m_axil_bready"
    ]


def test_other_parameters(tmp_path: pathlib.Path) -> None:
    """check_ports.py reports a planted path that a stream card has on a narrow bus alone."""
    name = "mae_stream_card"
    more = next(more for top, more in check_ports.MORE if top == name and "BusWidth" in more)
    change = ("bus/mae_axi_narrow.sv", "m_axi_arsize                = MSize;")
    for parameters, found in (({}, []), (more, [f"{name}: m_axi_rvalid -> m_axi_arsize"])):
        given = check_ports.TOPS[name] | parameters
        replace = "m_axi_arsize = MSize ^ 3'(m_axi_rvalid);"
        broken = changed(name, tmp_path, *change, replace, given)
        assert check_ports.forbidden(name, what=broken) == found


def test_registers_end_paths() -> None:
    """The path search finds no combinational path through mae_axi_cdc."""
    assert through.found_in(design.find("mae_axi_cdc")) == set()


def test_unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    """check_ports.unlisted names modules with a bus port that its tables lack, and excess ones."""
    assert check_ports.unlisted() == []
    monkeypatch.delitem(check_ports.TOPS, "mae_copy_card")
    monkeypatch.setitem(check_ports.TOPS, "mae_fifo", {})
    assert len(check_ports.unlisted()) == 2

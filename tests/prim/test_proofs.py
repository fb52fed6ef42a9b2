# SPDX-License-Identifier: Apache-2.0
"""The quick proofs of formal/proofs.yml hold, and a deliberate break of the RTL refutes each."""

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
    "axil_port": ("bus/mae_axil_to_reg.sv", "if (s_axil_bready) s_axil_bvalid", "s_axil_bvalid"),
}
PROOFS = {proof.name: proof for proof in proofs.load()}


@pytest.mark.parametrize("name", PROOFS)
def test_proved(name: str) -> None:
    """The proof holds."""
    assert PROOFS[name].run() == ""


@pytest.mark.parametrize("name", PROOFS)
def test_refuted(name: str, tmp_path: pathlib.Path) -> None:
    """A break of the RTL is found by the assertions of the proof."""
    file, find, replace = BREAKS[name]
    copy = tmp_path / "rtl"
    shutil.copytree(paths.RTL, copy)
    text = (copy / file).read_text()
    assert text.count(find) == 1
    (copy / file).write_text(text.replace(find, replace))
    assert PROOFS[name].run(copy).startswith("violated")


def test_page() -> None:
    """The page says what the list says."""
    assert proofs.PAGE.read_text() == proofs.page()

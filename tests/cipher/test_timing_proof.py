# SPDX-License-Identifier: Apache-2.0
"""No handshake of a cipher depends on key or data: no path in its netlist; a leak is seen."""

import pytest

from maeslant import paths
from maeslant.verify.prove import independence

TOP = paths.ROOT / "formal" / "cipher" / "mae_cipher_timing.sv"


@pytest.mark.parametrize("core", (0, 1))
def test_independent(core: int) -> None:
    """The serial and the iterative core; and a valid that a data bit changes is found."""
    assert independence.reached(TOP, {"Core": core}) == []
    assert independence.reached(TOP, {"Core": core, "Leak": 1}) == ["timing_o[0]"]

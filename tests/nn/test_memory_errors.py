# SPDX-License-Identifier: Apache-2.0
"""Tests that error responses of the arrays' DRAM end transfers, runs and protected sessions."""

import pytest

from maeslant.errors import MaeslantError
from maeslant.nn.inference import HOST_MEMORY, OPTIONS, PROTECTED, UNPROTECTED, PlainCard
from maeslant.protected.kernel_card import ProtectedCard
from maeslant.protected.model.constants import CAUSE, Cause
from maeslant.protected.model.host import PoisonedError

ERRORS = f"{OPTIONS}&error_memory_read=1000000"  # of every burst that reads


@pytest.mark.full
def test_plain() -> None:
    """On the plain card the transfer out fails, and so does the kernel's run."""
    with PlainCard(UNPROTECTED, ERRORS, HOST_MEMORY) as card:
        card.load(0, bytes(range(64)))
        with pytest.raises(MaeslantError, match="a transfer failed"):
            card.fetch(0, 64)
    with PlainCard(UNPROTECTED, ERRORS, HOST_MEMORY) as card:
        card.start(0)
        with pytest.raises(MaeslantError, match="the kernel stopped with a fault"):
            card.wait_run()


@pytest.mark.full
def test_protected() -> None:
    """On the protected card a transfer out ends the session, with the cause ACCESS."""
    card = ProtectedCard(PROTECTED, ERRORS)
    try:
        card.load(0, bytes(range(64)))
        with pytest.raises(PoisonedError):
            card.fetch(0, 64)
        assert card.gate.read(CAUSE, 4)[0] == Cause.ACCESS
    finally:
        card.host.free()
        card.stack.close()

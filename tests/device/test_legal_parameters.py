# SPDX-License-Identifier: Apache-2.0
"""Tests that the cards refuse, at elaboration, parameters that their headers do not call legal."""

import re

import pyslang
import pytest

from maeslant.synth import design


def elaborates(top: str, parameters: dict[str, int]) -> bool:
    """Returns whether slang elaborates an RTL module with parameters; errors go to stderr."""
    command = design.find(top, parameters).read()
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    assert driver.parseCommandLine(command.replace("read_slang", "slang", 1))
    assert driver.processOptions() and driver.parseAllSources()
    return driver.runFullCompilation(quiet=True)


@pytest.mark.parametrize(
    ("top", "parameters"),
    [
        ("mae_stream_card", {"Contexts": 252}),
        ("mae_stream_card", {"Contexts": 256, "Gcm": 0, "BusWidth": 32}),
        ("mae_block_card", {"Contexts": 4, "KeyBanks": 2, "KeyWait": 4}),
        ("mae_copy_card", {"Lanes": 8, "Contexts": 256}),
        ("mae_unprotected_card", {"Depth": 128}),
    ],
)
def test_legal(top: str, parameters: dict[str, int]) -> None:
    """A card elaborates with parameters at the ends of their legal ranges."""
    assert elaborates(top, parameters)


@pytest.mark.parametrize(
    ("top", "parameters", "module", "check"),
    [
        ("mae_stream_card", {"Contexts": 256}, "mae_stream_card", "ContextsLegal"),
        ("mae_stream_card", {"Contexts": 260, "Gcm": 0}, "mae_stream_card", "ContextsLegal"),
        ("mae_stream_card", {"BusWidth": 96}, "mae_axi_narrow", "MWidthLegal"),
        ("mae_block_card", {"Contexts": 1}, "mae_block_cipher", "ContextsLegal"),
        ("mae_block_card", {"KeyBanks": 1}, "mae_block_cipher", "KeyBanksLegal"),
        ("mae_block_card", {"KeyWait": 3}, "mae_block_key_commands", "WaitClocksLegal"),
        ("mae_copy_card", {"Lanes": 3}, "mae_card_control", "LanesLegal"),
        ("mae_copy_card", {"Contexts": 257}, "mae_card_control", "ContextsLegal"),
        ("mae_copy_card", {"IdWidth": 7}, "mae_dma_axi_mux", "IdWidthLegal"),
        ("mae_unprotected_card", {"Depth": 129}, "mae_unprotected_dma_queue", "DepthLegal"),
    ],
)
def test_illegal(
    top: str, parameters: dict[str, int], module: str, check: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """A card or one of its parts refuses an illegal parameter by name."""
    assert not elaborates(top, parameters)
    said = capfd.readouterr().err
    assert re.search(rf"{module}\.sv.*illegal parameter: {check}", said), said

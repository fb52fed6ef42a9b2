# SPDX-License-Identifier: Apache-2.0
"""Runs Ghosh's networks on both cards, from input to result, for `maeslant overhead`."""

from rich.console import Console

from maeslant.errors import MaeslantError
from maeslant.nn import inference, networks

NAMES = {"ResNet18": "resnet18", "GoogleNet": "googlenet", "AlexNet": "alexnet"}
CLOCK_MHZ = inference.CLOCK_MHZ
CONDITIONS = (
    f"one simulation each, input to result; device memory: {inference.MEMORY_CONDITIONS}; "
    f"{inference.CONDITIONS}"
)


def measured(network: str, err: Console) -> dict[str, object]:
    """Runs a network of Ghosh's Table 3 on both cards; returns each card's clocks and milliseconds.

    Both results must equal the integer reference's and each other. Software takes no time there.
    """
    name = NAMES[network]
    found = inference.infer(networks.make(name), None, [True, False], False, err)
    if not found["equal"]:
        raise MaeslantError(f"{name}: the cards' results are not the reference's")
    protected, plain = (found["cards"][b] for b in (inference.PROTECTED, inference.UNPROTECTED))
    return {
        "layers": found["layers"],
        "device_memory": inference.MEMORY_CONDITIONS,
        "input_bytes": found["input_bytes"],
        "kernel_clocks": protected["kernel_clocks"],
        "plain_clocks": plain["clocks"],
        "protected_clocks": protected["clocks"],
        "plain_ms": plain["clocks"] / CLOCK_MHZ / 1000,
        "protected_ms": protected["clocks"] / CLOCK_MHZ / 1000,
        "overhead": protected["clocks"] / plain["clocks"] - 1,
        "overhead_percent": round(100 * (protected["clocks"] / plain["clocks"] - 1), 2),
    }

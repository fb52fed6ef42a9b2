# SPDX-License-Identifier: Apache-2.0
"""Prints the AES devices that can be opened, and the capabilities of one device."""

import json

from rich.console import Console
from rich.table import Table

from maeslant.build import configurations
from maeslant.driver.device import CODES

POOL = {
    "uri": "pool:2*sim:stream4",
    "summary": "several of these at once: pool:CARD,3*CARD; a Dask cluster's: pool:tcp://HOST:PORT",
}
KINDS = {1: "peripheral", 2: "stream card", 3: "copy card"}


def show(found: list[dict[str, object]], as_json: bool, console: Console) -> None:
    """Prints the AES devices that can be opened and the simulated devices that can be built.

    Simulated libraries without a name, which tests and engines leave, are not printed.
    """
    named = {
        f"sim:{name}": name for name, build in configurations.load().items() if build.get("device")
    }
    found = [d for d in found if d["uri"] in named or not str(d["uri"]).startswith("sim:")]
    have = {str(device["uri"]) for device in found}
    for uri, name in named.items():
        if uri not in have:
            summary = f"not built yet: maeslant build {name}"
            found.append({"uri": uri, "summary": summary, "available": False})
    found.append(POOL | {"available": "sim:stream4" in have})
    if as_json:
        print(json.dumps(found, indent=1))
        return
    table = Table("device", "", "summary")
    for device in found:
        table.add_row(
            str(device["uri"]),
            "[green]✓[/]" if device["available"] else "",
            device["summary"],
        )
    console.print(table)


def show_caps(caps: dict[str, object], as_json: bool, console: Console) -> None:
    """Prints an AES device's capabilities, with mode names in place of bit masks."""
    words = dict(caps)
    words["kind"] = KINDS.get(caps["kind"], "unknown")
    words["version"] = f"{caps['version'] >> 8}.{caps['version'] & 0xFF}"
    words["modes"] = [mode for mode, bit in CODES.items() if caps["modes"] >> bit & 1]
    words["directions"] = [
        name for bit, name in enumerate(("encrypt", "decrypt")) if caps["directions"] >> bit & 1
    ]
    if as_json:
        print(json.dumps(words, indent=1))
        return
    table = Table("property", "value")
    for name, value in words.items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        table.add_row(name.replace("_", " "), text)
    console.print(table)

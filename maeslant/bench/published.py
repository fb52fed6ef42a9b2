# SPDX-License-Identifier: Apache-2.0
"""Publishes the record of a measurement as a JSON file in results/ of the repository."""

import json
import pathlib

from maeslant import paths
from maeslant.synth import design


def publish(name: str, record: dict, folder: pathlib.Path | None = None) -> pathlib.Path:
    """Writes a record of measurements with the commit that it was made on; returns the file."""
    file = (folder or paths.RESULTS) / f"{name}.json"
    paths.write(file, json.dumps({"commit": design.commit()} | record, indent=1) + "\n")
    return file

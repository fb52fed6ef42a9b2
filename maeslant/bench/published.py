# SPDX-License-Identifier: Apache-2.0
"""Writes the record of a measurement to results/ of the repository."""

import json
import pathlib

from maeslant import paths
from maeslant.synth import design


def publish(name: str, record: dict, folder: pathlib.Path | None = None) -> pathlib.Path:
    """Writes a measurement's record, with its Git commit, to results/; returns the file's path."""
    file = (folder or paths.RESULTS) / f"{name}.json"
    paths.write(file, json.dumps({"commit": design.commit()} | record, indent=1) + "\n")
    return file

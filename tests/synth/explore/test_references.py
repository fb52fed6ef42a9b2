# SPDX-License-Identifier: Apache-2.0
"""Each work of configs/related_work.yml has an entry in docs/references.md."""

import re

from maeslant import paths
from maeslant.synth import related_work


def test_every_work_is_cited() -> None:
    """The entry that a design cites is a heading of the page."""
    page = (paths.ROOT / "docs" / "references.md").read_text()
    entries = {name.lower().replace(" ", "-") for name in re.findall(r"^### (.+)$", page, re.M)}
    assert not {design["cite"] for design in related_work.designs()} - entries

# SPDX-License-Identifier: Apache-2.0
"""Tests that each work of configs/related_work.yml has an entry in docs/references.md."""

import re

from maeslant import paths
from maeslant.synth.page import related_work


def test_every_work_is_cited() -> None:
    """Each work cited in configs/related_work.yml has a heading in docs/references.md."""
    page = (paths.ROOT / "docs" / "references.md").read_text()
    entries = {name.lower().replace(" ", "-") for name in re.findall(r"^### (.+)$", page, re.M)}
    assert not {design["cite"] for design in related_work.designs()} - entries

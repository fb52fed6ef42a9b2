# SPDX-License-Identifier: Apache-2.0
"""Tests that each AES core that is a build can be measured, and is told its keys."""

import json

from maeslant.bench.measure import cipher, collect


def test_every_core_is_measured(monkeypatch) -> None:
    """Builds without a longest key length are measured with AES-128 encryption."""
    given: dict[str, tuple[object, object]] = {}

    def record(top: str, module: str, **how: dict) -> None:
        keys, dirs = (json.loads(how["env"][f"MAESLANT_{name}"]) for name in ("KEYS", "DIRS"))
        given.setdefault(top, (keys, dirs))

    monkeypatch.setattr(cipher.cocotb_bench, "simulate", record)
    for steps in collect.jobs().values():
        for measure, *what in steps:
            if measure is cipher.figures:
                measure(*what)
    assert given["mae_cipher_lanes_aligned"] == given["mae_cipher_serial"] == ([128], [0])
    assert given["mae_cipher_iter"][0] in ([128], [128, 192, 256]) and len(given) >= 6

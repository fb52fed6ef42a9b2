# SPDX-License-Identifier: Apache-2.0
"""Draws the plot of `maeslant soc run`: clocks a block over message length."""

import pathlib

from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from maeslant.build import pictures
from maeslant.build.pictures import LIGHT

TITLE = "AES-128 on a PicoRV32: clocks a block over the length of a message"
LINES = (  # way, mode, key each, label, colour, dashed
    ("software", "ecb", False, "software, encryption", "grey", False),
    ("registers", "ecb", False, "AXI4-Lite, ECB: the driver moves the data", "red", False),
    ("arbiter", "cbc", True, "memory arbiter, CBC, a new key each block", "blue", True),
    ("arbiter", "cbc", False, "memory arbiter, CBC", "blue", False),
)
LONGEST = 65536


def _size(count: int) -> str:
    return f"{count} B" if count < 1024 else f"{count // 1024} KB"


def draw(record: dict, paper: dict[str, dict[str, tuple[int, int]]], path: pathlib.Path) -> None:
    """Writes a plot of the PicoRV32 system's clocks a block over message length to a file."""
    with pictures.drawing(760, 470) as (figure, axes):
        lengths: set[int] = set()
        for way, mode, key_each, _, tone, dashed in LINES:
            rows = [
                row
                for row in record["lengths"]
                if (row["way"], row["mode"], row["key_each"]) == (way, mode, key_each)
                and row["direction"] == "encrypt"
            ]
            x = [row["bytes"] for row in rows]
            y = [row["clocks_per_block"] for row in rows]
            lengths |= set(x)
            color = LIGHT[tone]
            axes.plot(x, y, "--" if dashed else "-", color=color, marker="o", markersize=4)
            if max(x) < LONGEST:  # each further block costs the same
                axes.plot([x[-1], LONGEST], [y[-1]] * 2, ":", color=color, linewidth=1)
            axes.annotate(
                pictures.number(y[-1]),
                (LONGEST, y[-1]),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=color,
            )
        costs = paper["peripheral"]
        for length, clocks in ((16, costs["encrypt"][0]), (160, costs["encrypt_ten"][0])):
            pictures.dot(axes, length, clocks, "red", "cross")
        pictures.dot(axes, 16, paper["software"]["encrypt"][0], "grey", "cross")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = sorted(lengths)
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FixedFormatter([_size(tick) for tick in ticks]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(5, 100_000)
        axes.set_xlim(12, 160_000)
        levels = [10, 100, 1000, 10_000, 100_000]
        axes.yaxis.set_major_locator(FixedLocator(levels))
        axes.yaxis.set_major_formatter(FixedFormatter([f"{level:,}" for level in levels]))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("length of the message")
        axes.set_ylabel("clocks a block")
        entries = [
            (tone, "dashed" if dashed else "line", False, label)
            for *_, label, tone, dashed in LINES
        ]
        entries.append(("red", "cross", False, "Kale et al.: its peripheral, 1 and 10 blocks"))
        entries.append(("grey", "cross", False, "Kale et al.: software"))
        pictures.legend(figure, axes, [pictures.handle(*entry) for entry in entries])
        pictures.save(figure, TITLE, path)

# SPDX-License-Identifier: Apache-2.0
"""Draws the figure of `maeslant soc run`: clocks a block over message length."""

import pathlib

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

# The same bytes for the same figures: no date, no random names; text stays text, and small.
STYLE = {"svg.hashsalt": "maeslant", "svg.fonttype": "none", "font.size": 9}
LINES = (  # way, mode, key each, label, colour, dashes
    ("software", "ecb", False, "software, encryption", "#7f7f7f", "-"),
    ("registers", "ecb", False, "AXI4-Lite, ECB: the driver moves the data", "#d62728", "-"),
    ("arbiter", "cbc", True, "arbiter, CBC, a new key each block", "#1f77b4", "--"),
    ("arbiter", "cbc", False, "arbiter, CBC", "#1f77b4", "-"),
)


def _size(count: int) -> str:
    return f"{count} B" if count < 1024 else f"{count // 1024} KB"


def draw(record: dict, paper: dict[str, dict[str, tuple[int, int]]], path: pathlib.Path) -> None:
    """Draws clocks a block over message length to a file; its suffix sets the format."""
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=(8, 4.8))
        lengths: set[int] = set()
        for way, mode, key_each, label, color, dashes in LINES:
            rows = [
                row
                for row in record["lengths"]
                if (row["way"], row["mode"], row["key_each"]) == (way, mode, key_each)
                and row["direction"] == "encrypt"
            ]
            x = [row["bytes"] for row in rows]
            y = [row["clocks_per_block"] for row in rows]
            lengths |= set(x)
            axes.plot(x, y, dashes, color=color, label=label, marker="o", markersize=3.5)
            if max(x) < 65536:  # each further block costs the same
                axes.plot([x[-1], 65536], [y[-1]] * 2, ":", color=color, linewidth=1)
            axes.annotate(
                f"{y[-1]:,.0f}" if y[-1] >= 100 else f"{y[-1]:.1f}",
                (65536, y[-1]),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=color,
            )
        axes.plot(
            [16, 160],
            [paper["peripheral"]["encrypt"][0], paper["peripheral"]["encrypt_ten"][0]],
            "x",
            color="#d62728",
            label="Kale et al.: peripheral, 1 and 10 blocks",
        )
        axes.plot(
            [16],
            [paper["software"]["encrypt"][0]],
            "x",
            color="#7f7f7f",
            label="Kale et al.: software, encryption",
        )
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
        axes.set_xlabel("length of the message")
        axes.set_ylabel("clocks a block")
        axes.set_title("AES-128 on a PicoRV32: software, AXI4-Lite, memory arbiter")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(1.0, 0.75), fontsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.tight_layout()
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata, dpi=110)
        pyplot.close(figure)

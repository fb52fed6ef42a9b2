# SPDX-License-Identifier: Apache-2.0
"""Draws a plot of the messages a second that a card and OpenSSL encrypt, by size."""

import pathlib
import re

from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from maeslant import paths
from maeslant.bench.measure.figures import Figure
from maeslant.bench.measure.messages import CLOCK_MHZ
from maeslant.build import pictures
from maeslant.build.pictures import LIGHT
from maeslant.errors import MaeslantError

PICTURE = paths.BUILD / "reports" / "messages.svg"
PUBLISHED = paths.RESULTS / "messages.svg"
TITLE = f"Messages a second of the 4-lane card at {CLOCK_MHZ} MHz, 64 queued, over their size"
CAPTION = f"card: simulated, at {CLOCK_MHZ} MHz, 64 messages queued; OpenSSL: measured"
BEAT = 64  # bytes that the bus carries each way in a clock
LINES = (  # mode, what follows the size in a figure's name, label, colour, dashed
    ("CTR", "one key", "CTR, one key", "green", False),
    ("GCM", "one key", "GCM, one key", "blue", False),
    ("GCM", "16 keys by turns", "GCM, 16 keys by turns", "blue", True),
    ("GCM", "OpenSSL", "GCM, OpenSSL on one core, without a driver", "grey", False),
)


def points(figures: list[Figure], mode: str, what: str) -> list[tuple[int, float]]:
    """Returns the points of a plot line, as (message size, million messages per second) pairs."""
    found = []
    for figure in figures:
        match = re.match(rf"{mode}, (?:\d+ of )?([\d,]+) B(?: queued)?, {what}", figure.metric)
        if match and figure.unit == "million messages/s":
            found.append((int(match[1].replace(",", "")), figure.value))
    return sorted(found)


def draw(figures: list[Figure], path: pathlib.Path) -> None:
    """Writes a plot of measured messages per second over message size to an .svg or .png file."""
    lines = [points(figures, mode, what) for mode, what, *_ in LINES]
    if not all(lines):
        raise MaeslantError("the picture is of messages: maeslant measure messages --picture FILE")
    with pictures.drawing(760, 470) as (figure, axes):
        for line, (*_, tone, dashed) in zip(lines, LINES, strict=True):
            x, y = zip(*line, strict=True)
            axes.plot(x, y, "--" if dashed else "-", color=LIGHT[tone], marker="o", markersize=4)
        sizes = [size for size, _ in lines[0]]
        bound = [CLOCK_MHZ / -(-size // BEAT) for size in sizes]
        axes.plot(sizes, bound, ":", color=LIGHT["ink"], linewidth=1)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = [size for size in sizes if size != 1504]  # it would cover its neighbour
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        names = [f"{tick} B" if tick < 1024 else f"{tick // 1024} KB" for tick in ticks]
        axes.xaxis.set_major_formatter(FixedFormatter(names))
        axes.xaxis.set_minor_locator(NullLocator())
        levels = [0.1, 1, 10, 100]
        axes.set_ylim(0.05, 300)
        axes.yaxis.set_major_locator(FixedLocator(levels))
        axes.yaxis.set_major_formatter(FixedFormatter([f"{level:g}" for level in levels]))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel(f"bytes a message\n{CAPTION}")
        axes.set_ylabel("million messages a second")
        entries = [
            (tone, "dashed" if dashed else "line", False, label)
            for *_, label, tone, dashed in LINES
        ]
        entries.append(("ink", "dotted", False, "what the bus can carry of data"))
        pictures.legend(figure, axes, [pictures.handle(*entry) for entry in entries])
        pictures.save(figure, TITLE, path)

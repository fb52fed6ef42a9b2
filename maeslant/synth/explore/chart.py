# SPDX-License-Identifier: Apache-2.0
"""Draws plots of the design space, with points and lines, for a screen and for a phone."""

import dataclasses
import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from maeslant.build import pictures
from maeslant.build.pictures import LIGHT, number

PHONE = 366, 400  # px of a plot for a phone
NARROW = 480  # px: a narrower plot has fewer ticks


@dataclasses.dataclass(frozen=True)
class Mark:
    """Describes a marker of a plot: position, colour, shape and label.

    ``data`` names its record for the page's script.

    A label that is ``first`` is placed before the others, and always.
    """

    x: float
    y: float
    tone: str
    shape: str = "circle"
    hollow: bool = False
    label: str = ""
    data: str = ""
    first: bool = False


@dataclasses.dataclass(frozen=True)
class Line:
    """Describes a line of a plot: its points, colour and stroke."""

    points: Sequence[tuple[float, float]]
    tone: str
    dashed: bool = False
    stairs: bool = False


@dataclasses.dataclass(frozen=True)
class Axis:
    """Describes an axis of a plot: title with unit, scale and range."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    whole: bool = False  # ticks at whole numbers only


@dataclasses.dataclass(frozen=True)
class Plot:
    """Holds the content of a plot: axes, markers, lines and legend."""

    title: str
    x: Axis
    y: Axis
    marks: Sequence[Mark] = ()
    lines: Sequence[Line] = ()
    legend: Sequence[tuple[str, str, bool, str]] = ()  # tone, shape or "line", hollow, text


def limits(axis: Axis, values: Sequence[float]) -> tuple[float, float]:
    """Returns the (lower, upper) limits of a plot's axis for its values, with room for labels."""
    known = [value for value in values if value > 0 or not axis.log]
    low, high = min(known, default=1), max(known, default=10)
    if axis.log:
        low, high = low / 1.5, high * 1.6
    else:
        low, high = min(0, low), high * 1.12
    low = low if axis.low is None else axis.low
    high = high if axis.high is None else axis.high
    if high <= low:
        high = low * 2 if axis.log else low + 1
    return low, high


def scale(axis: Axis, side: object, span: tuple[float, float], narrow: bool) -> None:
    """Sets scale, range and ticks of one axis of a Matplotlib plot."""
    if axis.log:
        decades = math.log10(span[1] / span[0])
        if decades < 0.7:
            named: Sequence[int] = (1, 2, 3, 5, 7) if narrow else range(1, 10)
        elif decades > (2 if narrow else 3):
            named = (1,)
        else:
            named = (1, 3) if decades > 1.4 else (1, 2, 5)
        side.set_major_locator(LogLocator(subs=named))
        side.set_minor_locator(NullLocator() if narrow else LogLocator(subs=range(2, 10)))
    else:
        side.set_major_locator(MaxNLocator(5 if narrow else 8, integer=axis.whole))
        if axis.whole and span[1] <= 12 and not narrow:
            side.set_major_locator(FixedLocator(range(math.ceil(span[0]), int(span[1]) + 1)))
        side.set_minor_locator(NullLocator())
    side.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    side.set_minor_formatter(NullFormatter())


def draw(figure: Figure, axes: Axes, plot: Plot) -> None:
    """Draws a plot on Matplotlib axes: markers, lines, labels and legend."""
    narrow = figure.get_size_inches()[0] * 72 < NARROW
    points = [(m.x, m.y) for m in plot.marks] + [p for line in plot.lines for p in line.points]
    spans = [
        limits(axis, [point[at] for point in points]) for at, axis in ((0, plot.x), (1, plot.y))
    ]
    axes.set_xscale("log" if plot.x.log else "linear")
    axes.set_yscale("log" if plot.y.log else "linear")
    axes.set_xlim(spans[0])
    axes.set_ylim(spans[1])
    scale(plot.x, axes.xaxis, spans[0], narrow)
    scale(plot.y, axes.yaxis, spans[1], narrow)
    axes.grid(which="minor", color=LIGHT["fine"], linewidth=0.6)
    axes.set_xlabel(plot.x.title)
    axes.set_ylabel(plot.y.title)
    for line in plot.lines:
        x, y = zip(*line.points, strict=True) if line.points else ((), ())
        if line.stairs and line.points:  # goes on to the edge
            x, y = (*x, spans[0][1]), (*y, y[-1])
        axes.plot(
            x,
            y,
            color=LIGHT[line.tone],
            linestyle=(0, (4, 3)) if line.dashed else "-",
            linewidth=1.6 if line.dashed else 2,
            drawstyle="steps-post" if line.stairs else "default",
        )
    for mark in plot.marks:
        pictures.dot(axes, mark.x, mark.y, mark.tone, mark.shape, mark.hollow, mark.data)
    pictures.legend(figure, axes, [pictures.handle(*entry) for entry in plot.legend])
    wanted = sorted((m for m in plot.marks if m.label), key=lambda m: not m.first)
    pictures.labels(
        figure,
        axes,
        [(m.x, m.y, m.label) for m in wanted],
        [(m.x, m.y) for m in plot.marks],
        must=sum(m.first for m in wanted),
    )


def render(plot: Plot, width: float = 760, height: float = 430) -> str:
    """Returns a plot as an <svg> element that scales with the web page."""
    with pictures.drawing(width, height) as (figure, axes):
        draw(figure, axes, plot)
        return pictures.svg(figure, f"{plot.title}, {width:.0f}")


def both(wide: str, narrow: str) -> str:
    """Returns HTML with two versions of a plot, for wide and narrow screens; CSS shows one."""
    return f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>'


def shown(plot: Plot, width: float, height: float) -> str:
    """Returns HTML of a plot in two versions: of a given size for screens, and for phones."""
    return both(render(plot, width, height), render(plot, *PHONE))


def ranking(
    title: str,
    axis: str,
    marks: Sequence[Mark],
    legend: Sequence[tuple] = (),
    width: float = 760,
) -> str:
    """Returns a plot as an <svg> element, a ranking with a row for each marker, largest first.

    The label stands at the left or, where the plot is narrow, above its row.
    """
    rows = sorted(marks, key=lambda mark: -mark.x)
    narrow = width < NARROW
    step = 34 if narrow else 24
    with pictures.drawing(width, 90 + step * len(rows) + 20 * len(legend)) as (figure, axes):
        span = limits(Axis(axis, log=True), [mark.x for mark in rows])
        axes.set_xscale("log")
        axes.set_xlim(span[0], span[1] * (2.2 if narrow else 1.2))
        axes.set_ylim(len(rows) - 0.4, -0.8)
        scale(Axis(axis, log=True), axes.xaxis, (span[0], span[1] * 1.5), narrow)
        axes.grid(False, axis="y")
        axes.set_xlabel(axis)
        if narrow:
            axes.yaxis.set_major_locator(NullLocator())
            axes.spines["left"].set_visible(False)  # the labels begin there
        else:
            axes.set_yticks(range(len(rows)), [mark.label for mark in rows])
            axes.tick_params("y", labelcolor=LIGHT["ink"], length=0)
        for row, mark in enumerate(rows):
            axes.plot([span[0], mark.x], [row, row], color=LIGHT[mark.tone], alpha=0.5, linewidth=1)
            pictures.dot(axes, mark.x, row, mark.tone, mark.shape, mark.hollow, mark.data)
            axes.annotate(
                number(mark.x),
                (mark.x, row),
                (9, 0),
                textcoords="offset points",
                va="center",
                color=LIGHT["dim"],
            )
            if narrow:
                where = (0, row - 0.42), axes.get_yaxis_transform()
                axes.text(*where[0], mark.label, transform=where[1], va="center", fontsize=11)
        pictures.legend(figure, axes, [pictures.handle(*entry) for entry in legend])
        return pictures.svg(figure, f"{title}, {width:.0f}")

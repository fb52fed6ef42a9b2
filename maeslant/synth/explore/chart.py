# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG: points and lines over linear or logarithmic axes, coloured by the page's style.

Colours are classes (tone-NAME), so that a page in the dark has others. A mark's shape says the same
as its colour, for those who see no difference between colours.
"""

import dataclasses
import html
import math
from collections.abc import Sequence

# Widths of a label's letters in units of its size, about; others are WIDTH.
WIDTH = 0.58
WIDTHS = dict.fromkeys("il.,:;'|!() ", 0.34) | dict.fromkeys("fjrt-/", 0.42)
WIDTHS |= dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&=", 0.74) | dict.fromkeys("mwMW%", 0.95)
SHAPES = {
    "circle": "M-4.6,0a4.6,4.6 0 1,0 9.2,0a4.6,4.6 0 1,0 -9.2,0z",
    "square": "M-4.2,-4.2h8.4v8.4h-8.4z",
    "diamond": "M0,-6.2L5.6,0L0,6.2L-5.6,0z",
    "triangle": "M0,-5.8L5.6,4.2L-5.6,4.2z",
    "cross": "M-4.4,-4.4L4.4,4.4M4.4,-4.4L-4.4,4.4",
    "plus": "M-5.6,0H5.6M0,-5.6V5.6",
}
OPEN = ("cross", "plus")  # drawn as strokes


@dataclasses.dataclass(frozen=True)
class Mark:
    """A point; ``data`` names its record for the page's script, as "r7" or "p3"."""

    x: float
    y: float
    tone: str
    shape: str = "circle"
    hollow: bool = False
    label: str = ""
    data: str = ""


@dataclasses.dataclass(frozen=True)
class Line:
    """Points that are joined, with a name at the end or in the legend."""

    points: Sequence[tuple[float, float]]
    tone: str
    dashed: bool = False
    stairs: bool = False
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Axis:
    """A title with its unit; the range is that of the data, unless ``low`` or ``high`` say."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    whole: bool = False  # ticks at whole numbers only


@dataclasses.dataclass(frozen=True)
class Plot:
    """All of a plot but its size."""

    title: str
    x: Axis
    y: Axis
    marks: Sequence[Mark] = ()
    lines: Sequence[Line] = ()
    legend: Sequence[tuple[str, str, bool, str]] = ()  # tone, shape or "line", hollow, text


def number(value: float) -> str:
    """A figure as people write it, about three digits of it."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return text if "e" not in text else f"{value:.2g}"


class Scale:
    """From values to pixels along one axis."""

    def __init__(self, axis: Axis, values: Sequence[float], start: float, end: float) -> None:
        known = [value for value in values if value is not None and (value > 0 or not axis.log)]
        low, high = min(known, default=1), max(known, default=10)
        self.log = axis.log
        if axis.log:
            low, high = low / 1.35, high * 1.5
        else:
            low, high = min(0, low), high * 1.1
        self.low = axis.low if axis.low is not None else low
        self.high = axis.high if axis.high is not None else high
        if self.high <= self.low:
            self.high = self.low * 2 if axis.log else self.low + 1
        self.start, self.end, self.whole = start, end, axis.whole

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        if self.log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[tuple[float, bool]]:
        """Values with a line, and whether they have a number too."""
        if not self.log:
            rough = (self.high - self.low) / 6
            power = 10 ** math.floor(math.log10(rough))
            step = next(n * power for n in (1, 2, 5, 10) if n * power >= rough)
            if self.whole:
                step = 1 if self.high - self.low <= 12 else max(1, round(step))
            first = math.ceil(self.low / step)
            return [(n * step, True) for n in range(first, int(self.high / step + 1e-9) + 1)]
        decades = math.log10(self.high / self.low)
        named = (1,) if decades > 3 else (1, 3) if decades > 2 else (1, 2, 5)
        found = []
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for digit in range(1, 10):
                value = digit * 10.0**power
                if self.low <= value <= self.high:
                    found.append((value, digit in named))
        return found


def _wide(text: str, size: float = 11.5) -> float:
    """Pixels that a text takes, about."""
    return size * sum(WIDTHS.get(letter, WIDTH) for letter in text)


def _path(shape: str, x: float, y: float, tone: str, hollow: bool) -> str:
    kind = "stroke" if shape in OPEN else "hollow" if hollow else "solid"
    return (
        f'<path class="mark {kind} tone-{tone}" transform="translate({x:.1f},{y:.1f})" '
        f'd="{SHAPES[shape]}"/>'
    )


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start", more: str = "") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>'
        f"{html.escape(text)}</text>"
    )


FAR = 25  # px: a label that far below its mark is led to it by a line


class _Places:
    """Where labels stand, so that none covers another or a mark."""

    def __init__(self, left: float, right: float, bottom: float) -> None:
        self.taken: list[tuple[float, float, float, float]] = []
        self.left, self.right, self.bottom = left, right, bottom

    def take(self, x: float, y: float, wide: float, high: float) -> bool:
        """Take a place unless it is taken, or outside."""
        left, top, right, bottom = x, y, x + wide, y + high
        if left < self.left or top < 2 or right > self.right or bottom > self.bottom:
            return False
        for other in self.taken:
            if left < other[2] and right > other[0] and top < other[3] and bottom > other[1]:
                return False
        self.taken.append((left, top, right, bottom))
        return True

    def label(self, x: float, y: float, mark: Mark) -> str:
        """A label beside a mark, others' at the right; nothing where there is no room."""
        text = mark.label
        wide = _wide(text, 11)
        near = [(-7, -7, "end"), (-10, 4, "end"), (0, -12, "middle"), (8, 18, "start")]
        far = [(10, 4, "start"), (8, 17, "start"), (0, -12, "middle"), (0, 20, "middle")]
        far += [(8, -9, "start"), (-8, 17, "end"), (0, 32, "middle"), (8, 31, "start")]
        far += [(-8, 31, "end"), (0, 45, "middle")]
        for dx, dy, anchor in (*far, *near) if mark.hollow else (*near, *far):
            left = x + dx - {"start": 0, "end": wide, "middle": wide / 2}[anchor]
            if self.take(left - 2, y + dy - 10, wide + 4, 12):
                lead = f"M{x:.1f},{y + 6:.1f}L{x + dx:.1f},{y + dy - 10:.1f}"
                lead = f'<path class="lead" d="{lead}"/>'
                return (lead if dy > FAR else "") + _text(x + dx, y + dy, text, "name", anchor)
        return ""


def render(plot: Plot, width: float = 760, height: float = 430) -> str:
    """The plot as an <svg> that scales with the page."""
    rows = _legend_rows(plot.legend, width - 80)
    left, right, top, bottom = 64.0, width - 18, 16.0 + 20 * len(rows), height - 50
    values = [(m.x, m.y) for m in plot.marks] + [p for line in plot.lines for p in line.points]
    x = Scale(plot.x, [value[0] for value in values], left, right)
    y = Scale(plot.y, [value[1] for value in values], bottom, top)
    out = [
        f'<svg class="plot" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{html.escape(plot.title, quote=True)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    for value, named in x.ticks():
        kind = "grid" if named else "grid fine"
        out.append(f'<path class="{kind}" d="M{x(value):.1f},{top:.1f}V{bottom:.1f}"/>')
        if named:
            out.append(_text(x(value), bottom + 18, number(value), "tick", "middle"))
    for value, named in y.ticks():
        kind = "grid" if named else "grid fine"
        out.append(f'<path class="{kind}" d="M{left:.1f},{y(value):.1f}H{right:.1f}"/>')
        if named:
            out.append(_text(left - 8, y(value) + 4, number(value), "tick", "end"))
    out.append(f'<path class="axis" d="M{left},{top}V{bottom}H{right}"/>')
    out.append(_text((left + right) / 2, height - 10, plot.x.title, "title", "middle"))
    turn = f' transform="rotate(-90 14 {(top + bottom) / 2:.1f})"'
    out.append(_text(14, (top + bottom) / 2, plot.y.title, "title", "middle", turn))
    for line in plot.lines:
        out.append(_line(line, x, y))
    places = _Places(left + 2, width - 2, bottom)
    places.taken += [(x(m.x) - 7, y(m.y) - 6, x(m.x) + 7, y(m.y) + 6) for m in plot.marks]
    names = []
    for mark in plot.marks:
        drawn = _path(mark.shape, x(mark.x), y(mark.y), mark.tone, mark.hollow)
        if mark.data:
            drawn = f'<g class="point" data-of="{mark.data}" tabindex="0">{drawn}</g>'
        out.append(drawn)
        if mark.label:
            names.append(places.label(x(mark.x), y(mark.y), mark))
    out += _legend(rows, left)
    return "\n".join([*out, *filter(None, names), "</svg>"])


def alone(svg: str, style: str) -> str:
    """A plot with its style inside and a ground of its own, for a file."""
    style = "\n".join(line.strip() for line in style.splitlines() if "/*" not in line)
    inside = f'<style>{style}</style><rect width="100%" height="100%" fill="var(--panel)"/>'
    head, rest = svg.split(">", 1)
    return f"{head}>{inside}{rest}\n"


def _legend_rows(entries: Sequence[tuple], width: float) -> list[list[tuple]]:
    rows: list[list[tuple]] = []
    used = width + 1.0
    for entry in entries:
        wide = 34 + _wide(entry[3])
        if used + wide > width:
            rows.append([])
            used = 0.0
        rows[-1].append(entry)
        used += wide
    return rows


def _legend(rows: Sequence[Sequence[tuple]], left: float) -> list[str]:
    """The legend's rows, at the top."""
    out = []
    for row, entries in enumerate(rows):
        at, high = left + 6, 12.0 + 20 * row
        for tone, shape, hollow, text in entries:
            if shape in ("line", "dashed"):
                dash = " dashed" if shape == "dashed" else ""
                out.append(f'<path class="line{dash} tone-{tone}" d="M{at - 6:.1f},{high}h16"/>')
            else:
                out.append(_path(shape, at + 2, high, tone, hollow))
            out.append(_text(at + 14, high + 4, text, "legend"))
            at += 34 + _wide(text)
    return out


def _line(line: Line, x: Scale, y: Scale) -> str:
    steps = []
    last = None
    for px, py in line.points:
        if last is None:
            steps.append(f"M{x(px):.1f},{y(py):.1f}")
        elif line.stairs:
            steps.append(f"H{x(px):.1f}V{y(py):.1f}")
        else:
            steps.append(f"L{x(px):.1f},{y(py):.1f}")
        last = (px, py)
    if line.stairs and last:
        steps.append(f"H{x.end:.1f}")
    kind = "line dashed" if line.dashed else "line"
    return f'<path class="{kind} tone-{line.tone}" d="{"".join(steps)}"/>'


def ranking(
    title: str,
    axis: str,
    marks: Sequence[Mark],
    legend: Sequence[tuple] = (),
    width: float = 760,
) -> str:
    """A row for each mark, the largest first, its label at the left; x is logarithmic."""
    rows = sorted(marks, key=lambda mark: -mark.x)
    entries = _legend_rows(legend, width - 40)
    left, right, step, top = 300.0, width - 70, 22.0, 8.0 + 20 * len(entries)
    bottom = top + 6 + step * len(rows)
    x = Scale(Axis(axis, log=True), [mark.x for mark in rows], left, right)
    out = [
        f'<svg class="plot" viewBox="0 0 {width:.0f} {bottom + 46:.0f}" role="img" '
        f'aria-label="{html.escape(title, quote=True)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    for value, named in x.ticks():
        if named:
            out.append(f'<path class="grid" d="M{x(value):.1f},{top}V{bottom:.1f}"/>')
            out.append(_text(x(value), bottom + 16, number(value), "tick", "middle"))
    out.append(_text((left + right) / 2, bottom + 38, axis, "title", "middle"))
    for row, mark in enumerate(rows):
        at = top + 12 + step * row
        drawn = (
            f'<path class="line thin tone-{mark.tone}" d="M{left},{at}H{x(mark.x):.1f}"/>'
            + _path(mark.shape, x(mark.x), at, mark.tone, mark.hollow)
            + _text(left - 10, at + 4, mark.label, "row", "end")
            + _text(x(mark.x) + 10, at + 4, number(mark.x), "tick")
        )
        out.append(f'<g class="point" data-of="{mark.data}" tabindex="0">{drawn}</g>')
    return "\n".join([*out, *_legend(entries, 20), "</svg>"])

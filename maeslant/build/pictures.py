# SPDX-License-Identifier: Apache-2.0
"""Draws plots as SVG or PNG in one style, with labels beside marks, for light and dark pages.

Colours are names of LIGHT. An SVG refers to them as variables of CSS, so that a page, or a picture
by itself, has others in the dark. Matplotlib draws; :func:`svg` makes its output fit for a page.
"""

import contextlib
import html
import io
import pathlib
import re
from collections.abc import Iterator, Sequence

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from maeslant import paths

# Based on Okabe and Ito's palette for readers with colour vision deficiencies.
LIGHT = {
    "paper": "#ffffff", "panel": "#f6f7f9", "ink": "#1c2127", "dim": "#5b6570", "rule": "#d9dee4",
    "fine": "#eef0f3", "blue": "#0072b2", "green": "#00855f", "purple": "#a6478a",
    "sky": "#2f8fc4", "red": "#c4500b", "orange": "#b97a00", "grey": "#6f7780", "mark": "#fff3c4",
}  # fmt: skip
DARK = {
    "paper": "#14181d", "panel": "#1c2229", "ink": "#e6e9ec", "dim": "#9aa5b1", "rule": "#3a444f",
    "fine": "#252c34", "blue": "#57b4ee", "green": "#35c99b", "purple": "#de94c6",
    "sky": "#8fd0f5", "red": "#f58e50", "orange": "#efb730", "grey": "#a0a9b3", "mark": "#4a3f12",
}  # fmt: skip
# Each family has a shape of its own too, for readers who cannot tell the colours apart.
SHAPES = {
    "circle": "o", "square": "s", "diamond": "D", "triangle": "^", "cross": "x", "plus": "+",
}  # fmt: skip
OPEN = ("cross", "plus")  # drawn as strokes
STROKES = {"line": "-", "dashed": "--", "dotted": ":"}
SIZES = {"circle": 58, "square": 50, "diamond": 46, "triangle": 66, "cross": 44, "plus": 72}
STYLE = {
    "figure.dpi": 72, "savefig.dpi": 72, "figure.facecolor": LIGHT["panel"],
    "savefig.facecolor": LIGHT["panel"], "axes.facecolor": LIGHT["panel"],
    "font.size": 12, "font.family": "sans-serif", "text.color": LIGHT["ink"],
    "axes.edgecolor": LIGHT["dim"], "axes.labelcolor": LIGHT["ink"], "axes.labelsize": 12.5,
    "axes.titlesize": 13.5, "axes.titlelocation": "left", "axes.titleweight": "bold",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "axes.axisbelow": True, "grid.color": LIGHT["rule"], "grid.linewidth": 0.8,
    "xtick.color": LIGHT["dim"], "ytick.color": LIGHT["dim"], "xtick.minor.size": 0,
    "ytick.minor.size": 0, "xtick.major.size": 3, "ytick.major.size": 3, "lines.linewidth": 2,
    "legend.frameon": False, "legend.fontsize": 12, "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.4, "legend.borderaxespad": 0.2, "svg.fonttype": "none",
}  # fmt: skip
# Style of a picture on a page and by itself. Text is outlined in the background's colour.
CSS = """
svg.plot { width: 100%; height: auto; display: block; overflow: visible;
  stroke-linejoin: round; stroke-linecap: butt;
  font-family: system-ui, Helvetica, Arial, sans-serif; }
svg.plot .name text { paint-order: stroke; stroke: var(--panel); stroke-width: 4px;
  stroke-linejoin: round; }
svg.plot .point { cursor: pointer; outline: none; }
svg.plot .point:hover path, svg.plot .point:focus path, svg.plot .point.pinned path {
  stroke: var(--ink) !important; stroke-width: 2.6px !important; }
svg.plot .point.dim { opacity: 0.16; }
"""
NAME_SIZE = 11.5  # px, of labels beside marks
ROOM = 8  # px around a mark that no label covers
FAR = 24  # px: a label farther from its mark gets a leader line
# Tried places of a label: its direction from the mark, then its distance in pixels.
TURNS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
STEPS = (10, 17, 26, 38)
FARTHER = (52, 70, 90, 115, 145, 180, 220)  # for labels that must be placed
CROSSED = 30  # cost of a line under a label, in pixels of distance


def colours() -> str:
    """Returns the CSS variables for the colours of plots, in light and in dark."""
    light = "; ".join(f"--{name}: {value}" for name, value in LIGHT.items())
    dark = "; ".join(f"--{name}: {value}" for name, value in DARK.items())
    return (
        f":root {{ {light}; }}\n"
        f"@media (prefers-color-scheme: dark) {{\n"
        f'  :root:not([data-theme="light"]) {{ {dark}; }}\n}}\n'
        f':root[data-theme="dark"] {{ {dark}; }}\n'
    )


def number(value: float) -> str:
    """Returns a number as text for a plot: about three digits, commas between thousands."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return text if "e" not in text else f"{value:.2g}"


@contextlib.contextmanager
def drawing(width: float, height: float) -> Iterator[tuple[Figure, Axes]]:
    """Yields a Matplotlib figure and axes of a given pixel size, in the project's style."""
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **STYLE, "backend": "agg"}):
        figure, axes = pyplot.subplots(figsize=(width / 72, height / 72), layout="constrained")
        try:
            yield figure, axes
        finally:
            pyplot.close(figure)


def dot(
    axes: Axes, x: float, y: float, tone: str, shape: str = "circle", hollow: bool = False,
    data: str = "", **more: object,
) -> None:  # fmt: skip
    """Draws a mark at a point of a plot; ``data`` names the mark for a web page's script."""
    color = LIGHT[tone]
    if shape in OPEN:
        look = {"color": color, "linewidths": 2.2}
    elif hollow:
        look = {"facecolors": LIGHT["panel"], "edgecolors": color, "linewidths": 1.8}
    else:
        look = {"facecolors": color, "edgecolors": LIGHT["panel"], "linewidths": 1}
    made = axes.scatter(
        [x], [y], s=SIZES[shape], marker=SHAPES[shape], zorder=3, clip_on=False, **look, **more
    )
    if data:
        made.set_gid(f"point-{data}")


def handle(tone: str, shape: str, hollow: bool, text: str) -> matplotlib.artist.Artist:
    """Returns a legend entry of a plot for a mark or a line.

    ``shape`` is the shape of a mark, "line", "dashed" or "dotted".
    """
    color = LIGHT[tone]
    if shape in STROKES:
        return matplotlib.lines.Line2D([], [], color=color, linestyle=STROKES[shape], label=text)
    return matplotlib.lines.Line2D(
        [], [], linestyle="", marker=SHAPES[shape], markersize=7, label=text, color=color,
        markerfacecolor=LIGHT["panel"] if hollow else color,
        markeredgecolor=color, markeredgewidth=2 if hollow or shape in OPEN else 0.5,
    )  # fmt: skip


def legend(figure: Figure, axes: Axes, handles: Sequence[matplotlib.artist.Artist]) -> None:
    """Draws a plot's legend above its axes, in as many columns as fit."""
    if not handles:
        return
    width = figure.get_size_inches()[0] * 72
    for columns in range(len(handles), 0, -1):
        made = figure.legend(handles=handles, loc="outside upper left", ncols=columns)
        if columns == 1 or made.get_window_extent().width < width - 12:
            return
        made.remove()


def _boxes(axes: Axes, marks: Sequence[tuple[float, float]]) -> list[Bbox]:
    """Returns the boxes, in pixels, around a plot's marks, which no label may cover."""
    at = axes.transData.transform(marks)
    return [Bbox.from_extents(x - ROOM, y - ROOM, x + ROOM, y + ROOM) for x, y in at]


def _crossed(axes: Axes, lines: Sequence[matplotlib.lines.Line2D]) -> list[Path]:
    """Returns the paths, in pixels, of a plot's lines, which labels should not cover."""
    return [line.get_transform().transform_path(line.get_path()) for line in lines]


def _wrapped(text: str) -> list[str]:
    """Returns the ways to write a plot label: on one line and, if it is long, on two lines."""
    cut = [at for at in range(len(text)) if text[at] == " "]
    cut = [at for at in cut if text[at - 1] == ","] or cut
    if len(text) < 16 or not cut:
        return [text]
    at = min(cut, key=lambda at: abs(at - len(text) / 2))
    return [text, f"{text[:at]}\n{text[at + 1 :]}"]


def labels(
    figure: Figure,
    axes: Axes,
    wanted: Sequence[tuple[float, float, str]],
    marks: Sequence[tuple[float, float]],
    must: int = 0,
) -> list[str]:
    """Places labels beside a plot's marks without overlap; returns the labels that fit.

    A name covers no mark, no other name and no edge, and avoids lines where it can. A name without
    room is left out; raises ValueError if it is one of the first ``must``.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the labels below must not move the axes
    renderer = figure.canvas.get_renderer()
    area = axes.get_window_extent(renderer)
    taken = _boxes(axes, marks) if marks else []
    lines = _crossed(axes, axes.get_lines())
    stand = []
    for index, (x, y, text) in enumerate(wanted):
        px, py = axes.transData.transform((x, y))
        best = None
        for lines_of_it in _wrapped(text):
            size = _extent(axes, lines_of_it, renderer)
            for step in (*STEPS, *FARTHER) if index < must and best is None else STEPS:
                for dx, dy in TURNS:
                    left = px + dx * step - {1: 0, 0: size.width / 2, -1: size.width}[dx]
                    low = py + dy * step - {1: 0, 0: size.height / 2, -1: size.height}[dy]
                    box = Bbox.from_bounds(left - 2, low - 1, size.width + 4, size.height + 2)
                    inside = (
                        box.x0 >= area.x0 + 2 and box.x1 <= area.x1 + 8
                        and box.y0 >= area.y0 + 2 and box.y1 <= area.y1 + 4
                    )  # fmt: skip
                    if inside and not any(box.overlaps(other) for other in taken):
                        under = sum(path.intersects_bbox(box, filled=False) for path in lines)
                        if step > FAR:  # other names under its leader line
                            leader = Path([(px, py), _nearest(box, px, py)])
                            names = taken[len(marks) :]
                            under += sum(leader.intersects_bbox(n, filled=False) for n in names)
                        if under and index >= must:
                            continue
                        cost = CROSSED * under + step + 4 * ("\n" in lines_of_it)
                        if best is None or cost < best[0]:
                            best = cost, box, lines_of_it, dx, step
        if best is None and index < must:
            raise ValueError(f"no room for the label {text!r}")
        if best is None:
            continue
        _, box, words, dx, step = best
        taken.append(box)
        align = {1: "left", 0: "center", -1: "right"}[dx]
        at = {1: box.x0 + 2, 0: (box.x0 + box.x1) / 2, -1: box.x1 - 2}[dx]
        if step > FAR:
            near = _nearest(box, px, py)
            lines.append(Path([(px, py), near]))
            ends = axes.transData.inverted().transform([(px, py), near])
            axes.plot(*zip(*ends, strict=True), color=LIGHT["dim"], linewidth=0.8, zorder=2)
        made = axes.text(
            *axes.transData.inverted().transform((at, (box.y0 + box.y1) / 2)), words,
            ha=align, va="center", fontsize=NAME_SIZE, linespacing=1.1, zorder=4,
        )  # fmt: skip
        made.set_gid(f"name-{index}")
        stand.append(text)
    return stand


def _nearest(box: Bbox, x: float, y: float) -> tuple[float, float]:
    """Returns the point of a label's box that is nearest to a point of the plot."""
    return min(max(x, box.x0), box.x1), min(max(y, box.y0), box.y1)


def _extent(axes: Axes, text: str, renderer: object) -> Bbox:
    """Returns the box that a plot label fills, in pixels."""
    made = axes.text(0, 0, text, fontsize=NAME_SIZE, linespacing=1.1, transform=None)
    size = made.get_window_extent(renderer)
    made.remove()
    return size


def svg(figure: Figure, title: str, *, alone: bool = False) -> str:
    """Returns a Matplotlib figure as an <svg> element; equal figures give equal bytes.

    ``alone``: with its style inside, for a file; else for a page that has :func:`colours` and CSS.
    """
    out = io.StringIO()
    # Salted by the title: pictures on one page share no identifiers.
    with matplotlib.rc_context({"svg.hashsalt": title, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="point-([\w.]+)"', r'<g class="point" data-of="\1" tabindex="0"', text)
    text = re.sub(r'<g id="name-\d+"', '<g class="name"', text)
    text = re.sub(r'<g id="[\w.]+_\d+"', "<g", text)
    # Make each mark a path of its own, so that a page's style applies to it.
    shapes = dict(re.findall(r'<path id="(m\w+)" d="([^"]*)"[^>]*/>', text))
    text = re.sub(r'<defs>\s*<path id="m\w+" [^>]*/>\s*</defs>', "", text)
    text = re.sub(
        r'<use xlink:href="#(m\w+)" x="([^"]*)" y="([^"]*)"',
        lambda use: f'<path transform="translate({use[2]},{use[3]})" d="{shapes[use[1]]}"',
        text,
    )
    text = re.sub(r"-?\d+\.\d{2,}", lambda value: _rounded(float(value[0])), text)
    for name, value in LIGHT.items():
        text = text.replace(value, f"var(--{name})")
    # CSS names fonts that computers have; widths were measured in a wide one.
    text = re.sub(r" font-family: [^;\"]*;| transform=\"rotate\(-?0 [^\"]*\"", "", text)
    text = _flat(re.sub(r"\s*\n\s*", " ", text))
    box = re.search(r'viewBox="([^"]*)"', text)[1]
    head = f'<svg class="plot" viewBox="{box}" role="img" xmlns="http://www.w3.org/2000/svg" '
    head += f'xmlns:xlink="http://www.w3.org/1999/xlink" aria-label="{html.escape(title)}"'
    style = ""
    if alone:
        wide, high = box.split()[2:]
        head += f' width="{wide}" height="{high}"'
        style = f"<style>{colours()}{CSS}</style>"
    return f"{head}>{style}{text[text.index('>') + 1 :]}"


def _rounded(value: float) -> str:
    """Returns a coordinate of an SVG plot as text, with one decimal, or two if it is small."""
    return f"{round(value, 1 if abs(value) >= 10 else 2):g}"


def _flat(text: str) -> str:
    """Returns SVG text without groups that lack attributes, every other element on a line."""
    kept: list[bool] = []

    def tag(match: re.Match) -> str:
        if match[0] == "</g>":
            return "</g>\n" if kept.pop() else ""
        if not match[0].endswith("/>"):
            kept.append(match[0] != "<g>")
        return f"{match[0]}\n" if match[0].startswith("<g ") else ""

    text = re.sub(r"<g[^>]*>|</g>", tag, re.sub(r"> +<", "><", text))
    return re.sub(r"(/>|</text>|</clipPath>)(?=<)", r"\1\n", text)


def save(figure: Figure, title: str, path: pathlib.Path) -> None:
    """Saves a Matplotlib figure as an .svg or .png file, by the path's suffix."""
    if path.suffix == ".svg":
        paths.write(path, svg(figure, title, alone=True))
        return
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=144)
    paths.write(path, out.getvalue())

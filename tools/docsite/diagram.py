# SPDX-License-Identifier: Apache-2.0
"""Draws the block diagram of an RTL module as SVG: ports and submodules."""

import html
from collections.abc import Sequence

from maeslant.build import pictures

LINE = 18  # pixels a line of text
CHARACTER = 7.3  # pixels, of 12-pixel monospace
MARGIN = 12
WIRE = 26
STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: var(--ink); }
.name { font-weight: 700; font-size: 14px; }
.page { fill: var(--panel); }
.box { fill: var(--paper); stroke: var(--dim); stroke-width: 1.5; }
.part { fill: var(--blue); fill-opacity: 0.15; stroke: var(--blue); }
line { stroke: var(--dim); stroke-width: 1.5; }
path { fill: var(--dim); }
"""


def _width(texts: Sequence[str]) -> float:
    return max((len(text) for text in texts), default=0) * CHARACTER


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{mark}>{html.escape(text)}</text>'


def _wire(x: float, y: float) -> str:
    """Returns the SVG of an arrow to the right, which shows a port in a block diagram."""
    tip = x + WIRE
    return (
        f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{tip - 6:.0f}" y2="{y:.0f}"/>'
        f'<path d="M{tip:.0f} {y:.0f}l-8 -4v8z"/>'
    )


def draw(
    name: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    parameters: Sequence[str],
    parts: Sequence[str],
) -> str:
    """Returns an RTL module's block diagram as SVG text: inputs left, outputs right."""
    middle = _width([name.ljust(len(name) + 3), *parts, *parameters]) + 2 * MARGIN
    left, right = _width(inputs), _width(outputs)
    box = left + middle + right + 4 * MARGIN
    ports = max(len(inputs), len(outputs))
    inner = 2 + len(parameters) + 1.5 * len(parts)
    height = max(ports + 1, inner) * LINE + 2 * MARGIN
    x0, y0 = MARGIN + WIRE, MARGIN
    centre = x0 + 2 * MARGIN + left + middle / 2
    shapes = [f'<rect class="box" x="{x0}" y="{y0}" width="{box:.0f}" height="{height:.0f}"/>']
    for side, names in (("in", inputs), ("out", outputs)):
        for index, port in enumerate(names):
            y = y0 + MARGIN + (index + 1) * LINE
            edge = x0 if side == "in" else x0 + box
            anchor = "start" if side == "in" else "end"
            inside = edge + 6 if side == "in" else edge - 6
            shapes.append(_wire(edge - WIRE if side == "in" else edge, y - 4))
            shapes.append(_text(inside, y, port, anchor))
    y = y0 + MARGIN + LINE
    shapes.append(_text(centre, y, name, "middle", "name"))
    for parameter in parameters:
        y += LINE
        shapes.append(_text(centre, y, parameter, "middle"))
    y += LINE / 2
    for part in parts:
        y += LINE * 1.5
        half = _width([part]) / 2 + 8
        shapes.append(
            f'<rect class="part" rx="4" x="{centre - half:.0f}" y="{y - 14:.0f}" '
            f'width="{2 * half:.0f}" height="20"/>'
        )
        shapes.append(_text(centre, y, part, "middle"))
    width, whole = x0 + box + WIRE + MARGIN, height + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {whole:.0f}" '
        f'width="{width:.0f}" height="{whole:.0f}"><title>{html.escape(name)}: ports and parts'
        f"</title><style>{pictures.colours()}{STYLE}</style>"
        f'<rect class="page" width="100%" height="100%"/>{"".join(shapes)}</svg>\n'
    )

# SPDX-License-Identifier: Apache-2.0
"""Builds the plots of `maeslant explore` from synthesized designs and related work."""

from collections.abc import Callable, Iterable, Sequence

from maeslant.synth.explore.chart import Axis, Line, Mark, Plot
from maeslant.synth.explore.records import Record, front, speed

# Tone, shape and words of each family of ours and kind of others.
OURS = {
    "iterative": ("blue", "circle", "ours: iterative"),
    "pipeline": ("green", "diamond", "ours: pipelines"),
    "gcm": ("purple", "triangle", "ours: AES-GCM"),
    "other": ("sky", "square", "ours: others"),
}
OTHERS = {
    "paper": ("red", "square", "papers, reported"),
    "open": ("orange", "cross", "open designs"),
    "sold": ("grey", "plus", "sold designs, reported"),
    "gpu": ("grey", "square", "GPUs, reported"),
    "software": ("ink", "circle", "software, one thread"),
}
FRONT = ("green", "line", False, "Pareto front: nothing smaller is faster")
# Says how a throughput was found, for the comparison with related work.
STAGES = {
    "mapped": ("green", "diamond", False, "mapped: a tool's estimate before layout"),
    "fitted": ("sky", "square", False, "fitted: placed and routed on an FPGA"),
    "silicon": ("red", "circle", True, "silicon: ran on an FPGA, GPU or processor"),
    "claimed": ("grey", "plus", True, "claimed: the source does not say which"),
}
SBOX_TONES = {
    "table": ("blue", "circle"),
    "tower field": ("red", "square"),
    "Boolean circuit": ("green", "diamond"),
    "low-depth circuit": ("purple", "triangle"),
    "one-hot": ("orange", "plus"),
}
# Of papers with standard cells, beside which library of ours their figures may stand.
BESIDE = {"nangate45": ("45 nm CMOS", "nangate45"), "ecp5": ("ecp5",), "xc7": ("xc7", "Kintex-7")}
TABLE3 = "Dong Table 3"  # the source of Dong et al.'s ten points

Value = Callable[[Record], float | None]


def mark(
    record: Record, x: float, y: float, name: str, label: str = "", first: bool = False
) -> Mark:
    """Returns the plot marker of a design, filled for Maeslant's, hollow for published designs."""
    style = OURS.get(record.family) or OTHERS[record.family]
    return Mark(x, y, style[0], style[1], record.family in OTHERS, label, name, first)


def legend(records: Iterable[Record], *more: tuple) -> list[tuple[str, str, bool, str]]:
    """Returns legend entries for the design families in a plot."""
    there = {record.family for record in records}
    found = [(*style[:2], False, style[2]) for name, style in OURS.items() if name in there]
    found += [(*style[:2], True, style[2]) for name, style in OTHERS.items() if name in there]
    return [*found, *more]


class Names:
    """Maps designs to the identifiers by which the web page's script finds plot markers."""

    def __init__(self, ours: Sequence[Record], others: Sequence[Record]) -> None:
        self.known = {id(record): f"r{index}" for index, record in enumerate(ours)}
        self.known |= {id(record): f"p{index}" for index, record in enumerate(others)}

    def __call__(self, record: Record) -> str:
        """Returns the identifier of a design's plot markers for the web page's script."""
        return self.known[id(record)]


def area(ours: Sequence[Record], others: Sequence[Record], target: str, names: Names) -> Plot:
    """Returns a plot of area over throughput in a technology, with the Pareto front."""
    same = [record for record in ours if record.target == target]
    beside = [record for record in others if record.target in BESIDE.get(target, ())]
    unit = "LUTs" if any(record.kge is None for record in same) else "kGE (thousand NAND2)"
    bits = all(speed(record) == record.bits for record in same)
    gain = speed if not bits else lambda record: record.bits
    best = front(same, lambda record: record.area, gain)
    on = {id(record) for record in best}
    shown = [r for r in (*beside, *same) if r.area and gain(r)]
    table = [r for r in beside if r.source == TABLE3]
    on |= {id(r) for r in beside if r not in table[1:-1]}  # of a line the ends are named
    ends = {id(r) for r in (*best[:1], *best[-1:])}  # the smallest and the fastest of ours
    marks = [
        mark(r, r.area, gain(r), names(r), r.label if id(r) in on else "", id(r) in ends)
        for r in shown
    ]
    # The front's names first: they get the room.
    marks.sort(key=lambda one: one.hollow)
    lines = [Line([(r.area, gain(r)) for r in best], "green", stairs=True)]
    lines += [Line([(r.area, gain(r)) for r in table], "red", dashed=True)] if table else []
    return Plot(
        f"Area against throughput, {target}",
        Axis(f"area, {unit}", log=True),
        Axis("bits a clock" if bits else "throughput, Gbit/s (AES-128 blocks)", log=True),
        marks,
        lines,
        legend(shown, FRONT),
    )


def lanes(
    ours: Sequence[Record], others: Sequence[Record], value: Value, title: str, names: Names
) -> Plot:
    """Returns a plot of a design metric over the number of AES lanes, beside Dong et al."""
    marks: list[Mark] = []
    lines, entries = [], []
    paper = sorted((r for r in others if r.source == TABLE3), key=lambda r: r.lanes)
    groups: dict[tuple[str, float, str], list[Record]] = {}
    for record in ours:
        row = next(name for name in record.sweeps if name.startswith("lanes"))
        groups.setdefault((row, record.regs, record.sbox), []).append(record)
    tones = [("green", "diamond"), ("blue", "circle"), ("purple", "triangle"), ("sky", "square")]
    for (row, regs, sbox), (tone, shape) in zip(groups, tones * 3, strict=False):
        group = sorted((r for r in groups[row, regs, sbox] if value(r)), key=lambda r: r.lanes)
        if not group:
            continue
        marks += [Mark(r.lanes, value(r), tone, shape, False, "", names(r)) for r in group]
        lines.append(Line([(r.lanes, value(r)) for r in group], tone))
        # As the builds are called: lanes10_fast, lanes10_frugal and so on.
        kind = row.removeprefix("lanes").strip("_") or "fast"
        words = f"ours, {kind}: {regs:g} register{'s' if regs > 1 else ''} a round"
        entries.append((tone, shape, False, words + (f", {sbox}" if sbox else "")))
    marks += [Mark(r.lanes, value(r), "red", "square", True, "", names(r)) for r in paper]
    lines.append(Line([(r.lanes, value(r)) for r in paper], "red", dashed=True))
    entries.append(("red", "square", True, TABLE3))
    return Plot(
        title,
        Axis("N, pipelines on one key expansion", low=0.5, high=10.5, whole=True),
        Axis(title, low=0),
        marks,
        lines,
        entries,
    )


def latency(ours: Sequence[Record], others: Sequence[Record], names: Names) -> Plot:
    """Returns a plot of designs' latency per block over their throughput."""
    beside = [record for record in others if record.source == TABLE3]
    shown = [r for r in (*ours, *beside) if r.latency_ns and r.gbps]
    best = front(ours, lambda record: record.latency_ns, lambda record: record.gbps)
    on = {id(record) for record in (*best, beside[0], beside[-1])}
    marks = [mark(r, r.gbps, r.latency_ns, names(r), r.label if id(r) in on else "") for r in shown]
    return Plot(
        "Latency against throughput, nangate45",
        Axis("throughput, Gbit/s", log=True),
        Axis("latency of an AES-128 block, ns", log=True),
        sorted(marks, key=lambda one: one.hollow),
        [Line([(r.gbps, r.latency_ns) for r in beside], "red", dashed=True)],
        legend(shown),
    )


def same_flow(ours: Sequence[Record], others: Sequence[Record], target: str, names: Names) -> Plot:
    """Returns a plot of area over bits a clock, beside open designs synthesized in the same way."""
    beside = [r for r in others if r.basis == "mapped" and r.target == target]
    same = [r for r in ours if r.target == target]
    shown = [r for r in (*beside, *same) if r.area and r.bits]
    best = front(same, lambda r: r.area, lambda r: r.bits)
    on = {id(r) for r in (*best, *beside)}
    unit = "LUTs" if target != "nangate45" else "kGE (thousand NAND2)"
    marks = [
        mark(r, r.area, r.bits, names(r), r.label if id(r) in on else "", r is best[0])
        for r in shown
    ]
    marks.sort(key=lambda one: not one.hollow)  # theirs are labelled first
    return Plot(
        f"Area against bits a clock, {target}",
        Axis(f"area, {unit}", log=True),
        Axis("bits a clock", log=True),
        marks,
        legend=legend(shown),
    )


def choices(ours: Sequence[Record], value: Value, title: str, names: Names) -> Plot:
    """Returns a plot of an AES pipeline's area or speed over registers per round, by S-box type."""
    marks: list[Mark] = []
    lines, entries = [], []
    for sbox, (tone, shape) in SBOX_TONES.items():
        group = sorted((r for r in ours if r.sbox == sbox and value(r)), key=lambda r: r.regs)
        if group:
            marks += [Mark(r.regs, value(r), tone, shape, False, "", names(r)) for r in group]
            lines.append(Line([(r.regs, value(r)) for r in group], tone))
            entries.append((tone, shape, False, sbox))
    return Plot(
        title,
        Axis(
            "registers a round",
            low=0.5,
            high=max([r.regs for r in ours], default=3) + 0.5,
            whole=True,
        ),
        Axis(title, low=0),
        marks,
        lines,
        entries,
    )


def pool(rows: Sequence[dict]) -> Plot:
    """Returns a plot of blocks per clock over the number of cards in a pool."""
    data = [(row["cards"], row["blocks_per_clock"]) for row in rows]
    # One card without a pool, where it was measured too.
    one = data[0][1] / rows[0]["times_one"]
    most = data[-1][0]
    return Plot(
        "The device pool",
        Axis("simulated cards behind one call", low=0, high=most + 0.5, whole=True),
        Axis("blocks a clock", low=0),
        [Mark(*point, "green", "diamond") for point in data],
        [
            Line(data, "green"),
            Line([(0, 0), (most, most * one)], "ink", dashed=True),
            Line([(0, 0), (most, 0.9 * most * one)], "red", dashed=True),
        ],
        [
            ("green", "diamond", False, "measured"),
            ("ink", "dashed", False, "as many times one card"),
            ("red", "dashed", False, "the goal, 0.9 of that"),
        ],
    )

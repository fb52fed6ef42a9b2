# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of `maeslant overhead` and draws its figure."""

import dataclasses
import json
import pathlib
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from maeslant import paths
from maeslant.bench.overhead import software, timeline
from maeslant.bench.overhead.software import Times
from maeslant.bench.overhead.timeline import CLOCK_MHZ, Load
from maeslant.build import simulator
from maeslant.errors import MaeslantError

PICTURE = paths.BUILD / "reports" / "overhead.svg"
PUBLISHED = paths.RESULTS / "overhead.svg"
CHUNKS = (16 << 10, 32 << 10, 64 << 10)  # tried; the best one counts, for each card by itself
TRANSFER_GOAL, INFERENCE_GOAL = 0.10, 0.005
# A picture of 224 x 224 x 3 numbers of 4 bytes in, 1,000 of them out: about Ghosh's 600 KB, in
# the number of DMAs that the paper gives.
IMAGE, RESULT = 224 * 224 * 3 * 4, 4_000


@dataclasses.dataclass(frozen=True)
class Network:
    """A network of Ghosh's Table 3, with its times in milliseconds."""

    name: str
    inference: float
    plain: float
    protected: float
    dmas: int

    @property
    def load(self) -> Load:
        """The DMA transfers of one inference of the network."""
        count = self.dmas - 1
        each = -(-IMAGE // count // 64) * 64
        sizes = [min(each, IMAGE - at) for at in range(0, IMAGE, each)]
        return Load(tuple(sizes), (RESULT,))


NETWORKS = (
    Network("ResNet18", 7.36, 0.152, 0.275, 6),
    Network("GoogleNet", 2.51, 0.152, 0.276, 6),
    Network("AlexNet", 11.5, 0.111, 0.196, 5),  # the paper prints 115
)
BARS = (("paper", "grey", None), ("warm", "blue", None), ("cold", "green", "//"))
CACHES = (
    "warm: the host's buffers are in its caches, as after the program wrote them;\n"
    "cold: they come from main memory. Percent: what protection adds to the time."
)
RATES = (4, 6, 8, 10, 12, 14, 16, 20)  # GB/s of sealing, supposed
NO_SOFTWARE = Times(0, 0, 0, 0, 0)


def timing(cold: bool) -> timeline.Timing:
    """Returns a timing function that uses the warm or cold software times, measured once."""
    return lambda size: software.measure(size)[1 if cold else 0]


def _milliseconds(clocks: int) -> float:
    return clocks / CLOCK_MHZ / 1000


def collect(err: Console) -> dict[str, object]:
    """Measures the software and simulates the cards; returns one record."""
    with err.status("making the cards from their SystemVerilog (minutes, once)"):
        for build in (timeline.PROTECTED, timeline.UNPROTECTED):
            simulator.build(build)
    rows = []
    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    progress = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    total = 6 * len(CHUNKS) * len(NETWORKS) + 2 * len(RATES)
    cards = timeline.Protected(), timeline.Unprotected()
    try:
        with progress:
            task = progress.add_task("transferring", total=total)

            def best(network: Network, card: object, times: timeline.Timing) -> tuple[int, int]:
                found = []
                for chunk in CHUNKS:
                    found.append((card.run(network.load, chunk, times), chunk))
                    progress.advance(task)
                return min(found)

            for network in NETWORKS:
                bare = [best(network, card, lambda size: NO_SOFTWARE)[0] for card in cards]
                for cold in (False, True):
                    guarded, chunk = best(network, cards[0], timing(cold))
                    plain, plain_chunk = best(network, cards[1], timing(cold))
                    rows.append(_row(network, cold, (guarded, chunk), (plain, plain_chunk), bare))
            supposed = _supposed(cards[0], rows, lambda: progress.advance(task))
    finally:
        for card in cards:
            card.close()
    rates = {
        how: {name: round(CHUNKS[1] / getattr(times, name), 2) for name in ("copy", "seal", "open")}
        for how, times in zip(("warm", "cold"), software.measure(CHUNKS[1])[:2], strict=True)
    }
    return {
        "library": software.measure(CHUNKS[0])[2],
        "gigabytes_per_second": rates,
        "rows": rows,
        "supposed": supposed,
    }


def _supposed(card: timeline.Protected, rows: list[dict], seen: Callable[[], None]) -> list[dict]:
    """Computes the first network's overhead for assumed rates of encryption and decryption."""
    found = []
    for cold in (False, True):
        row = next(row for row in rows if row["memory"] == ("cold" if cold else "warm"))
        for rate in RATES:

            def times(size: int, rate: int = rate, cold: bool = cold) -> Times:
                known = timing(cold)(CHUNKS[1])
                return dataclasses.replace(known, seal=size / rate, open=size / rate)

            clocks = min(card.run(NETWORKS[0].load, chunk, times) for chunk in CHUNKS[:2])
            over = _milliseconds(clocks) / row["plain_ms"] - 1
            found.append({"memory": row["memory"], "seal_gbs": rate, "transfer_overhead": over})
            seen()
    return found


def _row(network: Network, cold: bool, guarded: tuple, plain: tuple, bare: list) -> dict:
    (guarded_clocks, chunk), (plain_clocks, plain_chunk) = guarded, plain
    times = timing(cold)
    sealing = sum(times(n).seal for size in network.load.h2d for n in _cut(size, chunk))
    copying = sum(times(n).copy for size in network.load.h2d for n in _cut(size, plain_chunk))
    over = _milliseconds(guarded_clocks - plain_clocks)
    return {
        "network": network.name,
        "memory": "cold" if cold else "warm",
        "inference_ms": network.inference,
        "dmas": network.dmas,
        "bytes": IMAGE + RESULT,
        "chunk": chunk,
        "plain_chunk": plain_chunk,
        "plain_ms": _milliseconds(plain_clocks),
        "protected_ms": _milliseconds(guarded_clocks),
        "overhead_ms": over,
        "transfer_overhead": over / _milliseconds(plain_clocks),
        "inference_overhead": over / network.inference,
        "card_plain_ms": _milliseconds(bare[1]),
        "card_protected_ms": _milliseconds(bare[0]),
        "copying_ms": copying / 1e6,
        "sealing_ms": sealing / 1e6,
        "paper": {
            "plain_ms": network.plain,
            "protected_ms": network.protected,
            "transfer_overhead": network.protected / network.plain - 1,
            "inference_overhead": (network.protected - network.plain) / network.inference,
        },
    }


def _cut(size: int, chunk: int) -> list[int]:
    return timeline.pieces(size, chunk)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < 2 else "right")
    return table


def show(record: dict, console: Console) -> None:
    """Prints the tables of the overhead and of its parts."""
    title = f"Transfers of one inference, {IMAGE + RESULT:,} bytes (ms; card at {CLOCK_MHZ} MHz)"
    names = ("network", "memory", "plain", "protected", "overhead", "transfer", "inference")
    table = _table(title, *names)
    parts = _table("Where the time goes (ms)", "network", "memory", "card", "guard", "copy", "seal")
    told = set()
    for row in record["rows"]:
        if row["network"] not in told:
            told.add(row["network"])
            paper = row["paper"]
            table.add_row(
                row["network"],
                "paper",
                f"{paper['plain_ms']:.3f}",
                f"{paper['protected_ms']:.3f}",
                f"{paper['protected_ms'] - paper['plain_ms']:.3f}",
                f"+{100 * paper['transfer_overhead']:.0f} %",
                f"+{100 * paper['inference_overhead']:.2f} %",
                style="dim",
            )
        met = row["transfer_overhead"] <= TRANSFER_GOAL
        met &= row["inference_overhead"] <= INFERENCE_GOAL
        table.add_row(
            row["network"],
            row["memory"],
            f"{row['plain_ms']:.3f}",
            f"{row['protected_ms']:.3f}",
            f"{row['overhead_ms']:.3f}",
            f"{100 * row['transfer_overhead']:+.1f} %",
            f"{100 * row['inference_overhead']:+.2f} %",
            style="" if met else "yellow",
        )
        parts.add_row(
            row["network"],
            row["memory"],
            f"{row['card_plain_ms']:.3f}",
            f"{row['card_protected_ms'] - row['card_plain_ms']:+.4f}",
            f"{row['copying_ms']:.3f}",
            f"{row['sealing_ms']:.3f}",
        )
    console.print(table)
    console.print(parts)
    rates = record["gigabytes_per_second"]
    console.print(
        f"Software here, GB/s, chunks of 32 KB: copy {rates['warm']['copy']} warm, "
        f"{rates['cold']['copy']} cold; seal {rates['warm']['seal']} and {rates['cold']['seal']}; "
        f"open {rates['warm']['open']} and {rates['cold']['open']} ({record['library']}).\n"
        "card: the same transfers with software that takes no time; guard: what protection adds to "
        "them; copy, seal: all software, most of it while the card moves the chunk before.\n"
        f"If it sealed faster, {NETWORKS[0].name}, GB/s: {_line(record, 'warm')}; "
        f"{_line(record, 'cold')}.\n"
        f"Goals: transfer +{100 * TRANSFER_GOAL:.0f} %, inference +{100 * INFERENCE_GOAL:.1f} %.",
        highlight=False,
    )


def _line(record: dict, memory: str) -> str:
    """Formats the overheads at assumed rates as one line of text."""
    rows = [row for row in record["supposed"] if row["memory"] == memory]
    each = (f"{r['seal_gbs']}: {100 * r['transfer_overhead']:+.0f} %" for r in rows)
    return f"{memory} " + ", ".join(each)


def draw(record: dict, path: pathlib.Path) -> None:
    """Draws the figure to a file; its suffix sets the format."""
    from maeslant.build import pictures

    with pictures.drawing(760, 470) as (figure, axes):
        most = 0.0
        for at, network in enumerate(NETWORKS):
            rows = {r["memory"]: r for r in record["rows"] if r["network"] == network.name}
            for group, (of, tone, hatch) in enumerate(BARS):
                source = rows["warm"]["paper"] if of == "paper" else rows[of]
                for kind, shade in (("plain", 0.4), ("protected", 1.0)):
                    x = at + (group - 1) * 0.29 + (0.065 if kind == "protected" else -0.065)
                    micros = 1000 * source[f"{kind}_ms"]
                    most = max(most, micros)
                    axes.bar(
                        x, micros, 0.12, color=pictures.LIGHT[tone], alpha=shade, hatch=hatch,
                        edgecolor=pictures.LIGHT["panel"],
                    )  # fmt: skip
                axes.annotate(
                    f"+{100 * source['transfer_overhead']:.0f} %",
                    (x, micros),
                    (0, 3),
                    textcoords="offset points",
                    ha="center",
                    fontsize=11,
                )
        axes.set_xticks(range(len(NETWORKS)), [n.name for n in NETWORKS])
        axes.tick_params("x", length=0, labelcolor=pictures.LIGHT["ink"], labelsize=12.5)
        axes.grid(False, axis="x")
        axes.set_ylabel("transfers of an inference, about 600 KB, µs")
        axes.set_ylim(0, 1.12 * most)
        pictures.legend(figure, axes, _legend())
        axes.set_xlabel(CACHES)
        pictures.save(figure, "Transfers of an inference, without protection and with it", path)


def _legend() -> list:
    """Returns the legend's entries: unprotected and protected, per source and memory."""
    from matplotlib.patches import Patch

    from maeslant.build import pictures

    names = {"paper": "Ghosh et al.", "warm": "ours, warm", "cold": "ours, cold"}
    return [
        Patch(
            facecolor=pictures.LIGHT[tone], alpha=shade, hatch=hatch, label=f"{names[of]}, {kind}",
            edgecolor=pictures.LIGHT["panel"],
        )
        for of, tone, hatch in BARS
        for kind, shade in (("unprotected", 0.4), ("protected", 1.0))
    ]  # fmt: skip


def run(as_json: bool, picture: pathlib.Path, console: Console, err: Console) -> None:
    """Measures the overhead, prints the tables and draws the figure."""
    if picture == PICTURE:
        picture.parent.mkdir(parents=True, exist_ok=True)
    if picture.suffix not in (".svg", ".png"):
        raise MaeslantError(f"{picture}: the picture is a .svg or a .png")
    if not picture.parent.is_dir():
        raise MaeslantError(f"{picture.parent}: there is no such folder")
    record = collect(err)
    draw(record, picture)
    if as_json:
        console.print_json(json.dumps(record | {"picture": str(picture)}))
        return
    if not console.is_terminal:
        console.width = 120
    show(record, console)
    console.print(f"The picture: {picture}", highlight=False)

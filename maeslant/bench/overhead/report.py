# SPDX-License-Identifier: Apache-2.0
"""Measures, prints and draws the overhead of protection for Ghosh's networks."""

import dataclasses
import json
import pathlib
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table

from maeslant import paths, progress
from maeslant.bench.overhead import networks, software, timeline
from maeslant.bench.overhead.software import Times
from maeslant.bench.overhead.timeline import CLOCK_MHZ, Load
from maeslant.bench.published import publish
from maeslant.build import c_driver, simulator
from maeslant.errors import MaeslantError
from maeslant.synth import design

PICTURE = paths.BUILD / "reports" / "overhead.svg"
# A record and a picture for each library that seals: openssl or ipsec.
NAME = f"overhead_{c_driver.gcm_library()}"
PUBLISHED = paths.RESULTS / f"{NAME}.svg"
CHUNKS = (16 << 10, 32 << 10, 64 << 10)  # tried; the best one counts, for each card by itself
TRANSFER_GOAL, INFERENCE_GOAL = 0.10, 0.005
# A picture of 224 x 224 x 3 numbers of 4 bytes in, 1,000 of them out: about Ghosh's 600 KB, in
# the number of DMAs that the paper gives.
IMAGE, RESULT = 224 * 224 * 3 * 4, 4_000


@dataclasses.dataclass(frozen=True)
class Network:
    """Describes a neural network of Table 3 of Ghosh et al., with the published times."""

    name: str
    inference: float
    plain: float
    protected: float
    dmas: int

    @property
    def load(self) -> Load:
        """Returns the sizes of the DMA transfers that one inference of the neural network needs."""
        count = self.dmas - 1
        each = -(-IMAGE // count // 64) * 64
        sizes = [min(each, IMAGE - at) for at in range(0, IMAGE, each)]
        return Load(tuple(sizes), (RESULT,))


NETWORKS = (
    Network("ResNet18", 7.36, 0.152, 0.275, 6),
    Network("GoogleNet", 2.51, 0.152, 0.276, 6),
    Network("AlexNet", 11.5, 0.111, 0.196, 5),  # the paper prints 115
)
CAPTION = (
    "memory, and threads that seal; *: a projection, more threads than processors.\n"
    "warm: the host's buffers are in its caches; cold: they come from main memory."
)
THREADS = (1, 2, 4)
RUNS = 3
RATES = (4, 6, 8, 10, 12, 16)  # GB/s of each of two sealing threads, for other processors
ACCOUNT = NETWORKS[0]  # whose time is divided in the table and the picture
PARTS = {
    "bus": "bus",
    "card": "rest of card",
    "requests": "requests",
    "first_seal": "first seal",
    "sealing": "bus waits for sealing",
    "last_open": "last open",
}
NO_SOFTWARE = Times(0, 0, 0, 0, 0)


def collect(err: Console) -> dict[str, object]:
    """Measures encryption in software, simulates DMA for all networks; returns the times."""
    made = {network.name: networks.measured(network.name, err) for network in NETWORKS}
    with err.status(f"making the cards from their SystemVerilog ({simulator.ONCE})"):
        for build in (timeline.PROTECTED, timeline.UNPROTECTED):
            simulator.build(build)
    rows = []
    cards = timeline.Protected(), timeline.Unprotected()
    try:
        with progress.bar("transferring", 2 * len(THREADS) * len(NETWORKS), err) as bar:
            for network in NETWORKS:
                for cold in (False, True):
                    plain = {n: best_unprotected(cards[1], network, cold, n) for n in THREADS}
                    for threads in THREADS:
                        row = account(
                            cards[0],
                            network,
                            cold,
                            threads,
                            plain[1],
                            made[network.name]["plain_ms"],
                        )
                        row["plain_as_many_us"] = _micros(plain[threads])
                        rows.append(row)
                        bar.advance()
                    if network is ACCOUNT and not cold:
                        by_rate = {f"{rate}": of_rate(cards[0], rate, plain[1]) for rate in RATES}
    finally:
        for card in cards:
            card.close()
    return {
        "library": software.measure(CHUNKS[0])[2],
        "processor": software.processor_name(),
        "processors": software.processors(),
        "driver": {
            threads: c_driver.time_copies(threads=threads)
            for threads in THREADS
            if threads <= software.processors()
        },
        "inferences": made,
        "transfer_percent": {
            f"{row['memory']}_{row['threads']}": round(100 * row["transfer_overhead"])
            for row in rows
            if row["network"] == ACCOUNT.name
        },
        "by_rate_percent": by_rate,
        "rows": rows,
    }


def of_rate(card: timeline.Protected, rate: float, plain: int) -> int:
    """Returns the time that protection adds to DMA, in percent, if each thread seals ``rate`` GB/s.

    Returns percent of ``plain``, the clocks of the unprotected transfers here. The other times are
    those of this processor, with buffers in caches.
    """

    def timing(size: int) -> Times:
        return dataclasses.replace(software.times(size, False, 2), seal=size / rate)

    clocks = _median(lambda: card.run(ACCOUNT.load, 0, timing, 2))
    return round(100 * (clocks / plain - 1))


def best_unprotected(card: timeline.Unprotected, network: Network, cold: bool, threads: int) -> int:
    """Returns the unprotected card's clocks for a neural network's DMA, with the best chunk size.

    ``threads``: as many copy.
    """

    def timing(size: int) -> Times:
        return software.times(size, cold, threads)

    def run(chunk: int) -> int:
        return _median(lambda: card.run(network.load, chunk, timing, threads))

    return min(run(chunk) for chunk in CHUNKS)


def _median(run: Callable[[], int]) -> int:
    """Runs a simulation several times and returns the median of the clock counts."""
    return sorted(run() for _ in range(RUNS))[RUNS // 2]


def account(
    card: timeline.Protected,
    network: Network,
    cold: bool,
    threads: int,
    plain: int,
    inference_ms: float,
) -> dict[str, object]:
    """Returns the time of a neural network's encrypted DMA, divided into bus, card, software, rest.

    ``plain``: clocks of the unprotected transfers; ``inference_ms``: of the network here, to which
    what protection adds to the transfers is compared.

    The transfers are simulated with software that takes no time, then with its parts added one
    after another: what each adds to the time is its part.
    """

    def times(size: int) -> Times:
        return software.times(size, cold, threads)

    def run(chunk: int, **none: float) -> int:
        timing = lambda size: dataclasses.replace(times(size), **none)  # noqa: E731
        return _median(lambda: card.run(network.load, chunk, timing, threads))

    # One thread: chunks of the size that is best; more: as the driver divides transfers.
    total, chunk = min((run(chunk), chunk) for chunk in (CHUNKS if threads == 1 else (0,)))
    bare = _median(lambda: card.run(network.load, chunk, lambda size: NO_SOFTWARE, threads))
    opened = run(chunk, seal=0.0)
    last = times(network.load.d2h[-1])  # a single chunk: nothing goes on meanwhile
    last_open = timeline.clocks_of(last.open + last.answer)
    first = (timeline.pieces(network.load.h2d[0], chunk) if chunk else [timeline.LEAST_CHUNK])[0]
    first_seal = min(timeline.clocks_of(times(first).seal), total - opened)
    bus = (IMAGE + RESULT) // timeline.BUS_BYTES
    rate = threads * CHUNKS[2] / times(CHUNKS[2]).seal
    bound = max(bare, timeline.clocks_of(IMAGE / rate))
    parts = {
        "bus": bus,
        "card": bare - bus,
        "requests": opened - bare - last_open,
        "last_open": last_open,
        "first_seal": first_seal,
        "sealing": total - opened - first_seal,
    }
    return {
        "network": network.name,
        "memory": "cold" if cold else "warm",
        "threads": threads,
        "projected": threads > software.processors(),
        "inference_ms": inference_ms,
        "dmas": network.dmas,
        "bytes": IMAGE + RESULT,
        "chunk": chunk,
        "seal_gbs": rate,
        "copy_gbs": threads * CHUNKS[2] / times(CHUNKS[2]).copy,
        "open_gbs": threads * CHUNKS[2] / times(CHUNKS[2]).open,
        "plain_us": _micros(plain),
        "protected_us": _micros(total),
        "transfer_overhead": total / plain - 1,
        "inference_overhead": _micros(total - plain) / 1000 / inference_ms,
        "parts_us": {name: _micros(clocks) for name, clocks in parts.items()},
        "bound_us": _micros(bound),
        "bound_overhead": bound / plain - 1,
    }


def _micros(clocks: int) -> float:
    return clocks / CLOCK_MHZ


def _table(title: str, left: int, *columns: str) -> Table:
    table = Table(title=title, box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right")
    return table


def _threads(row: dict) -> str:
    """Returns the number of encrypting threads as text, with a star for extrapolated times."""
    return f"{row['threads']}{'*' if row['projected'] else ''}"


def show(record: dict, console: Console) -> None:
    """Prints tables of the time that encryption adds to neural networks' DMA and inference."""
    title = f"Transfers of one inference, {IMAGE + RESULT:,} bytes (µs; card at {CLOCK_MHZ} MHz)"
    names = ("network", "memory", "threads", "plain", "protected", "transfer", "inference")
    table = _table(title, 2, *names)
    for network in NETWORKS:
        added = network.protected - network.plain
        table.add_row(
            network.name,
            "paper",
            "",
            f"{1000 * network.plain:.0f}",
            f"{1000 * network.protected:.0f}",
            f"+{100 * added / network.plain:.0f} %",
            f"+{100 * added / network.inference:.2f} %",
            style="dim",
        )
        for row in (row for row in record["rows"] if row["network"] == network.name):
            met = row["transfer_overhead"] <= TRANSFER_GOAL
            met &= row["inference_overhead"] <= INFERENCE_GOAL
            table.add_row(
                network.name,
                row["memory"],
                _threads(row),
                f"{row['plain_us']:.0f}",
                f"{row['protected_us']:.0f}",
                f"{100 * row['transfer_overhead']:+.0f} %",
                f"{100 * row['inference_overhead']:+.2f} %",
                style="" if met else "yellow",
            )
    console.print(table)
    console.print(parts_table(record))
    console.print(rates_table(record))
    console.print(inference_table(record))
    console.print(
        f"{record['processor']}, {record['processors']} processors; {record['library']}.\n"
        "GB/s: sealing of all threads, measured with as many at once, chunks of 64 KB. "
        "* more threads than processors here:\n"
        "a projection, in which each thread seals as fast as one of those measured.\n"
        "bus: the bytes at 64 a clock; card: latencies and the guard; requests: to seal and send "
        "them; first seal, last open,\n"
        "sealing: the bus waits for a chunk.\n"
        "plain: the unprotected card, one thread copies; as many: added, if as many threads copy "
        "as seal.\nbound: added by the slower of card and sealing, if all else took no time. "
        "Not in it: to wake a thread.\n"
        f"Driver, fastest tenth of 400 times 1 MiB: {_driver(record)}.\n"
        "inference: what protection adds to these transfers, as a share of the network's own time "
        "in the last table;\nof Ghosh's, of his own.\n"
        f"Goals: transfer +{100 * TRANSFER_GOAL:.0f} %, inference +{100 * INFERENCE_GOAL:.1f} %.",
        highlight=False,
    )


def _driver(record: dict) -> str:
    """Returns a text with the C driver's GB/s of encryption and decryption, by thread count."""
    return "; ".join(
        f"{threads} thread{'s' if int(threads) > 1 else ''} seal{'' if int(threads) > 1 else 's'} "
        f"{rates['seal'] / 1e9:.1f} GB/s, open{'' if int(threads) > 1 else 's'} "
        f"{rates['open'] / 1e9:.1f}"
        for threads, rates in record["driver"].items()
    )


def parts_table(record: dict) -> Table:
    """Returns a table that splits the time of encrypted DMA into bus, card, software, rest."""
    title = f"Where the time goes: {ACCOUNT.name}, {ACCOUNT.dmas} transfers (µs)"
    short = ("first seal", "bus", "card", "requests", "sealing", "last open")
    names = ("memory", "threads", "GB/s", *short, "sum", "plain", "added", "bound", "as many")
    table = _table(title, 1, *names)
    for row in (row for row in record["rows"] if row["network"] == ACCOUNT.name):
        parts = row["parts_us"]
        each = ("first_seal", "bus", "card", "requests", "sealing", "last_open")
        table.add_row(
            row["memory"],
            _threads(row),
            f"{row['seal_gbs']:.1f}",
            *(f"{parts[name]:.1f}" for name in each),
            f"{row['protected_us']:.1f}",
            f"{row['plain_us']:.1f}",
            f"{100 * row['transfer_overhead']:+.0f} %",
            f"{100 * row['bound_overhead']:+.0f} %",
            f"{100 * (row['protected_us'] / row['plain_as_many_us'] - 1):+.0f} %",
        )
    return table


def rates_table(record: dict) -> Table:
    """Returns a table of the DMA time that encryption adds, by the encryption rate of a thread."""
    title = f"Other processors: {ACCOUNT.name}'s transfers, two threads, a projection by simulation"
    found = record["by_rate_percent"]
    table = _table(title, 1, "GB/s that each thread seals", *found)
    table.add_row("added", *(f"{percent:+} %" for percent in found.values()))
    return table


def inference_table(record: dict) -> Table:
    """Returns a table of inference times on both cards, beside the times of Ghosh et al."""
    title = f"Inference, from input to result (ms at {networks.CLOCK_MHZ} MHz)"
    names = ("network", "layers", "Ghosh", "added", "plain", "protected", "clocks added", "added")
    table = _table(title, 1, *names)
    for network in NETWORKS:
        found = record["inferences"][network.name]
        added = found["protected_clocks"] - found["plain_clocks"]
        table.add_row(
            network.name,
            str(found["layers"]),
            f"{network.inference:.2f}",
            f"+{100 * (network.protected - network.plain) / network.inference:.2f} %",
            f"{found['plain_ms']:.2f}",
            f"{found['protected_ms']:.2f}",
            f"{added:,}",
            f"{100 * found['overhead']:+.2f} %",
            style="" if found["overhead"] <= INFERENCE_GOAL else "yellow",
        )
    table.caption = f"{networks.CONDITIONS}; software takes no time"
    return table


def draw(record: dict, path: pathlib.Path) -> None:
    """Writes a plot of the time that encryption adds to DMA to an .svg or .png file."""
    from matplotlib.patches import Patch

    from maeslant.build import pictures

    tones = dict(zip(PARTS, ("blue", "sky", "purple", "orange", "red", "green"), strict=True))
    rows = [row for row in record["rows"] if row["network"] == ACCOUNT.name]
    bars = [("Ghosh", {"paper": 1000 * ACCOUNT.plain}, {"paper": 1000 * ACCOUNT.protected})]
    bars += [
        (f"{row['memory']}, {_threads(row)}", {"plain": row["plain_us"]}, row["parts_us"])
        for row in rows
    ]
    with pictures.drawing(760, 470) as (figure, axes):
        most = 0.0
        for at, (_name, plain, protected) in enumerate(bars):
            for parts, x in ((plain, at - 0.2), (protected, at + 0.2)):
                bottom = 0.0
                for name in (*PARTS, "plain", "paper"):
                    if name in parts:
                        tone = pictures.LIGHT[tones.get(name, "grey")]
                        axes.bar(x, parts[name], 0.36, bottom=bottom, color=tone,
                                 edgecolor=pictures.LIGHT["panel"])  # fmt: skip
                        bottom += parts[name]
                most = max(most, bottom)
            axes.annotate(
                f"{100 * (sum(protected.values()) / sum(plain.values()) - 1):+.0f} %",
                (at + 0.2, bottom), (0, 3), textcoords="offset points", ha="center", fontsize=11,
            )  # fmt: skip
        axes.set_xticks(range(len(bars)), [name for name, *_ in bars])
        axes.tick_params("x", length=0, labelcolor=pictures.LIGHT["ink"], labelsize=11)
        axes.grid(False, axis="x")
        axes.set_ylabel(f"transfers of an inference ({ACCOUNT.name}), about 600 KB, µs")
        axes.set_ylim(0, 1.12 * most)
        shown = [Patch(facecolor=pictures.LIGHT["grey"], label="unprotected; Ghosh et al.")]
        shown += [Patch(facecolor=pictures.LIGHT[tones[n]], label=PARTS[n]) for n in PARTS]
        pictures.legend(figure, axes, shown)
        made_by = (
            f"card: simulated, at {CLOCK_MHZ} MHz; {record['processor']}; {record['library']}."
        )
        axes.set_xlabel(f"{CAPTION}\n{made_by}")
        pictures.save(figure, "Transfers of an inference, without protection and with it", path)


def renew_inferences(
    err: Console, folder: pathlib.Path, published: pathlib.Path = paths.RESULTS
) -> dict[str, object]:
    """Measures the networks' inferences anew; returns the times by network.

    Writes the published records with these times to ``folder``, which may be theirs. Inferences
    are simulated without software, so the records' software times stay.
    """
    names = [file.name for file in sorted(published.glob("overhead_*.json"))]
    if not names:
        raise MaeslantError(f"{published} has no record of an overhead: this needs a checkout")
    made = {}
    for network in NETWORKS:
        made[network.name] = networks.measured(network.name, err) | {"commit": design.commit()}
    for name in names:
        record = json.loads((published / name).read_text())
        for network, inference in made.items():
            record = renewed(record, network, inference)
        paths.write(folder / name, json.dumps(record, indent=1) + "\n")
    return made


def renewed(record: dict, name: str, inference: dict[str, object]) -> dict:
    """Replaces a network's inference times in a record of encryption's cost; returns the record."""
    record["inferences"][name] = inference
    for row in (row for row in record["rows"] if row["network"] == name):
        row["inference_ms"] = inference["plain_ms"]
        added = row["protected_us"] - row["plain_us"]
        row["inference_overhead"] = added / 1000 / row["inference_ms"]
    return record


def run(as_json: bool, picture: pathlib.Path, console: Console, err: Console) -> None:
    """Measures the time that encryption adds to DMA transfers; prints tables and draws a plot.

    A picture that is to be published has its record beside it.
    """
    record = collect(err)
    draw(record, picture)
    if picture == PUBLISHED:
        publish(NAME, record)
    if as_json:
        console.print_json(json.dumps(record | {"picture": str(picture)}))
        return
    if not console.is_terminal:
        console.width = 120
    show(record, console)
    console.print(f"The picture: {picture}", highlight=False)

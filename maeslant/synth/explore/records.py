# SPDX-License-Identifier: Apache-2.0
"""Converts synthesis reports and related work to records for plots, with Pareto fronts."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Sequence

from maeslant.build.configurations import ITERATIVE
from maeslant.synth.explore import points
from maeslant.synth.explore.sweep import Outcome
from maeslant.synth.page import related_work

BLOCK = 128  # bits
BOTH = 3
DIRECTIONS = {1: "encrypts", 2: "decrypts", BOTH: "both"}
KEYS = {0: "128", 1: "128, 192", 2: "128, 192, 256"}
SBOXES = {0: "table", 1: "tower field", 2: "Boolean circuit", 3: "low-depth circuit", 4: "one-hot"}
FAMILIES = (  # of tops, by the beginning of their names
    ("mae_cipher_lanes", "pipeline"),
    ("mae_cipher_pipe", "pipeline"),
    ("mae_cipher_", "iterative"),
    ("mae_gcm", "gcm"),
)


@dataclasses.dataclass(frozen=True)
class Record:
    """Holds a design's figures in one technology, for plots: Maeslant's or a published design.

    Units: kge (thousand NAND2 of the library), mm2, lut, mhz, ns, gbps (Gbit/s, AES-128 blocks),
    mw, pj (a block), bits (a clock). What is not known is None.
    """

    label: str
    target: str
    family: str  # pipeline, iterative, gcm, other; or a peer's kind
    kge: float | None = None
    mm2: float | None = None
    lut: float | None = None
    ff: float | None = None
    mhz: float | None = None
    bits: float | None = None
    gbps: float | None = None
    latency_clocks: float | None = None
    latency_ns: float | None = None
    mw: float | None = None
    power_mhz: float | None = None
    pj: float | None = None
    lanes: int = 1
    regs: float = 1  # a round; half of one where a register stands behind every second round
    sbox: str = ""
    directions: str = ""
    keys: str = ""
    sweeps: tuple[str, ...] = ()
    report: str = ""  # ours: path of the report, relative to the page
    fingerprint: str = ""  # of what it was made of
    tools: str = ""
    commit: str = ""
    older: bool = False  # of RTL that has changed since
    left_out: str = ""
    source: str = ""  # a peer's: where its figures stand
    gbps_per_w: float | None = None  # as a peer prints them
    gbps_per_mm2: float | None = None
    does: str = ""
    basis: str = ""
    stage: str = "mapped"  # as in configs/related_work.yml; fitted where it was placed and routed

    @property
    def words(self) -> str:
        """Describes the design in words, for readers of the web page."""
        clocks = round(BLOCK / self.bits) if self.bits else 0
        kinds = {
            "iterative": f"a block in {clocks} clocks" if clocks and self.lanes == 1 else "",
            "pipeline": f"{self.lanes} pipelines" if self.lanes > 1 else "a pipeline",
            "gcm": "AES-GCM engine",
        }
        keys = "AES-128" if self.keys in ("", "128") else "AES, all key sizes"
        if self.keys == "128, 192":
            keys = "AES-128 and -192"
        ways = {"encrypts": "encryption", "decrypts": "decryption", "both": "both directions"}
        if self.family == "gcm":
            blocks = f"{self.bits / BLOCK:g} blocks a clock" if self.bits else ""
            return ", ".join(filter(None, (kinds["gcm"], blocks)))
        return ", ".join(filter(None, (kinds.get(self.family), keys, ways.get(self.directions))))

    @property
    def area(self) -> float | None:
        """Returns the design's area: thousands of gate equivalents, or LUTs on an FPGA."""
        return self.lut if self.kge is None else self.kge

    @property
    def density(self) -> float | None:
        """Returns the design's throughput per area in Gbit/s per mm²."""
        return self.gbps_per_mm2 or _ratio(self.gbps, self.mm2)

    @property
    def per_watt(self) -> float | None:
        """Returns the design's throughput per power in Gbit/s per W.

        Ours is of blocks that were counted while the power was: pj, or nothing.
        """
        if self.pj:
            return BLOCK / self.pj * 1000
        peer = self.gbps_per_w or _ratio(self.gbps, self.mw and self.mw / 1000)
        return peer if self.source else None

    def figures(self) -> dict[str, object]:
        """Returns all available figures of the design by name, for JSON in the web page."""
        found = dataclasses.asdict(self)
        found |= {"gbps_per_mm2": self.density, "gbps_per_w": self.per_watt}
        found["does"] = self.does or self.words
        return {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in found.items()
            if value not in (None, "", ())
        }


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def of(outcome: Outcome, page: pathlib.Path) -> Record:
    """Converts a synthesis report to a Record for plots, with a link to the report."""
    point, report = outcome.point, outcome.report
    area, timing, power = report["area"], report["timing"] or {}, report["power"] or {}
    values = point.values | report["parameters"]
    blocks, latency = _function(point.top, values, report.get("function") or {})
    mhz = timing.get("fmax_mhz")
    return Record(
        label=point.label,
        target=points.short(point.target),
        family=next((name for top, name in FAMILIES if point.top.startswith(top)), "other"),
        kge=area.get("kge"),
        mm2=area["um2"] / 1e6 if "um2" in area else None,
        lut=area.get("lut"),
        ff=area.get("flip_flops", area.get("ff")),
        mhz=mhz,
        bits=blocks and BLOCK * blocks,
        gbps=BLOCK * blocks * mhz / 1000 if blocks and mhz else None,
        latency_clocks=latency,
        latency_ns=latency * 1000 / mhz if latency and mhz else None,
        mw=power.get("mw"),
        power_mhz=power.get("clock_mhz"),
        pj=power.get("pj_per_block"),
        lanes=int(values.get("Lanes", 1)),
        regs=values.get("RegsPerRound", 1) / values.get("RoundsPerReg", 1),
        sbox=SBOXES.get(values.get("Sbox"), ""),
        directions=DIRECTIONS.get(BOTH if "gcm" in point.top else values.get("Dirs"), ""),
        keys=KEYS.get(values.get("MaxKeyLen"), ""),
        sweeps=point.sweeps,
        report=os.path.relpath(outcome.file, page.parent) if outcome.file else "",
        fingerprint=report["sources"][:8],
        tools=", ".join(report["tools"].values()),
        commit=report["commit"],
        older=outcome.older,
        left_out=report["left_out"],
        stage="fitted" if timing.get("seeds") else "mapped",
    )


def _function(
    top: str, values: dict[str, int], measured: dict[str, float]
) -> tuple[float | None, float | None]:
    """Returns a design's (AES blocks per clock, latency in clock cycles) for AES-128."""
    blocks, latency = measured.get("blocks_per_clock"), measured.get("latency_clocks")
    if top in ("mae_cipher_lanes", "mae_cipher_pipe"):
        blocks = blocks or values.get("Lanes", 1)
        regs, per_reg = values.get("RegsPerRound", 1), values.get("RoundsPerReg", 1)
        latency = latency or (10 * regs + 1 if per_reg == 1 else 10 // per_reg)
    elif top == "mae_cipher_lanes_aligned":
        blocks, latency = blocks or values.get("Lanes"), latency or 10
    elif top == "mae_cipher_lanes_systolic":
        blocks = blocks or values.get("Lanes")
        latency = latency or 10 * values.get("RegsPerRound", 3) + 2
    elif top in ITERATIVE:
        blocks, latency = blocks or values.get("Units", 1) / 10, latency or 10
    elif top == "mae_cipher_serial":
        blocks, latency = blocks or 1 / 337, latency or 336
    elif top == "mae_gcm_stream":
        blocks = blocks or values.get("Lanes")
        latency = None  # of a block inside a message: what counts is the tag's
    return blocks, latency


def others() -> list[Record]:
    """Reads the published designs of configs/related_work.yml as Records for plots."""
    found = []
    for design in related_work.designs():
        blocks, mhz = design.get("blocks_per_clock"), design.get("fmax_mhz")
        same = ("kge", "mm2", "lut", "mw", "gbps", "gbps_per_w", "gbps_per_mm2")
        given = {key: design[key] for key in same if key in design}
        found.append(
            Record(
                label=design["name"],
                target=design["target"],
                family=design["kind"],
                mhz=mhz,
                bits=blocks and BLOCK * blocks,
                latency_clocks=design.get("latency_clocks"),
                latency_ns=design.get("latency_ns"),
                power_mhz=mhz if "mw" in design else None,
                lanes=int(design.get("lanes", 1)),
                source=design["source"],
                does=design["does"],
                basis=design["basis"],
                stage=design["stage"],
                **given,
            )
        )
    return found


def front(
    records: Sequence[Record], cost: Callable[[Record], float | None], gain: Callable
) -> list[Record]:
    """Returns the designs on the Pareto front of a cost and a gain, in order of cost."""
    known = [record for record in records if cost(record) and gain(record)]
    found: list[Record] = []
    for record in sorted(known, key=lambda record: (cost(record), -gain(record))):
        if not found or gain(record) > gain(found[-1]):
            found.append(record)
    return found


def speed(record: Record) -> float | None:
    """Returns a design's throughput in Gbit/s, or in bits a clock if the clock rate is unknown."""
    return record.bits if record.target == "xc7" else record.gbps


def best(records: Sequence[Record]) -> set[int]:
    """Returns the indices of the records on the Pareto front of their technology."""
    found = set()
    for target in {record.target for record in records}:
        same = [record for record in records if record.target == target]
        on = {id(record) for record in front(same, lambda r: r.area, speed)}
        found |= {index for index, record in enumerate(records) if id(record) in on}
    return found

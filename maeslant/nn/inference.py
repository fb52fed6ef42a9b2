# SPDX-License-Identifier: Apache-2.0
"""Runs a network of an ONNX file on the simulated card: `maeslant infer --network`, `--model`.

Every feature map is read back and compared with the integer reference (maeslant.nn.integer), and
that with the onnx package's evaluator, which computes in floating point: exactly where all scales
are powers of two; with other scales its rounding may differ by a step.
"""

import contextlib
import dataclasses
import json
import pathlib
import time

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from maeslant import extras, progress
from maeslant.build import simulator
from maeslant.errors import MaeslantError
from maeslant.nn import compiler, graph, integer, networks
from maeslant.nn.commands import Shape
from maeslant.protected.kernel_card import ProtectedCard
from maeslant.sim.unprotected_card import COMPLETED
from maeslant.sim.unprotected_jobs import CLOCKS, UnprotectedJobs

UNPROTECTED, PROTECTED = "nn", "nn_protected"  # builds
SHAPE = Shape(32, 2)  # of KernelArray
MEMORY = 1 << 27  # bytes of their device memory
HOST_MEMORY = 1 << 25
CLOCK_MHZ = 200
OPTIONS = "latency=50-300&order=shuffled&seed=1"
CONDITIONS = "host memory: 50-300 clocks latency, answers shuffled"
MEMORY_CONDITIONS = "DDR4-1600 behind an AXI port"
PIECE = 1 << 24


class PlainCard(UnprotectedJobs):
    """Runs networks on the simulated unprotected card, with the interface of ProtectedCard."""

    def load(self, device: int, data: bytes, host: int = 0) -> None:
        """Writes bytes to the unprotected card's device memory in chunks."""
        for at in range(0, len(data), PIECE):
            super().load(device + at, data[at : at + PIECE], host)

    def infer(
        self, commands: int, source: int, data: bytes, result: int, size: int
    ) -> tuple[bytes, int]:
        """Loads an input, runs a command list on the unprotected card; returns (result, clocks)."""
        begin = self.clocks()
        for channel in self.pushed:
            self.pushed[channel] = self.sim.read32(channel + COMPLETED)
        self.wait_loaded(self.begin_load(source, data))
        self.start(commands)
        self.kernel = self.wait_run()
        found = self.fetched(self.begin_fetch(result, size))
        return found, self.clocks() - begin


def read_model(name: str | None, path: pathlib.Path | None) -> object:
    """Returns an ONNX model: a built-in network by name, or the content of a file."""
    extras.need_modules(["onnx"])
    if (name is None) == (path is None):
        raise MaeslantError("give a network (--network) or a file (--model), and not both")
    if path is not None:
        return graph.load(path)
    if name not in networks.NAMES:
        raise MaeslantError(f"no network {name!r}; there are: {', '.join(networks.NAMES)}")
    return networks.make(name)


def read_input(path: pathlib.Path) -> np.ndarray:
    """Reads a network's input array from a .npy file."""
    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise MaeslantError(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError):
        raise MaeslantError(f"{path} is no .npy file of numbers") from None


def evaluated(model: object, plan: compiler.Plan, values: np.ndarray) -> dict[str, np.ndarray]:
    """Returns every feature map as int8 by name, computed by the onnx package's evaluator."""
    from onnx.reference import ReferenceEvaluator

    tensor = plan.network.input
    real = (values.astype(np.float32) - tensor.zero) * np.float32(float(tensor.scale))
    name = graph.Reader(model).input
    found = ReferenceEvaluator(model).run(None, {name: real[None]}, intermediate=True)
    maps = {}
    for layer in plan.network.layers:
        one = layer.output
        raw = found[one.name].astype(np.int16) - 128 * one.unsigned
        maps[one.name] = raw.astype(np.int8).reshape(one.shape)
    return maps


def compare(
    plan: compiler.Plan, wanted: dict[str, np.ndarray], fetch: object
) -> tuple[int, int, list[str]]:
    """Compares a card's feature maps with the expected: returns (count, max. error, bad names)."""
    count, most, names = 0, 0, []
    for layer in plan.network.layers:
        name = layer.output.name
        place = plan.places[name]
        found = plan.unpack(name, fetch(place.address, place.planes * place.size))
        difference = np.abs(found.astype(np.int16) - wanted[name]).max()
        count += found.size
        most = max(most, int(difference))
        names += [name] if difference else []
    return count, most, names


@dataclasses.dataclass
class Run:
    """Holds the outcome of a network's inference on a card: result, feature maps, clock cycles."""

    result: bytes
    maps: dict[str, bytes]  # by tensor
    clocks: int  # from the input's transfer to the result in host memory
    kernel_clocks: int
    seconds: float


def run_card(
    plan: compiler.Plan, image: np.ndarray, is_protected: bool, layers: bool, err: Console
) -> Run:
    """Runs one int8 image through a compiled network on a simulated card; returns the Run."""
    build = PROTECTED if is_protected else UNPROTECTED
    with err.status(f"making the card from its SystemVerilog ({simulator.ONCE})"):
        simulator.build(build)
    begin = time.monotonic()
    place = plan.places[plan.network.output.name]
    with contextlib.ExitStack() as stack:
        stack.enter_context(progress.steps("running the network on the card", err))
        if is_protected:
            card = stack.enter_context(ProtectedCard(build, OPTIONS))
        else:
            card = stack.enter_context(PlainCard(build, OPTIONS, HOST_MEMORY))
        for part in (plan.parameters, plan.commands):
            card.load(*part)
        data, clocks = card.infer(
            plan.commands[0],
            plan.input_address,
            plan.pack_input(image),
            place.address,
            place.planes * place.size,
        )
        kernel, maps = card.read(CLOCKS), {}
        for layer in plan.network.layers if layers else ():
            where = plan.places[layer.output.name]
            maps[layer.output.name] = card.fetch(where.address, where.planes * where.size)
    return Run(data, maps, clocks, kernel, round(time.monotonic() - begin, 1))


def judged(run: Run, plan: compiler.Plan, wanted: dict[str, np.ndarray]) -> dict[str, object]:
    """Compares a card's inference with reference feature maps; returns label, errors, clocks."""
    place = plan.places[plan.network.output.name]
    result = plan.unpack(place.tensor.name, run.result)
    last = wanted[place.tensor.name]
    fetched = {plan.places[name].address: data for name, data in run.maps.items()}
    count, most, names = 0, 0, []
    if run.maps:
        count, most, names = compare(plan, wanted, lambda address, _size: fetched[address])
    return {
        "label": int(result.reshape(-1).argmax()),
        "equal": bool((result == last).all()) and not names,
        "values_compared": count or result.size,
        "greatest_difference": max(most, int(np.abs(result.astype(np.int16) - last).max())),
        "different": names,
        "kernel_clocks": run.kernel_clocks,
        "clocks": run.clocks,
        "milliseconds": round(run.clocks / CLOCK_MHZ / 1000, 3),
        "result": result.reshape(-1).tolist(),
        "seconds": run.seconds,
    }


def infer(
    model: object, values: np.ndarray | None, cards: list[bool], layers: bool, err: Console
) -> dict[str, object]:
    """Runs one image through a network on simulated cards; returns a comparison of all results.

    Each card's maps are compared with the integer reference, the bytes of two cards with each
    other, and the integer reference with the onnx package's evaluator.
    """
    network = graph.read(model)
    plan = compiler.compile_network(network, SHAPE, MEMORY)
    image = plan.quantise(networks.image(None, network.input.shape) if values is None else values)
    wanted = integer.maps(network, image)
    floating = evaluated(model, plan, image)
    steps = [np.abs(wanted[name] - floating[name].astype(np.int16)) for name in floating]
    runs = [run_card(plan, image, is_protected, layers, err) for is_protected in cards]
    found = {
        "layers": len(network.layers),
        "onnx_differences": sum(int((step > 0).sum()) for step in steps),
        "onnx_greatest_difference": max(int(step.max()) for step in steps),
        "multiplications": plan.multiplications(),
        "parameter_bytes": len(plan.parameters[1]),
        "input_bytes": plan.places[network.input.name].planes
        * plan.places[network.input.name].size,
        "cards": {
            PROTECTED if is_protected else UNPROTECTED: judged(run, plan, wanted)
            for is_protected, run in zip(cards, runs, strict=True)
        },
    }
    found["equal"] = all(card["equal"] for card in found["cards"].values())
    if len(runs) == 2:
        one, other = runs
        found["bytes_compared"] = sum(map(len, (one.result, *one.maps.values())))
        found["unlike_bytes"] = [n for n in one.maps if one.maps[n] != other.maps[n]]
        found["same_bytes"] = one.result == other.result and not found["unlike_bytes"]
        found["overhead_percent"] = round(100 * (one.clocks / other.clocks - 1), 3)
        found["equal"] &= found["same_bytes"]
    return found


def show(found: dict[str, object], name: str, console: Console) -> None:
    """Prints a network's inference results on the simulated cards: labels, equality, clocks."""
    for build, card in found["cards"].items():
        kind = "protected" if build == PROTECTED else "unprotected"
        verdict = "equal to" if card["equal"] else "[red]different from[/]"
        console.print(
            f"{name}, {kind}: label {card['label']}; {card['values_compared']:,} values of "
            f"{found['layers']} layers {verdict} the integer reference's"
        )
        if not card["equal"]:
            console.print(f"The greatest difference is {card['greatest_difference']}.")
    console.print(
        f"The integer reference and onnx.reference differ in {found['onnx_differences']:,} values, "
        f"by at most {found['onnx_greatest_difference']}."
    )
    if "same_bytes" in found:
        verdict = "the same" if found["same_bytes"] else "[red]not the same[/]"
        console.print(f"{found['bytes_compared']:,} bytes on both cards: {verdict}")
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("")
    cards = found["cards"].values()
    for build in found["cards"]:
        table.add_column("protected" if build == PROTECTED else "unprotected", justify="right")
    for word in ("multiplications", "parameter_bytes", "input_bytes"):
        table.add_row(word.replace("_", " "), *[f"{found[word]:,}" for _ in cards])
    for word in ("kernel_clocks", "clocks"):
        table.add_row(word.replace("_", " "), *[f"{card[word]:,}" for card in cards])
    rates = [found["multiplications"] / card["kernel_clocks"] for card in cards]
    table.add_row("multiplications a clock", *[f"{rate:,.0f}" for rate in rates])
    times = [f"{card['milliseconds']:.2f}" for card in cards]
    table.add_row(f"milliseconds at {CLOCK_MHZ} MHz", *times)
    table.add_row("seconds of simulation", *[f"{card['seconds']:.0f}" for card in cards])
    table.caption = "clocks: from the input's transfer to the result in host memory; "
    table.caption += f"{CONDITIONS}; device memory: {MEMORY_CONDITIONS}"
    console.print(table)
    if "overhead_percent" in found:
        console.print(f"The guard adds {found['overhead_percent']:.2f} % to the clocks.")


def run(
    name: str | None,
    path: pathlib.Path | None,
    source: pathlib.Path | None,
    cards: list[bool],
    layers: bool,
    as_json: bool,
    console: Console,
    err: Console,
) -> bool:
    """Runs a network on simulated cards, prints results; returns true if they equal a reference."""
    model = read_model(name, path)
    if source is not None:
        values = read_input(source)
    else:
        values = networks.image(name, ()) if name == "digits" else None
    found = infer(model, values, cards, layers, err)
    if as_json:
        console.print_json(json.dumps(found))
    else:
        show(found, name or path.name, console)
    return bool(found["equal"])

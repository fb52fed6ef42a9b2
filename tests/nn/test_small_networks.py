# SPDX-License-Identifier: Apache-2.0
"""Tests compiled networks on mae_kernel_array against the onnx package's reference evaluator.

The network of the digits, whose scales are no powers of two, against the integer reference.
"""

import os
import pathlib

import cocotb
import numpy as np
import pytest

from maeslant.nn import compiler, graph, integer, networks
from maeslant.nn.commands import Shape
from maeslant.nn.inference import compare, evaluated
from tests.nn.small import NETWORKS, image
from tests.nn.test_kernel_array import SHAPE, begin, go
from tests.support import bench

SIZE = 1 << 20
MADE = {**NETWORKS, "digits": networks.digits}


def entry(name: str, plan: compiler.Plan) -> np.ndarray:
    """Returns the int8 input of a network."""
    shape = plan.network.input.shape
    return plan.quantise(networks.image(name, shape) if name == "digits" else image(shape))


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def every_map_equals_the_reference(dut) -> None:
    """Each feature map of a small network equals the reference's."""
    for name in os.environ["NETWORKS"].split():
        plan = compiler.compile_network(graph.read(MADE[name]()), SHAPE, SIZE)
        values = entry(name, plan)
        memory = await begin(dut, answer=11, stall=0.1, slow=0.1)
        memory.load(*plan.parameters)
        memory.load(*plan.commands)
        memory.load(plan.input_address, plan.pack_input(values))
        fault, _ = await go(dut, plan.commands[0])
        assert not fault
        wanted = np.load(pathlib.Path(os.environ["WANTED"], f"{name}.npz"))
        count, most, names = compare(plan, wanted, memory.read)
        assert count and not most and not names, (name, names)
        memory.stop()


@pytest.mark.parametrize("lanes,columns", [(8, 2), (16, 1)])
def test_small_networks(lanes: int, columns: int, tmp_path: pathlib.Path) -> None:
    """Runs small networks of every operator on the array kernel in two sizes."""
    for name, make in MADE.items():  # here: the evaluator does not load in the simulator
        model = make()
        plan = compiler.compile_network(graph.read(model), Shape(lanes, columns), SIZE)
        values = entry(name, plan)
        if name in NETWORKS:
            wanted = evaluated(model, plan, values)
        else:
            wanted = integer.maps(plan.network, values)
        np.savez(tmp_path / f"{name}.npz", **wanted)
    parameters = {"Lanes": lanes, "Columns": columns, "Depth": 32, "Outstanding": 32}
    env = {"NETWORKS": " ".join(MADE), "WANTED": str(tmp_path)}
    bench.run("mae_kernel_array", parameters=parameters, env=env)

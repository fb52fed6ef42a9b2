# SPDX-License-Identifier: Apache-2.0
"""Tests compiled ONNX networks on mae_kernel_array against the onnx reference evaluator."""

import os
import pathlib

import cocotb
import numpy as np
import pytest

from maeslant.nn import compiler, graph
from maeslant.nn.commands import Shape
from maeslant.nn.inference import compare, reference
from tests.nn.small import NETWORKS, image
from tests.nn.test_kernel_array import SHAPE, begin, go
from tests.support import bench

SIZE = 1 << 20


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def every_map_equals_the_reference(dut) -> None:
    """Each feature map of the small networks on mae_kernel_array equals the evaluator's."""
    for name in os.environ["NETWORKS"].split():
        plan = compiler.compile_network(graph.read(NETWORKS[name]()), SHAPE, SIZE)
        values = plan.quantise(image(plan.network.input.shape))
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
    """Builds mae_kernel_array in two sizes and runs the small networks of small.py."""
    for name, make in NETWORKS.items():  # here: the evaluator does not load in the simulator
        model = make()
        plan = compiler.compile_network(graph.read(model), Shape(lanes, columns), SIZE)
        values = plan.quantise(image(plan.network.input.shape))
        np.savez(tmp_path / f"{name}.npz", **reference(model, plan, values))
    parameters = {"Lanes": lanes, "Columns": columns, "Depth": 32, "Outstanding": 32}
    env = {"NETWORKS": " ".join(NETWORKS), "WANTED": str(tmp_path)}
    bench.run("mae_kernel_array", parameters=parameters, env=env)

# SPDX-License-Identifier: Apache-2.0
"""Tests `maeslant fhe`: encrypted products against NumPy and SEAL, bad input, clocks of NTTs."""

import json
import pathlib

import numpy as np
import pytest

from maeslant.bench.measure import fhe
from maeslant.build import simulator
from maeslant.fhe import sets
from maeslant.fhe.card import PROTECTED as BUILD
from tests.cli.test_cli import bad, good

RNG = np.random.default_rng(3)


def saved(folder: pathlib.Path, **arrays: np.ndarray) -> list[pathlib.Path]:
    """Saves arrays as .npy files for `maeslant fhe matmul`; returns their paths."""
    files = [folder / f"{name}.npy" for name in arrays]
    for file, array in zip(files, arrays.values(), strict=True):
        np.save(file, array)
    return files


@pytest.mark.parametrize(
    "words",
    [
        pytest.param((), id="plain"),
        pytest.param(("--protected",), id="protected", marks=pytest.mark.slow),
    ],
)
@pytest.mark.full
def test_matmul(words: tuple[str, ...], tmp_path: pathlib.Path) -> None:
    """`maeslant fhe matmul` gives SEAL's bytes, and results close to NumPy's."""
    simulator.build(BUILD if words else sets.SMALL.build)
    for a, b in (
        (RNG.uniform(-1, 1, (20, 30)), RNG.uniform(-1, 1, 30)),
        (np.eye(64), np.arange(64) / 64),
    ):
        found = json.loads(good("fhe", "matmul", *saved(tmp_path, a=a, b=b), *words, "--json"))
        # SEAL's noise is random, and one result in some thousand is far off: so their mean square.
        off = np.array(found["result"]) - a @ b
        assert found["equal"] and np.sqrt(np.mean(off**2)) < 2e-3 and abs(off).max() < 2e-2


def test_bad_input(tmp_path: pathlib.Path) -> None:
    """`maeslant fhe` refuses files that hold no array, or one of wrong shape or values."""
    text = tmp_path / "text.npy"
    text.write_text("1 2 3")
    square, vector = saved(tmp_path, square=np.eye(4), vector=np.ones(5))
    (nan,) = saved(tmp_path, nan=np.full((4, 4), np.nan))
    assert "text.npy is no .npy file" in bad("fhe", "matmul", text, vector)
    assert "do not fit" in bad("fhe", "matmul", square, vector)
    assert "finite" in bad("fhe", "matmul", nan, square)
    (zero,) = saved(tmp_path, zero=np.zeros((4, 4)))
    assert "matrix is zero" in bad("fhe", "matmul", zero, square)
    assert "missing.npy" in bad("fhe", "matmul", tmp_path / "missing.npy", square)
    assert "held out, not 0" in bad("fhe", "digits", "--images", "0")


@pytest.mark.parametrize("params", sets.SETS.values(), ids=sets.SETS)
def test_measured_transforms(params: sets.ParameterSet) -> None:
    """An NTT on the simulated FHE kernel meets its target of clocks: N log N / (2 lanes)."""
    eight, sixteen, more = fhe.transform_figures(params)
    assert eight.met() is not False and sixteen.met() is not False
    # Beside the pipeline's length, which is the same, half the lanes take twice the clocks.
    assert eight.value - sixteen.value == params.log_n * params.n // 2 // 16
    assert sixteen.value - more.value == params.log_n * params.n // 2 // 32

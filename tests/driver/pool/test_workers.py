# SPDX-License-Identifier: Apache-2.0
"""Tests a pool of cards on a Dask cluster in which workers are killed and cards fail."""

import os
import pathlib
import random
import subprocess
import sys

import pytest

from maeslant.build import simulator
from maeslant.driver import aead, device, pool
from maeslant.driver.device import DECRYPT, ENCRYPT
from maeslant.driver.pool import messages, workers
from maeslant.errors import MaeslantError
from tests.cli.test_cli import good, openssl, options
from tests.driver.pool.test_messages import gcm
from tests.driver.test_sim_devices import oracle
from tests.synth.explore import dask

KEY, IV = bytes(range(16)), b"\xff" * 16
DATA = random.Random(1).randbytes(600_000)
CARD = {"DASK_DISTRIBUTED__WORKER__RESOURCES__CARD": "1"}


def test_cluster(tmp_path: pathlib.Path, monkeypatch) -> None:
    """Messages on a Dask cluster of three workers end right while cards and workers fail."""
    monkeypatch.setattr(messages, "PART", 1 << 16)
    monkeypatch.setattr(workers, "PATIENCE_S", 1)
    simulator.build("stream4")
    with device.Device("sim:stream4") as card:
        dies = card.stats()["bus_clocks"] + 1000
    environment = {**CARD, "MAESLANT_CARDS": "sim:stream4"}
    with dask.cluster(tmp_path, 2, environment) as (address, made):
        command = [sys.executable, "-m", "dask", "worker", address, "--no-nanny", "--no-dashboard"]
        dying = {**os.environ, **CARD, "MAESLANT_CARDS": f"sim:stream4?dies={dies}"}
        third = subprocess.Popen(
            [*command, "--nthreads", "1"], env=dying, cwd=tmp_path, stderr=subprocess.DEVNULL
        )
        try:
            uri = f"pool:{address}"
            with pool.opened(uri) as cards:
                while len(cards.workers()) < 3:
                    assert third.poll() is None
                cards.width = 3
                a_worker_whose_cards_fail(cards)
                a_worker_that_is_killed(cards, made[0])
                source = tmp_path / "plain"
                source.write_bytes(DATA)
                got = good("encrypt", source, "-", *options("ctr"), "--device", uri)
                assert got == openssl("ctr", 128, DATA)
                made[1].kill()
                with (
                    pytest.raises(MaeslantError) as caught,
                    cards.stream("ctr", ENCRYPT, KEY, IV) as stream,
                ):
                    list(stream.update(DATA))
                    list(stream.finish())
                # The scheduler may list the killed worker still, or no longer.
                left = ("no worker with a card is left", "the cards of every worker at")
                assert any(text in str(caught.value) for text in left)
        finally:
            third.kill()
            third.wait()


def a_worker_whose_cards_fail(cards: workers.Cluster) -> None:
    """Asserts that the cluster's other workers take over from one whose cards have failed."""
    with cards.stream("ctr", ENCRYPT, KEY, IV) as stream:
        got = b"".join(stream.update(DATA)) + b"".join(stream.finish())
    assert got == oracle("ctr", KEY, IV, DATA, ENCRYPT)
    assert len(cards.gone) == 1
    with cards.stream("cbc", DECRYPT, KEY, IV) as stream:
        got = b"".join(stream.update(DATA[:200_000])) + b"".join(stream.finish())
    assert got == oracle("cbc", KEY, IV, DATA[:200_000], DECRYPT)


def a_worker_that_is_killed(cards: workers.Cluster, process: subprocess.Popen) -> None:
    """Asserts that a GCM message ends right although a cluster worker is killed during it."""
    with aead.seal(cards, "gcm", KEY, IV[:12]) as message:
        message.aad(b"header")
        out, results = b"", message.update(DATA)
        out += next(results)
        process.kill()
        out += b"".join(results)
        tag = message.finish()
        out += b"".join(message.read())
    assert process.wait() == -9
    assert out + tag == gcm(IV[:12], b"header", DATA)

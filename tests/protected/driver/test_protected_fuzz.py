# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the protected card's C driver: targets of driver/fuzz on random inputs and libFuzzer."""

import json
import re
import subprocess
import sys

import pytest

from maeslant import paths
from maeslant.build import c_driver
from maeslant.verify import driver_fuzz


@pytest.mark.parametrize("target", driver_fuzz.TARGETS)
def test_random_inputs(target):
    """The C driver's fuzz targets run random inputs without a sanitizer error."""
    assert driver_fuzz.run_random(target, 1, 500) == 500


@pytest.mark.parametrize("target", driver_fuzz.TARGETS)
def test_stored_inputs(target):
    """Each fuzz target of the C driver has at least five stored inputs in the repository."""
    assert len(driver_fuzz.stored(target)) >= 5


def replace(monkeypatch, tmp_path, name, find, text):
    """Makes the fuzz targets use a copy of a file of driver/enclave with another text in it."""
    file = c_driver.DRIVER / "enclave" / name
    old = file.read_text()
    assert old.count(find) == 1
    changed = tmp_path / file.name
    includes = re.sub(r'#include "([\w/]+\.h)"', rf'#include "{file.parent}/\1"', old)
    changed.write_text("#include <stdio.h>\n" + includes.replace(find, text))
    real = driver_fuzz.sources

    def sources(target):
        stem = "gcm_" if file.name.startswith("gcm_") else file.name
        return [changed if path.name.startswith(stem) else path for path in real(target)]

    monkeypatch.setenv("MAESLANT_GCM", "openssl")
    monkeypatch.setattr(driver_fuzz, "sources", sources)
    monkeypatch.setattr(driver_fuzz, "FOLDER", tmp_path)


@pytest.mark.parametrize("target", ["outside", "answers", "gate"])
def test_capabilities(target, monkeypatch, tmp_path):
    """The driver meets each capability word of driver/fuzz/script.h in every target: five."""
    words = set(re.findall(r"0x([0-9a-f]{16})\)", (c_driver.DRIVER / "fuzz/script.h").read_text()))
    find = "CALL_OUT(outside->read(outside->user, REGISTER_DEVICE_NONCE"
    told = 'fprintf(stderr, "met %016llx\\n", (unsigned long long)session->capabilities);'
    replace(monkeypatch, tmp_path, "session.c", find, f"{told}\n    {find}")
    program = str(driver_fuzz.build(target, fuzzer=False))
    met = set()
    for inputs in (driver_fuzz.stored(target), ["1", "1500"]):
        done = subprocess.run([program, *inputs], stderr=subprocess.PIPE, text=True, check=True)
        met.update(re.findall(r"(?m)^met ([0-9a-f]{16})$", done.stderr))
    assert met >= words and len(words) >= 5


# Defects, each with the target that must notice it: file of driver/enclave, text, new text.
DEFECTS = {
    "a tag of 15 bytes": (
        "gcm",
        "crypto/gcm_openssl.c",
        "EVP_CTRL_AEAD_SET_TAG, WIRE_TAG,",
        "EVP_CTRL_AEAD_SET_TAG, WIRE_TAG - 1,",
    ),
    "an answer is read again after its check": (
        "answers",
        "answer.c",
        "return same & right;",
        """if (!(same & right))
        return false;
    outside_load(session, at, message, WIRE_HEADER + body_bytes + WIRE_TAG);
    return keys_begin(key, 0, CLASS_RESPONSE, queue, request->sequence, made, WIRE_HEADER) &&
           gcm_update(key->gcm[0], body, body, body_bytes);""",
    ),
    "a chunk is read again after its check": (
        "answers",
        "chunk.c",
        """if (!data)
        gcm_wipe(stage, WIRE_STAGE);
    return works && gcm_check(gcm, work->tag);""",
        """if (!works || !gcm_check(gcm, work->tag))
        return false;
    works = keys_begin(work->key, thread, CLASS_DMA_OUT, work->queue, request->sequence, aad,
                       sizeof aad);
    for (size_t at = 0; data && works && at < place->length; at += WIRE_STAGE) {
        size_t left = place->length - at, size = left < WIRE_STAGE ? left : WIRE_STAGE;
        outside_load(session, request->buffer.at + at, stage, size);
        works = gcm_update(gcm, data + at, stage, size);
    }
    return works;""",
    ),
}


def plant(defect, monkeypatch, tmp_path):
    """Replaces a line of the C driver by a defect; returns the fuzz target that must detect it."""
    target, *change = DEFECTS[defect]
    replace(monkeypatch, tmp_path, *change)
    return target


@pytest.mark.parametrize("defect", DEFECTS)
def test_defect_is_found(defect, monkeypatch, tmp_path):
    """The stored inputs or 500 random ones detect each defect planted in the C driver."""
    target = plant(defect, monkeypatch, tmp_path)
    driver_fuzz.build(target, fuzzer=False)
    with pytest.raises(driver_fuzz.MaeslantError, match=f"{target}_random"):
        driver_fuzz.run_random(target, 1, 500)


@pytest.mark.slow
@pytest.mark.skipif(not driver_fuzz.has_fuzzer(), reason="no clang with libFuzzer")
@pytest.mark.parametrize("defect", DEFECTS)
def test_libfuzzer_finds_defect(defect, monkeypatch, tmp_path):
    """LibFuzzer detects each defect planted in the C driver within a minute."""
    target = plant(defect, monkeypatch, tmp_path)
    driver_fuzz.build(target, fuzzer=True)
    with pytest.raises(driver_fuzz.MaeslantError, match="its input is in"):
        driver_fuzz.run_fuzzer(target, 60)


@pytest.mark.slow
@pytest.mark.skipif(not driver_fuzz.has_fuzzer(), reason="no clang with libFuzzer")
@pytest.mark.parametrize("target", driver_fuzz.TARGETS)
def test_libfuzzer(target):
    """LibFuzzer finds no failure of the C driver in one minute for each fuzz target."""
    assert driver_fuzz.run_fuzzer(target, 60)["number_of_executed_units"] > 1000


# A fuzz target with one edge for each first byte of its inputs that it knows.
BRANCHES = """
#include <stddef.h>
#include <stdint.h>

volatile int reached[3];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < 3; i++)
        if (size > 0 && data[0] == "ABC"[i])
            switch (i) {
            case 0: reached[0]++; break;
            case 1: reached[1]--; break;
            default: reached[2] += 2;
            }
    return 0;
}
"""


@pytest.mark.skipif(not driver_fuzz.has_fuzzer(), reason="no clang with libFuzzer")
def test_the_stored_corpus_grows(monkeypatch, tmp_path):
    """An input that reaches a new edge is stored, one that reaches none is not; none is lost."""
    source = tmp_path / "fuzz_gcm.c"
    source.write_text(BRANCHES)
    monkeypatch.setattr(driver_fuzz, "sources", lambda target: [source])
    monkeypatch.setattr(driver_fuzz, "FOLDER", tmp_path / "built")
    monkeypatch.setattr(driver_fuzz, "CORPUS", tmp_path / "corpus")
    stored = {"first": b"A", "again": b"A, which adds nothing", "plain": b"\0"}
    (tmp_path / "corpus" / "gcm").mkdir(parents=True)
    for name, content in stored.items():
        (tmp_path / "corpus" / "gcm" / name).write_bytes(content)
    found = driver_fuzz.corpus("gcm")
    for name, content in {"new": b"C is new", "old": b"A is not"}.items():
        (found / name).write_bytes(content)
    assert driver_fuzz.grow("gcm") == 1
    now = {path.name: path.read_bytes() for path in (tmp_path / "corpus" / "gcm").iterdir()}
    assert now.items() >= stored.items() and len(now) == 4
    assert b"C is new" in now.values()
    assert driver_fuzz.grow("gcm") == 0


def test_the_copies_can_be_timed():
    """The timing program of the enclave's copies reports a positive rate for seal and open."""
    rates = c_driver.time_copies()
    assert set(rates) == {"library", "memcpy", "seal", "open", "seal_write_ns"}
    assert rates["seal"] > 0 and rates["open"] > 0


def test_the_trusted_computing_base_is_small():
    """The code inside the enclave (trusted computing base) has less than 2,500 lines."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.count_tcb", "--json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=paths.ROOT,
    )
    counted = json.loads(done.stdout)
    assert "driver/enclave/answer.c" in counted["files"]
    assert "driver/include/maeslant_protected.h" in counted["files"]
    assert not any("/os/" in name or "/src/" in name for name in counted["files"])
    assert counted["lines"] == sum(counted["files"].values()) < 2500

# SPDX-License-Identifier: Apache-2.0
"""Tests the OpenSSL provider's algorithms by vectors and against OpenSSL's own, with sanitizers.

The vectors of OpenSSL's evp_test lie in tests/provider/vectors as OpenSSL 3.0.22 has them (Apache
License 2.0); CAVP's of CCM and Wycheproof's are written in the same form.
"""

import json
import os
import pathlib
from collections.abc import Iterator

import pytest

from maeslant.build import c_driver
from tests.provider import openssl
from tests.vectors import authenticated

pytestmark = openssl.needs_headers
HERE = pathlib.Path(__file__).resolve().parent
SEED = os.environ.get("MAESLANT_SEED", "1")
IV_MOST = 128  # of OpenSSL
DEVICES = ["sim:stream4", "sim:peripheral"]


def program(name: str, device: str, *words: object) -> str:
    """Runs a C program of this folder, and the provider, with sanitizers; returns its output."""
    built = c_driver.build_program(
        HERE / f"{name}.c", sanitize="memory", libraries=("crypto", "pthread")
    )
    folder = c_driver.build_provider(sanitize="memory").parent
    done = openssl.run(built, folder, *words, env=openssl.environment(device))
    assert done.returncode == 0, f"{device} {words}: {done.stdout[-500:]} {done.stderr[-4000:]}"
    return done.stdout.decode()


def stanza(vector: authenticated.Vector) -> str:
    """Writes a vector in the form of evp_test's files."""
    bits = 8 * len(vector.key)
    lines = [f"Cipher = AES-{bits}-{vector.mode.upper()}"]
    fields = {"Key": "key", "IV": "nonce", "AAD": "aad", "Tag": "tag"}
    fields |= {"Plaintext": "plaintext", "Ciphertext": "ciphertext"}
    lines += [f"{name} = {getattr(vector, field).hex()}" for name, field in fields.items()]
    if len(vector.nonce) > IV_MOST:
        lines += ["Result = INVALID_IV_LENGTH"]
    elif vector.outcome != authenticated.OPENS:
        step = "UPDATE" if vector.mode == "ccm" else "FINAL"
        lines += ["Operation = DECRYPT", f"Result = CIPHER{step}_ERROR"]
    elif not vector.encrypts:
        lines += ["Operation = DECRYPT"]
    return "\n".join([f"# {vector.name}", *lines, "", ""])


def wycheproof_xts() -> Iterator[str]:
    """Yields Wycheproof's vectors of AES-XTS in the form of evp_test's files.

    Their data unit numbers are cut after their last byte that is not zero.
    """
    folder = authenticated.WYCHEPROOF / "Cipher" / "wycheproof"
    for group in json.loads((folder / "aes_xts_test.json").read_text())["testGroups"]:
        for case in group["tests"]:
            if len(case["key"]) == 96:
                continue  # OpenSSL has no AES-192-XTS
            yield (
                f"Cipher = AES-{2 * len(case['key'])}-XTS\nKey = {case['key']}\n"
                f"IV = {case['iv']:0<32}\nPlaintext = {case['msg']}\nCiphertext = {case['ct']}\n\n"
            )


@pytest.mark.parametrize("device", DEVICES)
def test_evp_vectors(device: str) -> None:
    """OpenSSL's own vectors pass through the provider: 106 of ciphers, 12 of MACs."""
    files = sorted((HERE / "vectors").glob("*.txt"))
    assert len(files) == 2
    assert "139 tests passed in 790 runs" in program("evp_vectors", device, *files)


@pytest.mark.parametrize("device", DEVICES)
def test_wycheproof(device: str, tmp_path: pathlib.Path) -> None:
    """Wycheproof's vectors of GCM, CCM and XTS pass; IVs too long for OpenSSL are refused."""
    (tmp_path / "xts.txt").write_text("".join(wycheproof_xts()))
    for mode in ("gcm", "ccm"):
        vectors = [v for v in authenticated.wycheproof(mode) if v.outcome != authenticated.REFUSED]
        (tmp_path / f"{mode}.txt").write_text("".join(map(stanza, vectors)))
    print(program("evp_vectors", device, *sorted(tmp_path.glob("*.txt"))))


@pytest.mark.full
def test_cavp_ccm(tmp_path: pathlib.Path) -> None:
    """CAVP's vectors of CCM pass through the provider."""
    text = [stanza(v) for path in authenticated.ccm_files() for v in authenticated.ccm_file(path)]
    (tmp_path / "ccm.txt").write_text("".join(text))
    print(program("evp_vectors", "sim:peripheral", tmp_path / "ccm.txt"))


@pytest.mark.parametrize("device", DEVICES)
def test_equal_to_openssl(device: str) -> None:
    """Random messages equal OpenSSL's: in pieces, copied, in threads, ASYNC jobs and a child."""
    pauses = int(device != "sim:peripheral")  # its jobs end inside the call that starts them
    assert "equal OpenSSL's" in program("evp_compare", device, SEED, pauses)


@pytest.mark.parametrize("device", DEVICES)
def test_forks(device: str) -> None:
    """A forked child encrypts under no IV of its parent's; both go on with everything else."""
    assert "forks end well" in program("evp_forks", device)

# SPDX-License-Identifier: Apache-2.0
"""Tests TLS sessions of openssl s_server and s_client whose records go through the provider."""

import contextlib
import pathlib
import random
import socket
import subprocess
import time

import pytest

from tests.provider import openssl

pytestmark = openssl.needs_headers
CARD, OPENSSL = "card", "openssl"
DEVICE = "sim:stream4"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Makes a folder with a key, a certificate and a file to be fetched."""
    folder = tmp_path_factory.mktemp("site")
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    words += ["-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj", "/CN=localhost"]
    openssl.openssl(*words)
    (folder / "file").write_bytes(random.Random(2).randbytes(40001))
    return folder


def side(folder: pathlib.Path, kind: str) -> dict[str, str]:
    """Returns the environment of one side of a session: with the provider or without."""
    return openssl.configured(folder, DEVICE) if kind == CARD else openssl.environment()


def listens(port: int) -> bool:
    """Returns true if a program of this machine listens at a port of IPv4."""
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(f[1].endswith(f":{port:04X}") and f[3] == "0A" for f in map(str.split, lines))


def fetch(site: pathlib.Path, server: str, client: str, *suite: str) -> tuple[bytes, str]:
    """Fetches the site's file over TLS; returns what came, and the errors of both sides."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serve = ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-WWW", "-naccept", "1"]
    serve += ["-cert", "cert.pem", "-key", "key.pem", *suite[:3]]
    ask = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-quiet", "-CAfile", "cert.pem"]
    ask += ["-verify_return_error", *suite]
    errors = site / "server.txt"
    with (
        open(errors, "wb") as log,
        subprocess.Popen(
            serve, cwd=site, env=side(site, server), stdin=subprocess.PIPE, stdout=log, stderr=log
        ) as served,
    ):
        try:
            deadline = time.monotonic() + openssl.SECONDS
            while not listens(port) and time.monotonic() < deadline:
                assert served.poll() is None, errors.read_text()
                time.sleep(0.05)
            asked = subprocess.Popen(
                ask,
                cwd=site,
                env=side(site, client),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            with contextlib.suppress(BrokenPipeError):  # the handshake may have ended it
                asked.stdin.write(b"GET /file HTTP/1.0\r\n\r\n")
                asked.stdin.flush()
            got = asked.stdout.read()
            said = asked.stderr.read()
            with contextlib.suppress(BrokenPipeError):
                asked.stdin.close()
            asked.wait(timeout=openssl.SECONDS)
            served.wait(timeout=openssl.SECONDS)
        finally:
            served.kill()
    return got.partition(b"\r\n\r\n")[2], said.decode() + errors.read_text(errors="replace")


TLS13 = ("-tls1_3", "-ciphersuites")
TLS12 = ("-tls1_2", "-cipher")


@pytest.mark.parametrize(
    ("server", "client", "suite"),
    [
        (CARD, CARD, (*TLS13, "TLS_AES_128_GCM_SHA256")),
        (CARD, OPENSSL, (*TLS13, "TLS_AES_256_GCM_SHA384")),
        (OPENSSL, CARD, (*TLS13, "TLS_AES_256_GCM_SHA384")),
        (OPENSSL, CARD, (*TLS13, "TLS_AES_128_CCM_SHA256")),
        (CARD, OPENSSL, (*TLS12, "ECDHE-ECDSA-AES128-GCM-SHA256")),
        (OPENSSL, CARD, (*TLS12, "ECDHE-ECDSA-AES256-GCM-SHA384")),
    ],
    ids=lambda value: value if isinstance(value, str) else value[2],
)
def test_session(site: pathlib.Path, server: str, client: str, suite: tuple[str, ...]) -> None:
    """A file comes unchanged over a TLS session whose records go through the card."""
    got, said = fetch(site, server, client, *suite)
    assert got == (site / "file").read_bytes(), said


def test_cbc_is_refused(site: pathlib.Path) -> None:
    """A suite of TLS 1.2 with CBC ends the handshake with the reason."""
    got, said = fetch(site, OPENSSL, CARD, *TLS12, "ECDHE-ECDSA-AES256-SHA384")
    assert got == b"" and "TLS with CBC is not offered" in said


def test_records_need_the_right_key(site: pathlib.Path) -> None:
    """A session over the device that touches no data does not come about with OpenSSL."""
    global DEVICE
    before, DEVICE = DEVICE, "null:"
    try:
        got, said = fetch(site, OPENSSL, CARD, *TLS13, "TLS_AES_128_CCM_SHA256")
    finally:
        DEVICE = before
    assert got == b"" and "bad record mac" in said

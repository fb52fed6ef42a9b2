# SPDX-License-Identifier: Apache-2.0
"""Runs sessions of the C driver over a Gate, with a protected card in another process."""

from collections.abc import Callable

from maeslant.protected.model.constants import STATE, State
from maeslant.protected.model.workload import Record, octets
from maeslant.protected.session import Gate, Host

SECRETS = (octets("two secret", 32), octets("two id", 16))


def ready(gate: Gate) -> Gate:
    """Lets the card clear its memory, after which it can be provisioned."""
    while gate.read(STATE, 4)[0] != State.IDLE:
        gate.pause(None, False)
    return gate


def session(gate: Gate, application: Callable[[Host, Record], None], **more: object) -> Record:
    """Provisions the card and runs an application's protected session across the two processes."""
    record = Record()
    host = Host(gate, *SECRETS, timeout=100_000, **more)
    record.installed = gate.install(*SECRETS)
    application(host, record)
    host.free()
    return record

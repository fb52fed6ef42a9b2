# SPDX-License-Identifier: Apache-2.0
"""Defines bus attacks that flip one bit in a field of a request, response or chunk."""

from collections.abc import Iterator

from maeslant.protected.attacks.adversary import On
from maeslant.protected.attacks.entry import (
    ANSWER,
    ANSWER_MORE,
    BODY,
    CHUNK,
    HEADER,
    HOST_CHUNK,
    LATER,
    RESPONSE,
    TAG,
    Entry,
    edit_answer,
    edit_data,
    flipper,
)
from maeslant.protected.model.constants import Kind


def flips() -> Iterator[Entry]:
    """Yields the bus attacks that flip one bit in a field of a request, response or chunk."""
    for kind in Kind:
        fields = HEADER | {
            f"body {name}": 16 + at for name, at in BODY.get(kind, {"zero": 0}).items()
        }
        fields |= {"tag first": -16, "tag last": -1}
        for name, at in fields.items():
            yield Entry(
                f"flip/request/{kind.name}/{name}",
                "H4 H5",
                "another request than the one that was made",
                lambda kind=kind, at=at: On(
                    edit_data(flipper(at)), what="request", kind=kind, nth=LATER.get(kind, 0) // 2
                ),
                (TAG,),
            )
        fields = HEADER | {f"body {n}": 16 + at for n, at in ANSWER.items()}
        fields |= {f"body {n}": 16 + at for n, at in ANSWER_MORE.get(kind, {}).items()}
        fields |= {"tag first": -16, "tag last": -1}
        for name, at in fields.items():
            yield Entry(
                f"flip/response/{kind.name}/{name}",
                "H6",
                "a refusal that looks like success, or another value",
                lambda kind=kind, at=at: On(
                    edit_data(flipper(at)), what="response", sequence=_number(kind), kind=kind
                ),
                (RESPONSE,),
            )
    for name, at in {"read data": 32, "executed": 19, "tag": -1}.items():
        yield Entry(
            f"flip/response load/BATCH/{name}",
            "H10",
            "a register's value",
            lambda at=at: On(answer=edit_answer(flipper(at)), what="load response", queue=0, nth=1),
            (RESPONSE,),
        )
    for at in (0, 60, 127):
        for place, how in {
            "store": lambda at=at: On(edit_data(flipper(at)), what="store", nth=1),
            "bus": lambda at=at: On(answer=edit_answer(flipper(at)), what="data in", nth=1),
        }.items():
            yield Entry(
                f"flip/chunk in/{place}/{at}",
                "H1 H8",
                "other data in the accelerator",
                how,
                (CHUNK,),
            )
        for place, how in {
            "bus": lambda at=at: On(edit_data(flipper(at)), what="data out", nth=1),
            "load": lambda at=at: On(answer=edit_answer(flipper(at)), what="load", nth=1),
        }.items():
            yield Entry(
                f"flip/chunk out/{place}/{at}",
                "D4",
                "other results for the application",
                how,
                (HOST_CHUNK,),
            )


def _number(kind: Kind) -> int:
    """Returns the sequence number that a request of a kind has in the attacked session."""
    return {
        Kind.OPEN: 1,
        Kind.BATCH: 4,
        Kind.H2D: 2,
        Kind.D2H: 2,
        Kind.REKEY: 4,
        Kind.SKIP: 6,
        Kind.CLOSE: 7,
    }[kind]

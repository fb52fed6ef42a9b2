# SPDX-License-Identifier: Apache-2.0
"""Shortens a netlist in Verilog, so that a simulator takes less memory and time for it.

What Yosys writes has a net for each gate and several for some cells. Each net costs a simulator
kilobytes. A LUT becomes an expression of its inputs here, nets of the same expression become one,
and a net with one reader is written where it is read. That is done in expressions of NOT, AND, OR,
XOR and selection alone, in which a bit means the same wherever it stands. Flip-flops, memories and
arithmetic stay as they are.
"""

import functools
import re
from collections import Counter

NAME = re.compile(r"\b_\d+_\b")  # of nets that Yosys made
ASSIGN = re.compile(r"(?m)^  assign (_\d+_) = (.*);\n")
BIT = re.compile(r"(?m)^  wire (_\d+_);\n")
WORD = re.compile(r"(?m)^  (?:input|output|wire|reg) \[(\d+):(\d+)\] (\w+)(?: = .*)?;\n")
DECLARED = re.compile(r"(?m)^  (?:input|output|wire|reg) .*;\n")
LUT = re.compile(  # its table and its pins
    r"(?m)^  LUT\d #\(\n    \.INIT\(\d+'(h[0-9a-f]+|d\d+)\)\n  \) \S+ \(\n((?:    .*\n)+)  \);\n"
)
PIN = re.compile(r"(?m)^    \.(\w+)\((.*)\),?$")
OUTPUTS = "FOZ"  # of LUTs; their inputs are called I0, I1, ..., or A, B, ..., from the lowest on
LOGIC = re.compile(r"[\w\s()~&|^?:\[\]!']+")
LONGEST = 400  # characters of an expression that is written elsewhere


def compact(text: str, module: str) -> str:
    """Returns a netlist in Verilog with fewer nets in one of its modules, which does the same."""
    begin = text.index(");\n", text.index(f"\nmodule {module}(")) + 3
    end = text.index("\nendmodule", begin) + 1
    return text[:begin] + _joined(_without_luts(text[begin:end])) + text[end:]


def _without_luts(body: str) -> str:
    """Returns a netlist module's text with an expression for each LUT."""

    def written(found: re.Match) -> str:
        value = int(found[1][1:], 16 if found[1][0] == "h" else 10)
        pins = dict(sorted(PIN.findall(found[2])))
        made = next(pins.pop(name) for name in OUTPUTS if name in pins)
        return f"  assign {made} = {_expression(value, len(pins)).format(*pins.values())};\n"

    return LUT.sub(written, body)


@functools.cache
def _expression(table: int, count: int) -> str:
    """Returns the function of a table with ``count`` inputs, which are written as {0}, {1}, ..."""
    if not count:
        return f"1'h{table & 1}"
    half = 1 << (count - 1)
    ones = (1 << half) - 1
    low, high, name = table & ones, table >> half & ones, f"{{{count - 1}}}"
    of_low, of_high = (_expression(part, count - 1) for part in (low, high))
    if low == high:
        return of_low
    if low == high ^ ones:
        return {0: name, ones: f"(~{name})"}.get(low, f"({name} ^ {of_low})")
    if low in (0, ones):
        return f"({name} & {of_high})" if low == 0 else f"(~{name} | {of_high})"
    if high in (0, ones):
        return f"(~{name} & {of_low})" if high == 0 else f"({name} | {of_low})"
    return f"({name} ? {of_high} : {of_low})"


def _joined(body: str) -> str:
    """Returns a netlist module's text without bits that equal others or have one reader."""
    bits = {*BIT.findall(body)}
    made = {name: text for name, text in ASSIGN.findall(body) if name in bits}
    first: dict[str, str] = {}
    equal = {name: first.setdefault(text, name) for name, text in made.items()}
    equal = {name: other for name, other in equal.items() if name != other}

    def renamed(text: str) -> str:
        return NAME.sub(lambda name: equal.get(name[0], name[0]), text)

    made = {name: renamed(text) for name, text in made.items() if name not in equal}
    rest = ASSIGN.sub(lambda found: "" if found[1] in bits else found[0], BIT.sub("", body))
    rest = renamed(rest)
    logic = {name for name, text in made.items() if LOGIC.fullmatch(text)}
    readers = Counter(NAME.findall("\n".join(made[name] for name in logic)))
    others = NAME.findall("\n".join([rest, *(made[name] for name in made.keys() - logic)]))
    movable = {name for name in logic if readers[name] == 1} - {*others}
    moved: set[str] = set()
    final = _moved(made, movable, moved)
    wires = "".join(f"  wire {name};\n" for name in sorted(bits - equal.keys() - moved))
    kept = (name for name in made if name not in moved)
    assigns = "".join(f"  assign {name} = {final[name]};\n" for name in kept)
    at = max((found.end() for found in DECLARED.finditer(rest)), default=0)
    return rest[:at] + wires + assigns + rest[at:]


def _moved(made: dict[str, str], movable: set[str], moved: set[str]) -> dict[str, str]:
    """Returns expressions of bits with those of movable bits in them; adds these to ``moved``."""
    final: dict[str, str] = {}

    def put(found: re.Match) -> str:
        name = found[0]
        if name not in movable or len(final.get(name, "")) not in range(1, LONGEST):
            return name
        moved.add(name)
        return f"({final[name]})"

    for name in made:
        waiting = [] if name in final else [name]
        while waiting:
            read = [other for other in NAME.findall(made[waiting[-1]]) if other in movable]
            # In a loop of gates one is left as it is.
            inner = [other for other in read if other not in final and other not in waiting]
            if inner:
                waiting.append(inner[0])
            else:
                done = waiting.pop()
                final[done] = NAME.sub(put, made[done])
    return final

# SPDX-License-Identifier: Apache-2.0
"""Reads the named builds of configs/builds.yml: top module, parameters, summary."""

import copy
import difflib
import functools
import re
from collections.abc import Iterable

import yaml

from maeslant import paths
from maeslant.errors import MaeslantError

FILE = paths.ROOT / "configs" / "builds.yml"
DEVICES = ("peripheral", "stream", "copy")
CARDS = ("protected", "unprotected", "ghosh", "block")
KINDS = ("product", "research")
# Cores that work on a block for Nr clocks.
ITERATIVE = ("mae_cipher_iter", "mae_cipher_min_area", "mae_cipher_min_luts", "mae_cipher_luts4")


@functools.cache
def _enum_values() -> dict[str, int]:
    """Returns the values of the RTL packages' enums by name, for parameters of named builds."""
    packages = ("cipher/mae_aes_pkg.sv", "kernel/mae_kernel_pkg.sv")
    text = "".join((paths.RTL / name).read_text() for name in packages)
    return {name: int(value) for name, value in re.findall(r"\b([A-Z]\w+)\s+= \d'd(\d+)", text)}


def number(build: str, parameter: str, value: object) -> int:
    """Returns the value of a build's RTL parameter as an integer, also for an enum name."""
    if isinstance(value, int):
        return int(value)
    if value in _enum_values():
        return _enum_values()[value]
    raise MaeslantError(f"{FILE.name}: build {build}: {parameter} is {value!r}, no value known")


@functools.cache
def _read() -> dict[str, dict[str, object]]:
    """Reads and checks configs/builds.yml; returns builds by name, RTL parameters as integers."""
    found = yaml.safe_load(FILE.read_text())
    for name, build in found.items():
        for field in ("top", "summary"):
            if not isinstance(build.get(field), str):
                raise MaeslantError(f"{FILE.name}: build {name} lacks a {field}")
        if build.get("device") not in (None, *DEVICES):
            raise MaeslantError(f"{FILE.name}: build {name}: device is none of {DEVICES}")
        if build.get("card") not in (None, *CARDS):
            raise MaeslantError(f"{FILE.name}: build {name}: card is none of {CARDS}")
        if build.get("kind") not in KINDS:
            raise MaeslantError(f"{FILE.name}: build {name}: kind is none of {KINDS}")
        if "recommended_for" in build and build["kind"] != "product":
            raise MaeslantError(f"{FILE.name}: build {name}: only a product is recommended")
        build["parameters"] = {
            key: number(name, key, value) for key, value in build.get("parameters", {}).items()
        }
    return found


def load() -> dict[str, dict[str, object]]:
    """Returns all named builds by name, each with top module, parameters, summary, kind, device."""
    return copy.deepcopy(_read())


def products() -> dict[str, dict[str, object]]:
    """Returns the named builds, by name, that are products and not research designs."""
    return {name: build for name, build in load().items() if build["kind"] == "product"}


def recommended() -> dict[str, dict[str, object]]:
    """Returns the named builds, by name, that configs/builds.yml recommends for some use."""
    return {name: build for name, build in load().items() if "recommended_for" in build}


def get(name: str, offered: Iterable[str] = ()) -> dict[str, object]:
    """Returns a named build; raises MaeslantError that lists known names for an unknown name."""
    builds = load()
    if name in builds:
        return builds[name]
    near = difflib.get_close_matches(name, offered or builds, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise MaeslantError(f"no build named {name!r}; {hint}known: {', '.join(offered or builds)}")

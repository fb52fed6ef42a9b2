# SPDX-License-Identifier: Apache-2.0
"""Synthesizes builds: area, clock and power in a technology, by open tools."""

from maeslant.synth.flow import remembered, simulate, synthesize
from maeslant.synth.report import Report, SynthesisError

__all__ = ["Report", "SynthesisError", "remembered", "simulate", "synthesize"]

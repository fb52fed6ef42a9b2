# SPDX-License-Identifier: Apache-2.0
"""Synthesizes RTL by open tools and reports area, clock rate and power in a technology."""

from maeslant.synth.flow import prove, remembered, simulate, synthesize
from maeslant.synth.report import Report, SynthesisError

__all__ = ["Report", "SynthesisError", "prove", "remembered", "simulate", "synthesize"]

# SPDX-License-Identifier: Apache-2.0
"""Compiles int8 networks from ONNX files for the array kernel and runs them on the cards."""

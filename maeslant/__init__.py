# SPDX-License-Identifier: Apache-2.0
"""Provides the Python package of Maeslant, an open family of AES accelerators."""

__version__ = "0.1.0"

# SPDX-License-Identifier: Apache-2.0
"""Checks a block card in Linux guests: its queues and keys from user space."""

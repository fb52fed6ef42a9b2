# SPDX-License-Identifier: Apache-2.0
"""Computes on encrypted numbers (CKKS) on the card, with Microsoft SEAL's ciphertexts."""

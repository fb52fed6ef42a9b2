# SPDX-License-Identifier: Apache-2.0
"""Computes on encrypted data (CKKS) on the card, with SEAL's ciphertexts and keys."""

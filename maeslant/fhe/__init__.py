# SPDX-License-Identifier: Apache-2.0
"""Computes on encrypted data (CKKS) on the card, with ciphertexts and keys of SEAL."""

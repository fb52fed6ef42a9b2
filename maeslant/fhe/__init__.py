# SPDX-License-Identifier: Apache-2.0
"""Encrypted arithmetic (CKKS) on the card: SEAL's ciphertexts and keys in, SEAL's bytes out."""

# SPDX-License-Identifier: Apache-2.0
"""Checks an AES card in Linux guests: vectors, files, OpenSSL's provider, faults."""

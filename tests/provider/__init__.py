# SPDX-License-Identifier: Apache-2.0
"""Tests the OpenSSL provider by OpenSSL's commands, by its vectors and against its own ciphers."""

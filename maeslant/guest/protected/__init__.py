# SPDX-License-Identifier: Apache-2.0
"""Checks the protected card in Linux guests: sessions by vfio, changed chunks."""

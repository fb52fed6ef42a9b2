# SPDX-License-Identifier: Apache-2.0
"""Renews published synthesis reports of RTL whose logic has not changed."""

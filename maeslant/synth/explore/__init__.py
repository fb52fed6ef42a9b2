# SPDX-License-Identifier: Apache-2.0
"""Synthesizes a table of designs and draws a page of them: `maeslant explore`."""

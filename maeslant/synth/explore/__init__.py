# SPDX-License-Identifier: Apache-2.0
"""Implements `maeslant explore`: synthesizes a table of designs and draws a page of them."""

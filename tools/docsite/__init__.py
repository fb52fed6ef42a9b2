# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site from written pages and generated reference pages, by MkDocs."""

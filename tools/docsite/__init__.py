# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site by MkDocs from written and generated pages."""

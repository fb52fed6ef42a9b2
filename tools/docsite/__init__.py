# SPDX-License-Identifier: Apache-2.0
"""The documentation site: written pages, generated reference, MkDocs around both."""

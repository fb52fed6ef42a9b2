# SPDX-License-Identifier: Apache-2.0
"""Synthesizes many designs and draws a web page that compares them: `maeslant explore`."""

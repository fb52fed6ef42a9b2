# SPDX-License-Identifier: Apache-2.0
"""The clock figures of `maeslant measure`."""

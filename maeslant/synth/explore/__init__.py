# SPDX-License-Identifier: Apache-2.0
"""`maeslant explore`: a table of points synthesized in parallel, and one page to choose from."""

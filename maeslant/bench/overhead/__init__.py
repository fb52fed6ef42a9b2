# SPDX-License-Identifier: Apache-2.0
"""`maeslant overhead`: paper 000's Table 3, regenerated."""

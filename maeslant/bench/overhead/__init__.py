# SPDX-License-Identifier: Apache-2.0
"""`maeslant overhead`: Ghosh et al.'s Table 3, regenerated."""

# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m maeslant.cli COMMAND`."""

import sys

from maeslant.cli import main

sys.exit(main())

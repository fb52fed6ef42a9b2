# SPDX-License-Identifier: Apache-2.0
"""Runs maeslant's command line as `python -m maeslant.cli COMMAND`."""

import sys

from maeslant.cli import main

sys.exit(main())

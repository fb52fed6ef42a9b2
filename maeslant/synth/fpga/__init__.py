# SPDX-License-Identifier: Apache-2.0
"""Maps RTL to FPGAs; places and routes it where an open tool knows the device."""

// SPDX-License-Identifier: Apache-2.0
//
// Captures what Verilator's functions print, so that they neither print nor end the process.
#pragma once

#include <string>

namespace mae {

// Returns the last text that the devices of this thread printed.
const std::string &runtime_text();

}  // namespace mae

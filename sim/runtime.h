// SPDX-License-Identifier: Apache-2.0
//
// Captures what Verilator's run time prints and stops for: it must neither write to the caller's
// standard output nor end the caller's process.
#pragma once

#include <string>

namespace mae {

// Returns the last message of this thread's devices.
const std::string &runtime_text();

}  // namespace mae

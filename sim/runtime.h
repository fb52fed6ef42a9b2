// SPDX-License-Identifier: Apache-2.0
//
// What Verilator's run time prints and stops for, kept inside the library: it must neither write to
// the caller's standard output nor end the caller's process.
#pragma once

#include <string>

namespace mae {

// Returns the last message of this thread's devices.
const std::string &runtime_text();

}  // namespace mae

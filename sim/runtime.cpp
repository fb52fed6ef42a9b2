// SPDX-License-Identifier: Apache-2.0
//
// Replaces Verilator's functions for printing and stopping by ones of its own. Messages go to
// standard error.
#include "runtime.h"

#include <cstdarg>
#include <cstdio>

namespace {

thread_local std::string last_text;

int print(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    last_text = text;
    while (!last_text.empty() && last_text.back() == '\n') last_text.pop_back();
    std::fprintf(stderr, "%s", text);
    return length;
}

}  // namespace

#define VL_PRINTF print
#define VL_USER_STOP
#define VL_USER_FATAL
#include "verilated.cpp"  // NOLINT: the run time is one source file of the verilator package

// Records an assertion failure or $stop of the device, the first of which ends the simulation.
void vl_stop(const char *filename, int linenum, const char *hier) {
    if (Verilated::threadContextp()->gotFinish()) return;
    if (last_text.find("%Error") == std::string::npos) {
        last_text =
            std::string("stopped at ") + filename + ":" + std::to_string(linenum) + " in " + hier;
    }
    Verilated::threadContextp()->gotError(true);
    Verilated::threadContextp()->gotFinish(true);
}

void vl_fatal(const char *filename, int linenum, const char *hier, const char *msg) {
    last_text =
        std::string(msg) + " at " + filename + ":" + std::to_string(linenum) + " in " + hier;
    Verilated::threadContextp()->gotError(true);
    Verilated::threadContextp()->gotFinish(true);
}

namespace mae {

const std::string &runtime_text() { return last_text; }

}  // namespace mae

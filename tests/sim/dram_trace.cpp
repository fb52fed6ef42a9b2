// SPDX-License-Identifier: Apache-2.0
//
// Reads accesses from standard input, "r|w address bytes clock" a line, and prints the clock in
// which the model of a DRAM answers each.
#include <cinttypes>
#include <cstdio>

#include "memory/dram.h"

int main() {
    mae::Dram dram{mae::DramTiming{}};
    char kind;
    uint64_t address, bytes, now;
    while (std::scanf(" %c %" SCNu64 " %" SCNu64 " %" SCNu64, &kind, &address, &bytes, &now) == 4) {
        const uint64_t at =
            kind == 'w' ? dram.write(address, bytes, now) : dram.read(address, bytes, now);
        std::printf("%" PRIu64 "\n", at);
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "notes.h"

#include <cstring>

namespace {

thread_local mae::Notes *current = nullptr;

}  // namespace

namespace mae {

void set_notes(Notes *notes) { current = notes; }

}  // namespace mae

extern "C" {

// Records an event of a bus monitor, which calls it by DPI-C; `data` is 512 bits, byte 0 in bits
// 7:0.
void maeslant_bus_monitor(unsigned kind, unsigned long long a, unsigned long long b,
                          unsigned long long c, const uint32_t *data) {
    if (current == nullptr) return;
    mae_sim_note note = {};
    note.kind = kind;
    note.a = a;
    note.b = b;
    note.c = c;
    std::memcpy(note.data, data, sizeof note.data);
    current->push_back(note);
}

}  // extern "C"

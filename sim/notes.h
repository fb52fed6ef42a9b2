// SPDX-License-Identifier: Apache-2.0
//
// Queues the notes of the bus monitors (sim/bus_monitor) until the caller takes them.
#pragma once

#include <deque>

#include "include/mae_sim.h"

namespace mae {

using Notes = std::deque<mae_sim_note>;

// Sets the notes of this thread's bus monitors: those of the machine at work.
void set_notes(Notes *notes);

}  // namespace mae

// SPDX-License-Identifier: Apache-2.0
//
// Queues the events that bus monitors record until the simulator's caller takes them.
#pragma once

#include <deque>

#include "include/mae_sim.h"

namespace mae {

using Notes = std::deque<mae_sim_note>;

// Sets the queue for events of this thread's bus monitors, that of the machine at work.
void set_notes(Notes *notes);

}  // namespace mae

// SPDX-License-Identifier: Apache-2.0
//
// What the witnesses of sim/witness tell of, in order, until the caller takes it.
#pragma once

#include <deque>

#include "include/mae_sim.h"

namespace mae {

using Notes = std::deque<mae_sim_note>;

// Where this thread's witnesses write: the notes of the machine that is at work.
void set_notes(Notes *notes);

}  // namespace mae

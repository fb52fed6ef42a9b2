// SPDX-License-Identifier: Apache-2.0
//
// Drives the simulated device's AXI4-Lite port as the host, one access at a time. There may be
// random pauses.
#pragma once

#include <cstdint>
#include <string>

#include "bus.h"
#include "random.h"

namespace mae {

class LiteMaster {
   public:
    LiteMaster(uint64_t seed, uint32_t stall) : random_(seed), stall_limit_(stall * 4096 / 100) {}

    bool busy() const { return state_ != State::kIdle; }
    void start_read(uint32_t offset) { start(State::kRead, offset, 0); }
    void start_write(uint32_t offset, uint32_t value) { start(State::kWrite, offset, value); }
    // Returns the data of the last AXI4-Lite read, once it is complete.
    uint32_t value() const { return value_; }
    uint8_t resp() const { return resp_; }

    void drive();
    void take(const LiteFromDevice &from);
    const LiteToDevice &wires() const { return to_; }
    const std::string &breach() const { return breach_; }

   private:
    enum class State : uint8_t { kIdle, kRead, kWrite };

    void start(State state, uint32_t offset, uint32_t value) {
        state_ = state;
        to_.addr = offset;
        to_.w_data = value;
        address_sent_ = data_sent_ = false;
    }

    Random random_;
    const uint32_t stall_limit_;
    State state_ = State::kIdle;
    bool address_sent_ = false;
    bool data_sent_ = false;
    LiteToDevice to_;
    LiteFromDevice held_;
    bool b_waits_ = false;
    bool r_waits_ = false;
    uint32_t value_ = 0;
    uint8_t resp_ = 0;
    std::string breach_;
};

}  // namespace mae

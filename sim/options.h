// SPDX-License-Identifier: Apache-2.0
//
// Parses the text of a simulated machine's options, which mae_sim.h lists.
#pragma once

#include <cstdint>
#include <string>

namespace mae {

struct Options {
    uint32_t latency_min = 1;
    uint32_t latency_max = 1;
    bool shuffled = false;
    bool one_way = false;
    uint32_t bandwidth = 100;
    uint32_t copy = 0;  // 0: the host's copies use the bus
    uint32_t stall = 0;
    uint32_t outstanding = 1024;
    uint32_t ratio_core = 1;
    uint32_t ratio_bus = 1;
    uint32_t error_read = 0;
    uint32_t dram_delay = 40;  // clocks of the controller of device memory
    uint32_t error_memory_read = 0;
    uint32_t error_memory_write = 0;
    uint32_t error_write = 0;
    bool has_error_range = false;
    uint64_t error_first = 0;
    uint64_t error_last = 0;
    bool has_hang = false;
    uint64_t hang = 0;
    std::string hang_on = "all";
    uint64_t timeout = 100000;
    uint64_t seed = 1;
    std::string media;  // file behind the port for device memory; empty: none
    std::string wave;

    // Parses an option text such as "latency=50-300&seed=1". Throws std::invalid_argument with a
    // sentence for the user.
    static Options parse(const std::string &text);
};

}  // namespace mae

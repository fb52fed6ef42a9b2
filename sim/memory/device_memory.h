// SPDX-License-Identifier: Apache-2.0
//
// Models the DRAM behind a card's AXI4 port for device memory, with the time of dram.h: 4 GiB that
// take space on the host only where they were written, or a file of the host. Answers of different
// IDs come in any order.
#pragma once

#include <cstdint>
#include <string>

#include "bus.h"
#include "dram.h"
#include "host/host_memory.h"
#include "options.h"

namespace mae {

class DeviceMemory {
   public:
    static constexpr uint64_t kBytes = 1ull << 32;

    // Creates the model of device memory; `r_data` is the device's read data port, data_bytes long.
    // Throws std::runtime_error if the host has no address space for it, or its file (options.media)
    // cannot be used.
    DeviceMemory(const Options &options, uint32_t data_bytes, uint8_t *r_data);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory &) = delete;
    DeviceMemory &operator=(const DeviceMemory &) = delete;

    // Sets the AXI signals to the device for this clock; take() samples the device's.
    void drive(uint64_t clock) { memory_.drive(clock, false); }
    void take(const AxiFromDevice &from) { memory_.take(from); }
    // Returns true when the file's data are on the host's disk, if the memory is a file; false,
    // with errno, if they cannot be.
    bool flush();
    const AxiToDevice &wires() const { return memory_.wires(); }
    // Returns the text of the device's first AXI protocol violation, "" if there was none.
    const std::string &breach() const { return memory_.breach(); }

   private:
    Dram dram_;
    HostMemory memory_;
    int file_ = -1;  // locked while it is open
    uint64_t size_ = kBytes;
    void *bytes_;
};

}  // namespace mae

// SPDX-License-Identifier: Apache-2.0
//
// Answers the device's AXI bursts by the caller's functions instead of mapped memory.
#include <algorithm>

#include "host_memory.h"

namespace mae {

void HostMemory::ask_read(Read &read) {
    read.data.assign(MAE_SIM_BURST_ROOM, 0);
    const uint32_t size = 1u << read.request.size;
    const uint32_t low = uint32_t(read.request.addr & (size - 1));
    const uint32_t lane = uint32_t(read.request.addr & (bytes_ - 1));
    const uint32_t asked = size * (read.request.len + 1u) - low;
    if (bus_read_ == nullptr) return;  // taken away meanwhile
    const int64_t given = bus_read_(bus_user_, read.request.addr, asked, read.data.data());
    if (given == asked) {
    } else if (given < 0) {
        read.error_beat = 0;
        read.error = kSlverr;
    } else {
        const uint32_t bytes = uint32_t(std::min<int64_t>(given, MAE_SIM_BURST_ROOM)) + low;
        read.last = bytes == low ? 0 : (bytes - 1) / size;
        if (bytes % size != 0 || bytes == low) {
            read.error_beat = read.last;
            read.error = kSlverr;
        }
    }
    if (lane != 0) {  // bytes to their lanes
        read.data.insert(read.data.begin(), lane, 0);
        read.data.resize(MAE_SIM_BURST_ROOM);
    }
}

void HostMemory::ask_write(Write &write) {
    const uint32_t bytes = (write.request.len + 1u) * bytes_;
    const auto strobed = [&](uint32_t at) {
        const uint32_t lane = at % bytes_;
        return write.strobe[at / bytes_ * strobe_bytes_ + lane / 8] >> (lane % 8) & 1;
    };
    if (write.error != kOkay || bus_write_ == nullptr) return;
    for (uint32_t at = 0; at < bytes;) {
        uint32_t end = at;
        while (end < bytes && (write.whole || strobed(end))) end++;
        if (end != at && bus_write_(bus_user_, write.first + at, &write.data[at], end - at) != 0) {
            write.error = kSlverr;
        }
        at = end + 1;
    }
}

}  // namespace mae

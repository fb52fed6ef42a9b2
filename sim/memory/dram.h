// SPDX-License-Identifier: Apache-2.0
//
// Models the time that a DRAM and its controller take: banks with open rows, one data bus for both
// directions, its turnaround, refresh. It holds no data. The controller keeps the order of requests
// on the data bus, opens rows for later requests meanwhile, acknowledges a write when it has it, and
// writes in batches.
//
// The times are clocks of a card at 200 MHz; the defaults are those of one 64-bit channel of
// DDR4-1600 (JESD79-4: CL = tRCD = tRP = 13.75 ns, tRAS = 35 ns, tWTR_L = 7.5 ns, 8 Gbit: tRFC =
// 350 ns, tREFI = 7.8 us), which carries 64 bytes, a burst of 8, in a clock.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace mae {

struct DramTiming {
    uint32_t delay = 40;       // of controller and PHY, both ways together
    uint32_t column = 3;       // from the command to its data (CL)
    uint32_t row = 3;          // from opening a row to the command (tRCD)
    uint32_t precharge = 3;    // from closing a row to opening one (tRP)
    uint32_t active = 7;       // from opening a row to closing it (tRAS)
    uint32_t turnaround = 3;   // of the data bus, each time
    uint32_t refresh = 70;     // all banks (tRFC),
    uint32_t interval = 1560;  // so often (tREFI)
    uint32_t banks = 16;       // a power of two
    uint32_t row_bytes = 8192;
    uint32_t batch = 16;  // writes
};

class Dram {
   public:
    static constexpr uint32_t kGranule = 64;  // bytes of a clock of the data bus

    explicit Dram(const DramTiming &timing);

    // Accepts a burst that reads `bytes` from `address` on, in clock `now`, which never decreases.
    // Returns the clock from which its data can go to the card, a granule a clock.
    uint64_t read(uint64_t address, uint64_t bytes, uint64_t now);
    // Accepts the data of a burst that writes. Returns the clock of the response.
    uint64_t write(uint64_t address, uint64_t bytes, uint64_t now);

   private:
    struct Bank {
        uint64_t row = ~0ull;  // open; none: ~0
        uint64_t command = 0;  // from then on the row takes commands,
        uint64_t close = 0;    // or is closed
    };
    uint64_t transfer(uint64_t address, uint64_t from, bool is_write);
    void refresh(uint64_t until);

    const DramTiming timing_;
    std::vector<Bank> banks_;
    uint64_t bus_ = 0;  // the data bus is free from this clock on
    bool bus_wrote_ = false;
    uint64_t refresh_ = 0;         // the next one
    std::deque<uint64_t> writes_;  // granules of the batch
    uint64_t written_ = 0;         // clock in which the last batch ends
};

}  // namespace mae

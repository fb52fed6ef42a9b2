// SPDX-License-Identifier: Apache-2.0
//
// Models a random CPU for the memory arbiter's torture test, with the memory as it must see it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "oracle.h"
#include "random.h"

namespace mae {

constexpr uint32_t kDepth = 4;  // blocks under way, of the arbiter

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Describes the memory rows of a job and its mode, as the model of the CPU needs them.
struct Region {
    uint32_t source = 0, destination = 0, keys = 0;
    uint32_t rows = 0, key_rows = 0;  // 0: it has none
    bool moves = false;               // it has a destination
    bool verdict = false;             // which is held to the end
    bool express = false;             // blocks can be made out of turn
    uint8_t mode = 0, nr = 10;
    bool decrypt = false;

    bool in_source(uint32_t row) const { return row - source < rows; }
    bool in_destination(uint32_t row) const { return moves && row - destination < rows; }
    bool in_keys(uint32_t row) const { return row - keys < key_rows; }
    bool touches(uint32_t row) const {
        return in_source(row) || in_destination(row) || in_keys(row);
    }
    bool in_place() const { return moves && source == destination; }
    bool overlaps() const {
        return moves && source != destination && source - destination + rows - 1 < 2 * rows - 1;
    }
};

enum Kind : uint8_t { kReadDestination, kWriteDestination, kWriteSource, kWriteKeys, kKinds };

// Counts the CPU accesses of one kind that the arbiter held, with the longest wait. There is one
// for each mode and direction, and for jobs whose blocks can or cannot be processed out of order.
struct Hold {
    uint64_t count = 0, longest = 0;
    int64_t spare = INT64_MAX;  // clocks that one came in before its bound
};

struct CpuCounts {
    uint64_t accesses = 0, writes = 0, held = 0, inside = 0, edges = 0;
};

class Cpu {
   public:
    Cpu(uint64_t seed, uint32_t rows) : rows_(rows), memory(16 * rows), random_(seed) {}

    // The CPU port in a clock: first the request, then its result.
    struct Port {
        bool valid = false;
        uint32_t address = 0, data = 0;
        uint8_t strobes = 0;
    };
    const Port &drive(uint64_t clock);
    void collect(uint64_t clock, bool ready, uint32_t data, const uint8_t *ram);

    void start(const Region &region, uint64_t clock, uint64_t walk_until);
    void end(uint64_t clock);
    void drop(uint64_t clock);        // a wipe: what is under way ends, nothing new
    void reset(const uint8_t *ram);   // the access under way is gone
    void resync(const uint8_t *ram);  // after drop, when idle
    void written(uint32_t row, uint16_t strobes, uint64_t clock);  // seen at the memory
    void progress(uint32_t blocks) { front_ = blocks; }  // that the job has done, in order
    void new_habits();
    void store(uint32_t row, const Bytes &bytes);  // next, word by word
    void compare(const uint8_t *ram, const char *when) const;

    bool idle() const { return !port_.valid; }
    bool storing() const { return stores_ != 0; }
    bool active() const { return active_; }
    bool dropped() const { return dropped_; }
    uint32_t address() const { return port_.address; }
    uint32_t front() const { return front_; }
    std::string describe(uint64_t clock) const;

    const uint32_t rows_;
    Bytes memory;                   // as the CPU must see it
    const Region *avoid = nullptr;  // rows that are left alone
    bool frozen = false;            // nothing new at all
    CpuCounts counts;
    std::array<std::array<std::array<Hold, kKinds>, 2>, 32> holds{};

   private:
    void plan();
    void add(int64_t row, bool write);
    bool free_now(const Port &port, uint64_t clock) const;
    void note_hold(uint64_t clock, uint64_t held);
    bool out_of_turn(uint32_t row) const;
    Random random_;
    Region region_;
    bool active_ = false, clean_ = true, dropped_ = false;
    uint64_t started_ = 0, walk_until_ = 0;
    uint32_t front_ = 0, front_at_issue_ = 0;
    std::vector<uint64_t> written_at_;  // a clock for each block, 0: not yet

    Port port_;
    bool free_ = false;
    uint64_t issued_ = 0;
    uint32_t wait_ = 0;
    std::deque<Port> queue_;
    std::deque<std::string> past_;  // the last accesses that met the job
    size_t stores_ = 0;
    // Habits.
    uint32_t pattern_ = 0, gap_ = 0, writes_ = 128, left_ = 0, at_ = 0;
};

// Returns the longest time for which the memory arbiter may hold a CPU access.
// rtl/soc/mae_memory_arbiter.sv states it: `before` blocks come before the one it meets, or that
// one can be processed out of order.
uint64_t bound_of(const Region &region, bool out_of_turn, uint64_t before);

}  // namespace mae

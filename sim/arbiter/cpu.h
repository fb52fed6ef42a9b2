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
constexpr unsigned kMostJobs = 2;

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
    bool looks_back = false;          // a chain value is the source's block before
    Mode mode = MAE_ECB;
    uint8_t nr = 10;
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
    bool reads(uint32_t row) const { return in_source(row) || in_keys(row); }
    // A row of another job's that this one reads, or writes.
    bool reads_of(const Region &other) const {
        return other.moves && any(other.destination, other.rows, &Region::reads);
    }
    bool writes_over(const Region &other) const {
        return any(other.source, other.rows, &Region::in_destination) ||
               any(other.keys, other.key_rows, &Region::in_destination);
    }
    bool writes_with(const Region &other) const {
        return other.moves && any(other.destination, other.rows, &Region::in_destination);
    }
    bool meets(const Region &other) const {
        return reads_of(other) || writes_over(other) || writes_with(other);
    }

   private:
    bool any(uint32_t first, uint32_t count, bool (Region::*holds)(uint32_t) const) const {
        for (uint32_t row = first; row < first + count; ++row) {
            if ((this->*holds)(row)) return true;
        }
        return false;
    }
};

// Follows a peripheral's present or last job.
struct Track {
    Region region;
    bool active = false, clean = true, dropped = false;
    uint64_t started = 0, walk_until = 0;
    // Clocks after its start in which its marks are still being cleared.
    uint64_t walk() const { return walk_until > started ? walk_until - started : 0; }
    uint32_t front = 0;                // blocks done
    std::vector<uint64_t> written_at;  // a clock for each block, 0: not yet
    // When the CPU's access was issued.
    bool was_active = false;
    uint32_t front_at_issue = 0;
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
    uint64_t twice = 0;  // held by two jobs
};

class Cpu {
   public:
    Cpu(uint64_t seed, uint32_t rows) : rows_(rows), memory(16 * rows), random_(seed) {}
    Cpu(const Cpu &) = delete;
    Cpu &operator=(const Cpu &) = delete;

    // The CPU port in a clock: first the request, then its result.
    struct Port {
        bool valid = false;
        uint32_t address = 0, data = 0;
        uint8_t strobes = 0;
    };
    const Port &drive(uint64_t clock);
    void collect(uint64_t clock, bool ready, uint32_t data, const uint8_t *ram);

    void start(unsigned job, const Region &region, uint64_t clock, uint64_t walk_until);
    void end(unsigned job) { tracks_[job].active = false; }
    void drop(unsigned job);                        // a wipe: what is under way ends, nothing new
    void reset(const uint8_t *ram);                 // the access under way is gone
    void resync(unsigned job, const uint8_t *ram);  // after drop, when idle
    // A job's write, seen at the memory.
    void written(unsigned job, uint32_t row, uint16_t strobes, uint64_t clock);
    void progress(unsigned job, uint32_t blocks) { tracks_[job].front = blocks; }  // in order
    void new_habits();
    void store(uint32_t row, const Bytes &bytes);  // next, word by word
    void compare(const uint8_t *ram, const char *when) const;

    bool idle() const { return !port_.valid; }
    bool storing() const { return stores_ != 0; }
    const Track &track(unsigned job) const { return tracks_[job]; }
    bool active(unsigned job) const { return tracks_[job].active; }
    uint32_t address() const { return port_.address; }
    std::string describe(uint64_t clock) const;

    const uint32_t rows_;
    unsigned jobs = 1;              // peripherals, in whose rows the CPU is interested
    Bytes memory;                   // as the CPU must see it
    const Region *avoid = nullptr;  // rows that are left alone
    bool frozen = false;            // nothing new at all
    CpuCounts counts;
    std::array<std::array<std::array<Hold, kKinds>, 2>, 2 * kModeCodes> holds{};

   private:
    void plan();
    void add(int64_t row, bool write);
    bool free_now(const Track &track, const Port &port, uint64_t clock) const;
    void note_hold(uint64_t clock, uint64_t held);
    uint64_t note_hold_of(const Track &track, Hold *&hold);
    bool out_of_turn(const Region &region, uint32_t row) const;
    Random random_;
    std::array<Track, kMostJobs> tracks_;

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

// SPDX-License-Identifier: Apache-2.0
//
// Declares the torture test of the memory arbiter: random jobs of one or two peripherals beside a
// random CPU. What each job comes to is computed at its start.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "machine.h"

namespace mae {

enum Error : uint32_t {
    kNone = 0,
    kBadOp = 2,
    kBadLength = 4,
    kBadKey = 5,
    kBadTag = 12,
    kBusy = 34,
    kBadAddress = 35
};
constexpr uint32_t kStart = 1u << 31, kWipe = 1u << 30;
constexpr unsigned kSlots = 4;

struct Job {
    Mode mode = MAE_ECB;
    bool decrypt = false, init = true, final = false, memory = true, key_each = false;
    unsigned phase = 0, slot = 0, tweak = 0, keys_bytes = 16, tag_bytes = 16;
    uint32_t source = 0, destination = 0, keys = 0, length = 0;
    Block iv{}, tag{};
    // What comes of it.
    Bytes result;
    Error error = kNone;

    uint32_t rows() const { return uint32_t((uint64_t(length) + 15) / 16); }
    bool moves() const { return is_plain(mode) || (mode != MAE_CMAC && phase == 0); }
    uint32_t stride() const { return keys_bytes == 16 ? 16 : 32; }
    uint32_t ctrl() const {
        return mode | uint32_t(decrypt) << 5 | uint32_t(init) << 6 | slot << 8 | tweak << 16 |
               phase << 24 | uint32_t(final) << 26 | uint32_t(memory) << 27 |
               uint32_t(key_each) << 28;
    }
};

struct Counts {
    uint64_t blocks = 0, resets = 0, wipes = 0, busy = 0, refused = 0, scribbles = 0, loaded = 0,
             bad_tags = 0, keyed = 0, in_place = 0, overlapping = 0, continued = 0, repeated = 0;
    // Jobs that started beside another one, and of them those that read what the other one writes,
    // write what it reads, and write what it writes.
    uint64_t beside = 0, reads_of = 0, writes_over = 0, writes_with = 0;
    uint64_t jobs[2 * kModeCodes] = {};
};

// Only the peripheral that has the floor may start a job, or drop one: between the computation of a
// job's result and its start no other job may change what it reads.
constexpr unsigned kNobody = kMostJobs;

// Tortures one peripheral, as a fiber of its own.
class Torture {
   public:
    Torture(uint64_t seed, Machine &machine, Fibers &fibers, unsigned index, unsigned &floor,
            Counts &counts)
        : random_(seed),
          machine_(machine),
          port_(machine, fibers, index),
          me_(index),
          floor_(floor),
          counts_(counts) {}
    void run(uint64_t accesses);

   private:
    uint32_t below(uint32_t limit) { return random_.below(limit); }
    bool chance(uint32_t percent) { return below(100) < percent; }
    Block block() {
        Block out;
        for (uint8_t &byte : out) byte = uint8_t(random_.next() >> 20);
        return out;
    }
    Bytes bytes_of(size_t count) {
        Bytes out(count);
        for (uint8_t &byte : out) byte = uint8_t(random_.next() >> 20);
        return out;
    }
    Bytes memory(uint32_t at, uint32_t count) const {
        const auto first = machine_.cpu.memory.begin() + at;
        return Bytes(first, first + count);
    }

    void load_key(unsigned slot, size_t size);
    void some_keys();
    uint32_t some_length(bool any);
    void place(Job &job);
    void misplace(Job &job);
    bool carry_out(Job &job, bool leave_alone = true);
    bool wait_for_end(const Job &job);
    bool disturb(const Job &job);
    void dropped();
    void settle();
    void take_floor();
    const Track &other() const { return machine_.cpu.track(1 - me_); }
    void avoid(const Job &job);
    Region region(const Job &job) const;
    void check_error(Error want, const char *what);
    void write_block(uint32_t address, const Block &value);

    void plain();
    Mode whole_blocks_mode();
    void result_of_plain(Job &job, Block &chain);
    void gcm();
    void ccm();
    void cmac();
    bool aad_by_registers(Job job, const Bytes &data);
    void refused();
    void check_tag(const Block &tag, unsigned bytes);

    Random random_;
    Machine &machine_;
    Port port_;
    const unsigned me_;
    unsigned &floor_;
    Counts &counts_;
    Bytes keys_[kSlots];
    Region avoided_;
    uint64_t event_at_ = 0;
};

}  // namespace mae

// SPDX-License-Identifier: Apache-2.0
//
// Declares the exploration of the memory arbiter's states: a state of the model and of what is
// outside it, and a step from one to the next.
#pragma once

#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "toy.h"
#include "verilated.h"

namespace mae {

using Root = Vtop___024root;
constexpr uint32_t kToken = 0x5aa5c33c;  // all that the CPU writes
constexpr uint16_t kUnknown = 0xffff, kOpen = 0xfffe;
constexpr uint8_t kNone = 0xff;
constexpr unsigned kMostToys = 2;

struct Key {
    uint64_t a = 0, b = 0;
    bool operator==(const Key &) const = default;
};
struct KeyHash {
    size_t operator()(const Key &key) const { return key.a; }
};

// Holds the state outside the arbiter's model: the CPU's access and the running jobs.
struct Around {
    ToyMemory memory;
    Number chain[kMostToys] = {};                        // after each toy's job
    uint8_t pending = 0, write = 0, row = 0, loose = 0;  // loose: a wipe came during the access
    uint8_t job[kMostToys] = {kNone, kNone};             // the job that each toy runs
    uint8_t accesses = 0;                                // since the first start
    uint8_t ran = 0;                                     // toys that have had their job since then
    uint8_t rest[8] = {};

    bool idle() const { return job[0] == kNone && job[1] == kNone; }
};

struct State {
    Around around;
    std::vector<uint8_t> root;
    uint32_t parent = 0;
};

struct Choice {
    uint8_t access = 0;                         // 0: none, 1 + 2 * row + write
    uint8_t go = 3, row_first = 0, clear = 0;   // a bit for each toy
    uint8_t reset = 0, start = kNone, toy = 0;  // a job, and the toy that starts it
};

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Explorer {
   public:
    Explorer(const mae_states_job *jobs, size_t count, unsigned toys, unsigned accesses,
             uint64_t limit)
        : jobs_(jobs, jobs + count),
          toys_(toys),
          accesses_(accesses),
          limit_(limit),
          top_(&context_, "top") {
        context_.fatalOnError(false);
        Verilated::threadContextp(&context_);
        for (uint32_t r = 0; r < kToyRows; ++r) {
            for (uint32_t i = 0; i < 16; ++i) first_[r][i] = uint8_t(0x11 * (r + 1) + 7 * i);
        }
    }
    ~Explorer() { top_.final(); }

    void run();
    std::string report() const;

   private:
    struct Seen {
        uint16_t rank = kUnknown;
        uint16_t done = 0;
    };

    uint8_t *ram() {
        return reinterpret_cast<uint8_t *>(
            &top_.rootp->mae_arbiter_toy__DOT__u_memory__DOT__rows_q[0]);
    }
    uint8_t *root() { return reinterpret_cast<uint8_t *>(top_.rootp); }

    void save(State &state) {
        state.root.assign(root(), root() + sizeof(Root));
        state.around = now_;
    }
    void load(const State &state) {
        std::memcpy(root(), state.root.data(), sizeof(Root));
        now_ = state.around;
    }
    Key key() const;
    void step(const Choice &choice);
    void begin(const Choice &choice);
    void end(unsigned toy);
    void wiped(const Choice &choice);
    bool finish_access(uint8_t word);
    bool may_clear(uint8_t mask) const;
    template <typename Visit>
    void each_order(Choice choice, const State &state, Visit visit);
    Key visit();
    uint16_t rank(const State &state, const Key &key, unsigned depth);
    void expand(const State &state);
    [[noreturn]] void fail(const std::string &what) const;
    bool used(const mae_states_job &job, uint32_t row) const;
    bool used(uint32_t row) const;
    static bool made(const mae_states_job &job, uint32_t row) {
        return job.moves != 0 && row - job.destination < (job.bytes + 15u) / 16;
    }

    const std::vector<mae_states_job> jobs_;
    const unsigned toys_;
    const unsigned accesses_;  // at most, in a job; 0: any number
    const uint64_t limit_;
    VerilatedContext context_;
    Vtop top_;
    ToyMemory first_;
    Around now_;
    uint8_t both_ = 0;
    bool ended_ = false, answered_ = false;

    std::unordered_map<Key, Seen, KeyHash> seen_;
    std::deque<State> queue_;
    uint64_t transitions_ = 0, reads_ = 0, writes_ = 0, held_ = 0, most_queued_ = 0, jobs_done_ = 0;
    uint16_t longest_[2][2] = {}, longest_job_ = 0;  // [write][source only]
};

}  // namespace mae

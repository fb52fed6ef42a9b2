// SPDX-License-Identifier: Apache-2.0
//
// Explores every reachable state of the memory arbiter with a toy cipher (mae_arbiter_toy). A state
// is that of all registers of the verilated model, of the memory as the CPU must see it, and of the
// CPU's port; its successors are tried by putting the model back into it. In each:
//   a read gives what the model has; when no job runs and no access is under way memory is the
//   model's;
//   the toy going on, what the CPU waits for comes, and without the CPU the job ends, after a
//   number of clocks (the state's rank) that no pause of the toy makes larger. So none waits for
//   ever, and the largest rank is the bound of a wait, not counting the toy's pauses.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "runtime.h"
#include "toy.h"
#include "verilated.h"

namespace mae {
namespace {

using Root = Vtop___024root;
constexpr uint32_t kToken = 0x5aa5c33c;  // all that the CPU writes
constexpr uint16_t kUnknown = 0xffff, kOpen = 0xfffe;

struct Key {
    uint64_t a = 0, b = 0;
    bool operator==(const Key &) const = default;
};
struct KeyHash {
    size_t operator()(const Key &key) const { return key.a; }
};

// Holds the state outside the arbiter's model: the CPU's access and the running job.
struct Around {
    ToyMemory memory;
    uint8_t pending = 0, write = 0, row = 0, loose = 0;  // loose: a wipe came during the access
    uint8_t job = 0xff, accesses = 0;  // the job that runs, or none; since its start
    uint8_t rest[2] = {};
};

struct State {
    Around around;
    std::vector<uint8_t> root;
    uint32_t parent = 0;
};

struct Choice {
    uint8_t access = 0;  // 0: none, 1 + 2 * row + write
    uint8_t go = 1, row_first = 0, clear = 0, reset = 0, start = 0xff;
};

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Explorer {
   public:
    Explorer(const mae_states_job *jobs, size_t count, unsigned accesses, uint64_t limit)
        : jobs_(jobs, jobs + count), accesses_(accesses), limit_(limit), top_(&context_, "top") {
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
    Key visit();
    uint16_t rank(const State &state, const Key &key, unsigned depth);
    void expand(const State &state);
    [[noreturn]] void fail(const std::string &what) const;
    bool used(const mae_states_job &job, uint32_t row) const;

    const std::vector<mae_states_job> jobs_;
    const unsigned accesses_;  // at most, in a job; 0: any number
    const uint64_t limit_;
    VerilatedContext context_;
    Vtop top_;
    ToyMemory first_;
    Around now_;
    bool both_ = false, ended_ = false, answered_ = false;

    std::unordered_map<Key, Seen, KeyHash> seen_;
    std::deque<State> queue_;
    uint64_t transitions_ = 0, reads_ = 0, writes_ = 0, held_ = 0, most_queued_ = 0, jobs_done_ = 0;
    uint16_t longest_[2][2] = {}, longest_job_ = 0;  // [write][source only]
};

// Returns a 128-bit hash of all registers of the model and the state outside it.
Key Explorer::key() const {
    uint64_t a = 0x243f6a8885a308d3, b = 0x13198a2e03707344;
    const auto mix = [&a, &b](const void *from, size_t size) {
        const uint8_t *bytes = static_cast<const uint8_t *>(from);
        while (size != 0) {
            uint64_t word = 0;
            const size_t count = std::min<size_t>(8, size);
            std::memcpy(&word, bytes, count);
            bytes += count;
            size -= count;
            a = (a ^ word) * 0x9e3779b97f4a7c15;
            a ^= a >> 32;
            b = (b + word) * 0xd6e8feb86659fd93 ^ b >> 29;
        }
    };
    const Root &r = *top_.rootp;
#define REGISTER(name) mix(&r.name, sizeof r.name);
#include "Vtop__registers.h"
#undef REGISTER
    mix(&r.mae_arbiter_toy__DOT__ram_rdata, sizeof r.mae_arbiter_toy__DOT__ram_rdata);
    mix(&r.mae_arbiter_toy__DOT__u_arbiter__DOT__mark, 1);
    mix(&now_, sizeof now_);
    return {a ^ a >> 29, b ^ b >> 31};
}

void Explorer::fail(const std::string &what) const {
    char text[300];
    const mae_states_job *job = now_.job < jobs_.size() ? &jobs_[now_.job] : nullptr;
    std::snprintf(text, sizeof text, "%s; access: %s %s row %u", what.c_str(),
                  now_.pending != 0 ? "waits," : "none,", now_.write != 0 ? "write" : "read",
                  now_.row);
    std::string out = text;
    if (job != nullptr) {
        std::snprintf(text, sizeof text,
                      "; job: mode %u decrypt %u source %u destination %u bytes %u", job->mode,
                      job->decrypt, job->source, job->destination, job->bytes);
        out += text;
    }
    throw Failure(out);
}

bool Explorer::used(const mae_states_job &job, uint32_t row) const {
    const uint32_t rows = (job.bytes + 15u) / 16;
    return row - job.source < rows || (job.moves != 0 && row - job.destination < rows) ||
           (job.key_each != 0 && row - job.keys < rows);
}

// Simulates one clock of the memory arbiter from the model's present state.
void Explorer::step(const Choice &choice) {
    ++transitions_;
    if (choice.access != 0) {
        now_.pending = 1;
        now_.row = uint8_t((choice.access - 1) / 2);
        now_.write = (choice.access - 1) % 2;
        now_.loose = 0;
        if (accesses_ != 0) ++now_.accesses;
    }
    const uint8_t word = jobs_[now_.job < jobs_.size() ? now_.job : 0].word;
    top_.rst_ni = choice.reset == 0;
    top_.clear_i = choice.clear;
    top_.go_i = choice.go;
    top_.row_first_i = choice.row_first;
    top_.cpu_valid_i = now_.pending != 0 && choice.reset == 0;
    top_.cpu_addr_i = uint8_t(16 * now_.row + 4 * word);
    top_.cpu_strb_i = now_.write != 0 ? 15 : 0;
    top_.cpu_wdata_i = kToken;
    top_.start_i = choice.start != 0xff;
    if (choice.start != 0xff) {
        const mae_states_job &job = jobs_[choice.start];
        top_.mode_i = job.mode;
        top_.decrypt_i = job.decrypt;
        top_.init_i = job.init;
        top_.moves_i = job.moves;
        top_.plain_i = job.plain;
        top_.bad_tag_i = job.bad_tag;
        top_.key_each_i = job.key_each;
        top_.source_i = job.source;
        top_.destination_i = job.destination;
        top_.keys_i = job.keys;
        top_.length_i = job.bytes;
        now_.memory = first_;
        std::memcpy(ram(), first_.data(), sizeof first_);
        do_job(job, now_.memory);
        now_.job = choice.start;
        now_.accesses = 0;
    } else {  // nothing may hang on the registers any more
        top_.mode_i = top_.decrypt_i = top_.init_i = top_.moves_i = top_.plain_i = 0;
        top_.bad_tag_i = top_.key_each_i = top_.source_i = top_.destination_i = top_.keys_i = 0;
        top_.length_i = 16;
    }
    top_.clk_i = 0;
    top_.eval();
    if (choice.start != 0xff && top_.refused_o != 0) fail("a legal job is refused");
    both_ = top_.both_o != 0;
    ended_ = now_.job != 0xff && top_.done_o != 0;
    answered_ = false;
    bool dropped = false;
    if (top_.cpu_ready_o != 0 && choice.reset == 0) {
        if (now_.pending == 0 || choice.access != 0) fail("ready without an access");
        uint8_t *there = &now_.memory[now_.row][4 * word];
        if (now_.write != 0) {
            std::memcpy(there, &kToken, 4);
            ++writes_;
        } else {
            uint32_t want, held;
            std::memcpy(&want, there, 4);
            std::memcpy(&held, ram() + 16 * now_.row + 4 * word, 4);
            // After a wipe: what the job would have made, or what it left there.
            const bool right = top_.cpu_rdata_o == want;
            if (!right && (now_.loose == 0 || top_.cpu_rdata_o != held)) {
                char text[80];
                std::snprintf(text, sizeof text, "stale: read %08x, must be %08x", top_.cpu_rdata_o,
                              want);
                fail(text);
            }
            ++reads_;
        }
        answered_ = true;
        dropped = now_.loose != 0;
        now_.pending = now_.write = now_.row = now_.loose = 0;
    }
    if (ended_) {
        const mae_states_job &job = jobs_[now_.job];
        ToyMemory memory = first_;
        const Number chain = do_job(job, memory);
        const auto &found = top_.rootp->mae_arbiter_toy__DOT__chain_q;
        Number own = 0;
        for (int i = 4; i-- != 0;) own = own << 32 | found[i];
        if (job.plain != 0 && own != chain) fail("the next job's chain value is wrong");
        now_.job = 0xff;
        now_.accesses = 0;
        ++jobs_done_;
    }
    top_.clk_i = 1;
    top_.eval();
    if (context_.gotFinish()) fail(runtime_text());
    if (choice.clear != 0 || choice.reset != 0) {
        now_.job = 0xff;
        now_.accesses = 0;
        if (choice.reset != 0) now_.pending = now_.write = now_.row = 0;
        now_.loose = now_.pending;
        dropped = now_.pending == 0;
    }
    if (dropped) {  // what memory holds after a wipe is of no interest
        now_.memory = first_;
        std::memcpy(ram(), first_.data(), sizeof first_);
    }
    if (now_.job == 0xff && now_.pending == 0 &&
        std::memcmp(ram(), now_.memory.data(), sizeof first_) != 0) {
        std::string rows = "memory is not the model's: ";
        for (uint32_t i = 0; i < sizeof first_; ++i) {
            char text[40];
            if (ram()[i] == now_.memory[i / 16][i % 16]) continue;
            std::snprintf(text, sizeof text, "%u.%u is %02x, must be %02x; ", i / 16, i % 16,
                          ram()[i], now_.memory[i / 16][i % 16]);
            rows += text;
        }
        fail(rows);
    }
}

// Records the model's present state, and queues it for exploration if it is new.
Key Explorer::visit() {
    const Key found = key();
    if (seen_.try_emplace(found).second) {
        queue_.emplace_back();
        save(queue_.back());
        most_queued_ = std::max<uint64_t>(most_queued_, queue_.size());
        if (seen_.size() > limit_) throw Failure("more states than the limit");
    }
    return found;
}

// Counts the clocks from a state until the CPU's access or, without one, the job ends.
uint16_t Explorer::rank(const State &state, const Key &at, unsigned depth) {
    const bool waits = state.around.pending != 0;
    if (!waits && state.around.job == 0xff) return 0;
    Seen &seen = seen_[at];
    if (seen.rank == kOpen) {
        now_ = state.around;
        fail("waits for ever");
    }
    if (seen.rank != kUnknown) return seen.rank;
    seen.rank = kOpen;
    if (depth > 2000) fail("waits too long");
    uint16_t most = 0;
    for (uint8_t row_first = 0; row_first < 2; ++row_first) {
        load(state);
        Choice choice;
        choice.row_first = row_first;
        step(choice);
        const bool both = both_;
        uint16_t rest = 0;
        const Key next = visit();
        if (waits ? !answered_ : !ended_) {
            State after;
            save(after);
            rest = rank(after, next, depth + 1);
        }
        most = std::max(most, uint16_t(rest + 1));
        if (!both) break;
    }
    seen_[at].rank = most;
    return most;
}

// Explores all successors of a state of the memory arbiter.
void Explorer::expand(const State &state) {
    load(state);
    const Key own = key();
    if (state.around.job == 0xff && state.around.pending == 0) {
        for (uint8_t job = 0; job < jobs_.size(); ++job) {
            load(state);
            Choice choice;
            choice.start = job;
            step(choice);
            visit();
        }
        Choice idle;  // the walk over the marks goes on
        load(state);
        now_.memory = first_;
        std::memcpy(ram(), first_.data(), sizeof first_);
        step(idle);
        visit();
        return;
    }
    const uint16_t own_rank = rank(state, own, 0);
    if (state.around.pending != 0) {
        ++held_;
        const mae_states_job &job = jobs_[state.around.job < jobs_.size() ? state.around.job : 0];
        const uint32_t rows = (job.bytes + 15u) / 16;
        const bool destination =
            job.moves != 0 && uint32_t(state.around.row - job.destination) < rows;
        uint16_t &longest = longest_[state.around.write][!destination];
        longest = std::max(longest, own_rank);
    } else {
        longest_job_ = std::max(longest_job_, own_rank);
    }
    bool other = false;  // one row that has nothing to do with the job stands for all
    for (uint32_t access = 0; access < 1 + 2 * kToyRows; ++access) {
        if (access != 0) {
            if (state.around.pending != 0 || state.around.job == 0xff) break;
            if (accesses_ != 0 && state.around.accesses == accesses_) break;
            const uint32_t row = (access - 1) / 2;
            if (!used(jobs_[state.around.job], row)) {
                if (other && (access - 1) % 2 == 0) continue;
                if ((access - 1) % 2 != 0 && other) continue;
                if ((access - 1) % 2 != 0) other = true;
            }
        }
        for (uint8_t go = 0; go < 2; ++go) {
            for (uint8_t row_first = 0; row_first <= go; ++row_first) {
                load(state);
                Choice choice;
                choice.access = uint8_t(access);
                choice.go = go;
                choice.row_first = row_first;
                step(choice);
                const bool both = both_;
                const Key next = visit();
                if (go == 0 && access == 0 && !answered_ && !ended_) {
                    State after;
                    save(after);
                    if (rank(after, next, 0) > own_rank) {
                        now_ = state.around;
                        fail("a pause of the toy makes the wait longer by more than itself");
                    }
                }
                if (!both) break;
            }
        }
    }
    for (int how = 0; how < 2; ++how) {
        load(state);
        Choice choice;
        (how == 0 ? choice.clear : choice.reset) = 1;
        step(choice);
        visit();
    }
}

void Explorer::run() {
    top_.eval();
    now_.memory = first_;
    Choice reset;
    reset.reset = 1;
    step(reset);
    visit();
    while (!queue_.empty()) {
        const State state = std::move(queue_.front());
        queue_.pop_front();
        expand(state);
    }
}

std::string Explorer::report() const {
    char text[600];
    std::snprintf(
        text, sizeof text,
        "{\"states\": %llu, \"transitions\": %llu, \"reads\": %llu, \"writes\": %llu, "
        "\"waiting\": %llu, \"jobs_done\": %llu, \"queued\": %llu, \"read_wait\": %u, "
        "\"write_wait\": %u, \"source_wait\": %u, \"job\": %u}",
        static_cast<unsigned long long>(seen_.size()),
        static_cast<unsigned long long>(transitions_), static_cast<unsigned long long>(reads_),
        static_cast<unsigned long long>(writes_), static_cast<unsigned long long>(held_),
        static_cast<unsigned long long>(jobs_done_), static_cast<unsigned long long>(most_queued_),
        std::max(longest_[0][0], longest_[0][1]), longest_[1][0], longest_[1][1], longest_job_);
    return text;
}

}  // namespace
}  // namespace mae

int mae_sim_states_run(const struct mae_states_job *jobs, size_t count, unsigned accesses,
                       uint64_t limit, char *report, size_t size) {
    std::string text;
    int result = 0;
    try {
        mae::Explorer explorer(jobs, count, accesses, limit);
        explorer.run();
        text = explorer.report();
    } catch (const std::exception &error) {
        text = std::string("{\"error\": \"") + error.what() + "\"}";
        std::replace(text.begin(), text.end(), '\n', ' ');
        result = -1;
    }
    std::snprintf(report, size, "%s", text.c_str());
    return result;
}

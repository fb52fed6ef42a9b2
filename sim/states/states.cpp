// SPDX-License-Identifier: Apache-2.0
//
// Explores every reachable state of the memory arbiter with one or two peripherals of a toy cipher
// (mae_arbiter_toy). A state is that of all registers of the verilated model, of the memory as the
// CPU must see it, and of the CPU's port; its successors are tried by putting the model back into
// it. In each:
//   a read gives what the model has; when no job runs and no access is under way memory is the
//   model's;
//   the toys going on, what the CPU waits for comes, and without the CPU the jobs end, after a
//   number of clocks (the state's rank) that no pause of a single toy makes larger. So none waits
//   for ever, and the largest rank is the bound of a wait, not counting the toys' pauses.
// With two toys, each has one job. It starts at any clock, also beside the other one or while the
// CPU waits, and again when both have ended.
#include <algorithm>

#include "explorer.h"

namespace mae {

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
    mix(&now_, sizeof now_);
    return {a ^ a >> 29, b ^ b >> 31};
}

// Does a step from a state for each order in which the toys may take a row and a single block, and
// calls `visit` after each.
template <typename Visit>
void Explorer::each_order(Choice choice, const State &state, Visit visit) {
    load(state);
    choice.row_first = 0;
    step(choice);
    const uint8_t both = both_ & choice.go;
    visit();
    for (uint8_t order = 1; order <= both; ++order) {
        if ((order & ~both) != 0) continue;
        load(state);
        choice.row_first = order;
        step(choice);
        visit();
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

// Counts the clocks from a state until the CPU's access or, without one, all jobs end.
uint16_t Explorer::rank(const State &state, const Key &at, unsigned depth) {
    const bool waits = state.around.pending != 0;
    if (!waits && state.around.idle()) return 0;
    Seen &seen = seen_[at];
    if (seen.rank == kOpen) {
        now_ = state.around;
        fail("waits for ever");
    }
    if (seen.rank != kUnknown) return seen.rank;
    seen.rank = kOpen;
    if (depth > 2000) fail("waits too long");
    uint16_t most = 0;
    each_order({}, state, [&] {
        const bool over = waits ? answered_ : now_.idle();
        const Key next = visit();
        uint16_t rest = 0;
        if (!over) {
            State after;
            save(after);
            rest = rank(after, next, depth + 1);
        }
        most = std::max(most, uint16_t(rest + 1));
    });
    seen_[at].rank = most;
    return most;
}

// Explores all successors of a state of the memory arbiter.
void Explorer::expand(const State &state) {
    load(state);
    const Key own = key();
    const Around &around = state.around;
    for (unsigned toy = 0; toy < toys_; ++toy) {
        if (around.idle() ? around.pending != 0
                          : toys_ == 1 || around.job[toy] != kNone || (around.ran >> toy & 1)) {
            continue;
        }
        for (uint8_t job = 0; job < jobs_.size(); ++job) {
            if (toys_ > 1 && job != toy) continue;  // each has its own
            for (uint8_t go = 0; go < 1 << toys_; ++go) {
                if (around.idle() && go + 1 != 1 << toys_) continue;
                Choice choice;
                choice.start = job;
                choice.toy = uint8_t(toy);
                choice.go = go;
                each_order(choice, state, [this] { visit(); });
            }
        }
    }
    if (around.idle() && around.pending == 0) {
        load(state);  // the walk over the marks goes on
        now_.memory = first_;
        std::memcpy(ram(), first_.data(), sizeof first_);
        step({});
        visit();
        return;
    }
    const uint16_t own_rank = rank(state, own, 0);
    if (around.pending != 0) {
        ++held_;
        bool destination = false;
        for (const uint8_t index : around.job) {
            destination = destination || (index != kNone && made(jobs_[index], around.row));
        }
        if (around.idle()) destination = made(jobs_[0], around.row);
        uint16_t &longest = longest_[around.write][!destination];
        longest = std::max(longest, own_rank);
    } else {
        longest_job_ = std::max(longest_job_, own_rank);
    }
    bool other = false;  // one row that has nothing to do with the job stands for all
    for (uint32_t access = 0; access < 1 + 2 * kToyRows; ++access) {
        if (access != 0) {
            if (around.pending != 0 || around.idle()) break;
            if (accesses_ != 0 && around.accesses == accesses_) break;
            now_ = around;
            if (!used((access - 1) / 2)) {
                if (other) continue;
                other = (access - 1) % 2 != 0;
            }
        }
        for (uint8_t go = 0; go < 1 << toys_; ++go) {
            Choice choice;
            choice.access = uint8_t(access);
            choice.go = go;
            each_order(choice, state, [&] {
                const bool over = answered_ || ended_;
                const Key next = visit();
                if (go != 0 || access != 0 || over || toys_ > 1) return;
                State after;
                save(after);
                if (rank(after, next, 0) > own_rank) {
                    now_ = around;
                    fail("a pause of the toy makes the wait longer by more than itself");
                }
            });
        }
    }
    for (uint8_t mask = 0; mask < 1 << toys_; ++mask) {
        now_ = around;
        if (mask != 0 && !may_clear(mask)) continue;
        Choice choice;
        choice.clear = mask;
        choice.reset = mask == 0;
        load(state);
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

}  // namespace mae

int mae_sim_states_run(const struct mae_states_job *jobs, size_t count, unsigned toys,
                       unsigned accesses, uint64_t limit, char *report, size_t size) {
    std::string text;
    int result = 0;
    try {
        mae::Explorer explorer(jobs, count, toys, accesses, limit);
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

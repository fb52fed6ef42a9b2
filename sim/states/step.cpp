// SPDX-License-Identifier: Apache-2.0
//
// Simulates one clock of the memory arbiter from a state, and compares it with the model of memory.
#include "explorer.h"
#include "runtime.h"

namespace mae {
namespace {

// Returns a toy's chain value in the model, which may have one toy only.
template <typename Model>
const auto &chain_of(const Model &model, unsigned toy) {
    if constexpr (requires {
                      model.mae_arbiter_toy__DOT__gen_toy__BRA__1__KET____DOT__u_toy__DOT__chain_q;
                  }) {
        if (toy == 1) {
            return model.mae_arbiter_toy__DOT__gen_toy__BRA__1__KET____DOT__u_toy__DOT__chain_q;
        }
    }
    return model.mae_arbiter_toy__DOT__gen_toy__BRA__0__KET____DOT__u_toy__DOT__chain_q;
}

}  // namespace

void Explorer::fail(const std::string &what) const {
    char text[300];
    std::snprintf(text, sizeof text, "%s; access: %s %s row %u", what.c_str(),
                  now_.pending != 0 ? "waits," : "none,", now_.write != 0 ? "write" : "read",
                  now_.row);
    std::string out = text;
    for (const uint8_t index : now_.job) {
        if (index >= jobs_.size()) continue;
        const mae_states_job &job = jobs_[index];
        std::snprintf(text, sizeof text,
                      "; job: mode %u decrypt %u source %u destination %u bytes %u", job.mode,
                      job.decrypt, job.source, job.destination, job.bytes);
        out += text;
    }
    throw Failure(out);
}

bool Explorer::used(const mae_states_job &job, uint32_t row) const {
    const uint32_t rows = (job.bytes + 15u) / 16;
    return row - job.source < rows || made(job, row) ||
           (job.key_each != 0 && row - job.keys < rows);
}

// Returns true if a row has to do with a running job or, with two toys, with any.
bool Explorer::used(uint32_t row) const {
    for (size_t i = 0; i < jobs_.size(); ++i) {
        if ((toys_ > 1 || now_.job[0] == i) && used(jobs_[i], row)) return true;
    }
    return false;
}

// Returns true if the outcome of a wipe of some toys is defined: the jobs that go on do not use
// what the others would have made.
bool Explorer::may_clear(uint8_t mask) const {
    for (unsigned toy = 0; toy < toys_; ++toy) {
        if ((mask >> toy & 1) == 0 || now_.job[toy] == kNone) continue;
        for (unsigned other = 0; other < toys_; ++other) {
            if ((mask >> other & 1) != 0 || now_.job[other] == kNone) continue;
            for (uint32_t row = 0; row < kToyRows; ++row) {
                if (made(jobs_[now_.job[toy]], row) && used(jobs_[now_.job[other]], row)) {
                    return false;
                }
            }
        }
    }
    return true;
}

// Puts a job's parameters at the model's ports.
void Explorer::begin(const Choice &choice) {
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
    if (now_.idle()) {
        now_.memory = first_;
        std::memcpy(ram(), first_.data(), sizeof first_);
        now_.accesses = 0;
    }
}

// Compares the chain value of a toy whose job has ended.
void Explorer::end(unsigned toy) {
    const mae_states_job &job = jobs_[now_.job[toy]];
    const auto &found = chain_of(*top_.rootp, toy);
    Number own = 0;
    for (int i = 4; i-- != 0;) own = own << 32 | found[i];
    if (job.plain != 0 && own != now_.chain[toy]) fail("the next job's chain value is wrong");
    now_.job[toy] = kNone;
    now_.chain[toy] = 0;
    ++jobs_done_;
}

// Checks the answer to the CPU's access; returns true if a wipe came during it.
bool Explorer::finish_access(uint8_t word) {
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
    const bool loose = now_.loose != 0;
    now_.pending = now_.write = now_.row = now_.loose = 0;
    return loose;
}

// Brings the model in line with a wipe or reset. What a dropped job leaves is its own.
void Explorer::wiped(const Choice &choice) {
    for (unsigned toy = 0; toy < toys_; ++toy) {
        if (choice.reset == 0 && (choice.clear >> toy & 1) == 0) continue;
        if (now_.job[toy] == kNone) continue;
        for (uint32_t row = 0; row < kToyRows; ++row) {
            if (!made(jobs_[now_.job[toy]], row)) continue;
            std::memcpy(now_.memory[row].data(), ram() + 16 * row, 16);
        }
        now_.job[toy] = kNone;
        now_.chain[toy] = 0;
    }
    if (choice.reset != 0) now_.pending = now_.write = now_.row = 0;
    now_.loose = now_.pending;
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
    const uint8_t word = jobs_[now_.job[0] < jobs_.size() ? now_.job[0] : 0].word;
    top_.rst_ni = choice.reset == 0;
    top_.clear_i = choice.clear;
    top_.go_i = choice.go & ((1u << toys_) - 1);
    top_.row_first_i = choice.row_first;
    top_.cpu_valid_i = now_.pending != 0 && choice.reset == 0;
    top_.cpu_addr_i = uint8_t(16 * now_.row + 4 * word);
    top_.cpu_strb_i = now_.write != 0 ? 15 : 0;
    top_.cpu_wdata_i = kToken;
    const bool starts = choice.start != kNone;
    top_.start_i = starts ? 1u << choice.toy : 0;
    if (starts) {
        begin(choice);
    } else {  // nothing may hang on the registers any more
        top_.mode_i = top_.decrypt_i = top_.init_i = top_.moves_i = top_.plain_i = 0;
        top_.bad_tag_i = top_.key_each_i = top_.source_i = top_.destination_i = top_.keys_i = 0;
        top_.length_i = 16;
    }
    top_.clk_i = 0;
    top_.eval();
    if (starts && (top_.refused_o >> choice.toy & 1) != 0) fail("a legal job is refused");
    both_ = top_.both_o;
    ended_ = answered_ = false;
    bool dropped = false;
    if (top_.cpu_ready_o != 0 && choice.reset == 0) {
        if (now_.pending == 0 || choice.access != 0) fail("ready without an access");
        dropped = finish_access(word);
    }
    for (unsigned toy = 0; toy < toys_; ++toy) {
        if (now_.job[toy] == kNone || (top_.done_o >> toy & 1) == 0) continue;
        end(toy);
        ended_ = true;
    }
    if (starts) {
        now_.chain[choice.toy] = do_job(jobs_[choice.start], now_.memory);
        now_.job[choice.toy] = choice.start;
        now_.ran |= uint8_t(1u << choice.toy);
    }
    top_.clk_i = 1;
    top_.eval();
    if (context_.gotFinish()) fail(runtime_text());
    if (choice.clear != 0 || choice.reset != 0) {
        wiped(choice);
        dropped = now_.pending == 0;
    }
    if (now_.idle()) now_.accesses = now_.ran = 0;
    if (dropped && now_.idle()) {  // what memory holds after a wipe is of no interest
        now_.memory = first_;
        std::memcpy(ram(), first_.data(), sizeof first_);
    }
    if (now_.idle() && now_.pending == 0 &&
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

}  // namespace mae

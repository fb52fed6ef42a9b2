// SPDX-License-Identifier: Apache-2.0
//
// Drives mae_gcm_stream with a list of jobs, with stalls, aborts and random idle inputs.
#include <cstring>
#include <deque>
#include <new>
#include <string>
#include <vector>

#include "Vtop.h"
#include "mae_sim_gcm.h"
#include "random.h"
#include "runtime.h"
#include "verilated.h"

namespace {

constexpr uint64_t kPatience = 50000;  // clocks in which nothing happens
constexpr uint32_t kRow = sizeof(Vtop::in_data_i);
constexpr size_t kNone = ~size_t{0};

using Job = mae_gcm_job;

// Writes bit fields one after another into a packed port, from bit 0 upwards.
class Bits {
   public:
    explicit Bits(uint32_t *words) : words_(words) {}
    void put(uint64_t value, unsigned bits) {
        for (unsigned i = 0; i < bits; ++i, ++at_) {
            uint32_t &word = words_[at_ / 32];
            const uint32_t mask = uint32_t{1} << at_ % 32;
            word = (value >> i & 1) != 0 ? word | mask : word & ~mask;
        }
    }
    void bytes(const uint8_t *first, unsigned count) {  // byte 0 highest
        while (count-- != 0) put(first[count], 8);
    }

   private:
    uint32_t *words_;
    unsigned at_ = 0;
};

template <class P>
uint8_t *bytes_of(P &port) {
    return reinterpret_cast<uint8_t *>(&port);  // verilated words are little-endian, as the host
}

}  // namespace

struct mae_sim_gcm {
   public:
    mae_sim_gcm(uint64_t seed, uint32_t held) : top_(&context_, "top"), random_(seed), held_(held) {
        context_.fatalOnError(false);
        Verilated::threadContextp(&context_);
        top_.rst_ni = 0;
        for (int i = 0; i < 4; ++i) clock();
        top_.rst_ni = 1;
        clock();
    }
    ~mae_sim_gcm() {
        Verilated::threadContextp(&context_);
        top_.final();
    }

    int run(const Job *jobs, size_t count, const uint8_t *in, uint8_t *out,
            mae_gcm_result *results);
    uint64_t clocks() const { return clocks_; }
    const std::string &message() const { return message_; }

   private:
    struct Entry {       // of the list of keys or of the list of the rest
        size_t job;      // its place in the program
        size_t after;    // so many of the other list come before it, as far as they matter to it
        size_t barrier;  // so many clears come before it
    };
    struct Place {  // a message at the port of beats
        size_t job = kNone;
        int part = 0;  // IV, AAD, data
        uint32_t at = 0;
    };

    void plan(const Job *jobs, size_t count);
    void offer_key();
    void offer_message();
    void offer_beat();
    void event();
    bool tick();
    bool take_out();
    bool take_tag();
    void wipe();
    void clock();
    bool fail(const std::string &what);
    bool pauses(unsigned port) { return uint8_t(draw_ >> 8 * port) < stall_[port]; }
    uint32_t size(const Job &job, int part) const {
        if (part == 0) return job.iv_bytes == 12 ? 0 : job.iv_bytes;
        return part == 1 ? job.aad_bytes : job.data_bytes;
    }
    bool next_part(Place &place) const {
        while (place.part < 3 && place.at >= size(jobs_[place.job], place.part)) {
            ++place.part;
            place.at = 0;
        }
        return place.part < 3;
    }

    VerilatedContext context_;
    Vtop top_;
    mae::Random random_;
    const uint32_t held_;  // beats that the register of out_* holds
    uint64_t clocks_ = 0, draw_ = 0;
    uint8_t stall_[5] = {};
    std::string message_;

    // One call.
    const Job *jobs_ = nullptr;
    const uint8_t *in_ = nullptr;
    uint8_t *out_ = nullptr;
    mae_gcm_result *results_ = nullptr;
    std::vector<Entry> keys_, rest_;
    size_t keys_done_ = 0, rest_done_ = 0, clears_done_ = 0;
    bool key_held_ = false, message_held_ = false, beat_held_ = false;
    bool announced_ = false;  // a message was at the port
    uint32_t wait_ = 0;
    bool waiting_ = false;
    std::deque<size_t> beats_, outs_, ends_;
    Place place_;
    uint32_t odd_beat_ = 0, beat_ = 0;
};

bool mae_sim_gcm::fail(const std::string &what) {
    message_ = what + ", clock " + std::to_string(clocks_);
    return false;
}

void mae_sim_gcm::clock() {
    top_.clk_i = 0;
    top_.eval();
    top_.clk_i = 1;
    top_.eval();
    ++clocks_;
    context_.timeInc(1);
}

// Orders the keys and messages of a job list for the GCM engine's key banks. A key waits for the
// messages before it under its bank's old key; a message for its bank's key.
void mae_sim_gcm::plan(const Job *jobs, size_t count) {
    keys_.clear();
    rest_.clear();
    size_t last_key[4] = {}, last_message[4] = {}, clears = 0;
    for (size_t i = 0; i < count; ++i) {
        const Job &job = jobs[i];
        const unsigned bank = job.bank % 4;
        switch (job.kind) {
            case MAE_GCM_KEY:
                keys_.push_back({i, last_message[bank], clears});
                last_key[bank] = keys_.size();
                break;
            case MAE_GCM_MESSAGE:
                rest_.push_back({i, last_key[bank], 0});
                last_message[bank] = rest_.size();
                break;
            default:
                rest_.push_back({i, job.kind == MAE_GCM_CLEAR ? keys_.size() : 0, 0});
                if (job.kind == MAE_GCM_CLEAR) ++clears;
        }
    }
}

void mae_sim_gcm::offer_key() {
    if (!key_held_ && keys_done_ < keys_.size() && !pauses(4)) {
        const Entry &entry = keys_[keys_done_];
        if (entry.after <= rest_done_ && entry.barrier <= clears_done_) {
            const Job &job = jobs_[entry.job];
            Bits bits(&top_.key_i[0]);
            uint8_t key[32];
            for (uint8_t &byte : key) byte = uint8_t(random_.next());
            std::memcpy(key, in_ + job.offset, job.key_bytes);
            bits.bytes(key, 32);
            bits.put((job.key_bytes - 16u) / 8, 2);
            bits.put(job.bank, 2);
            key_held_ = true;
        }
    }
    top_.key_valid_i = key_held_;
}

void mae_sim_gcm::offer_message() {
    if (!message_held_ && rest_done_ < rest_.size() && !pauses(3)) {
        const Entry &entry = rest_[rest_done_];
        const Job &job = jobs_[entry.job];
        // Its key is loaded, or is the one that is offered.
        const bool keyed = entry.after <= keys_done_ + (key_held_ ? 1 : 0);
        if (job.kind == MAE_GCM_MESSAGE && keyed) {
            Bits bits(&top_.msg_i[0]);
            uint8_t rubbish[28];
            for (uint8_t &byte : rubbish) byte = uint8_t(random_.next());
            bits.bytes(job.decrypt != 0 ? job.tag : rubbish, 16);
            bits.put(job.tag_bytes, 5);
            bits.put(job.data_bytes, 36);
            bits.put(job.aad_bytes, 36);
            bits.put(job.iv_bytes, 36);
            bits.bytes(job.iv_bytes == 12 ? in_ + job.offset : rubbish + 16, 12);
            bits.put(job.decrypt, 1);
            bits.put(job.bank, 2);
            message_held_ = announced_ = true;
        }
    }
    top_.msg_valid_i = message_held_;
}

void mae_sim_gcm::offer_beat() {
    if (!beat_held_ && !beats_.empty() && !pauses(0)) {
        if (place_.job == kNone) {
            place_ = {beats_.front(), 0, 0};
            next_part(place_);
            beat_ = 0;
            uint32_t total = 0;
            for (int p = 0; p < 3; ++p) total += (size(jobs_[place_.job], p) + kRow - 1) / kRow;
            odd_beat_ = random_.below(total);
        }
        const Job &job = jobs_[place_.job];
        const uint32_t left = size(job, place_.part) - place_.at;
        const uint32_t count = left < kRow ? left : kRow;
        uint64_t offset = job.offset + place_.at;
        if (place_.part > 0) offset += job.iv_bytes;
        if (place_.part > 1) offset += job.aad_bytes;
        uint8_t *port = bytes_of(top_.in_data_i);
        for (uint32_t i = 0; i < kRow; ++i) {
            port[i / 16 * 16 + 15 - i % 16] =
                i < count ? in_[offset + i] : uint8_t(random_.next() >> 8);
        }
        Place next = place_;
        next.at += count;
        bool last = !next_part(next);
        uint32_t bytes = count;
        if (beat_ == odd_beat_) {
            if (job.odd == MAE_GCM_ODD_BYTES) {
                bytes = (count + 1 + random_.below(kRow)) % (kRow + 1);
            }
            last ^= job.odd == MAE_GCM_ODD_LAST;
        }
        top_.in_bytes_i = decltype(top_.in_bytes_i)(bytes);
        top_.in_last_i = last;
        beat_held_ = true;
    }
    top_.in_valid_i = beat_held_;
}

// Applies the stall, abort or clear of the GCM engine that is due, one in a clock at most.
void mae_sim_gcm::event() {
    if (rest_done_ == rest_.size()) return;
    const Entry &entry = rest_[rest_done_];
    const Job &job = jobs_[entry.job];
    if (job.kind == MAE_GCM_MESSAGE || entry.after > keys_done_) return;
    if (job.kind == MAE_GCM_STALL) {
        std::memcpy(stall_, job.tag, sizeof stall_);
        ++rest_done_;
    } else if (!waiting_) {
        waiting_ = true;
        wait_ = job.wait;
    } else if (wait_ != 0) {
        --wait_;
    } else {
        top_.abort_i = job.kind == MAE_GCM_ABORT;
        top_.clear_i = job.kind == MAE_GCM_CLEAR;
        // What is offered in this clock must not be taken; a message would come out later.
        top_.in_valid_i = 1;
        if (announced_) top_.msg_valid_i = 1;
    }
}

// Drops the expected results that an abort or clear of the GCM engine cancels.
void mae_sim_gcm::wipe() {
    clears_done_ += top_.clear_i;
    top_.abort_i = 0;
    top_.clear_i = 0;
    beats_.clear();
    outs_.clear();
    ends_.clear();
    place_.job = kNone;
    beat_held_ = false;
    waiting_ = false;
    ++rest_done_;
}

bool mae_sim_gcm::take_out() {
    if (outs_.empty()) return fail("a beat comes that belongs to no message");
    const Job &job = jobs_[outs_.front()];
    mae_gcm_result &result = results_[outs_.front()];
    const uint64_t left = job.data_bytes - result.bytes;
    const uint32_t count = left < kRow ? uint32_t(left) : kRow;
    const std::string name = "message " + std::to_string(outs_.front());
    if (top_.out_bytes_o != count) return fail(name + ": wrong number of bytes");
    if (top_.out_last_o != (left <= kRow)) return fail(name + ": wrong mark of the last beat");
    const uint64_t offset = job.offset + job.iv_bytes + job.aad_bytes + result.bytes;
    const uint8_t *port = bytes_of(top_.out_data_o);
    for (uint32_t i = 0; i < kRow; ++i) {
        const uint8_t byte = port[i / 16 * 16 + 15 - i % 16];
        if (i < count) {
            out_[offset + i] = byte;
        } else if (byte != 0) {
            return fail(name + ": bytes behind the end");
        }
    }
    result.bytes += count;
    if (left <= kRow) outs_.pop_front();
    return true;
}

bool mae_sim_gcm::take_tag() {
    if (ends_.empty()) return fail("a tag comes that belongs to no message");
    mae_gcm_result &result = results_[ends_.front()];
    const std::string name = "message " + std::to_string(ends_.front());
    // A tag does not wait for the beats before it that out_* holds.
    uint64_t before = 0;
    for (const size_t out : outs_) {
        if (out > ends_.front()) break;
        before += (jobs_[out].data_bytes - results_[out].bytes + kRow - 1) / kRow;
    }
    if (before > held_) return fail(name + ": a tag comes before its beats");
    const uint8_t *port = bytes_of(top_.tag_o);
    for (uint32_t i = 0; i < 16; ++i) result.tag[i] = port[15 - i];
    result.ok = port[16] & 1;
    result.ended = 1;
    ends_.pop_front();
    return true;
}

bool mae_sim_gcm::tick() {
    draw_ = random_.next();
    offer_key();
    offer_message();
    offer_beat();
    event();
    top_.out_ready_i = !pauses(1);
    top_.tag_ready_i = !pauses(2);
    top_.clk_i = 0;
    top_.eval();
    const bool key_taken = key_held_ && top_.key_ready_o;
    const bool message_taken = message_held_ && top_.msg_ready_o;
    const bool beat_taken = beat_held_ && top_.in_ready_o;
    if (top_.out_valid_o && top_.out_ready_i && !take_out()) return false;
    if (top_.tag_valid_o && top_.tag_ready_i && !take_tag()) return false;
    if (message_taken && rest_[rest_done_].after > keys_done_ + (key_taken ? 1 : 0)) {
        return fail("a message is taken before its key");
    }
    const bool gone = top_.abort_i || top_.clear_i;
    top_.clk_i = 1;
    top_.eval();
    ++clocks_;
    context_.timeInc(1);
    if (context_.gotFinish()) return fail(mae::runtime_text());
    if (key_taken) {
        ++keys_done_;
        key_held_ = false;
    }
    if (beat_taken) {
        const Job &job = jobs_[place_.job];
        const uint32_t left = size(job, place_.part) - place_.at;
        place_.at += left < kRow ? left : kRow;
        ++beat_;
        if (!next_part(place_)) {
            place_.job = kNone;
            beats_.pop_front();
        }
        beat_held_ = false;
    }
    if (message_taken) {
        const size_t number = rest_[rest_done_].job;
        Place place{number, 0, 0};
        if (next_part(place)) beats_.push_back(number);
        if (jobs_[number].data_bytes != 0) outs_.push_back(number);
        ends_.push_back(number);
        message_held_ = false;
        ++rest_done_;
    }
    if (gone) wipe();
    return true;
}

int mae_sim_gcm::run(const Job *jobs, size_t count, const uint8_t *in, uint8_t *out,
                     mae_gcm_result *results) {
    Verilated::threadContextp(&context_);
    jobs_ = jobs;
    in_ = in;
    out_ = out;
    results_ = results;
    plan(jobs, count);
    keys_done_ = rest_done_ = clears_done_ = 0;
    std::memset(results, 0, count * sizeof *results);
    uint64_t quiet = 0;
    while (keys_done_ < keys_.size() || rest_done_ < rest_.size() || !ends_.empty()) {
        const size_t before = keys_done_ + rest_done_ + ends_.size();
        const uint32_t beat = beat_;
        if (!tick()) return -1;
        const bool moved = keys_done_ + rest_done_ + ends_.size() != before || beat_ != beat;
        quiet = moved ? 0 : quiet + 1;
        if (quiet > kPatience) {
            fail("nothing moves");
            return -1;
        }
    }
    std::memset(stall_, 0, sizeof stall_);
    for (int i = 0; i < 12; ++i) {
        if (!tick()) return -1;
    }
    if (!outs_.empty() || !beats_.empty()) {
        fail("beats are left");
        return -1;
    }
    return 0;
}

extern "C" {

mae_sim_gcm_t *mae_sim_gcm_create(uint64_t seed, uint32_t held) {
    return new (std::nothrow) mae_sim_gcm(seed, held);
}

void mae_sim_gcm_destroy(mae_sim_gcm_t *gcm) { delete gcm; }

uint32_t mae_sim_gcm_lanes(const mae_sim_gcm_t *) { return kRow / 16; }

int mae_sim_gcm_run(mae_sim_gcm_t *gcm, const mae_gcm_job *jobs, size_t count, const uint8_t *in,
                    uint8_t *out, mae_gcm_result *results) {
    return gcm->run(jobs, count, in, out, results);
}

uint64_t mae_sim_gcm_clocks(const mae_sim_gcm_t *gcm) { return gcm->clocks(); }

const char *mae_sim_gcm_message(const mae_sim_gcm_t *gcm) { return gcm->message().c_str(); }

}  // extern "C"

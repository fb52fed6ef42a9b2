// SPDX-License-Identifier: Apache-2.0
#include "host_memory.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mae {
namespace {

constexpr uint64_t kPage = 4096;      // a burst must not cross it
constexpr uint64_t kCopyAhead = 8;    // beats that the host's copy reads before it writes
constexpr uint8_t kErrorData = 0xee;  // what a beat with an error carries
constexpr uint32_t kMillion = 1000000;

void widen(uint64_t value, uint64_t &low, uint64_t &high) {
    if (low == 0 || value < low) low = value;
    if (value > high) high = value;
}

}  // namespace

HostMemory::HostMemory(const Options &options, uint32_t data_bytes, uint32_t row_bytes,
                       uint32_t id_bits, uint8_t *r_data, Dram *dram)
    : options_(options),
      bytes_(data_bytes),
      row_bytes_(row_bytes),
      size_(uint32_t(std::countr_zero(data_bytes))),
      id_bits_(id_bits),
      strobe_bytes_((data_bytes + 7) / 8),
      stall_limit_(options.stall * 4096 / 100),
      dram_(dram),
      random_(options.seed),
      reads_(options.outstanding),
      read_answers_(options.outstanding, options.shuffled ? 1u << id_bits : 1, options.latency_max),
      writes_(options.outstanding),
      addressed_(options.outstanding),
      write_answers_(options.outstanding, options.shuffled ? 1u << id_bits : 1,
                     options.latency_max),
      held_data_(data_bytes),
      held_strobe_(strobe_bytes_) {
    to_.r_data = r_data;
    for (uint32_t i = options.outstanding; i-- != 0;) {
        free_reads_.push_back(i);
        free_writes_.push_back(i);
    }
    reset_stats();
}

void HostMemory::reset_stats() {
    stats_ = {};
    detail_ = {};
    stats_.data_width_bits = bytes_ * 8;
    stats_.one_way = options_.one_way;
    read_answers_.clear_overtakes();
    write_answers_.clear_overtakes();
}

void HostMemory::stats(struct mae_sim_stats &stats, struct mae_sim_detail &detail) const {
    stats = stats_;
    detail = detail_;
    detail.overtakes = read_answers_.overtakes() + write_answers_.overtakes();
    const auto earlier = [](uint64_t a, uint64_t b) {
        return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
    };
    stats.first_data_clock = earlier(detail.first_read_clock, detail.first_write_clock);
    stats.last_data_clock = std::max(detail.last_read_clock, detail.last_write_clock);
}

uint32_t HostMemory::latency() {
    const uint32_t span = options_.latency_max - options_.latency_min;
    return options_.latency_min + (span == 0 ? 0 : random_.below(span + 1));
}

// Returns the clock in which a burst that the device has sent, a write with its data, is answered.
uint64_t HostMemory::due(const AxiAddress &request, bool is_write) {
    if (dram_ == nullptr) return clock_ + latency();
    const uint64_t bytes = (request.len + 1ull) << request.size;
    const uint64_t at = is_write ? dram_->write(request.addr, bytes, clock_)
                                 : dram_->read(request.addr, bytes, clock_);
    return std::clamp<uint64_t>(at, clock_ + 1, clock_ + options_.latency_max);
}

bool HostMemory::served(uint32_t &credit) {
    credit += options_.bandwidth;
    if (credit < 100) return false;
    credit -= 100;
    return true;
}

// Selects the next requester above the last selected one, round robin.
uint32_t HostMemory::grant(uint32_t wanted, uint32_t &last) {
    if (wanted == 0) return 0;
    const uint32_t above = wanted & ~(last | (last - 1));
    last = 1u << std::countr_zero(above != 0 ? above : wanted);
    return last;
}

void HostMemory::drive(uint64_t clock, bool write_waits) {
    clock_ = clock;
    read_answers_.tick(clock);
    write_answers_.tick(clock);
    to_.w_ready = false;
    if (silent("all")) {
        to_.ar_ready = to_.aw_ready = false;
        return;
    }
    uint64_t dice = stall_limit_ == 0 ? ~0ull : random_.next();
    const auto stalled = [&] {
        const bool stall = (dice & 0xfff) < stall_limit_;
        dice >>= 12;
        return stall;
    };
    to_.ar_ready = !stalled() && !free_reads_.empty();
    to_.aw_ready = !stalled() && !free_writes_.empty();
    const bool stall_response = stalled() || silent("response");
    const bool stall_read = stalled() || silent("read");
    const bool stall_write = stalled() || silent("write");
    if (!to_.b_valid && !stall_response && write_answers_.ready()) offer_response();
    serve(write_waits, stall_read, stall_write);
}

// Transfers the clock's data beats between host memory, the device and the host's CPU. A read beat
// uses its data clock when it is offered; it is held without cost until it is taken.
void HostMemory::serve(bool write_waits, bool stall_read, bool stall_write) {
    const bool can_read = !to_.r_valid && !stall_read && read_answers_.ready();
    const bool can_write = !stall_write && addressed_count_ != 0;
    uint32_t reads = can_read ? uint32_t(kDeviceRead) : 0;
    uint32_t writes = can_write && write_waits ? uint32_t(kDeviceWrite) : 0;
    if (options_.copy != 0) {
        copy_apart();
    } else if (copy_busy()) {
        const uint64_t ahead = copy_.writes_left - copy_.reads_left;
        if (copy_.reads_left != 0 && ahead < kCopyAhead) reads |= kHostRead;
        if (ahead != 0) writes |= kHostWrite;
    }
    uint32_t granted = 0;
    if (options_.one_way) {
        if (!served(credit_read_)) return;
        granted = grant(reads | writes, last_granted_read_);
        if (granted == 0 && can_write) granted = kDeviceWrite;
    } else {
        if (served(credit_read_)) granted = grant(reads, last_granted_read_);
        if (served(credit_write_)) {
            uint32_t write = grant(writes, last_granted_write_);
            if (write == 0 && can_write) write = kDeviceWrite;
            granted |= write;
        }
    }
    if (granted & kDeviceRead) offer_read();
    if (granted & kDeviceWrite) to_.w_ready = true;
    if (granted & (kHostRead | kHostWrite)) copy_step(granted);
}

// Returns true if any byte of the row around an address is mapped: then the device may read it all,
// as real memory comes in pages.
bool HostMemory::in_mapped_row(uint64_t address) const {
    const uint64_t first = address & ~uint64_t(row_bytes_ - 1);
    return map_.any(first, first + row_bytes_ - 1);
}

void HostMemory::offer_read() {
    const uint32_t slot = read_answers_.pick(random_);
    Read &read = reads_[slot];
    if (read.beat == 0) {
        read_answers_.start(slot);
        widen(clock_ - read.taken, detail_.read_latency_min, detail_.read_latency_max);
    }
    if (last_read_ != kNone && last_read_ != slot) detail_.interleaved++;
    const uint64_t address = read.first + uint64_t(read.beat) * bytes_;
    if (read.asked) {
        read.host = read.data.data();
    } else if (read.generation != map_.generation()) {
        read.host = map_.span(read.first,
                              read.first + uint64_t(read.request.len) * bytes_ + bytes_ - 1, false);
        read.generation = map_.generation();
    }
    Resp resp = kOkay;
    if (read.host != nullptr) {
        std::memcpy(to_.r_data, read.host + uint64_t(read.beat) * bytes_, bytes_);
    } else if (map_.read(address, to_.r_data, bytes_) == 0 && !in_mapped_row(address)) {
        resp = kDecerr;
        detail_.decode_errors++;
    }
    if (in_error_range(address, address + bytes_ - 1)) {
        resp = kDecerr;
        stats_.errors_injected++;
    } else if (read.beat == read.error_beat || (read.asked && read.beat > read.error_beat)) {
        resp = read.error;
        stats_.errors_injected++;
    }
    if (resp != kOkay) std::memset(to_.r_data, kErrorData, bytes_);
    to_.r_valid = true;
    to_.r_id = read.request.id;
    to_.r_resp = resp;
    to_.r_last = read.beat == read.last;
    last_read_ = to_.r_last ? kNone : slot;
    read.beat++;
    if (to_.r_last) {
        read_answers_.finish(slot);
        free_reads_.push_back(slot);
    }
}

void HostMemory::offer_response() {
    const uint32_t slot = write_answers_.pick(random_);
    Write &write = writes_[slot];
    write_answers_.start(slot);
    widen(clock_ - write.done, detail_.write_latency_min, detail_.write_latency_max);
    land(write);
    to_.b_valid = true;
    to_.b_id = write.request.id;
    to_.b_resp = write.error;
    write_answers_.finish(slot);
    free_writes_.push_back(slot);
}

// Completes a write burst of the device: stores its data in host memory or decides its error.
void HostMemory::land(Write &write) {
    const uint32_t beats = write.request.len + 1u;
    const uint64_t last = write.first + uint64_t(beats) * bytes_ - 1;
    if (write.error != kOkay) {
        stats_.errors_injected++;
        return;
    }
    if (write.asked) return;  // the caller has it
    if (in_error_range(write.first, last)) {
        for (uint32_t beat = 0; beat < beats; beat++) {
            const uint64_t address = write.first + uint64_t(beat) * bytes_;
            const uint8_t *strobe = &write.strobe[beat * strobe_bytes_];
            const bool any =
                std::any_of(strobe, strobe + strobe_bytes_, [](uint8_t b) { return b; });
            if (any && in_error_range(address, address + bytes_ - 1)) {
                write.error = kDecerr;
                stats_.errors_injected++;
                return;
            }
        }
    }
    uint8_t *host = write.whole ? map_.span(write.first, last, true) : nullptr;
    if (host != nullptr) {
        std::memcpy(host, write.data.data(), size_t(beats) * bytes_);
        return;
    }
    for (uint32_t beat = 0; beat < beats; beat++) {
        if (!map_.write(write.first + uint64_t(beat) * bytes_, &write.data[size_t(beat) * bytes_],
                        bytes_, &write.strobe[beat * strobe_bytes_])) {
            write.error = kDecerr;
        }
    }
    if (write.error != kOkay) detail_.decode_errors++;
}

int HostMemory::copy_begin(uint64_t dst, uint64_t src, uint64_t bytes) {
    if (!map_.covers(dst, bytes) || !map_.covers(src, bytes)) return -ENOENT;
    const uint64_t beats = (bytes + bytes_ - 1) / bytes_;
    copy_ = {dst, src, bytes, beats, beats};
    return 0;
}

// Runs the host's copy at its own rate, beside the bus.
void HostMemory::copy_apart() {
    credit_copy_ = copy_busy() ? credit_copy_ + options_.copy : 0;
    for (; credit_copy_ >= 100 && copy_busy(); credit_copy_ -= 100) {
        copy_step(kHostRead | kHostWrite);
    }
}

void HostMemory::copy_step(uint32_t granted) {
    if (granted & kHostRead) {
        copy_.reads_left--;
        stats_.host_copy_beats++;
    }
    if (granted & kHostWrite) {
        const size_t run = size_t(std::min<uint64_t>(bytes_, copy_.bytes_left));
        map_.copy(copy_.dst, copy_.src, run);
        copy_.dst += run;
        copy_.src += run;
        copy_.bytes_left -= run;
        copy_.writes_left--;
        stats_.host_copy_beats++;
    }
}

void HostMemory::take(const AxiFromDevice &from) {
    if (ar_waits_ || aw_waits_ || w_waits_) check_stable(from);
    const bool took_write = from.w_valid && to_.w_ready;
    const bool took_read = to_.r_valid && from.r_ready;

    if (took_write) take_write_beat(from);
    if (from.w_valid && !took_write && !w_waits_) {
        std::memcpy(held_data_.data(), from.w_data, bytes_);
        std::memcpy(held_strobe_.data(), from.w_strb, strobe_bytes_);
        held_last_ = from.w_last;
    }
    w_waits_ = from.w_valid && !took_write;
    data_without_address_ = w_waits_ && addressed_count_ == 0 ? data_without_address_ + 1 : 0;

    if (took_read) {
        to_.r_valid = false;
        stats_.read_beats++;
        stats_.read_bytes += bytes_;
        if (is_payload(to_.r_id)) {
            detail_.payload_read_beats++;
            if (detail_.first_read_clock == 0) detail_.first_read_clock = clock_;
            detail_.last_read_clock = clock_;
        }
    }
    if (took_read && took_write) detail_.both_ways_clocks++;
    if (to_.b_valid && from.b_ready) to_.b_valid = false;

    ar_waits_ = from.ar_valid && !to_.ar_ready;
    if (from.ar_valid && to_.ar_ready) take_read_address(from.ar);
    if (ar_waits_) held_ar_ = from.ar;
    aw_waits_ = from.aw_valid && !to_.aw_ready;
    if (from.aw_valid && to_.aw_ready) take_write_address(from.aw);
    if (aw_waits_) held_aw_ = from.aw;
}

void HostMemory::take_read_address(const AxiAddress &request) {
    check_address("AR", request);
    const uint32_t slot = free_reads_.back();
    free_reads_.pop_back();
    Read &read = reads_[slot];
    read.request = request;
    read.first = request.addr & ~uint64_t(bytes_ - 1);
    read.generation = 0;
    read.taken = clock_;
    read.beat = 0;
    read.last = request.len;
    read.asked = bus_read_ != nullptr;
    read.error_beat = kNone;
    if (options_.error_read != 0 && random_.below(kMillion) < options_.error_read) {
        read.error_beat = random_.below(request.len + 1u);
        read.error = random_.below(2) ? kSlverr : kDecerr;
    }
    bursts_taken_++;
    detail_.read_bursts++;
    detail_.max_reads_outstanding =
        std::max<uint64_t>(detail_.max_reads_outstanding, reads_.size() - free_reads_.size());
    if (read.asked) {
        asked_.push_back({false, slot});
    } else {
        read_answers_.add(slot, options_.shuffled ? request.id : 0, due(request, false));
    }
}

void HostMemory::take_write_address(const AxiAddress &request) {
    check_address("AW", request);
    const uint32_t slot = free_writes_.back();
    free_writes_.pop_back();
    Write &write = writes_[slot];
    write.request = request;
    write.first = request.addr & ~uint64_t(bytes_ - 1);
    write.beat = 0;
    write.whole = true;
    write.asked = bus_write_ != nullptr;
    write.error = kOkay;
    if (options_.error_write != 0 && random_.below(kMillion) < options_.error_write) {
        write.error = random_.below(2) ? kSlverr : kDecerr;
    }
    const size_t beats = request.len + 1u;
    if (write.data.size() < beats * bytes_) write.data.resize(beats * bytes_);
    if (write.strobe.size() < beats * strobe_bytes_) write.strobe.resize(beats * strobe_bytes_);
    addressed_[(addressed_begin_ + addressed_count_++) % addressed_.size()] = slot;
    bursts_taken_++;
    detail_.write_bursts++;
    detail_.max_writes_outstanding =
        std::max<uint64_t>(detail_.max_writes_outstanding, writes_.size() - free_writes_.size());
}

void HostMemory::take_write_beat(const AxiFromDevice &from) {
    const uint32_t slot = addressed_[addressed_begin_];
    Write &write = writes_[slot];
    uint8_t *strobe = &write.strobe[write.beat * strobe_bytes_];
    std::memcpy(&write.data[size_t(write.beat) * bytes_], from.w_data, bytes_);
    std::memcpy(strobe, from.w_strb, strobe_bytes_);
    uint32_t set = 0;
    for (uint32_t i = 0; i < strobe_bytes_; i++) set += uint32_t(std::popcount(strobe[i]));
    write.whole = write.whole && set == bytes_;

    // Lanes that the address leaves out must not be strobed: below it, and above a narrow beat.
    const uint32_t low = write.beat == 0 ? uint32_t(write.request.addr & (bytes_ - 1)) : 0;
    const uint32_t size = 1u << write.request.size;
    const uint32_t high = write.beat == 0 && size < bytes_ ? (low & ~(size - 1)) + size : bytes_;
    if (low != 0 || high != bytes_) {
        for (uint32_t i = 0; i < bytes_; i++) {
            if ((i < low || i >= high) && (strobe[i / 8] >> (i % 8) & 1)) {
                fail("W: a byte outside the burst's addresses is strobed");
                break;
            }
        }
    }
    if (from.w_last != (write.beat == write.request.len)) {
        fail(from.w_last ? "W: WLAST before the burst's last beat"
                         : "W: no WLAST on the burst's last beat");
    }

    stats_.write_beats++;
    stats_.write_bytes += set;
    if (is_payload(write.request.id)) {
        detail_.payload_write_beats++;
        if (detail_.first_write_clock == 0) detail_.first_write_clock = clock_;
        detail_.last_write_clock = clock_;
    }
    if (write.beat++ == write.request.len) {
        addressed_begin_ = (addressed_begin_ + 1) % uint32_t(addressed_.size());
        addressed_count_--;
        write.done = clock_;
        if (write.asked) {
            asked_.push_back({true, slot});
        } else {
            write_answers_.add(slot, options_.shuffled ? write.request.id : 0,
                               due(write.request, true));
        }
    }
}

void HostMemory::set_bus(mae_sim_read_fn read, mae_sim_write_fn write, void *user) {
    bus_read_ = read;
    bus_write_ = write;
    bus_user_ = user;
}

void HostMemory::ask() {
    if (asking_ || asked_.empty()) return;
    asking_ = true;
    for (size_t i = 0; i < asked_.size(); i++) {  // a call may let time pass, and more bursts come
        const auto [is_write, slot] = asked_[i];
        if (is_write) {
            Write &write = writes_[slot];
            ask_write(write);
            write_answers_.add(slot, options_.shuffled ? write.request.id : 0, clock_ + latency());
        } else {
            Read &read = reads_[slot];
            ask_read(read);
            read_answers_.add(slot, options_.shuffled ? read.request.id : 0, clock_ + latency());
        }
    }
    asked_.clear();
    asking_ = false;
}

void HostMemory::check_address(const char *channel, const AxiAddress &request) {
    const std::string name(channel);
    const uint64_t size = 1ull << request.size;
    const uint64_t first = request.addr & ~(size - 1);
    const uint64_t bytes = size * (request.len + 1u);
    if (request.size > size_) fail(name + ": AxSIZE is wider than the bus");
    if (request.size < size_ && request.len != 0) fail(name + ": a narrow burst of several beats");
    if (request.burst != 1 && request.len != 0) fail(name + ": not an INCR burst");
    if (first / kPage != (first + bytes - 1) / kPage) fail(name + ": a burst crosses a 4 KiB page");
}

// Checks that AXI signals which the device offered stay stable until they are accepted.
void HostMemory::check_stable(const AxiFromDevice &from) {
    if (ar_waits_ && !(from.ar_valid && from.ar == held_ar_)) {
        fail("AR: changed before it was accepted");
    }
    if (aw_waits_ && !(from.aw_valid && from.aw == held_aw_)) {
        fail("AW: changed before it was accepted");
    }
    if (w_waits_ && !(from.w_valid && from.w_last == held_last_ &&
                      std::memcmp(held_data_.data(), from.w_data, bytes_) == 0 &&
                      std::memcmp(held_strobe_.data(), from.w_strb, strobe_bytes_) == 0)) {
        fail("W: changed before it was accepted");
    }
}

void HostMemory::fail(const std::string &what) {
    if (!breach_.empty()) return;
    breach_ = "AXI: " + what + " (bus clock " + std::to_string(clock_) + ")";
}

std::string HostMemory::state() const {
    char text[256];
    std::snprintf(text, sizeof text,
                  "%zu reads and %zu writes in flight, %u write bursts lack data%s%s%s",
                  reads_.size() - free_reads_.size(), writes_.size() - free_writes_.size(),
                  addressed_count_, data_without_address_ ? ", write data without an address" : "",
                  to_.r_valid ? ", read data not accepted" : "",
                  silent() ? ", the memory is silent (hang)" : "");
    return text;
}

}  // namespace mae

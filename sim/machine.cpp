// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mae {
namespace {

constexpr uint64_t kHalfPeriod = 5000;  // ps of the bus clock: waveforms read as 100 MHz
constexpr unsigned kResetClocks = 16;

}  // namespace

Machine::Machine(const std::string &options)
    : options_(Options::parse(options)),
      device_(Device::make()),
      shape_(device_->shape()),
      lite_(options_.seed ^ 0x6c697465, options_.stall),
      bus_half_(kHalfPeriod),
      nonces_(options_.seed ^ 0x6e6f6e6365) {
    Random random(options_.seed ^ 0x636c6f636b);
    if (shape_.has_dma) {
        memory_ = std::make_unique<HostMemory>(options_, shape_.data_bytes, shape_.row_bytes,
                                               shape_.id_bits, device_->r_data());
    }
    if (shape_.has_bus_clock) {
        // Halves in the inverse ratio of the frequencies; the phase is random.
        core_half_ = kHalfPeriod * options_.ratio_bus;
        bus_half_ = kHalfPeriod * options_.ratio_core;
        next_core_ = 1 + random.below(uint32_t(2 * core_half_));
    } else if (options_.ratio_core != options_.ratio_bus) {
        throw std::invalid_argument("option ratio: this build has one clock");
    }
    if (!options_.media.empty()) {
        if (shape_.memory_bytes == 0) {
            throw std::invalid_argument("option media: this build has no port for device memory");
        }
        make_memory();
    }
    next_bus_ = bus_half_;
    device_->enter();
    set_notes(notes_wanted_ ? &notes_ : nullptr);
    next_nonce();
    if (!options_.wave.empty()) device_->open_wave(options_.wave);
    reset();
}

void Machine::reset() {
    device_->reset(false);
    device_->reset(true);
    // The clocks run, the memory and the register master are idle.
    const AxiToDevice axi;
    const LiteToDevice lite;
    for (unsigned i = 0; i < kResetClocks; i++) {
        core_edges(next_bus_);
        device_->time(next_bus_);
        if (shape_.has_port) device_->drive_port(port_);
        device_->bus_fall(axi, axi, lite);
        if (i == kResetClocks - 2) device_->reset(false);
        core_edges(next_bus_ + bus_half_);
        device_->time(next_bus_ + bus_half_);
        device_->bus_rise();
        next_bus_ += 2 * bus_half_;
    }
    core_clock_ = 0;
    device_->sample(axi_from_, memory_from_, lite_from_);
    if (axi_from_.ar_valid || axi_from_.aw_valid || axi_from_.w_valid) {
        fail(-EPROTO, "AXI: valid is high after reset");
        broken_ = true;
    }
    check();
    if (broken_) throw std::runtime_error(message_);
}

// Simulates the edges of the device's core clock before the time `until`.
void Machine::core_edges(uint64_t until) {
    if (core_half_ == 0) return;
    while (next_core_ <= until) {
        device_->time(next_core_);
        core_high_ = !core_high_;
        if (core_high_) {
            device_->core_rise();
            core_clock_++;
        } else {
            device_->core_fall();
        }
        next_core_ += core_half_;
    }
}

void Machine::make_memory() {
    device_memory_ =
        std::make_unique<DeviceMemory>(options_, shape_.memory_bytes, device_->memory_r_data());
}

// Lets the memory behind the device's m_axi_mem see this clock; it begins with the first access, a
// file with the machine.
void Machine::take_memory() {
    const AxiFromDevice &from = memory_from_;
    if (!device_memory_ && (from.ar_valid || from.aw_valid || from.w_valid)) make_memory();
    if (device_memory_) device_memory_->take(from);
}

void Machine::clock() {
    bus_clock_++;
    lite_.drive();
    if (memory_) memory_->drive(bus_clock_, device_->write_waits());
    if (device_memory_) device_memory_->drive(bus_clock_);
    core_edges(next_bus_);
    device_->time(next_bus_);
    if (shape_.has_port) device_->drive_port(port_);
    device_->flush_done(flushed_);
    device_->bus_fall(memory_ ? memory_->wires() : AxiToDevice{},
                      device_memory_ ? device_memory_->wires() : AxiToDevice{}, lite_.wires());
    core_edges(next_bus_ + bus_half_);
    device_->sample(axi_from_, memory_from_, lite_from_);
    if (memory_) memory_->take(axi_from_);
    take_memory();
    lite_.take(lite_from_);
    flushed_ = !flushed_ && device_->flush_asked() && flush();
    if (shape_.has_port) {
        const PortFromDevice from = device_->sample_port();
        installed_ = port_.install_valid && from.install_ready;
        if (from.nonce_take) next_nonce();
    }
    device_->time(next_bus_ + bus_half_);
    device_->bus_rise();
    next_bus_ += 2 * bus_half_;
    check();
}

// Has the device's memory keep what it has; false, and the machine is broken, if it does not.
bool Machine::flush() {
    if (!device_memory_ || device_memory_->flush()) {
        flushes_++;
        return true;
    }
    broken_ = true;
    fail(-EPROTO, "the file of the device's memory: " + std::string(std::strerror(errno)));
    return false;
}

// Draws the protected card's next nonce, which its port shows from the next clock on.
void Machine::next_nonce() {
    if (nonce_ != nullptr) {
        nonce_(nonce_user_, port_.nonce);
        return;
    }
    for (uint8_t &byte : port_.nonce) byte = uint8_t(nonces_.below(256));
}

void Machine::check() {
    std::string why;
    if (device_->stopped(why)) {
    } else if (memory_ && !memory_->breach().empty()) {
        why = memory_->breach();
    } else if (device_memory_ && !device_memory_->breach().empty()) {
        why = "device memory: " + device_memory_->breach();
    } else if (!lite_.breach().empty()) {
        why = lite_.breach();
    } else {
        return;
    }
    if (broken_) return;
    broken_ = true;
    message_ = why;
    std::fprintf(stderr, "maeslant simulator: %s\n", why.c_str());
}

bool Machine::begin() {
    device_->enter();
    set_notes(notes_wanted_ ? &notes_ : nullptr);
    if (!broken_) message_.clear();
    return !broken_;
}

int Machine::fail(int error, const std::string &message) {
    message_ = message;
    return error;
}

// Runs the simulation until the device answers the register access that was started.
int Machine::access() {
    for (uint64_t i = 0; lite_.busy() && i < options_.timeout && !broken_; i++) clock();
    if (broken_) return -EPROTO;
    if (lite_.busy()) {
        return fail(-ETIMEDOUT, "the device did not answer a register access within " +
                                    std::to_string(options_.timeout) + " clocks");
    }
    return 0;
}

int Machine::read32(uint32_t offset, uint32_t &value) {
    if (!begin()) return -EPROTO;
    if (offset % 4 != 0) return fail(-EINVAL, "a register offset is a multiple of 4");
    if (int error = access()) return error;  // an older one may still wait
    lite_.start_read(offset);
    if (int error = access()) return error;
    register_reads_++;
    value = lite_.value();
    const uint8_t resp = lite_.resp();
    if (memory_) memory_->ask();
    if (resp != kOkay) return fail(-EIO, "the device refused a register read");
    return 0;
}

int Machine::write32(uint32_t offset, uint32_t value) {
    if (!begin()) return -EPROTO;
    if (offset % 4 != 0) return fail(-EINVAL, "a register offset is a multiple of 4");
    if (int error = access()) return error;
    lite_.start_write(offset, value);
    if (int error = access()) return error;
    register_writes_++;
    const uint8_t resp = lite_.resp();
    if (memory_) memory_->ask();
    if (resp != kOkay) return fail(-EIO, "the device refused a register write");
    return 0;
}

int Machine::map(uint64_t iova, void *host, uint64_t bytes, bool writable) {
    if (!begin()) return -EPROTO;
    if (!memory_) return fail(-ENOSYS, "this device does no DMA");
    const int error = memory_->map().map(iova, host, bytes, writable);
    if (error == -EEXIST) return fail(error, "the range overlaps a mapped one");
    if (error != 0) return fail(error, "an empty or endless range cannot be mapped");
    return 0;
}

int Machine::unmap(uint64_t iova, uint64_t bytes) {
    if (!begin()) return -EPROTO;
    if (!memory_) return fail(-ENOSYS, "this device does no DMA");
    const int error = memory_->map().unmap(iova, bytes);
    return error == 0 ? 0 : fail(error, "no mapping is exactly this range");
}

int Machine::wait(uint64_t max_clocks) {
    if (!begin()) return -EPROTO;
    for (uint64_t i = 0; !device_->irq(); i++) {
        if (i == max_clocks) return 0;
        clock();
        if (broken_) return -EPROTO;
        if (memory_) memory_->ask();
    }
    return 1;
}

int Machine::run(uint64_t clocks) {
    if (!begin()) return -EPROTO;
    for (uint64_t i = 0; i < clocks; i++) {
        clock();
        if (broken_) return -EPROTO;
        if (memory_) memory_->ask();
    }
    return 0;
}

int Machine::set_bus(mae_sim_read_fn read, mae_sim_write_fn write, void *user) {
    if (!begin()) return -EPROTO;
    if (!memory_) return fail(-ENOSYS, "this device does no DMA");
    if ((read == nullptr) != (write == nullptr)) return fail(-EINVAL, "one function is missing");
    memory_->set_bus(read, write, user);
    return 0;
}

int Machine::install(const uint8_t *secret, const uint8_t *session_id, uint64_t clocks) {
    if (!begin()) return -EPROTO;
    if (!shape_.has_port) return fail(-ENOSYS, "this device has no provisioning port");
    std::copy_n(secret, sizeof port_.secret, port_.secret);
    std::copy_n(session_id, sizeof port_.session_id, port_.session_id);
    port_.install_valid = true;
    installed_ = false;
    for (uint64_t i = 0; i < clocks && !installed_ && !broken_; i++) {
        clock();
        if (memory_) memory_->ask();
    }
    const bool taken = installed_;
    port_.install_valid = false;
    std::fill_n(port_.secret, sizeof port_.secret, 0);
    std::fill_n(port_.session_id, sizeof port_.session_id, 0);
    return broken_ ? -EPROTO : taken;
}

int Machine::set_nonces(mae_sim_nonce_fn nonce, void *user) {
    if (!begin()) return -EPROTO;
    if (!shape_.has_port) return fail(-ENOSYS, "this device has no provisioning port");
    nonce_ = nonce;
    nonce_user_ = user;
    next_nonce();
    return 0;
}

bool Machine::take_note(mae_sim_note &note) {
    if (notes_.empty()) return false;
    note = notes_.front();
    notes_.pop_front();
    return true;
}

int Machine::host_copy(uint64_t dst, uint64_t src, uint64_t bytes) {
    if (!begin()) return -EPROTO;
    if (!memory_) return fail(-ENOSYS, "this device does no DMA");
    if (memory_->copy_busy()) return fail(-ETIMEDOUT, "an earlier copy was never finished");
    if (bytes == 0) return 0;
    if (int error = memory_->copy_begin(dst, src, bytes)) {
        return fail(error, "the range of a copy is not mapped");
    }
    uint64_t left = memory_->copy_beats_left();
    for (uint64_t idle = 0; memory_->copy_busy(); idle++) {
        if (idle == options_.timeout) {
            return fail(-ETIMEDOUT, "the memory does not serve the copy: " + memory_->state());
        }
        clock();
        if (broken_) return -EPROTO;
        if (memory_->copy_beats_left() != left) idle = 0;
        left = memory_->copy_beats_left();
    }
    return 0;
}

void Machine::stats(struct mae_sim_stats &stats, struct mae_sim_detail &detail) const {
    stats = {};
    detail = {};
    if (memory_) memory_->stats(stats, detail);
    stats.bus_clocks = bus_clock_ - bus_clock_start_;
    stats.core_clocks = core_half_ == 0 ? stats.bus_clocks : core_clock_ - core_clock_start_;
    stats.register_reads = register_reads_;
    stats.register_writes = register_writes_;
    detail.memory_flushes = flushes_;
}

void Machine::reset_stats() {
    if (memory_) memory_->reset_stats();
    bus_clock_start_ = bus_clock_;
    core_clock_start_ = core_clock_;
    register_reads_ = register_writes_ = flushes_ = 0;
}

}  // namespace mae

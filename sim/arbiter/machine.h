// SPDX-License-Identifier: Apache-2.0
//
// Declares the simulated peripherals and memory of the torture test: clock, registers, events.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "cpu.h"
#include "fibers.h"
#include "runtime.h"
#include "verilated.h"

namespace mae {

// Gives the register addresses of the peripheral, as in regs/mae_peripheral.rdl.
enum Register : uint32_t {
    kCtrl = 0x20,
    kStatus = 0x24,
    kIrqEnable = 0x28,
    kIrqStatus = 0x2c,
    kLength = 0x30,
    kKey = 0x40,
    kKeyCmd = 0x60,
    kKeyStatus = 0x64,
    kIv = 0x70,
    kDataIn = 0x80,
    kDataOut = 0x90,
    kTag = 0xc0,
    kTagBytes = 0xd0,
    kSource = 0xe0,
    kDestination = 0xe4,
    kKeys = 0xe8,
    kKeysLen = 0xec
};

constexpr uint32_t kRowBits = MAE_ROW_BITS, kRows = 1 << kRowBits, kAddressWidth = 12;

// Simulates the memory arbiter with all its peripherals. Each peripheral's registers are driven by
// a fiber of their own (Port); a clock passes when every fiber has asked for it.
class Machine {
   public:
    explicit Machine(uint64_t seed) : cpu(seed, kRows), top_(&context_, "top") {
        context_.fatalOnError(false);
        Verilated::threadContextp(&context_);
        top_.rst_ni = 0;
        top_.eval();
        reset(4);
    }
    ~Machine() {
        Verilated::threadContextp(&context_);
        top_.final();
    }

    void clock_once();
    void reset(uint32_t clocks);
    void fill(const Bytes &bytes) { std::memcpy(ram(), bytes.data(), bytes.size()); }
    uint8_t *ram() {
        return reinterpret_cast<uint8_t *>(
            &top_.rootp->mae_arbiter_bench__DOT__u_memory__DOT__rows_q[0]);
    }

    Cpu cpu;
    uint64_t clock = 0;
    uint64_t cleared_at[kMostJobs] = {};        // the last reset or wipe of each peripheral
    std::function<void()> on_start[kMostJobs];  // in the clock of a job's start

   private:
    friend class Port;
    VerilatedContext context_;
    Vtop top_;
};

// Drives the registers of one peripheral. Signals seen before the edge of a clock are those of that
// clock.
class Port {
   public:
    Port(Machine &machine, Fibers &fibers, unsigned index)
        : machine_(machine), fibers_(fibers), top_(machine.top_), index_(index) {}

    void tick() { fibers_.tick(); }
    void ticks(uint32_t count) {
        while (count-- != 0) tick();
    }
    void write(uint32_t address, uint32_t data);
    uint32_t read(uint32_t address);
    bool irq() const { return get(top_.irq_o, 1) != 0; }

   private:
    // Fields of this peripheral, `width` bits each, in a port that has one for each.
    template <typename Word>
    void set(Word &word, unsigned width, uint64_t value) {
        const uint64_t mask = (uint64_t{1} << width) - 1;
        word = Word((word & ~(mask << width * index_)) | value << width * index_);
    }
    uint32_t get(uint64_t word, unsigned width) const {
        return uint32_t(word >> width * index_ & ((uint64_t{1} << width) - 1));
    }

    Machine &machine_;
    Fibers &fibers_;
    Vtop &top_;
    const unsigned index_;
};

// Simulates one clock of the peripherals and their memory, with the random CPU beside them.
inline void Machine::clock_once() {
    const Cpu::Port &port = cpu.drive(clock);
    top_.cpu_valid_i = port.valid;
    if (port.valid) {
        top_.cpu_addr_i = decltype(top_.cpu_addr_i)(port.address);
        top_.cpu_strb_i = port.strobes;
        top_.cpu_wdata_i = port.data;
    }
    top_.clk_i = 0;
    top_.eval();
    cpu.collect(clock, top_.cpu_ready_o != 0, top_.cpu_rdata_o, ram());
    for (unsigned job = 0; job < kMostJobs; ++job) {
        if ((top_.ram_write_o >> job & 1) != 0) {
            cpu.written(job, top_.ram_row_o, top_.ram_strb_o, clock);
        }
        cpu.progress(job, uint32_t(uint64_t{top_.blocks_done_o} >> 28 * job & 0xfffffff));
        if ((top_.done_o >> job & 1) != 0) cpu.end(job);
        if ((top_.cleared_o >> job & 1) != 0) {
            cleared_at[job] = clock;
            if (cpu.active(job)) cpu.drop(job);
        }
        if ((top_.started_o >> job & 1) != 0 && on_start[job]) on_start[job]();
    }
    top_.clk_i = 1;
    top_.eval();
    ++clock;
    context_.timeInc(1);
    if (context_.gotFinish()) throw Failure(runtime_text());
}

inline void Machine::reset(uint32_t clocks) {
    top_.rst_ni = 0;
    top_.cpu_valid_i = top_.awvalid_i = top_.wvalid_i = top_.arvalid_i = 0;
    top_.clk_i = 0;
    top_.eval();
    cpu.reset(ram());
    while (clocks-- != 0) clock_once();
    top_.rst_ni = 1;
    for (uint64_t &at : cleared_at) at = clock;
}

inline void Port::write(uint32_t address, uint32_t data) {
    set(top_.reg_addr_i, kAddressWidth, address);
    set(top_.reg_wdata_i, 32, data);
    set(top_.awvalid_i, 1, 1);
    set(top_.wvalid_i, 1, 1);
    for (int i = 0;; ++i) {
        if (i == 1000) throw Failure("a register write does not end");
        top_.clk_i = 0;
        top_.eval();
        const bool aw = get(top_.awready_o, 1) != 0, w = get(top_.wready_o, 1) != 0;
        const bool b = get(top_.bvalid_o, 1) != 0;
        const unsigned response = get(top_.bresp_o, 2);
        tick();
        if (aw) set(top_.awvalid_i, 1, 0);
        if (w) set(top_.wvalid_i, 1, 0);
        if (b) {
            if (response != 0) throw Failure("a register write gave an error");
            return;
        }
    }
}

inline uint32_t Port::read(uint32_t address) {
    set(top_.reg_addr_i, kAddressWidth, address);
    set(top_.arvalid_i, 1, 1);
    for (int i = 0;; ++i) {
        if (i == 1000) throw Failure("a register read does not end");
        top_.clk_i = 0;
        top_.eval();
        const bool ar = get(top_.arready_o, 1) != 0, r = get(top_.rvalid_o, 1) != 0;
        const unsigned response = get(top_.rresp_o, 2);
        const uint32_t data = get(top_.reg_rdata_o, 32);
        tick();
        if (ar) set(top_.arvalid_i, 1, 0);
        if (r) {
            if (response != 0) throw Failure("a register read gave an error");
            return data;
        }
    }
}

}  // namespace mae

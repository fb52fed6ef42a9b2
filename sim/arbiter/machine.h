// SPDX-License-Identifier: Apache-2.0
//
// Declares the simulated peripheral and memory of the torture test: clock, registers, events.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "cpu.h"
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

constexpr uint32_t kRowBits = 9, kRows = 1 << kRowBits;

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

    void tick();
    void ticks(uint32_t count) {
        while (count-- != 0) tick();
    }
    void reset(uint32_t clocks);
    void write(uint32_t address, uint32_t data);
    uint32_t read(uint32_t address);
    void fill(const Bytes &bytes) { std::memcpy(ram(), bytes.data(), bytes.size()); }
    uint8_t *ram() {
        return reinterpret_cast<uint8_t *>(
            &top_.rootp->mae_arbiter_bench__DOT__u_memory__DOT__rows_q[0]);
    }
    bool irq() const { return top_.irq_o != 0; }

    Cpu cpu;
    uint64_t clock = 0;
    uint64_t cleared_at = 0;         // the last reset or wipe
    std::function<void()> on_start;  // in the clock of a job's start
    bool started = false, done = false;

   private:
    VerilatedContext context_;
    Vtop top_;
};

// Simulates one clock of the peripheral and its memory, with the random CPU beside it. Signals seen
// before its edge are those of that clock.
inline void Machine::tick() {
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
    if (top_.ram_write_o != 0) cpu.written(top_.ram_row_o, top_.ram_strb_o, clock);
    done = top_.done_o != 0;
    started = top_.started_o != 0;
    cpu.progress(top_.blocks_done_o);
    if (done) cpu.end(clock);
    if (top_.cleared_o != 0) {
        cleared_at = clock;
        if (cpu.active()) cpu.drop(clock);
    }
    if (started && on_start) on_start();
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
    ticks(clocks);
    top_.rst_ni = 1;
    cleared_at = clock;
}

inline void Machine::write(uint32_t address, uint32_t data) {
    top_.reg_addr_i = decltype(top_.reg_addr_i)(address);
    top_.reg_wdata_i = data;
    top_.awvalid_i = top_.wvalid_i = 1;
    for (int i = 0;; ++i) {
        if (i == 1000) throw Failure("a register write does not end");
        top_.clk_i = 0;
        top_.eval();
        const bool aw = top_.awready_o != 0, w = top_.wready_o != 0, b = top_.bvalid_o != 0;
        const unsigned response = top_.bresp_o;
        tick();
        if (aw) top_.awvalid_i = 0;
        if (w) top_.wvalid_i = 0;
        if (b) {
            if (response != 0) throw Failure("a register write gave an error");
            return;
        }
    }
}

inline uint32_t Machine::read(uint32_t address) {
    top_.reg_addr_i = decltype(top_.reg_addr_i)(address);
    top_.arvalid_i = 1;
    for (int i = 0;; ++i) {
        if (i == 1000) throw Failure("a register read does not end");
        top_.clk_i = 0;
        top_.eval();
        const bool ar = top_.arready_o != 0, r = top_.rvalid_o != 0;
        const unsigned response = top_.rresp_o;
        const uint32_t data = top_.reg_rdata_o;
        tick();
        if (ar) top_.arvalid_i = 0;
        if (r) {
            if (response != 0) throw Failure("a register read gave an error");
            return data;
        }
    }
}

}  // namespace mae

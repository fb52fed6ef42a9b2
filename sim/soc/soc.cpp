// SPDX-License-Identifier: Apache-2.0
//
// Simulates mae_soc and implements its C interface: clock, memory access, console.
#include <cstring>
#include <new>
#include <string>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "mae_sim_soc.h"
#include "runtime.h"
#include "verilated.h"

struct mae_sim_soc {
   private:
    auto &rows() { return top_.rootp->mae_soc__DOT__u_fabric__DOT__u_memory__DOT__rows_q; }

   public:
    mae_sim_soc() : top_(&context_, "top") {
        context_.fatalOnError(false);
        std::memset(memory(), 0, bytes());
        reset();
    }
    ~mae_sim_soc() {
        Verilated::threadContextp(&context_);
        top_.final();
    }

    // Returns the memory. Rows are words from byte 0 on, as on a little-endian host: the array is
    // the memory.
    uint8_t *memory() { return reinterpret_cast<uint8_t *>(&rows()[0]); }
    uint32_t bytes() { return sizeof rows(); }
    bool inside(uint32_t address, uint32_t count) {
        return address <= bytes() && count <= bytes() - address;
    }

    void reset() {
        Verilated::threadContextp(&context_);
        top_.rst_ni = 0;
        top_.console_ready_i = 1;
        for (int i = 0; i < 4; ++i) clock();
        top_.rst_ni = 1;
        clocks_ = 0;
    }

    int run(uint64_t count) {
        Verilated::threadContextp(&context_);
        for (; count != 0; --count) {
            clock();
            if (context_.gotFinish()) {
                message_ = mae::runtime_text();
                return MAE_SOC_FAILED;
            }
            if (top_.console_valid_o) console_ += char(top_.console_data_o);
            if (top_.finish_valid_o) {
                code_ = top_.finish_code_o;
                return MAE_SOC_FINISHED;
            }
            if (top_.trap_o) return MAE_SOC_TRAP;
        }
        return MAE_SOC_RUNNING;
    }

    size_t console(char *text, size_t room) {
        const size_t count = console_.copy(text, room);
        console_.erase(0, count);
        return count;
    }

    uint32_t code() const { return code_; }
    uint64_t clocks() const { return clocks_; }
    const char *message() const { return message_.c_str(); }

   private:
    void clock() {
        top_.clk_i = 0;
        top_.eval();
        top_.clk_i = 1;
        top_.eval();
        context_.timeInc(1);
        ++clocks_;
    }

    VerilatedContext context_;
    Vtop top_;
    uint64_t clocks_ = 0;
    uint32_t code_ = 0;
    std::string console_, message_;
};

extern "C" {

mae_sim_soc_t *mae_sim_soc_create(void) { return new (std::nothrow) mae_sim_soc(); }

void mae_sim_soc_destroy(mae_sim_soc_t *soc) { delete soc; }

uint32_t mae_sim_soc_memory_bytes(mae_sim_soc_t *soc) { return soc->bytes(); }

int mae_sim_soc_write(mae_sim_soc_t *soc, uint32_t address, const uint8_t *from, uint32_t bytes) {
    if (!soc->inside(address, bytes)) return -1;
    std::memcpy(soc->memory() + address, from, bytes);
    return 0;
}

int mae_sim_soc_read(mae_sim_soc_t *soc, uint32_t address, uint8_t *to, uint32_t bytes) {
    if (!soc->inside(address, bytes)) return -1;
    std::memcpy(to, soc->memory() + address, bytes);
    return 0;
}

void mae_sim_soc_reset(mae_sim_soc_t *soc) { soc->reset(); }

int mae_sim_soc_run(mae_sim_soc_t *soc, uint64_t clocks) { return soc->run(clocks); }

uint32_t mae_sim_soc_code(const mae_sim_soc_t *soc) { return soc->code(); }

uint64_t mae_sim_soc_clocks(const mae_sim_soc_t *soc) { return soc->clocks(); }

size_t mae_sim_soc_console(mae_sim_soc_t *soc, char *text, size_t room) {
    return soc->console(text, room);
}

const char *mae_sim_soc_message(const mae_sim_soc_t *soc) { return soc->message(); }

}  // extern "C"

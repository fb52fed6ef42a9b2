// SPDX-License-Identifier: Apache-2.0
//
// Declares the simulated machine: a verilated device, its clocks, host memory and registers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device.h"
#include "host/host_memory.h"
#include "host/lite_master.h"
#include "memory/device_memory.h"
#include "notes.h"
#include "options.h"
#include "random.h"

namespace mae {

class Machine {
   public:
    // Creates a simulated machine from options and releases the device's reset. Throws
    // std::runtime_error or std::invalid_argument.
    explicit Machine(const std::string &options);

    int read32(uint32_t offset, uint32_t &value);
    int write32(uint32_t offset, uint32_t value);
    int map(uint64_t iova, void *host, uint64_t bytes, bool writable);
    int unmap(uint64_t iova, uint64_t bytes);
    int wait(uint64_t max_clocks);
    int run(uint64_t clocks);
    int set_bus(mae_sim_read_fn read, mae_sim_write_fn write, void *user);
    int install(const uint8_t *secret, const uint8_t *session_id, uint64_t clocks);
    int set_nonces(mae_sim_nonce_fn nonce, void *user);
    bool signal(uint32_t index, Device::Signal &signal) const {
        return device_->signal(index, signal);
    }
    void want_notes(bool wanted) { notes_wanted_ = wanted; }
    bool take_note(mae_sim_note &note);
    int host_copy(uint64_t dst, uint64_t src, uint64_t bytes);
    void stats(struct mae_sim_stats &stats, struct mae_sim_detail &detail) const;
    void reset_stats();
    const std::string &message() const { return message_; }

   private:
    void reset();
    bool begin();  // a call of the user's; false when the machine is broken
    void next_nonce();
    bool flush();
    void make_memory();
    void take_memory();
    void clock();  // one bus clock, and the core clocks that lie in it
    void core_edges(uint64_t until);
    void check();
    int access();
    int fail(int error, const std::string &message);

    const Options options_;
    const std::unique_ptr<Device> device_;
    const Shape shape_;
    std::unique_ptr<HostMemory> memory_;           // none without DMA
    std::unique_ptr<DeviceMemory> device_memory_;  // none until the device uses it
    LiteMaster lite_;

    uint64_t bus_half_ = 0;   // half periods in picoseconds
    uint64_t core_half_ = 0;  // 0 where there is one clock
    uint64_t next_bus_ = 0;   // times of the next edges
    uint64_t next_core_ = 0;
    bool core_high_ = false;
    uint64_t bus_clock_ = 0;  // clocks since the machine was made
    uint64_t core_clock_ = 0;
    uint64_t bus_clock_start_ = 0;  // at the last reset of the statistics
    uint64_t core_clock_start_ = 0;
    uint64_t register_reads_ = 0;
    uint64_t register_writes_ = 0;
    uint64_t flushes_ = 0;

    PortToDevice port_;
    bool installed_ = false;  // in the last clock
    bool flushed_ = false;    // ... the device's memory answered a flush
    Random nonces_;
    mae_sim_nonce_fn nonce_ = nullptr;
    void *nonce_user_ = nullptr;

    Notes notes_;
    bool notes_wanted_ = false;
    AxiFromDevice axi_from_;
    AxiFromDevice memory_from_;
    LiteFromDevice lite_from_;
    bool broken_ = false;
    std::string message_;
};

}  // namespace mae

// SPDX-License-Identifier: Apache-2.0
//
// Models the host's memory as an AXI4 subordinate with the latencies, orders, widths and faults of
// mae_sim.h. One call of drive() and one of take() make a bus clock. Data goes straight between the
// device's ports and the caller's buffers; nothing is allocated per beat.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "address_map.h"
#include "answer_queue.h"
#include "bus.h"
#include "include/mae_sim.h"
#include "memory/dram.h"
#include "options.h"
#include "random.h"

namespace mae {

class HostMemory {
   public:
    // Creates the model of host memory; `r_data` is the device's read data port, data_bytes long.
    // The device reads aligned rows of row_bytes whole, a beat or several.
    // With `dram` answers come when that has them, not after the latency of the options.
    HostMemory(const Options &options, uint32_t data_bytes, uint32_t row_bytes, uint32_t id_bits,
               uint8_t *r_data, Dram *dram = nullptr);

    // Sets the AXI signals from host memory to the device for this clock. `write_waits`: the device
    // seems to offer write data.
    void drive(uint64_t clock, bool write_waits);
    // Samples the device's AXI signals at a rising clock edge and completes the handshakes.
    void take(const AxiFromDevice &from);
    const AxiToDevice &wires() const { return to_; }

    AddressMap &map() { return map_; }
    const AddressMap &map() const { return map_; }

    // Begins a copy between bus addresses by the host's CPU; both ranges must be mapped. 0 or
    // -ENOENT.
    int copy_begin(uint64_t dst, uint64_t src, uint64_t bytes);
    bool copy_busy() const { return copy_.writes_left != 0; }
    uint64_t copy_beats_left() const { return copy_.reads_left + copy_.writes_left; }

    // Sets the caller's functions that answer the device's bursts; none: mapped memory answers.
    void set_bus(mae_sim_read_fn read, mae_sim_write_fn write, void *user);
    // Passes the bursts that wait to the caller's functions, between two clocks. Not reentrant.
    void ask();

    // Returns the text of the device's first AXI protocol violation, "" if there was none.
    const std::string &breach() const { return breach_; }
    // Describes which bursts the device waits for, for time-out messages.
    std::string state() const;

    void stats(struct mae_sim_stats &stats, struct mae_sim_detail &detail) const;
    void reset_stats();

   private:
    static constexpr uint32_t kNone = AnswerQueue::kNone;
    enum Side : uint32_t { kDeviceRead = 1, kDeviceWrite = 2, kHostRead = 4, kHostWrite = 8 };

    struct Read {
        AxiAddress request;
        uint64_t first;       // lowest address of the first beat, aligned to the bus
        const uint8_t *host;  // of `first` when the whole burst lies in one region
        uint64_t generation;  // of the map when `host` was found
        uint64_t taken;
        uint32_t beat;
        uint32_t last;        // beat that carries RLAST
        uint32_t error_beat;  // kNone: no error; all beats from there on when the caller's
        Resp error;
        bool asked;                 // the caller's
        std::vector<uint8_t> data;  // of the caller
    };
    struct Write {
        AxiAddress request;
        uint64_t first;
        uint64_t done;
        uint32_t beat;
        bool whole;  // every byte of every beat so far is strobed
        Resp error;
        bool asked;
        std::vector<uint8_t> data;    // kept between bursts, so that it rarely grows
        std::vector<uint8_t> strobe;  // a bit a byte
    };
    struct Copy {
        uint64_t dst = 0;
        uint64_t src = 0;
        uint64_t bytes_left = 0;
        uint64_t reads_left = 0;
        uint64_t writes_left = 0;
    };

    bool silent() const { return options_.has_hang && bursts_taken_ >= options_.hang; }
    bool silent(const char *channel) const { return silent() && options_.hang_on == channel; }
    uint32_t latency();
    uint64_t due(const AxiAddress &request, bool is_write);
    bool served(uint32_t &credit);
    static uint32_t grant(uint32_t wanted, uint32_t &last);
    void serve(bool write_waits, bool stall_read, bool stall_write);
    void ask_read(Read &read);
    void ask_write(Write &write);
    bool in_mapped_row(uint64_t address) const;
    void offer_read();
    void offer_response();
    void land(Write &write);
    void copy_apart();
    void copy_step(uint32_t granted);
    void take_read_address(const AxiAddress &request);
    void take_write_address(const AxiAddress &request);
    void take_write_beat(const AxiFromDevice &from);
    void check_address(const char *channel, const AxiAddress &request);
    void check_stable(const AxiFromDevice &from);
    void fail(const std::string &what);
    bool in_error_range(uint64_t first, uint64_t last) const {
        return options_.has_error_range && first <= options_.error_last &&
               last >= options_.error_first;
    }
    bool is_payload(uint32_t id) const { return !(id >> (id_bits_ - 1) & 1); }

    const Options options_;
    const uint32_t bytes_;  // of a beat
    const uint32_t row_bytes_;
    const uint32_t size_;  // its logarithm, as AxSIZE
    const uint32_t id_bits_;
    const uint32_t strobe_bytes_;  // of a beat
    const uint32_t stall_limit_;   // of 2^12
    AddressMap map_;
    Dram *const dram_;
    Random random_;
    uint64_t clock_ = 0;
    uint64_t bursts_taken_ = 0;
    AxiToDevice to_;

    std::vector<Read> reads_;
    std::vector<uint32_t> free_reads_;
    AnswerQueue read_answers_;
    uint32_t last_read_ = kNone;  // burst of the last beat, kNone when it was the burst's last

    std::vector<Write> writes_;
    std::vector<uint32_t> free_writes_;
    std::vector<uint32_t> addressed_;  // ring: bursts whose data is still to come, in order
    uint32_t addressed_begin_ = 0;
    uint32_t addressed_count_ = 0;
    AnswerQueue write_answers_;

    uint32_t credit_read_ = 0;
    uint32_t credit_write_ = 0;
    uint32_t credit_copy_ = 0;
    uint32_t last_granted_read_ = 0;  // of both where they share the bus
    uint32_t last_granted_write_ = 0;
    Copy copy_;

    mae_sim_read_fn bus_read_ = nullptr;
    mae_sim_write_fn bus_write_ = nullptr;
    void *bus_user_ = nullptr;
    struct Asked {
        bool write;
        uint32_t slot;
    };
    std::vector<Asked> asked_;  // bursts that wait for the caller, in order
    bool asking_ = false;

    // The device's wires of the last clock, where they wait for us.
    AxiAddress held_ar_, held_aw_;
    bool ar_waits_ = false;
    bool aw_waits_ = false;
    bool w_waits_ = false;
    bool held_last_ = false;
    std::vector<uint8_t> held_data_;
    std::vector<uint8_t> held_strobe_;
    uint64_t data_without_address_ = 0;
    std::string breach_;

    struct mae_sim_stats stats_ = {};
    struct mae_sim_detail detail_ = {};
};

}  // namespace mae

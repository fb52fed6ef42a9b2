// SPDX-License-Identifier: Apache-2.0
//
// Defines how the machine drives a verilated device: clocks, resets, bus signals.
#pragma once

#include <memory>
#include <string>

#include "bus.h"

namespace mae {

struct Shape {
    bool has_dma = false;        // m_axi_*
    bool has_port = false;       // install_*, nonce_*
    bool has_bus_clock = false;  // bus_clk_i: m_axi, s_axil and irq belong to it
    uint32_t data_bytes = 0;     // of m_axi
    uint32_t id_bits = 0;
    uint32_t row_bytes = 0;     // that it reads whole: a beat, or several of a narrow bus
    uint32_t memory_bytes = 0;  // of m_axi_mem, for a device memory outside; 0: none
};

class Device {
   public:
    static std::unique_ptr<Device> make();
    virtual ~Device() = default;
    virtual Shape shape() const = 0;

    // Sets all resets of the device, asserted if true, and evaluates the model.
    virtual void reset(bool asserted) = 0;
    // Lowers the device's bus clock, changes its bus inputs and evaluates the model.
    virtual void bus_fall(const AxiToDevice &axi, const AxiToDevice &memory,
                          const LiteToDevice &lite) = 0;
    // Copies the bus outputs of the device.
    virtual void sample(AxiFromDevice &axi, AxiFromDevice &memory, LiteFromDevice &lite) const = 0;
    // Drives the device's provisioning port, if it has one (has_port). Driven before bus_fall(),
    // sampled with sample().
    virtual void drive_port(const PortToDevice &port) = 0;
    virtual PortFromDevice sample_port() const = 0;
    // Returns true if the device asks its memory to keep what it has. flush_done() is driven
    // before bus_fall(), flush_asked() sampled with sample().
    virtual bool flush_asked() const = 0;
    virtual void flush_done(bool done) = 0;
    // Returns true if the device offers a write that waits, as a hint for the next clock. It is
    // taken after bus_rise().
    virtual bool write_waits() const = 0;
    virtual void bus_rise() = 0;
    // Lowers the device's core clock, if it has one beside the bus clock (has_bus_clock).
    virtual void core_fall() = 0;
    virtual void core_rise() = 0;
    virtual bool irq() const = 0;

    // Sets the simulated time of the next evaluations of the model.
    virtual void time(uint64_t picoseconds) = 0;
    // Returns true, with the place, if an assertion failed or $finish was called.
    virtual bool stopped(std::string &why) const = 0;
    // Opens a file to which the device writes its waveforms. Throws std::runtime_error when this
    // build has no waveforms or the file cannot be written.
    virtual void open_wave(const std::string &file) = 0;
    virtual void enter() = 0;  // before use by a thread

    struct Signal {
        const char *name;
        const uint8_t *data;
        size_t bytes;
    };
    // Returns a signal of the device by its index; false if there are no more.
    virtual bool signal(uint32_t index, Signal &signal) const = 0;

    // Returns the memory of the device's bus data signals, for reads and for writes.
    virtual uint8_t *r_data() = 0;
    virtual uint8_t *memory_r_data() = 0;  // of m_axi_mem
};

}  // namespace mae

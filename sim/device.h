// SPDX-License-Identifier: Apache-2.0
//
// Describes a verilated device to the machine: its shape, clocks and wires.
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
};

class Device {
   public:
    static std::unique_ptr<Device> make();
    virtual ~Device() = default;
    virtual Shape shape() const = 0;

    // Sets the reset of all clock domains, asserted when true; evaluates.
    virtual void reset(bool asserted) = 0;
    // Lowers the bus clock and changes the machine's wires; evaluates.
    virtual void bus_fall(const AxiToDevice &axi, const LiteToDevice &lite) = 0;
    // Samples the device's wires.
    virtual void sample(AxiFromDevice &axi, LiteFromDevice &lite) const = 0;
    // Drives the provisioning port; only where has_port. Driven before bus_fall(), sampled with
    // sample().
    virtual void drive_port(const PortToDevice &port) = 0;
    virtual PortFromDevice sample_port() const = 0;
    // Returns true if write data and addresses wait: a hint for the coming clock, taken after
    // bus_rise().
    virtual bool write_waits() const = 0;
    virtual void bus_rise() = 0;
    // Lowers the core clock; only where has_bus_clock.
    virtual void core_fall() = 0;
    virtual void core_rise() = 0;
    virtual bool irq() const = 0;

    // Sets the time of the next evaluations.
    virtual void time(uint64_t picoseconds) = 0;
    // Returns true when an assertion failed or $finish was called, and says where.
    virtual bool stopped(std::string &why) const = 0;
    // Opens a waveform file. Throws std::runtime_error when this build has no waveforms or the file
    // cannot be written.
    virtual void open_wave(const std::string &file) = 0;
    virtual void enter() = 0;  // before use by a thread

    struct Signal {
        const char *name;
        const uint8_t *data;
        size_t bytes;
    };
    // Returns a signal of the state by index; false behind the last one.
    virtual bool signal(uint32_t index, Signal &signal) const = 0;

    // Returns where read data goes and where the device's write data is.
    virtual uint8_t *r_data() = 0;
};

}  // namespace mae

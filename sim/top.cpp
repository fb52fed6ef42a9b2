// SPDX-License-Identifier: Apache-2.0
//
// Connects any verilated device to the machine, by the names of its ports.
#include "Vtop.h"
#include "Vtop__Syms.h"
#include "device.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "runtime.h"

#ifndef MAE_ID_BITS
#define MAE_ID_BITS 8
#endif
#ifndef MAE_ROW_BYTES
#define MAE_ROW_BYTES 0
#endif

namespace mae {
namespace {

template <class T>
constexpr bool kHasDma = requires(T &t) { t.m_axi_araddr; };
template <class T>
constexpr bool kHasMemory = requires(T &t) { t.m_axi_mem_araddr; };
template <class T>
constexpr bool kHasFlush = requires(T &t) { t.flush_valid_o; };
template <class T>
constexpr bool kHasBusClock = requires(T &t) { t.bus_clk_i; };
template <class T>
constexpr bool kHasPort = requires(T &t) { t.install_secret_i; };
template <class T>
constexpr bool kHasIrq = requires(T &t) { t.irq_o; };

// Describes where a signal of the verilated model is stored.
struct Place {
    const char *name;
    size_t offset;
    size_t bytes;
};
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // the compilers we use know it
constexpr Place kSignals[] = {
#define SIGNAL(part, name) \
    {#part "." #name, offsetof(Vtop__Syms, part.name), sizeof(Vtop__Syms::part.name)},
#include "Vtop__signals.h"
#undef SIGNAL
};

template <class P>
uint8_t *bytes_of(P &port) {
    return reinterpret_cast<uint8_t *>(&port);  // verilated words are little-endian, as the host
}
template <class P>
const uint8_t *bytes_of(const P &port) {
    return reinterpret_cast<const uint8_t *>(&port);
}

// The signals of an AXI4 port of the device, by its name.
#define DRIVE(port, axi)                \
    top_.port##_arready = axi.ar_ready; \
    top_.port##_awready = axi.aw_ready; \
    top_.port##_wready = axi.w_ready;   \
    top_.port##_rvalid = axi.r_valid;   \
    top_.port##_rlast = axi.r_last;     \
    top_.port##_rresp = axi.r_resp;     \
    set(top_.port##_rid, axi.r_id);     \
    top_.port##_bvalid = axi.b_valid;   \
    top_.port##_bresp = axi.b_resp;     \
    set(top_.port##_bid, axi.b_id)
#define SAMPLE(port, axi)                                                                  \
    axi.ar_valid = top_.port##_arvalid;                                                    \
    axi.ar = {top_.port##_araddr, top_.port##_arid, top_.port##_arlen, top_.port##_arsize, \
              top_.port##_arburst};                                                        \
    axi.aw_valid = top_.port##_awvalid;                                                    \
    axi.aw = {top_.port##_awaddr, top_.port##_awid, top_.port##_awlen, top_.port##_awsize, \
              top_.port##_awburst};                                                        \
    axi.w_valid = top_.port##_wvalid;                                                      \
    axi.w_last = top_.port##_wlast;                                                        \
    axi.w_data = bytes_of(top_.port##_wdata);                                              \
    axi.w_strb = bytes_of(top_.port##_wstrb);                                              \
    axi.r_ready = top_.port##_rready;                                                      \
    axi.b_ready = top_.port##_bready

template <class T>
class VerilatedDevice final : public Device {
   public:
    VerilatedDevice() : top_(&context_, "top") {
        context_.fatalOnError(false);
        top_.clk_i = 0;
        if constexpr (kHasBusClock<T>) top_.bus_clk_i = 0;
    }
    ~VerilatedDevice() override {
        enter();
        dump();
        top_.final();
#if VM_TRACE_FST
        if (wave_open_) wave_.close();
#endif
    }

    Shape shape() const override {
        Shape shape;
        if constexpr (kHasDma<T>) {
            shape.has_dma = true;
            shape.data_bytes = sizeof(top_.m_axi_rdata);
            shape.id_bits = MAE_ID_BITS;
            shape.row_bytes = std::max<uint32_t>(shape.data_bytes, MAE_ROW_BYTES);
        }
        if constexpr (kHasMemory<T>) {
            shape.memory_bytes = sizeof(top_.m_axi_mem_rdata);
        }
        shape.has_port = kHasPort<T>;
        shape.has_bus_clock = kHasBusClock<T>;
        return shape;
    }

    void reset(bool asserted) override {
        top_.rst_ni = !asserted;
        if constexpr (kHasBusClock<T>) top_.bus_rst_ni = !asserted;
        top_.eval();
    }

    void bus_fall(const AxiToDevice &axi, [[maybe_unused]] const AxiToDevice &memory,
                  const LiteToDevice &lite) override {
        top_.s_axil_awvalid = lite.aw_valid;
        top_.s_axil_wvalid = lite.w_valid;
        top_.s_axil_bready = lite.b_ready;
        top_.s_axil_arvalid = lite.ar_valid;
        top_.s_axil_rready = lite.r_ready;
        set(top_.s_axil_awaddr, lite.addr);
        set(top_.s_axil_araddr, lite.addr);
        top_.s_axil_wdata = lite.w_data;
        top_.s_axil_wstrb = 0xf;
        if constexpr (kHasDma<T>) {
            DRIVE(m_axi, axi);
        }
        if constexpr (kHasMemory<T>) {
            DRIVE(m_axi_mem, memory);
        }
        bus_clock() = 0;
        top_.eval();
    }

    void sample(AxiFromDevice &axi, [[maybe_unused]] AxiFromDevice &memory,
                LiteFromDevice &lite) const override {
        lite.aw_ready = top_.s_axil_awready;
        lite.w_ready = top_.s_axil_wready;
        lite.b_valid = top_.s_axil_bvalid;
        lite.b_resp = top_.s_axil_bresp;
        lite.ar_ready = top_.s_axil_arready;
        lite.r_valid = top_.s_axil_rvalid;
        lite.r_resp = top_.s_axil_rresp;
        lite.r_data = top_.s_axil_rdata;
        if constexpr (kHasDma<T>) {
            SAMPLE(m_axi, axi);
        }
        if constexpr (kHasMemory<T>) {
            SAMPLE(m_axi_mem, memory);
        }
    }

    void drive_port([[maybe_unused]] const PortToDevice &port) override {
        if constexpr (kHasPort<T>) {
            top_.install_valid_i = port.install_valid;
            reversed(top_.install_secret_i, port.secret);
            reversed(top_.install_session_id_i, port.session_id);
            reversed(top_.nonce_i, port.nonce);
        }
    }
    PortFromDevice sample_port() const override {
        if constexpr (kHasPort<T>) return {bool(top_.install_ready_o), bool(top_.nonce_take_o)};
        return {};
    }

    bool signal(uint32_t index, Signal &signal) const override {
        if (index >= std::size(kSignals)) return false;
        const auto &[name, offset, bytes] = kSignals[index];
        signal = {name, reinterpret_cast<const uint8_t *>(top_.rootp->vlSymsp) + offset, bytes};
        return true;
    }

    bool flush_asked() const override {
        if constexpr (kHasFlush<T>) return top_.flush_valid_o;
        return false;
    }
    void flush_done([[maybe_unused]] bool done) override {
        if constexpr (kHasFlush<T>) top_.flush_ready_i = done;
    }

    bool write_waits() const override {
        if constexpr (kHasDma<T>) return top_.m_axi_wvalid;
        return false;
    }

    void bus_rise() override {
        bus_clock() = 1;
        top_.eval();
    }
    void core_fall() override {
        top_.clk_i = 0;
        top_.eval();
    }
    void core_rise() override {
        top_.clk_i = 1;
        top_.eval();
    }

    bool irq() const override {
        if constexpr (kHasIrq<T>) return top_.irq_o;
        return false;
    }

    void time(uint64_t picoseconds) override {
        if (wave_open_ && picoseconds != context_.time()) dump();
        context_.time(picoseconds);
    }

    bool stopped(std::string &why) const override {
        if (!context_.gotFinish()) return false;
        why = context_.gotError() ? runtime_text() : "the device ended the simulation";
        return true;
    }

    void open_wave([[maybe_unused]] const std::string &file) override {
#if VM_TRACE_FST
        // The writer itself does not notice a file that cannot be opened.
        if (!std::ofstream(file)) throw std::runtime_error("cannot write the waveform " + file);
        context_.traceEverOn(true);
        top_.trace(&wave_, 99);
        wave_.open(file.c_str());
        wave_open_ = true;
#else
        throw std::invalid_argument("option wave: this library was built without waveforms");
#endif
    }

    void enter() override { Verilated::threadContextp(&context_); }

    uint8_t *r_data() override {
        if constexpr (kHasDma<T>) return bytes_of(top_.m_axi_rdata);
        return nullptr;
    }
    uint8_t *memory_r_data() override {
        if constexpr (kHasMemory<T>) return bytes_of(top_.m_axi_mem_rdata);
        return nullptr;
    }

   private:
    CData &bus_clock() {
        if constexpr (kHasBusClock<T>) {
            return top_.bus_clk_i;
        } else {
            return top_.clk_i;
        }
    }
    template <class P>
    static void set(P &port, uint32_t value) {
        port = P(value);
    }
    template <class P, size_t N>
    static void reversed(P &port, const uint8_t (&bytes)[N]) {
        static_assert(sizeof port == N);
        std::reverse_copy(bytes, bytes + N, bytes_of(port));
    }
    // Writes the wires' previous values to the waveform.
    void dump() {
#if VM_TRACE_FST
        if (wave_open_) wave_.dump(context_.time());
#endif
    }

    VerilatedContext context_;
    T top_;
    bool wave_open_ = false;
#if VM_TRACE_FST
    VerilatedFstC wave_;
#endif
};

}  // namespace

std::unique_ptr<Device> Device::make() { return std::make_unique<VerilatedDevice<Vtop>>(); }

}  // namespace mae

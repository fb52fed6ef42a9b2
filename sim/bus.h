// SPDX-License-Identifier: Apache-2.0
//
// Defines the bus signals between the simulated device and the machine, by direction. Data stays in
// the verilated model's own ports: only pointers to it travel.
#pragma once

#include <cstdint>

#include "include/mae_sim.h"

namespace mae {

enum Resp : uint8_t { kOkay = 0, kSlverr = 2, kDecerr = 3 };

struct AxiAddress {
    uint64_t addr = 0;
    uint32_t id = 0;
    uint8_t len = 0;
    uint8_t size = 0;
    uint8_t burst = 0;
    bool operator==(const AxiAddress &) const = default;
};

// Holds the AXI4 signals that the simulated device drives as manager.
struct AxiFromDevice {
    AxiAddress ar, aw;
    bool ar_valid = false;
    bool aw_valid = false;
    bool w_valid = false;
    bool w_last = false;
    bool r_ready = false;
    bool b_ready = false;
    const uint8_t *w_data = nullptr;
    const uint8_t *w_strb = nullptr;
};

struct AxiToDevice {
    bool ar_ready = false;
    bool aw_ready = false;
    bool w_ready = false;
    bool r_valid = false;
    bool r_last = false;
    bool b_valid = false;
    uint8_t r_resp = 0;
    uint8_t b_resp = 0;
    uint32_t r_id = 0;
    uint32_t b_id = 0;
    uint8_t *r_data = nullptr;
};

// Holds the AXI4-Lite signals that the simulated device drives as subordinate.
struct LiteFromDevice {
    bool aw_ready = false;
    bool w_ready = false;
    bool b_valid = false;
    bool ar_ready = false;
    bool r_valid = false;
    uint8_t b_resp = 0;
    uint8_t r_resp = 0;
    uint32_t r_data = 0;
};

struct LiteToDevice {
    bool aw_valid = false;
    bool w_valid = false;
    bool b_ready = false;
    bool ar_valid = false;
    bool r_ready = false;
    uint32_t addr = 0;  // of both address channels
    uint32_t w_data = 0;
};

// Holds the signals of a protected card's provisioning port that the machine drives. Byte 0 of each
// is its port's top byte.
struct PortToDevice {
    bool install_valid = false;
    uint8_t secret[32] = {};
    uint8_t session_id[16] = {};
    uint8_t nonce[MAE_SIM_NONCE_BYTES] = {};
};

struct PortFromDevice {
    bool install_ready = false;
    bool nonce_take = false;
};

}  // namespace mae

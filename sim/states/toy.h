// SPDX-License-Identifier: Apache-2.0
//
// Models the toy cipher of mae_arbiter_toy.sv: the result of a job on eight rows of memory.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "mae_sim_states.h"

namespace mae {

constexpr uint32_t kToyRows = 8;
using ToyMemory = std::array<std::array<uint8_t, 16>, kToyRows>;
using Number = unsigned __int128;

inline Number number(const uint8_t *bytes) {  // byte 0 highest
    Number out = 0;
    for (int i = 0; i < 16; ++i) out = out << 8 | bytes[i];
    return out;
}

inline void store(uint8_t *bytes, Number value, size_t count) {
    for (size_t i = 0; i < count; ++i) bytes[i] = uint8_t(value >> (120 - 8 * i));
}

constexpr Number wide(uint64_t high, uint64_t low) { return Number(high) << 64 | low; }
constexpr Number kToyIv = wide(0x0011223344556677, 0x8899aabbccddeeff);
constexpr Number kToyKeys[2] = {wide(0xc0c1c2c3c4c5c6c7, 0xc8c9cacbcccdcecf),
                                wide(0x5051525354555657, 0x58595a5b5c5d5e5f)};

inline Number turn(bool inverse, Number key, Number in) {
    if (!inverse) return (in << 9 | in >> 119) ^ key;
    in ^= key;
    return in >> 9 | in << 119;
}

inline Number doubled(Number tweak) {  // IEEE 1619: byte 0 is the lowest there
    uint8_t bytes[16], out[16];
    store(bytes, tweak, 16);
    unsigned carry = 0;
    for (int i = 0; i < 16; ++i) {
        out[i] = uint8_t(bytes[i] << 1 | carry);
        carry = bytes[i] >> 7;
    }
    if (carry != 0) out[0] ^= 0x87;
    return number(out);
}

// Computes the memory after a whole job of the toy cipher; returns its chain value.
inline Number do_job(const mae_states_job &job, ToyMemory &memory) {
    const ToyMemory before = memory;
    const uint32_t rows = (job.bytes + 15u) / 16;
    Number chain = job.mode == 6 ? turn(false, kToyKeys[1], kToyIv) : kToyIv;
    if (job.moves == 0) return chain;
    for (uint32_t i = 0; i < rows; ++i) {
        const Number in = number(before[job.source + i].data());
        const Number key = job.key_each != 0 ? number(before[job.keys + i].data()) : kToyKeys[0];
        const bool decrypt = job.decrypt != 0;
        Number out = 0;
        switch (job.mode) {
            case 0:
                out = turn(decrypt, key, in);
                break;
            case 1:
                out = decrypt ? turn(true, key, in) ^ chain : turn(false, key, in ^ chain);
                chain = decrypt ? in : out;
                break;
            case 2:
                out = decrypt ? turn(true, key, in) ^ chain : turn(false, key, in ^ chain);
                chain = in ^ out;
                break;
            case 3:
                out = turn(false, key, chain) ^ in;
                chain = decrypt ? in : out;
                break;
            case 4:
                chain = turn(false, key, chain);
                out = in ^ chain;
                break;
            case 6:
                out = turn(decrypt, key, in ^ chain) ^ chain;
                chain = doubled(chain);
                break;
            default:  // the IV's last 32 bits do not overflow here
                out = turn(false, key, chain) ^ in;
                ++chain;
        }
        if (job.bad_tag != 0) out = 0;
        const size_t left = job.bytes - 16 * i;
        store(memory[job.destination + i].data(), out, left < 16 ? left : 16);
    }
    return chain;
}

}  // namespace mae

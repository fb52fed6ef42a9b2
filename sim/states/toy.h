// SPDX-License-Identifier: Apache-2.0
//
// Models the toy cipher of mae_arbiter_toy.sv: the result of a job on eight rows of memory.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "../modes/block_modes.h"
#include "mae_sim_states.h"

namespace mae {

constexpr uint32_t kToyRows = 8;
constexpr uint8_t kToyGcm = 7;  // in mae_states_job: the code of Ctr32 in mode_e
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

// Holds a job's keys: one, or one for each block, in the memory before the job.
struct ToyKeys {
    const mae_states_job &job;
    const ToyMemory &memory;
    uint32_t blocks = 0;
};

inline void toy_block(void *context, bool decrypt, const uint8_t *in, uint8_t *out) {
    ToyKeys &keys = *static_cast<ToyKeys *>(context);
    const uint32_t row = keys.job.keys + keys.blocks++;
    const Number key = keys.job.key_each != 0 ? number(keys.memory[row].data()) : kToyKeys[0];
    store(out, turn(decrypt, key, number(in)), 16);
}

// Computes the memory after a whole job of the toy cipher; returns its chain value.
inline Number do_job(const mae_states_job &job, ToyMemory &memory) {
    const ToyMemory before = memory;
    const uint32_t rows = (job.bytes + 15u) / 16;
    const bool gcm = job.mode == kToyGcm;  // by CTR: the IV's last 32 bits do not overflow here
    const mae_mode_t mode = gcm ? MAE_CTR : mae_mode_t(job.mode);
    Number chain = mode == MAE_XTS ? turn(false, kToyKeys[1], kToyIv) : kToyIv;
    if (job.moves == 0) return chain;
    ToyKeys keys{job, before};
    ToyMemory out{};
    uint8_t value[16];
    store(value, chain, 16);
    block_mode_run(mode, job.decrypt != 0, toy_block, &keys, value, before[job.source].data(),
                   out[0].data(), 16 * rows);
    if (job.bad_tag != 0) out = {};
    std::memcpy(memory[job.destination].data(), out[0].data(), job.bytes);
    return number(value);
}

}  // namespace mae

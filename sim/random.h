// SPDX-License-Identifier: Apache-2.0
//
// Generates the simulator's pseudo-random numbers, equal on every computer.
#pragma once

#include <cstdint>

namespace mae {

class Random {
   public:
    explicit Random(uint64_t seed) {
        for (uint64_t &word : state_) {
            seed += 0x9e3779b97f4a7c15u;
            uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
            word = z ^ (z >> 31);
        }
    }

    uint64_t next() {
        const uint64_t result = rotl(state_[0] + state_[3], 23) + state_[0];
        const uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotl(state_[3], 45);
        return result;
    }

    // Returns a uniform random number in 0 ... limit-1, with a bias of 2^-32 * limit.
    uint32_t below(uint32_t limit) { return uint32_t(((next() >> 32) * limit) >> 32); }

   private:
    static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    uint64_t state_[4];
};

}  // namespace mae

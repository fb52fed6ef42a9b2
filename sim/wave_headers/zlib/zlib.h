/* SPDX-License-Identifier: Apache-2.0
 *
 * For machines without zlib's header: the two functions that FST waveforms need, by stored blocks.
 * A valid zlib stream, not a smaller one. Source: RFC 1950, RFC 1951 §3.2.4.
 */
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

using uLong = unsigned long;
using uLongf = unsigned long;
using Bytef = unsigned char;
constexpr int Z_OK = 0;
constexpr int Z_BUF_ERROR = -5;

inline uLong compressBound(uLong size) { return size + 5 * (size / 65535 + 1) + 6; }

inline int compress2(Bytef *to, uLongf *room, const Bytef *from, uLong size, int /* level */) {
    if (*room < compressBound(size)) return Z_BUF_ERROR;
    Bytef *out = to;
    *out++ = 0x78;
    *out++ = 0x01;
    uint32_t a = 1, b = 0;  // Adler-32
    uLong at = 0;
    do {
        const uLong run = size - at < 65535 ? size - at : 65535;
        *out++ = at + run == size;
        *out++ = Bytef(run);
        *out++ = Bytef(run >> 8);
        *out++ = Bytef(~run);
        *out++ = Bytef(~run >> 8);
        if (run != 0) std::memcpy(out, from + at, run);
        out += run;
        for (uLong i = at; i < at + run; i++) {
            a = (a + from[i]) % 65521;
            b = (b + a) % 65521;
        }
        at += run;
    } while (at < size);
    for (uint32_t half : {b, a}) {
        *out++ = Bytef(half >> 8);
        *out++ = Bytef(half);
    }
    *room = uLong(out - to);
    return Z_OK;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * For machines without liblz4's header: the two functions that FST waveforms need, by one block of
 * literals. A valid LZ4 block, not a smaller one. Source: LZ4 block format description, "The last
 * sequence is incomplete, and stops right after the literals".
 */
#pragma once

#include <cstring>

inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

inline int LZ4_compress_default(const char *from, char *to, int size, int room) {
    if (room < LZ4_compressBound(size)) return 0;
    char *out = to;
    int rest = size;
    *out++ = char((rest < 15 ? rest : 15) << 4);
    if (rest >= 15) {
        for (rest -= 15; rest >= 255; rest -= 255) *out++ = char(255);
        *out++ = char(rest);
    }
    if (size != 0) std::memcpy(out, from, size_t(size));
    return int(out - to) + size;
}

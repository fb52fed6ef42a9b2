/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the enclave's copies to and from untrusted memory at each offset and length. */
#include "../../../driver/enclave/outside.c" /* NOLINT: the copies are private */
#include "../../../driver/enclave/wire.c"

#include "mock/check.h"

int main(void)
{
    static _Alignas(64) uint8_t shared[256];
    uint8_t before[sizeof shared], inside_bytes[sizeof shared], want[sizeof shared];
    for (size_t at = 64; at < 64 + UNIT; at++)
        for (size_t size = 0; size <= 70; size++) {
            random_bytes(shared, sizeof shared);
            random_bytes(inside_bytes, sizeof inside_bytes);
            memcpy(before, shared, sizeof shared);
            memcpy(want, inside_bytes, sizeof want);
            memcpy(want + 3, shared + at, size);
            copy_in(inside_bytes + 3, (uintptr_t)shared + at, size);
            CHECK(memcmp(inside_bytes, want, sizeof want) == 0);
            CHECK(memcmp(shared, before, sizeof shared) == 0);
            memcpy(want, before, sizeof want);
            memcpy(want + at, inside_bytes + 5, size);
            copy_out((uintptr_t)shared + at, inside_bytes + 5, size);
            CHECK(memcmp(shared, want, sizeof want) == 0);
        }
    return 0;
}

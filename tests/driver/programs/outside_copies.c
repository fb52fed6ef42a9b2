/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the enclave's copies to and from untrusted memory at each offset and length, and that code
   outside the enclave which breaks the ABI leaves no direction flag set. */
#include "../../../driver/enclave/outside.c" /* NOLINT: the copies are private */
#include "../../../driver/enclave/wire.c"

#include "mock/check.h"

#if defined(__x86_64__)

static unsigned calls;

/* Sets the direction flag, as hostile code may do before it returns. */
static inline void break_direction(void)
{
    calls++;
    __asm__ volatile("std" : : : "cc");
}

/* Ends the test unless the direction flag is clear; clears it first, for the C library. */
static void check_direction(unsigned expected)
{
    uint64_t flags;
    __asm__ volatile("pushfq\n\tpopq %0\n\tcld" : "=r"(flags) : : "cc", "memory");
    CHECK((flags >> 10 & 1) == 0 && calls == expected);
}

static void bad_read(void *user, uint32_t offset, void *bytes, size_t size)
{
    (void)user, (void)offset, (void)bytes, (void)size;
    break_direction();
}

static void bad_write(void *user, uint32_t offset, const void *bytes, size_t size)
{
    (void)user, (void)offset, (void)bytes, (void)size;
    break_direction();
}

static bool bad_allocate(void *user, size_t size, uint64_t *host, uint64_t *at)
{
    (void)user, (void)size, (void)host, (void)at;
    break_direction();
    return true;
}

static void bad_release(void *user, uint64_t host, uint64_t at, size_t size)
{
    (void)user, (void)host, (void)at, (void)size;
    break_direction();
}

static void bad_load(void *user, uint64_t at, void *bytes, size_t size)
{
    (void)user, (void)at, (void)bytes, (void)size;
    break_direction();
}

static void bad_store(void *user, uint64_t at, const void *bytes, size_t size)
{
    (void)user, (void)at, (void)bytes, (void)size;
    break_direction();
}

static uint64_t bad_now(void *user)
{
    (void)user;
    break_direction();
    return 0;
}

static void directions(void)
{
    static mae_session_t session = {.outside = {.read = bad_read,
                                                .write = bad_write,
                                                .allocate = bad_allocate,
                                                .release = bad_release,
                                                .load = bad_load,
                                                .store = bad_store,
                                                .now = bad_now}};
    static uint8_t bytes[64];
    struct shared shared;
    (void)outside_register(&session, 0, 8);
    check_direction(1);
    outside_write(&session, 0, 1, 8);
    check_direction(2);
    (void)outside_allocate(&session, 64, &shared);
    check_direction(3);
    shared.size = 64;
    outside_release(&session, &shared);
    check_direction(4);
    outside_load(&session, 0, bytes, 32);
    check_direction(5);
    outside_store(&session, 0, bytes, 32);
    check_direction(6);
    (void)outside_now(&session);
    check_direction(7);
}

#else

static void directions(void)
{
}

#endif

static void copies(void)
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
}

int main(void)
{
    RUN(copies);
    RUN(directions);
    return 0;
}

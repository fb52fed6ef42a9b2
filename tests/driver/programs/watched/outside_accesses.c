/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks each access of the enclave's copies to memory outside: 8 aligned bytes, once, and nothing
 * else, but for the stores of single bytes between VERW and MFENCE, LFENCE. The program is compiled
 * with -fsanitize=thread and linked without: the compiler calls the functions below before each
 * load and store of outside.c. It does not call them for the assembler text of store_byte, which
 * test_hardening.py reads.
 */
#include <stdint.h>
#include <string.h>

static void *watched_copy(void *to, const void *from, size_t size);
static void *watched_fill(void *to, int byte, size_t size);

#define memcpy watched_copy
#define memmove watched_copy
#define memset watched_fill
#include "../../../../driver/enclave/outside.c" /* NOLINT: the copies are private */
#undef memcpy
#undef memmove
#undef memset

#include "../mock/check.h"

#define UNWATCHED __attribute__((no_sanitize_thread, noinline, used))
#define WATCH(name, bytes, store) \
    UNWATCHED void __tsan_##name(void *at); \
    UNWATCHED void __tsan_##name(void *at) \
    { \
        note((uintptr_t)at, bytes, store); \
    }
#define WATCH_RANGE(name, store) \
    UNWATCHED void __tsan_##name(void *at, size_t bytes); \
    UNWATCHED void __tsan_##name(void *at, size_t bytes) \
    { \
        note((uintptr_t)at, bytes, store); \
    }

enum { BYTES = 256, UNITS = BYTES / UNIT };

static _Alignas(64) uint8_t shared_bytes[BYTES], own_bytes[BYTES];
static unsigned loads[UNITS], stores[UNITS], wrong;

/* Returns true if a range meets shared memory. */
UNWATCHED static bool is_shared(uintptr_t at, size_t bytes)
{
    uintptr_t start = (uintptr_t)shared_bytes;
    return at < start + BYTES && start < at + bytes;
}

/* Records an access if it touches shared memory. */
UNWATCHED static void note(uintptr_t at, size_t bytes, bool store)
{
    uintptr_t offset = at - (uintptr_t)shared_bytes;
    if (!is_shared(at, bytes))
        return;
    if (bytes != UNIT || offset % UNIT)
        wrong++;
    else
        (store ? stores : loads)[offset / UNIT]++;
}

WATCH(read1, 1, false)
WATCH(read2, 2, false)
WATCH(read4, 4, false)
WATCH(read8, 8, false)
WATCH(read16, 16, false)
WATCH(write1, 1, true)
WATCH(write2, 2, true)
WATCH(write4, 4, true)
WATCH(write8, 8, true)
WATCH(write16, 16, true)
WATCH(unaligned_read2, 2, false)
WATCH(unaligned_read4, 4, false)
WATCH(unaligned_read8, 8, false)
WATCH(unaligned_read16, 16, false)
WATCH(unaligned_write2, 2, true)
WATCH(unaligned_write4, 4, true)
WATCH(unaligned_write8, 8, true)
WATCH(unaligned_write16, 16, true)
WATCH_RANGE(read_range, false)
WATCH_RANGE(write_range, true)

UNWATCHED void __tsan_init(void);
UNWATCHED void __tsan_init(void)
{
}

UNWATCHED void __tsan_func_entry(void *caller);
UNWATCHED void __tsan_func_entry(void *caller)
{
    (void)caller;
}

UNWATCHED void __tsan_func_exit(void *caller);
UNWATCHED void __tsan_func_exit(void *caller)
{
    (void)caller;
}

/* Copies bytes for outside.c; a library's copy may not touch shared memory in any way. */
UNWATCHED static void *watched_copy(void *to, const void *from, size_t size)
{
    wrong += is_shared((uintptr_t)from, size) || is_shared((uintptr_t)to, size);
    return memmove(to, from, size);
}

/* Fills memory for outside.c; a library's function may not touch shared memory in any way. */
UNWATCHED static void *watched_fill(void *to, int byte, size_t size)
{
    wrong += is_shared((uintptr_t)to, size);
    return memset(to, byte, size);
}

/* Checks that units of shared memory in a range were accessed once, and no others. */
UNWATCHED static void check_units(const unsigned counts[UNITS], size_t first, size_t end)
{
    for (size_t unit = 0; unit < UNITS; unit++)
        CHECK(counts[unit] == (unit >= first && unit < end));
}

/* Copies in and out at one offset and length, and checks what was accessed. */
UNWATCHED static void check_copies(size_t at, size_t size)
{
    static const unsigned none[UNITS];
    mae_session_t *session = calloc(1, sizeof *session);
    CHECK(session != NULL);
    memset(loads, 0, sizeof loads);
    memset(stores, 0, sizeof stores);
    outside_load(session, (uintptr_t)shared_bytes + at, own_bytes, size);
    CHECK(wrong == 0 && memcmp(stores, none, sizeof none) == 0);
    check_units(loads, at / UNIT, size ? (at + size - 1) / UNIT + 1 : at / UNIT);
    memset(loads, 0, sizeof loads);
    outside_store(session, (uintptr_t)shared_bytes + at, own_bytes, size);
    CHECK(wrong == 0 && memcmp(loads, none, sizeof none) == 0);
    size_t first = (at + UNIT - 1) / UNIT, end = (at + size) / UNIT; /* of the whole units */
    check_units(stores, first, end > first ? end : first);
    free(session);
}

UNWATCHED int main(void)
{
    for (size_t at = 64; at < 64 + UNIT; at++)
        for (size_t size = 0; size <= 70; size++)
            check_copies(at, size);
    return 0;
}

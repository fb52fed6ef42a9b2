/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses registers, shared memory and time outside the enclave, none of them trusted (H10). No
 * function of any library is ever given an address in shared memory: it might read twice what the
 * OS changes in between. The two copies here take or give each byte once, in aligned units of 8
 * bytes: a load or a store of another shape can bring stale data of other processes' buffers into
 * the enclave, or carry the enclave's out of it (Intel, "Processor MMIO Stale Data
 * Vulnerabilities", INTEL-SA-00615, and "Stale Data Read from Legacy xAPIC", INTEL-SA-00657: reads
 * and writes of untrusted memory are to be of 8 aligned bytes; a smaller write stands between VERW
 * and MFENCE, LFENCE). No other file calls the functions of struct mae_outside.
 */
#include <string.h>
#include <time.h>

#include "state.h"

enum { UNIT = 8 };

/*
 * Clears the direction flag, as the first thing after every call of code outside the enclave. The
 * ABI demands it clear at each function's entry and return (System V ABI, AMD64, 3.2.1), so that
 * compiler and C library use string instructions without a CLD of their own; code that returns with
 * the flag set would have them copy and clear memory below their buffers. The enclave's runtime
 * does the same where the enclave is entered.
 */
static inline void clear_direction(void)
{
#if defined(__x86_64__)
    __asm__ volatile("cld" : : : "cc", "memory");
#endif
}

/* Stores one byte to shared memory, at an edge of a range. */
static void store_byte(volatile uint8_t *to, uint8_t value)
{
#if defined(__x86_64__)
    uint16_t segment;
    __asm__ volatile("mov %%ds, %0" : "=r"(segment));
    __asm__ volatile("verw %1\n\tmovb %2, %0\n\tmfence\n\tlfence"
                     : "=m"(*to)
                     : "m"(segment), "q"(value)
                     : "memory", "cc");
#else
    *to = value;
#endif
}

/* Copies at most 8 bytes from shared memory to enclave memory; returns their number. */
static size_t copy_unit_in(uint8_t *to, uint64_t from, size_t size)
{
    size_t skip = from % UNIT, count = UNIT - skip < size ? UNIT - skip : size;
    uint64_t unit = *(const volatile uint64_t *)(uintptr_t)(from - skip);
    memcpy(to, (const uint8_t *)&unit + skip, count);
    return count;
}

/*
 * Copies bytes from shared memory to enclave memory in units of 8. Those at the edges reach beyond
 * the range, but stay in the same page; their other bytes are dropped.
 */
static void copy_in(void *to, uint64_t from, size_t size)
{
    uint8_t *target = to;
    size_t at = from % UNIT && size ? copy_unit_in(target, from, size) : 0;
    for (; size - at >= UNIT; at += UNIT) {
        uint64_t unit = *(const volatile uint64_t *)(uintptr_t)(from + at);
        memcpy(target + at, &unit, UNIT);
    }
    if (at < size)
        (void)copy_unit_in(target + at, from + at, size - at);
}

/* Copies bytes from enclave memory to shared memory in units of 8. */
static void copy_out(uint64_t to, const void *from, size_t size)
{
    const uint8_t *source = from;
    for (; size > 0 && to % UNIT != 0; size--)
        store_byte((volatile uint8_t *)(uintptr_t)to++, *source++);
    for (; size >= UNIT; size -= UNIT, to += UNIT, source += UNIT) {
        uint64_t unit;
        memcpy(&unit, source, UNIT);
        *(volatile uint64_t *)(uintptr_t)to = unit;
    }
    for (; size > 0; size--)
        store_byte((volatile uint8_t *)(uintptr_t)to++, *source++);
}

void outside_read(mae_session_t *session, uint32_t offset, void *bytes, size_t size)
{
    session->outside.read(session->outside.user, offset, bytes, size);
    clear_direction();
}

uint64_t outside_register(mae_session_t *session, uint32_t offset, size_t size)
{
    uint8_t bytes[8] = {0};
    outside_read(session, offset, bytes, size);
    return wire_get_little(bytes, size);
}

void outside_write_bytes(mae_session_t *session, uint32_t offset, const void *bytes, size_t size)
{
    session->outside.write(session->outside.user, offset, bytes, size);
    clear_direction();
}

void outside_write(mae_session_t *session, uint32_t offset, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    wire_put_little(bytes, value, size);
    outside_write_bytes(session, offset, bytes, size);
}

/* Returns true if two address ranges overlap, or if the first wraps around. */
static bool meets(uint64_t address, uint64_t size, uint64_t base, uint64_t length)
{
    if (size && address + (size - 1) < address)
        return true;
    return length && address - base < length ? true : length && base - address < size;
}

/* Returns true if the first address range lies wholly in the second. */
static bool within(uint64_t address, uint64_t size, uint64_t base, uint64_t length)
{
    return address >= base && size <= length && address - base <= length - size;
}

const char *outside_allocate(mae_session_t *session, size_t size, struct shared *shared)
{
    const struct mae_outside *outside = &session->outside;
    *shared = (struct shared){.size = 0};
    bool allocated = outside->allocate(outside->user, size, &shared->host, &shared->at);
    clear_direction();
    if (!allocated)
        return "no shared memory";
    if (shared->host % WIRE_GRANULE || meets(shared->host, size, 0, 0) ||
        meets(shared->at, size, session->enclave_base, session->enclave_bytes) ||
        (session->shared_bytes &&
         !within(shared->at, size, session->shared_base, session->shared_bytes)))
        return "shared memory inside the enclave";
    shared->size = size;
    return NULL;
}

void outside_release(mae_session_t *session, struct shared *shared)
{
    const struct mae_outside *outside = &session->outside;
    if (shared->size && outside->release) {
        outside->release(outside->user, shared->host, shared->at, shared->size);
        clear_direction();
    }
    shared->size = 0;
}

void outside_load(mae_session_t *session, uint64_t at, void *bytes, size_t size)
{
    if (session->outside.load) {
        session->outside.load(session->outside.user, at, bytes, size);
        clear_direction();
    } else {
        copy_in(bytes, at, size);
    }
}

void outside_store(mae_session_t *session, uint64_t at, const void *bytes, size_t size)
{
    if (session->outside.store) {
        session->outside.store(session->outside.user, at, bytes, size);
        clear_direction();
    } else {
        copy_out(at, bytes, size);
    }
}

uint64_t outside_now(mae_session_t *session)
{
    struct timespec now;
    if (session->outside.now) {
        uint64_t time = session->outside.now(session->outside.user);
        clear_direction();
        return time;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    clear_direction();
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void outside_pause(mae_session_t *session, bool news)
{
    if (session->outside.pause) {
        session->outside.pause(session->outside.user, news);
        clear_direction();
    }
}

bool inside(const mae_session_t *session, const void *buffer, uint64_t size)
{
    uint64_t at = (uintptr_t)buffer;
    if (!buffer || size == 0 || at + (size - 1) < at)
        return false;
    if (meets(at, size, session->shared_base, session->shared_bytes))
        return false;
    return session->buffers_bytes == 0 ||
           within(at, size, session->buffers_base, session->buffers_bytes);
}

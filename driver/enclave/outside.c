/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses registers, shared memory and time outside the enclave, none of them trusted (H10). No
 * function of any library is ever given an address in shared memory: it might read twice what the
 * OS changes in between. The two copies here take or give each byte once, in aligned units of 8
 * bytes: a load or a store of another shape can bring stale data of other processes' buffers into
 * the enclave, or carry the enclave's out of it (Intel, "Processor MMIO Stale Data
 * Vulnerabilities", INTEL-SA-00615, and "Stale Data Read from Legacy xAPIC", INTEL-SA-00657: reads
 * and writes of untrusted memory are to be of 8 aligned bytes; a smaller write stands between VERW
 * and MFENCE, LFENCE). Functions of struct mae_outside are called by CALL_OUT and ASK_OUT only
 * (state.h).
 */
#include <string.h>
#include <time.h>

#include "state.h"

enum { UNIT = 8 };

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

uint64_t outside_register(mae_session_t *session, uint32_t offset, size_t size)
{
    uint8_t bytes[8] = {0};
    CALL_OUT(session->outside.read(session->outside.user, offset, bytes, size));
    return wire_get_little(bytes, size);
}

void outside_write(mae_session_t *session, uint32_t offset, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    wire_put_little(bytes, value, size);
    CALL_OUT(session->outside.write(session->outside.user, offset, bytes, size));
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
    if (!ASK_OUT(outside->allocate(outside->user, size, &shared->host, &shared->at)))
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
    if (shared->size && outside->release)
        CALL_OUT(outside->release(outside->user, shared->host, shared->at, shared->size));
    shared->size = 0;
}

void outside_load(mae_session_t *session, uint64_t at, void *bytes, size_t size)
{
    if (session->outside.load)
        CALL_OUT(session->outside.load(session->outside.user, at, bytes, size));
    else
        copy_in(bytes, at, size);
}

void outside_store(mae_session_t *session, uint64_t at, const void *bytes, size_t size)
{
    if (session->outside.store)
        CALL_OUT(session->outside.store(session->outside.user, at, bytes, size));
    else
        copy_out(at, bytes, size);
}

uint64_t outside_now(mae_session_t *session)
{
    struct timespec now;
    if (session->outside.now)
        return ASK_OUT(session->outside.now(session->outside.user));
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

bool inside(const mae_session_t *session, const void *buffer, uint64_t size)
{
    uint64_t at = (uintptr_t)buffer;
    if (!buffer || size == 0 || at + (size - 1) < at)
        return false;
    return !meets(at, size, session->shared_base, session->shared_bytes) &&
           (session->buffers_bytes == 0 ||
            within(at, size, session->buffers_base, session->buffers_bytes));
}

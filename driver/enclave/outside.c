/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that touches the untrusted world: registers, shared memory, time (H10). No function of
 * any library is ever given an address in shared memory: it might read twice what the OS changes in
 * between. The two copies here touch each byte once.
 */
#include <time.h>

#include "session.h"

#if defined(__x86_64__)

static void copy(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

#else

static void copy(void *to, const void *from, size_t size)
{
    volatile uint8_t *target = to;
    const volatile uint8_t *source = from;
    for (size_t i = 0; i < size; i++)
        target[i] = source[i];
}

#endif

uint64_t outside_register(mae_session_t *session, uint32_t offset, size_t size)
{
    uint8_t bytes[8] = {0};
    session->outside.read(session->outside.user, offset, bytes, size);
    return wire_get_little(bytes, size);
}

void outside_write(mae_session_t *session, uint32_t offset, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    wire_put_little(bytes, value, size);
    session->outside.write(session->outside.user, offset, bytes, size);
}

/* Whether two ranges meet; a range that wraps around meets everything. */
static bool meets(uint64_t address, uint64_t size, uint64_t base, uint64_t length)
{
    if (size && address + (size - 1) < address)
        return true;
    return length && address - base < length ? true : length && base - address < size;
}

mae_error_t outside_allocate(mae_session_t *session, size_t size, struct shared *shared)
{
    const struct mae_outside *outside = &session->outside;
    *shared = (struct shared){.size = 0};
    if (!outside->allocate(outside->user, size, &shared->host, &shared->at))
        return session_poison(session, "no shared memory");
    if (shared->host % WIRE_GRANULE || meets(shared->host, size, 0, 0) ||
        meets(shared->at, size, session->enclave_base, session->enclave_bytes))
        return session_poison(session, "shared memory inside the enclave");
    shared->size = size;
    return MAE_OK;
}

void outside_release(mae_session_t *session, struct shared *shared)
{
    const struct mae_outside *outside = &session->outside;
    if (shared->size && outside->release)
        outside->release(outside->user, shared->host, shared->at, shared->size);
    shared->size = 0;
}

void outside_load(mae_session_t *session, uint64_t at, void *bytes, size_t size)
{
    if (session->outside.load)
        session->outside.load(session->outside.user, at, bytes, size);
    else
        copy(bytes, (const void *)(uintptr_t)at, size);
}

void outside_store(mae_session_t *session, uint64_t at, const void *bytes, size_t size)
{
    if (session->outside.store)
        session->outside.store(session->outside.user, at, bytes, size);
    else
        copy((void *)(uintptr_t)at, bytes, size);
}

uint64_t outside_now(mae_session_t *session)
{
    struct timespec now;
    if (session->outside.now)
        return session->outside.now(session->outside.user);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

bool inside(const mae_session_t *session, const void *buffer, uint64_t size)
{
    uint64_t at = (uintptr_t)buffer, from = session->buffers_base;
    if (!buffer || size == 0 || at + (size - 1) < at)
        return false;
    if (session->buffers_bytes == 0)
        return true;
    return at >= from && size <= session->buffers_bytes &&
           at - from <= session->buffers_bytes - size;
}

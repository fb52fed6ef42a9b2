/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the protected driver: registers, shared memory and time read as fuzz data. It is a
 * libFuzzer target; fuzz data are also all calls. Nobody but the driver has the key, so no call may
 * ever succeed.
 */
#include <stdlib.h>
#include <string.h>

#include "script.h"

/* Names where the process has its memory: the world below allocates there if fuzz data say so. */
static const uint64_t enclave_base = UINT64_C(1) << 36;

struct world {
    struct stream *stream;
    uint64_t time;
    uint64_t next;
};

/* Gives the driver fuzz data as register contents, mostly with legal capabilities. */
static void world_read(void *user, uint32_t offset, void *bytes, size_t size)
{
    struct world *world = user;
    stream_bytes(world->stream, bytes, size);
    uint8_t choice = offset == REGISTER_CAPABILITIES ? stream_byte(world->stream) : 0;
    if (choice & 7)
        wire_put_little(bytes, capabilities_of(choice / 8), 8); /* mostly legal */
}

/* Ignores the driver's write to a register. */
static void world_write(void *user, uint32_t offset, const void *bytes, size_t size)
{
    (void)user, (void)offset, (void)bytes, (void)size;
}

/* Allocates shared memory for the driver, at an address that fuzz data may change. */
static bool world_allocate(void *user, size_t size, uint64_t *host, uint64_t *at)
{
    struct world *world = user;
    *host = *at = world->next;
    world->next += (size + 63) / 64 * 64;
    if (stream_byte(world->stream) == 1)
        stream_bytes(world->stream, host, sizeof *host);
    if (stream_byte(world->stream) == 1)
        stream_bytes(world->stream, at, sizeof *at);
    return stream_byte(world->stream) != 1;
}

/* Gives the driver fuzz data as shared memory, often with the response number it expects. */
static void world_load(void *user, uint64_t at, void *bytes, size_t size)
{
    struct world *world = user;
    stream_bytes(world->stream, bytes, size);
    if (size == 8 && stream_byte(world->stream) & 1)
        wire_put(bytes, at / WIRE_SLOT_BYTES % WIRE_SLOTS, 8);
}

/* Ignores the driver's write to shared memory. */
static void world_store(void *user, uint64_t at, const void *bytes, size_t size)
{
    (void)user, (void)at, (void)bytes, (void)size;
}

/* Gives the driver a time that advances by fuzz data. */
static uint64_t world_now(void *user)
{
    struct world *world = user;
    return world->time += 1 + stream_byte(world->stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream stream = {.data = data, .left = size};
    struct world world = {.stream = &stream, .next = UINT64_C(0x100000000)};
    struct mae_outside outside = {.user = &world,
                                  .read = world_read,
                                  .write = world_write,
                                  .allocate = world_allocate,
                                  .load = world_load,
                                  .store = world_store,
                                  .now = world_now};
    uint8_t flags = stream_byte(&stream);
    struct mae_session_config config = {.nonce_given = 1,
                                        .timeout = 2000,
                                        .send_while_sealing = flags & 1,
                                        .block_limit = flags & 2 ? 2000 : 0,
                                        .enclave_base = enclave_base,
                                        .enclave_bytes = UINT64_MAX - enclave_base,
                                        .buffers_base = enclave_base,
                                        .buffers_bytes = UINT64_MAX - enclave_base};
    struct script script = {.stream = &stream, .nothing_may_pass = true};
    if (mae_session_begin(&outside, &config, &script.session) != MAE_OK)
        stream.left = 0;
    script_run(&script);
    return 0;
}

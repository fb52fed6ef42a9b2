/* SPDX-License-Identifier: Apache-2.0 */
/* Packs and unpacks the messages of the protected channel, without keys (docs/protocol.md §3). */
#include "wire.h"

#include <string.h>

void wire_put(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * (size - 1 - i));
}

uint64_t wire_get(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

void wire_put_little(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

uint64_t wire_get_little(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

void wire_header(uint8_t header[WIRE_HEADER], unsigned cls, unsigned queue, unsigned kind,
                 uint32_t epoch, uint64_t sequence)
{
    header[0] = WIRE_VERSION;
    header[1] = (uint8_t)cls;
    header[2] = (uint8_t)queue;
    header[3] = (uint8_t)kind;
    wire_put(header + 4, epoch, 4);
    wire_put(header + 8, sequence, 8);
}

/* Packs a chunk's address, length, index, base and total into 32 bytes. */
static void put_chunk(uint8_t bytes[32], const struct wire_place *place)
{
    wire_put(bytes, place->address, 8);
    wire_put(bytes + 8, place->length, 4);
    wire_put(bytes + 12, place->index, 4);
    wire_put(bytes + 16, place->base, 8);
    wire_put(bytes + 24, place->total, 8);
}

void wire_transfer(uint8_t body[WIRE_TRANSFER], const struct wire_place *place,
                   const uint8_t tag[WIRE_TAG])
{
    put_chunk(body, place);
    wire_put(body + 32, place->host, 8);
    wire_put(body + 40, place->after, 8);
    memcpy(body + 48, tag, WIRE_TAG);
}

void wire_aad(uint8_t aad[WIRE_AAD], const struct wire_place *place, unsigned cls, unsigned queue,
              uint32_t epoch, uint64_t sequence)
{
    bool last = place->address + place->length == place->base + place->total;
    wire_header(aad, cls, queue, (place->index == 0 ? 1 : 0) | (last ? 2 : 0), epoch, sequence);
    put_chunk(aad + WIRE_HEADER, place);
}

struct wire_response wire_response(const uint8_t *body)
{
    return (struct wire_response){
        .status = (uint32_t)wire_get(body, 2),
        .executed = (uint32_t)wire_get(body + 2, 2),
        .zero = (uint32_t)wire_get(body + 4, 4),
        .value = wire_get(body + 8, 8),
    };
}

uint64_t wire_blocks(uint64_t bytes)
{
    return (bytes + WIRE_BLOCK - 1) / WIRE_BLOCK + 1;
}

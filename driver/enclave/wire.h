/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the constants and message formats of the protected channel (docs/protocol.md). */
#ifndef MAE_WIRE_H
#define MAE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_VERSION = 1,
    WIRE_GRANULE = 64,
    WIRE_BLOCK = 16,
    WIRE_TAG = 16,
    WIRE_HEADER = 16,
    WIRE_AAD = 48,
    WIRE_TRANSFER = 64,
    WIRE_MAX_OPERATIONS = 64,
    WIRE_MAX_BODY = WIRE_MAX_OPERATIONS * WIRE_BLOCK,
    WIRE_MAX_MESSAGE = WIRE_HEADER + WIRE_MAX_BODY + WIRE_TAG,
    WIRE_MAX_ANSWER = 16 + 8 * WIRE_MAX_OPERATIONS,
    WIRE_MAX_QUEUES = 64,
    WIRE_LAST_EPOCH = 65535,
    WIRE_SLOTS = 64,
    WIRE_SLOT_BYTES = 1024,
    WIRE_STAGE = 4096, /* H10 */
    WIRE_KEY = 32,
    WIRE_MASK = 12
};
#define WIRE_HOST_BLOCKS (UINT64_C(1) << 34)
#define WIRE_KERNEL UINT32_C(0xffffffff)

enum wire_class { CLASS_REQUEST = 1, CLASS_RESPONSE, CLASS_DMA_IN, CLASS_DMA_OUT, CLASSES = 4 };

enum wire_kind { KIND_OPEN = 1, KIND_BATCH, KIND_H2D, KIND_D2H, KIND_REKEY, KIND_SKIP, KIND_CLOSE };

enum wire_status { STATUS_OK = 1, STATUS_WAIT = 8, STATUS_AFTER = 12, STATUS_LAST = 15 };

/* Defines the addresses of the protected card's registers, page by page. */
enum {
    REGISTER_CAUSE = 0x004,
    REGISTER_CAUSE_SEQUENCE = 0x008,
    REGISTER_CAPABILITIES = 0x010,
    REGISTER_DEVICE_NONCE = 0x020,
    REGISTER_HOST_NONCE = 0x040,
    REGISTER_PAGE = 0x1000,
    REGISTER_MAILBOX = 0x000,
    REGISTER_DOORBELL = 0x420,
    REGISTER_STATUS = 0x424,
    REGISTER_RESPONSE_BASE = 0x428
};

/* Describes a chunk's place in its transfer, as in the body of an H2D or D2H request. */
struct wire_place {
    uint64_t address;
    uint32_t length;
    uint32_t index;
    uint64_t base;
    uint64_t total;
    uint64_t host;
    uint64_t after;
};

struct wire_response {
    uint32_t status;
    uint32_t executed;
    uint32_t zero;
    uint64_t value;
};

void wire_put(uint8_t *bytes, uint64_t value, size_t size); /* big-endian */
uint64_t wire_get(const uint8_t *bytes, size_t size);
void wire_put_little(uint8_t *bytes, uint64_t value, size_t size);
uint64_t wire_get_little(const uint8_t *bytes, size_t size);

void wire_header(uint8_t header[WIRE_HEADER], unsigned cls, unsigned queue, unsigned kind,
                 uint32_t epoch, uint64_t sequence);
void wire_transfer(uint8_t body[WIRE_TRANSFER], const struct wire_place *place,
                   const uint8_t tag[WIRE_TAG]);
/* Packs the 48-byte AAD that binds a chunk to its place in the transfer (H4, H17). */
void wire_aad(uint8_t aad[WIRE_AAD], const struct wire_place *place, unsigned cls, unsigned queue,
              uint32_t epoch, uint64_t sequence);
struct wire_response wire_response(const uint8_t *body);
/* Returns the number of AES blocks by which data uses up its key. */
uint64_t wire_blocks(uint64_t bytes);

#endif

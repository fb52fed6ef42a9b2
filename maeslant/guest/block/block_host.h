/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a block card from user space through a backend of libmaeslant: rings, requests, media
 * encryption keys. A failure that the caller does not ask for ends the program with a message.
 */
#ifndef MAE_BLOCK_HOST_H
#define MAE_BLOCK_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops.h"

enum {
    BLOCK_QUEUES = 2,
    BLOCK_LOG2 = 6,
    BLOCK_ENTRIES = 1 << BLOCK_LOG2,
    BLOCK_SECTOR = 512,
    BLOCK_BUFFERS = 4,
    BLOCK_BUFFER_BYTES = 1 << 17
};

/* As block_op_e, block_request_t and the status codes of rtl/device/block/mae_block_pkg.sv. */
enum block_op { BLOCK_READ = 0, BLOCK_WRITE = 1, BLOCK_FLUSH = 2 };
enum block_status {
    BLOCK_OK = 0,
    BLOCK_BAD_KEY = 5,
    BLOCK_READ_DECERR = 8,
    BLOCK_WRITE_DECERR = 10
};

struct block_key {
    uint8_t slot;
    uint8_t unit_log2;
    uint64_t unit; /* number of the first data unit */
};

struct block_request {
    enum block_op op;
    uint64_t sector;
    uint32_t sectors;
    uint64_t address;            /* of the data, as the card sees them */
    const struct block_key *key; /* NULL: plain */
};

struct block_card {
    const struct mae_ops *ops;
    void *backend;
    uint32_t lanes, key_slots;
    uint64_t sectors;
    uint8_t *memory;
    uint64_t address; /* of `memory`, as the card sees it */
    uint32_t sent[BLOCK_QUEUES], taken[BLOCK_QUEUES];
};

/* Opens a card, identifies it, and gives it rings and memory. `uri`: "vfio:..." or "sim:...". */
void block_open(struct block_card *card, const char *uri);
/* Closes a card, whatever it does at that moment. */
void block_close(struct block_card *card);

/* Returns one of the buffers for data. */
uint8_t *block_buffer(const struct block_card *card, unsigned index);
/* Returns the address of a byte of a buffer, as the card sees it. */
uint64_t block_address(const struct block_card *card, const uint8_t *place);

/* Executes a key command (MAE_BLOCK_CARD__LOCK_CTRL__CMD__...) and returns its error. `key`: 64
   bytes, or NULL. */
uint32_t block_key_command(struct block_card *card, uint32_t command, uint32_t slot,
                           const uint8_t *key);
/* Returns which key slots hold a key. */
uint32_t block_keys(const struct block_card *card);

/* Hands a request to the card. */
void block_submit(struct block_card *card, unsigned queue, const struct block_request *request);
/* Waits for the oldest completion that is not taken; returns its status. */
uint32_t block_take(struct block_card *card, unsigned queue);
/* Returns true if a queue has a completion that is not taken. */
bool block_completed(const struct block_card *card, unsigned queue);
/* Does one request; returns its status. */
uint32_t block_do(struct block_card *card, unsigned queue, const struct block_request *request);

#endif

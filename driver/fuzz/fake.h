/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares an imitated protected card for fuzzing, which holds keys and answers as it is told. For
 * fuzzing and for timing the driver.
 */
#ifndef MAE_FAKE_H
#define MAE_FAKE_H

#include "../enclave/state.h"

enum { FAKE_QUEUES = 64, FAKE_PATTERN = 0x5a };

/* Holds a decrypted request that arrived in the imitated card's mailbox. */
struct fake_request {
    unsigned queue, kind;
    uint32_t epoch;
    uint64_t sequence;
    size_t body_bytes;
    uint8_t body[WIRE_MAX_BODY];
    struct wire_place place; /* of a chunk */
    uint8_t tag[WIRE_TAG];
};

struct fake {
    uint64_t capabilities;
    uint8_t *window; /* shared memory; host address = address */
    size_t window_bytes, used;
    uint64_t slots[FAKE_QUEUES];
    uint8_t mailbox[FAKE_QUEUES][WIRE_MAX_MESSAGE];
    uint8_t host_nonce[32];
    uint8_t secret[32], session_id[16];
    uint64_t time;
    unsigned released;          /* calls of `release` */
    uint64_t last[FAKE_QUEUES]; /* the highest number rung: a second time is a bug of the driver */
    struct gcm *keys[2][CLASSES];
    uint8_t masks[2][CLASSES][WIRE_MASK];
    uint32_t epochs[2]; /* of the keys; epoch + 1, 0 for none */
    /* Handles a doorbell of the imitated card, with the decrypted request, for the fuzz target.
       NULL: nothing. */
    void (*rung)(struct fake *fake, const struct fake_request *request);
    void *user;
};

bool fake_begin(struct fake *fake, size_t window_bytes);
void fake_end(struct fake *fake);
void fake_outside(struct fake *fake, struct mae_outside *outside);
/* Builds the response body that a genuine card gives to a request; returns its length. */
size_t fake_body(const struct fake *fake, const struct fake_request *request,
                 uint8_t body[WIRE_MAX_ANSWER]);
/* Seals a response of the imitated card and writes it and then its number to shared memory. */
void fake_answer(struct fake *fake, const struct fake_request *request, const uint8_t *body,
                 size_t size);
/* Writes an encrypted chunk of a D2H request to shared memory; returns its GCM tag. */
void fake_chunk(struct fake *fake, const struct fake_request *request, uint8_t tag[WIRE_TAG]);
/* Returns true if the chunk of an H2D request in shared memory has the tag of the request. */
bool fake_check(struct fake *fake, const struct fake_request *request);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random AEAD messages with the toy cipher's result, and runs them on mock devices. */
#ifndef AEAD_CASE_H
#define AEAD_CASE_H

#include "mock.h"

enum { CASE_LARGEST = 5 * MAE_CARD_CHUNK + 100, CASE_AAD = 70000 };

struct aead_case {
    struct mae_message message;
    uint8_t key[32], nonce[300], tag[16], got_tag[16];
    size_t key_bytes;
    uint8_t plain[CASE_LARGEST], sealed[CASE_LARGEST], aad[CASE_AAD];
    uint8_t out[CASE_LARGEST + 16];
};

static struct aead_case test;

static inline size_t pick_nonce(mae_mode_t mode)
{
    if (mode == MAE_CCM)
        return 7 + random_below(5); /* up to 11: 4 bytes of length */
    return random_below(3) ? 12 : 1 + random_below(sizeof test.nonce);
}

static inline size_t pick_tag(mae_mode_t mode)
{
    static const uint8_t gcm[] = {4, 8, 12, 13, 14, 15, 16};
    if (random_below(2))
        return 16;
    return mode == MAE_CCM ? 4 + 2 * random_below(7) : gcm[random_below(sizeof gcm)];
}

static inline struct toy_message toy_of(mae_direction_t direction)
{
    return (struct toy_message){
        .mode = test.message.mode,
        .decrypt = direction == MAE_DECRYPT,
        .key = mock_key(test.key, test.key_bytes),
        .nonce = test.nonce,
        .nonce_bytes = test.message.nonce_bytes,
        .aad = test.aad,
        .aad_bytes = test.message.aad_bytes,
        .tag_bytes = test.message.tag_bytes,
    };
}

/* Fills `test` with a random AEAD message and the toy cipher's ciphertext and tag. */
static inline void new_case(mae_mode_t mode, size_t length, size_t aad_bytes)
{
    random_bytes(test.key, sizeof test.key);
    random_bytes(test.nonce, sizeof test.nonce);
    random_bytes(test.aad, aad_bytes);
    random_bytes(test.plain, length);
    test.key_bytes = 16 + 8 * random_below(3);
    test.message = (struct mae_message){
        .mode = mode,
        .key = test.key,
        .key_bytes = test.key_bytes,
        .nonce = test.nonce,
        .nonce_bytes = pick_nonce(mode),
        .aad = test.aad,
        .aad_bytes = aad_bytes,
        .src = test.plain,
        .dst = test.out,
        .length = length,
        .tag = test.got_tag,
        .tag_bytes = pick_tag(mode),
    };
    struct toy_message toy = toy_of(MAE_ENCRYPT);
    memset(test.tag, 0, 16);
    if (mode == MAE_CCM)
        toy_ccm(&toy, test.plain, test.sealed, length, test.tag);
    else
        toy_gcm(&toy, test.plain, test.sealed, length, test.tag);
    memset(test.got_tag, 0xee, 16);
    memset(test.out, 0xee, sizeof test.out);
}

static inline size_t pick_length(size_t limit)
{
    static const size_t near[] = {0, 0, 1, 15, 16, 17, 100, 4096, MAE_CHUNK, 3 * MAE_CHUNK};
    size_t length = near[random_below(10)];
    if (random_below(2))
        length += random_below(64);
    return length > limit ? random_below(limit + 1) : length;
}

static inline bool all_zero(const uint8_t *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (memory[i])
            return false;
    return true;
}

/* Checks that the driver's device holds no keys, contexts, jobs or plaintext of a message. */
static inline void check_idle(mae_dev_t *dev)
{
    CHECK(mae_in_flight(dev) == 0 && dev->in_flight == 0 && dev->used == 0);
    for (uint32_t i = 0; i < dev->caps.key_slots; i++)
        CHECK(dev->slots[i].key_bytes == 0);
    for (uint32_t i = 0; i < dev->context_count; i++)
        CHECK(!dev->contexts[i].held);
    if (dev->work)
        CHECK(all_zero(dev->work, 3 * MAE_CHUNK));
}

#endif

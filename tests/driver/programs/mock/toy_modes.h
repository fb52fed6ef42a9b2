/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the modes of operation over a toy block cipher, as reference for a mock device. It says
 * nothing about AES; that is tested end to end, against other people's implementations.
 */
#ifndef TOY_MODES_H
#define TOY_MODES_H

#include <stdint.h>
#include <string.h>

#include "../../../../sim/modes/block_modes.h"

/* Computes the round function of the toy Feistel cipher for a 64-bit half. */
static inline uint64_t toy_round(uint64_t half, uint64_t key, int round)
{
    half = (half ^ key) * 0x9e3779b97f4a7c15 + (uint64_t)round;
    return half ^ half >> 29;
}

static inline void toy_cipher(uint64_t key, int decrypt, const uint8_t *in, uint8_t *out)
{
    uint64_t left, right, swap;
    memcpy(&left, in, 8);
    memcpy(&right, in + 8, 8);
    for (int i = 0; i < 4; i++) {
        int round = decrypt ? 3 - i : i;
        if (decrypt) {
            swap = left;
            left = right ^ toy_round(left, key, round);
            right = swap;
        } else {
            swap = right;
            right = left ^ toy_round(right, key, round);
            left = swap;
        }
    }
    memcpy(out, &left, 8);
    memcpy(out + 8, &right, 8);
}

/* Encrypts or decrypts a block under the 64-bit key that `context` points to. */
static inline void toy_block(void *context, bool decrypt, const uint8_t in[16], uint8_t out[16])
{
    toy_cipher(*(const uint64_t *)context, decrypt, in, out);
}

/*
 * Processes a part of a message by the toy cipher; `chain` continues to the next part. In place is
 * allowed.
 */
static inline void toy_mode(mae_mode_t mode, int decrypt, uint64_t key, uint8_t *chain,
                            const uint8_t *in, uint8_t *out, size_t length)
{
    block_mode_run(mode, decrypt, toy_block, &key, chain, in, out, length);
}

/* Operations: every unauthenticated mode, encryption at an even number, decryption at the next. */
enum { OPERATIONS = 2 * BLOCK_MODES };

static inline mae_mode_t operation_mode(int operation)
{
    return block_modes[operation / 2].mode;
}

static inline mae_direction_t operation_direction(int operation)
{
    return operation % 2 ? MAE_DECRYPT : MAE_ENCRYPT;
}

/* Returns true if an operation's next chain value depends on the cipher's result. */
static inline bool operation_chains(int operation)
{
    uint8_t chains[2][16] = {{0}}, in[16] = {0}, out[16];
    for (int i = 0; i < 2; i++)
        toy_mode(operation_mode(operation), operation % 2, (uint64_t)i + 1, chains[i], in, out, 16);
    return memcmp(chains[0], chains[1], 16) != 0;
}

/* Returns true if an operation needs the inverse cipher: it differs from the encryption. */
static inline bool operation_inverts(int operation)
{
    uint8_t chain[2][16] = {{0}}, in[16] = {0}, out[2][16];
    for (int i = 0; i < 2; i++)
        toy_mode(operation_mode(operation), i ? operation % 2 : 0, 1, chain[i], in, out[i], 16);
    return memcmp(out[0], out[1], 16) != 0;
}

/* Returns true if a message of a mode may end with a part of a block. */
static inline bool takes_any_length(mae_mode_t mode)
{
    return block_mode_of(mode)->any_length;
}

/* Returns the unauthenticated modes as bits of caps.modes. */
static inline uint32_t unauthenticated_modes(void)
{
    uint32_t modes = 0;
    for (int i = 0; i < BLOCK_MODES; i++)
        modes |= 1u << block_modes[i].mode;
    return modes;
}

#endif

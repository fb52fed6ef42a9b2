/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the modes of operation over a toy block cipher, as reference for a mock device. It
 * says nothing about AES; that is tested end to end, against other people's implementations.
 */
#ifndef TOY_MODES_H
#define TOY_MODES_H

#include <stdint.h>
#include <string.h>

#include "maeslant.h"

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

static inline void toy_xor(uint8_t *a, const uint8_t *b, const uint8_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] ^ c[i];
}

static inline void toy_double(uint8_t *tweak)
{
    int carry = tweak[15] >> 7;
    for (int i = 15; i > 0; i--)
        tweak[i] = (uint8_t)(tweak[i] << 1 | tweak[i - 1] >> 7);
    tweak[0] = (uint8_t)(tweak[0] << 1 ^ (carry ? 0x87 : 0));
}

static inline void toy_xts_block(uint64_t key, int decrypt, const uint8_t *tweak, const uint8_t *in,
                                 uint8_t *out)
{
    uint8_t block[16];
    toy_xor(block, in, tweak, 16);
    toy_cipher(key, decrypt, block, block);
    toy_xor(out, block, tweak, 16);
}

/* Encrypts or decrypts XTS's last two blocks with ciphertext stealing (IEEE 1619 §5.3.2). */
static inline void toy_xts_steal(uint64_t key, int decrypt, uint8_t *tweak, const uint8_t *in,
                                 uint8_t *out, size_t tail)
{
    uint8_t first[16], second[16], next[16];
    memcpy(next, tweak, 16);
    toy_double(next);
    toy_xts_block(key, decrypt, decrypt ? next : tweak, in, first);
    memcpy(second, in + 16, tail);
    memcpy(second + tail, first + tail, 16 - tail);
    memcpy(out + 16, first, tail);
    toy_xts_block(key, decrypt, decrypt ? tweak : next, second, out);
}

/*
 * Processes a part of a message by the toy cipher; `chain` continues to the next part. In place is
 * allowed.
 */
static inline void toy_mode(mae_mode_t mode, int decrypt, uint64_t key, uint8_t *chain,
                            const uint8_t *in, uint8_t *out, size_t length)
{
    while (length > 0) {
        uint8_t data[16], result[16];
        size_t n = length < 16 ? length : 16;
        if (mode == MAE_XTS && length > 16 && length < 32) {
            toy_xts_steal(key, decrypt, chain, in, out, length - 16);
            return;
        }
        memcpy(data, in, n);
        switch (mode) {
        case MAE_ECB:
            toy_cipher(key, decrypt, data, result);
            break;
        case MAE_CBC:
        case MAE_PCBC:
            if (decrypt) {
                toy_cipher(key, 1, data, result);
                toy_xor(result, result, chain, 16);
            } else {
                toy_xor(result, data, chain, 16);
                toy_cipher(key, 0, result, result);
            }
            memcpy(chain, decrypt ? data : result, 16);
            if (mode == MAE_PCBC)
                toy_xor(chain, data, result, 16);
            break;
        case MAE_CFB:
        case MAE_OFB:
        case MAE_CTR:
            toy_cipher(key, 0, chain, result);
            if (mode == MAE_OFB)
                memcpy(chain, result, 16);
            toy_xor(result, result, data, n);
            if (mode == MAE_CFB)
                memcpy(chain, decrypt ? data : result, n);
            for (int i = 15; mode == MAE_CTR && i >= 0 && ++chain[i] == 0; i--)
                ;
            break;
        case MAE_XTS:
            toy_xts_block(key, decrypt, chain, data, result);
            toy_double(chain);
            break;
        default:
            memcpy(result, data, n);
        }
        memcpy(out, result, n);
        in += n;
        out += n;
        length -= n;
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the unauthenticated modes of operation over any block cipher, for C and C++: the
 * reference of simulations and of the driver's mock devices. The cipher is a function.
 */
#ifndef BLOCK_MODES_H
#define BLOCK_MODES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../../driver/include/maeslant.h"

/* Describes an unauthenticated mode. */
struct block_mode {
    mae_mode_t mode;
    const char *name; /* OpenSSL's, as in AES-128-CBC */
    bool any_length;  /* a message may end with a part of a block */
    bool in_openssl;  /* OpenSSL has an implementation of it */
};

static const struct block_mode block_modes[] = {
    {MAE_ECB, "ECB", false, true}, {MAE_CBC, "CBC", false, true}, {MAE_PCBC, "PCBC", false, false},
    {MAE_CFB, "CFB", true, true},  {MAE_OFB, "OFB", true, true},  {MAE_CTR, "CTR", true, true},
    {MAE_XTS, "XTS", true, true},
};

enum { BLOCK_MODES = sizeof block_modes / sizeof block_modes[0] };

/* Returns the description of an unauthenticated mode; NULL for any other mode. */
static inline const struct block_mode *block_mode_of(mae_mode_t mode) {
    for (int i = 0; i < BLOCK_MODES; i++)
        if (block_modes[i].mode == mode) return &block_modes[i];
    return NULL;
}

/*
 * Encrypts or decrypts a block. Of a message it is called once for each block, in their order; of
 * XTS with ciphertext stealing, for the last two in the order in which they are computed.
 */
typedef void block_cipher_t(void *context, bool decrypt, const uint8_t in[16], uint8_t out[16]);

static inline void block_xor(uint8_t *to, const uint8_t *a, const uint8_t *b, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) to[i] = a[i] ^ b[i];
}

/* Multiplies an XTS tweak by alpha (IEEE 1619 §5.2); byte 0 is the least significant. */
static inline void block_times_alpha(uint8_t tweak[16]) {
    unsigned carry = 0;
    for (int i = 0; i < 16; i++) {
        unsigned next = tweak[i] >> 7;
        tweak[i] = (uint8_t)(tweak[i] << 1 | carry);
        carry = next;
    }
    if (carry) tweak[0] ^= 0x87;
}

static inline void block_xts(block_cipher_t *cipher, void *context, bool decrypt,
                             const uint8_t tweak[16], const uint8_t in[16], uint8_t out[16]) {
    uint8_t block[16];
    block_xor(block, in, tweak, 16);
    cipher(context, decrypt, block, block);
    block_xor(out, block, tweak, 16);
}

/* Processes XTS's last 17 to 31 bytes with ciphertext stealing (IEEE 1619 §5.3.2). */
static inline void block_xts_steal(block_cipher_t *cipher, void *context, bool decrypt,
                                   const uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                                   size_t bytes) {
    uint8_t first[16], second[16], next[16];
    size_t tail = bytes - 16;
    memcpy(next, tweak, 16);
    block_times_alpha(next);
    block_xts(cipher, context, decrypt, decrypt ? next : tweak, in, first);
    memcpy(second, in + 16, tail);
    memcpy(second + tail, first + tail, 16 - tail);
    memcpy(out + 16, first, tail);
    block_xts(cipher, context, decrypt, decrypt ? tweak : next, second, out);
}

/*
 * Encrypts or decrypts a message, or a part of one, in an unauthenticated mode; MAE_COPY copies it.
 * `chain` is the chain value before the first block (the IV; of XTS the encrypted tweak), and then
 * the one after the last whole block. `in` and `out` may be the same.
 */
static inline void block_mode_run(mae_mode_t mode, bool decrypt, block_cipher_t *cipher,
                                  void *context, uint8_t chain[16], const uint8_t *in, uint8_t *out,
                                  size_t length) {
    while (length > 0) {
        uint8_t data[16] = {0}, result[16];
        size_t bytes = length < 16 ? length : 16;
        if (mode == MAE_XTS && length > 16 && length < 32) {
            block_xts_steal(cipher, context, decrypt, chain, in, out, length);
            return;
        }
        memcpy(data, in, bytes);
        switch (mode) {
            case MAE_ECB:
                cipher(context, decrypt, data, result);
                break;
            case MAE_CBC:
            case MAE_PCBC:
                if (decrypt) {
                    cipher(context, true, data, result);
                    block_xor(result, result, chain, 16);
                } else {
                    block_xor(result, data, chain, 16);
                    cipher(context, false, result, result);
                }
                if (mode == MAE_PCBC)
                    block_xor(chain, data, result, 16);
                else
                    memcpy(chain, decrypt ? data : result, 16);
                break;
            case MAE_CFB:
                cipher(context, false, chain, result);
                block_xor(result, result, data, 16);
                memcpy(chain, decrypt ? data : result, 16);
                break;
            case MAE_OFB:
                cipher(context, false, chain, chain);
                block_xor(result, chain, data, 16);
                break;
            case MAE_CTR:
                cipher(context, false, chain, result);
                block_xor(result, result, data, 16);
                for (int i = 15; i >= 0 && ++chain[i] == 0; i--);
                break;
            case MAE_XTS:
                block_xts(cipher, context, decrypt, chain, data, result);
                block_times_alpha(chain);
                break;
            default:
                memcpy(result, data, 16);
        }
        memcpy(out, result, bytes);
        in += bytes;
        out += bytes;
        length -= bytes;
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements GCM, CCM and CMAC over a toy block cipher, job by job and for whole messages. They
 * say nothing about AES.
 */
#ifndef TOY_AEAD_H
#define TOY_AEAD_H

#include <stdlib.h>

#include "toy_modes.h"

/* Multiplies in GF(2^128) by SP 800-38D algorithm 1: *y := *y times h. */
static inline void toy_multiply(uint8_t y[16], const uint8_t h[16])
{
    uint8_t z[16] = {0}, v[16];
    memcpy(v, h, 16);
    for (int i = 0; i < 128; i++) {
        if (y[i / 8] >> (7 - i % 8) & 1)
            block_xor(z, z, v, 16);
        int carry = v[15] & 1;
        for (int j = 15; j > 0; j--)
            v[j] = (uint8_t)(v[j] >> 1 | v[j - 1] << 7);
        v[0] = (uint8_t)(v[0] >> 1 ^ (carry ? 0xe1 : 0));
    }
    memcpy(y, z, 16);
}

static inline void toy_ghash(uint64_t key, uint8_t y[16], const uint8_t *data, size_t bytes)
{
    uint8_t h[16] = {0};
    toy_cipher(key, 0, h, h);
    for (size_t at = 0; at < bytes; at += 16) {
        block_xor(y, y, data + at, bytes - at < 16 ? bytes - at : 16);
        toy_multiply(y, h);
    }
}

static inline void toy_cbc_mac(uint64_t key, uint8_t y[16], const uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 16) {
        block_xor(y, y, data + at, bytes - at < 16 ? bytes - at : 16);
        toy_cipher(key, 0, y, y);
    }
}

static inline void toy_number(uint8_t *end, uint64_t value, int bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        *--end = (uint8_t)value;
}

static inline uint32_t toy_low32(const uint8_t block[16])
{
    return (uint32_t)block[12] << 24 | (uint32_t)block[13] << 16 | (uint32_t)block[14] << 8 |
           block[15];
}

/* Encrypts or decrypts a block of data by the toy cipher in counter mode. */
static inline void toy_ctr_block(uint64_t key, const uint8_t first[16], uint64_t number,
                                 const uint8_t *in, uint8_t *out, size_t bytes)
{
    uint8_t counter[16];
    memcpy(counter, first, 16);
    toy_number(counter + 16, toy_low32(first) + 1 + (uint32_t)number, 4);
    toy_cipher(key, 0, counter, counter);
    block_xor(out, in, counter, bytes);
}

static inline void toy_double_big(uint8_t block[16])
{
    int carry = block[0] >> 7;
    for (int i = 0; i < 15; i++)
        block[i] = (uint8_t)(block[i] << 1 | block[i + 1] >> 7);
    block[15] = (uint8_t)(block[15] << 1 ^ (carry ? 0x87 : 0));
}

/* ---- whole messages ---- */

static inline void toy_cmac(uint64_t key, const uint8_t *data, size_t bytes, uint8_t tag[16])
{
    uint8_t last[16] = {0}, mask[16] = {0};
    size_t before = bytes == 0 ? 0 : (bytes - 1) / 16 * 16;
    toy_cipher(key, 0, mask, mask);
    toy_double_big(mask);
    memcpy(last, data + before, bytes - before);
    if (bytes - before < 16) {
        toy_double_big(mask);
        last[bytes - before] = 0x80;
    }
    memset(tag, 0, 16);
    toy_cbc_mac(key, tag, data, before);
    block_xor(last, last, mask, 16);
    toy_cbc_mac(key, tag, last, 16);
}

struct toy_message {
    mae_mode_t mode;
    int decrypt;
    uint64_t key;
    const uint8_t *nonce;
    size_t nonce_bytes;
    const uint8_t *aad;
    size_t aad_bytes;
    size_t tag_bytes; /* CCM's depends on it */
};

static inline void toy_gcm(const struct toy_message *m, const uint8_t *in, uint8_t *out,
                           size_t length, uint8_t tag[16])
{
    uint8_t first[16] = {0}, lengths[16] = {0}, hash[16] = {0}, *text = malloc(length + 1);
    if (m->nonce_bytes == 12) {
        memcpy(first, m->nonce, 12);
        first[15] = 1;
    } else {
        toy_ghash(m->key, first, m->nonce, m->nonce_bytes);
        toy_number(lengths + 16, 8 * m->nonce_bytes, 8);
        toy_ghash(m->key, first, lengths, 16);
    }
    memcpy(text, in, length);
    for (size_t at = 0; at < length; at += 16)
        toy_ctr_block(m->key, first, at / 16, text + at, out + at,
                      length - at < 16 ? length - at : 16);
    toy_ghash(m->key, hash, m->aad, m->aad_bytes);
    toy_ghash(m->key, hash, m->decrypt ? text : out, length);
    toy_number(lengths + 8, 8 * m->aad_bytes, 8);
    toy_number(lengths + 16, 8 * length, 8);
    toy_ghash(m->key, hash, lengths, 16);
    toy_cipher(m->key, 0, first, first);
    block_xor(tag, hash, first, 16);
    free(text);
}

static inline void toy_ccm(const struct toy_message *m, const uint8_t *in, uint8_t *out,
                           size_t length, uint8_t tag[16])
{
    size_t q = 15 - m->nonce_bytes, head = 0, padded = (m->aad_bytes + 10 + 15) / 16 * 16;
    uint8_t first[16] = {0}, block[16] = {0}, *formatted = calloc(1, padded + 16);
    uint8_t *text = malloc(length + 1);
    first[0] = (uint8_t)(q - 1);
    memcpy(first + 1, m->nonce, m->nonce_bytes);
    memcpy(block, first, 16);
    block[0] = (uint8_t)((m->aad_bytes ? 0x40 : 0) + 8 * ((m->tag_bytes - 2) / 2) + (q - 1));
    for (size_t i = 0; i < q && i < sizeof length; i++)
        block[15 - i] = (uint8_t)(length >> 8 * i);
    toy_cipher(m->key, 0, block, block);
    if (m->aad_bytes >= 0xff00) {
        formatted[0] = 0xff;
        formatted[1] = 0xfe;
        toy_number(formatted + 6, m->aad_bytes, 4);
        head = 6;
    } else if (m->aad_bytes > 0) {
        toy_number(formatted + 2, m->aad_bytes, 2);
        head = 2;
    }
    if (m->aad_bytes > 0)
        memcpy(formatted + head, m->aad, m->aad_bytes);
    toy_cbc_mac(m->key, block, formatted, head + m->aad_bytes);
    memcpy(text, in, length);
    for (size_t at = 0; at < length; at += 16)
        toy_ctr_block(m->key, first, at / 16, text + at, out + at,
                      length - at < 16 ? length - at : 16);
    toy_cbc_mac(m->key, block, m->decrypt ? out : text, length);
    toy_cipher(m->key, 0, first, first);
    block_xor(tag, block, first, 16);
    free(text);
    free(formatted);
}

/* ---- as a device, job by job ---- */

/* Holds the state of an authenticated message that a device keeps between jobs. */
struct toy_state {
    uint8_t iv[16];   /* J0, A0 */
    uint8_t hash[16]; /* GHASH, CBC-MAC */
    uint64_t aad_bytes, data_bytes;
};

struct toy_job {
    mae_mode_t mode;
    int decrypt;
    uint64_t key;
    mae_phase_t phase;
    int init, final;
};

static inline void toy_device_final(const struct toy_job *job, struct toy_state *state,
                                    uint8_t tag[16])
{
    uint8_t lengths[16] = {0};
    if (job->mode == MAE_GCM) {
        toy_number(lengths + 8, 8 * state->aad_bytes, 8);
        toy_number(lengths + 16, 8 * state->data_bytes, 8);
        toy_ghash(job->key, state->hash, lengths, 16);
    }
    memcpy(tag, state->hash, 16);
    if (job->mode != MAE_CMAC) {
        toy_cipher(job->key, 0, state->iv, lengths);
        block_xor(tag, tag, lengths, 16);
    }
    memset(state->hash, 0, 16);
}

static inline void toy_device_cmac(const struct toy_job *job, struct toy_state *state,
                                   const uint8_t *in, size_t length)
{
    size_t before = !job->final ? length : length == 0 ? 0 : (length - 1) / 16 * 16;
    toy_cbc_mac(job->key, state->hash, in, before);
    if (job->final) { /* the whole of a CMAC with its chain for the first block */
        uint8_t mask[16] = {0}, last[16] = {0};
        toy_cipher(job->key, 0, mask, mask);
        toy_double_big(mask);
        memcpy(last, in + before, length - before);
        if (length - before < 16) {
            toy_double_big(mask);
            last[length - before] = 0x80;
        }
        block_xor(last, last, mask, 16);
        toy_cbc_mac(job->key, state->hash, last, 16);
    }
}

/*
 * Runs a job of an authenticated mode by the toy cipher, as a device does. The IV has been put into
 * state->iv where the mode takes one. Out may be in.
 */
static inline void toy_device_job(const struct toy_job *job, struct toy_state *state,
                                  const uint8_t *in, uint8_t *out, size_t length, uint8_t tag[16])
{
    if (job->init) {
        memset(state->hash, 0, 16);
        state->aad_bytes = state->data_bytes = 0;
    }
    if (job->mode == MAE_CMAC) {
        toy_device_cmac(job, state, in, length);
    } else if (job->phase == MAE_PHASE_IV) {
        uint8_t lengths[16] = {0};
        toy_number(lengths + 16, 8 * length, 8);
        toy_ghash(job->key, state->hash, in, length);
        toy_ghash(job->key, state->hash, lengths, 16);
        memcpy(state->iv, state->hash, 16);
        memset(state->hash, 0, 16);
    } else if (job->phase == MAE_PHASE_AAD) {
        if (job->mode == MAE_GCM)
            toy_ghash(job->key, state->hash, in, length);
        else
            toy_cbc_mac(job->key, state->hash, in, length);
        state->aad_bytes += length;
    }
    for (size_t at = 0; job->phase == MAE_PHASE_DATA && at < length; at += 16) {
        uint8_t block[16];
        size_t n = length - at < 16 ? length - at : 16;
        memcpy(block, in + at, n);
        toy_ctr_block(job->key, state->iv, state->data_bytes / 16, block, out + at, n);
        if (job->mode == MAE_GCM)
            toy_ghash(job->key, state->hash, job->decrypt ? block : out + at, n);
        else
            toy_cbc_mac(job->key, state->hash, job->decrypt ? out + at : block, n);
        state->data_bytes += n;
    }
    if (job->final)
        toy_device_final(job, state, tag);
}

#endif

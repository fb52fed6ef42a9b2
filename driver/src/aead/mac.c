/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Composes CCM and CMAC of CBC, CTR and ECB jobs, on devices without these modes. Every job starts
 * anew, with the MAC so far or with the counter for its IV, so one context serves and no state
 * stays in the device.
 */
#include <string.h>

#include "auth.h"

/* Runs an ECB, CBC or CTR job of a composed CCM or CMAC message and waits for it. */
static mae_error_t run_job(struct mae_auth *auth, mae_mode_t mode, const uint8_t iv[16],
                           const uint8_t *src, uint8_t *dst, uint64_t bytes)
{
    struct mae_job job = {
        .mode = mode,
        .direction = MAE_ENCRYPT,
        .key_slot = auth->job.key_slot,
        .context = auth->job.context,
        .init = 1,
        .src = src,
        .dst = dst,
        .length = bytes,
    };
    if (iv)
        memcpy(job.iv, iv, sizeof job.iv);
    MAE_TRY(mae_auth_submit(auth, &job, NULL));
    return mae_auth_wait(auth);
}

/* Notes how many bytes of a message's scratch buffer must be wiped at the end. */
static void used(struct mae_auth *auth, uint32_t bytes)
{
    if (auth->scratch_used < bytes)
        auth->scratch_used = bytes;
}

mae_error_t mae_mac_block(struct mae_auth *auth, uint8_t block[16])
{
    memcpy(auth->scratch, block, 16);
    used(auth, 16);
    MAE_TRY(run_job(auth, MAE_ECB, NULL, auth->scratch, auth->scratch, 16));
    memcpy(block, auth->scratch, 16);
    return MAE_OK;
}

/* Continues a message's CBC-MAC over whole blocks that the device can access. */
mae_error_t mae_mac_update(struct mae_auth *auth, const uint8_t *data, uint64_t bytes)
{
    while (bytes > 0) {
        uint32_t piece = bytes < MAE_CHUNK ? (uint32_t)bytes : MAE_CHUNK;
        used(auth, piece);
        MAE_TRY(run_job(auth, MAE_CBC, auth->mac, data, auth->scratch, piece));
        memcpy(auth->mac, auth->scratch + piece - 16, 16);
        data += piece;
        bytes -= piece;
    }
    return MAE_OK;
}

/* Continues a message's CBC-MAC over data padded with zeros (SP 800-38C A.2.3). */
static mae_error_t mac_padded(struct mae_auth *auth, const uint8_t *data, uint64_t bytes)
{
    uint64_t tail = bytes % 16;
    MAE_TRY(mae_mac_update(auth, data, bytes - tail));
    if (tail == 0)
        return MAE_OK;
    memset(auth->stage, 0, 16);
    memcpy(auth->stage, data + bytes - tail, tail);
    if (auth->stage_used < 16)
        auth->stage_used = 16;
    return mae_mac_update(auth, auth->stage, 16);
}

/*
 * Encrypts or decrypts data of a composed CCM message and adds the plaintext to its MAC. That is
 * before encryption and after decryption, in place.
 */
mae_error_t mae_mac_ccm_data(struct mae_auth *auth, const uint8_t *src, uint8_t *dst,
                             uint64_t bytes)
{
    if (bytes == 0)
        return MAE_OK;
    if (auth->job.direction == MAE_ENCRYPT)
        MAE_TRY(mac_padded(auth, src, bytes));
    MAE_TRY(run_job(auth, MAE_CTR, auth->counter, src, dst, bytes));
    mae_counter_add(auth->counter, bytes / 16); /* stays in its field: the length fits */
    return auth->job.direction == MAE_DECRYPT ? mac_padded(auth, dst, bytes) : MAE_OK;
}

/* Multiplies a block by x in GF(2^128) (SP 800-38B 6.1), in constant time. */
static void times_x(uint8_t block[16])
{
    uint8_t carry = block[0] >> 7;
    for (int i = 0; i < 15; i++)
        block[i] = (uint8_t)(block[i] << 1 | block[i + 1] >> 7);
    block[15] = (uint8_t)(block[15] << 1 ^ (0x87 & (0 - carry)));
}

/* Computes a CMAC's final block from the last data and its subkey (SP 800-38B 6.2). The stage
   always holds the last data back. */
static mae_error_t finish_cmac(struct mae_auth *auth)
{
    uint32_t bytes = auth->staged, tail = bytes % 16;
    uint32_t whole = bytes > 0 ? (bytes + 15) / 16 * 16 : 16;
    auth->staged = 0;
    if (auth->stage_used < whole)
        auth->stage_used = whole;
    times_x(auth->mask); /* K1 */
    if (tail > 0 || bytes == 0) {
        times_x(auth->mask); /* K2 */
        memset(auth->stage + bytes, 0, whole - bytes);
        auth->stage[bytes] = 0x80;
    }
    for (int i = 0; i < 16; i++)
        auth->stage[whole - 16 + i] ^= auth->mask[i];
    return mae_mac_update(auth, auth->stage, whole);
}

mae_error_t mae_mac_finish(struct mae_auth *auth)
{
    if (auth->job.mode == MAE_CMAC)
        MAE_TRY(finish_cmac(auth));
    for (int i = 0; auth->job.mode == MAE_CCM && i < 16; i++)
        auth->mac[i] ^= auth->mask[i];
    if (auth->job.direction == MAE_DECRYPT && auth->error == MAE_OK &&
        !mae_tags_equal(auth->mac, auth->tag, auth->tag_bytes))
        auth->error = MAE_E_AUTH;
    if (auth->job.direction == MAE_ENCRYPT)
        memcpy(auth->tag, auth->mac, sizeof auth->tag);
    return auth->error;
}

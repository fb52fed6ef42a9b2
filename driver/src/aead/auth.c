/* SPDX-License-Identifier: Apache-2.0 */
/* Divides a GCM, CCM or CMAC message into jobs of a device, phase by phase. */
#include "auth.h"

#include <string.h>

#include "ccm.h"

enum { STAGE_ALIGN = 64 };

/* ---- jobs ---- */

/* Submits a job for a phase of an authenticated message, in the device's own mode. */
static mae_error_t run(struct mae_auth *auth, mae_phase_t phase, const uint8_t *src, uint8_t *dst,
                       uint64_t bytes, bool last, struct mae_piece *piece)
{
    struct mae_job job = auth->job;
    job.phase = phase;
    job.src = src;
    job.dst = dst;
    job.length = bytes;
    job.final = last;
    if (last && job.direction == MAE_DECRYPT) {
        memcpy(job.tag, auth->tag, sizeof job.tag);
        job.tag_bytes = auth->tag_bytes;
    }
    MAE_TRY(mae_auth_submit(auth, &job, piece));
    auth->job.init = 0;
    return MAE_OK;
}

/* ---- beginning ---- */

/* Submits the job that hashes a GCM IV which is not 12 bytes long. */
static mae_error_t run_iv(struct mae_auth *auth, const uint8_t *iv, uint32_t bytes)
{
    memcpy(auth->stage, iv, bytes);
    auth->stage_used = bytes;
    MAE_TRY(run(auth, MAE_PHASE_IV, auth->stage, NULL, bytes, false, NULL));
    if (bytes <= MAE_CHUNK / 2) {
        auth->stage_from = (bytes + STAGE_ALIGN - 1) / STAGE_ALIGN * STAGE_ALIGN;
        return MAE_OK;
    }
    return mae_auth_wait(auth);
}

/* Begins a CCM message: builds its counter block, B0 and the prefix of its AAD. */
static mae_error_t begin_ccm(struct mae_auth *auth, const struct mae_message *message)
{
    uint8_t head[16 + MAE_CCM_PREFIX_MOST];
    uint32_t nonce_bytes = (uint32_t)message->nonce_bytes;
    mae_ccm_first(head, message->nonce, nonce_bytes, message->aad_bytes, message->length,
                  (uint32_t)message->tag_bytes);
    uint32_t bytes = 16 + mae_ccm_prefix(head + 16, message->aad_bytes);
    mae_ccm_counter(auth->counter, message->nonce, nonce_bytes);
    memcpy(auth->job.iv, auth->counter, 16);
    if (auth->composed) {
        memcpy(auth->mask, auth->counter, 16);
        MAE_TRY(mae_mac_block(auth, auth->mask));
        auth->counter[15] = 1;
    }
    return mae_auth_aad(auth, head, bytes);
}

mae_error_t mae_auth_begin(struct mae_auth *auth, struct mae_dev *dev,
                           const struct mae_message *message, mae_direction_t direction,
                           uint32_t key_slot, uint8_t *memory)
{
    *auth = (struct mae_auth){
        .dev = dev,
        .stage = memory,
        .scratch = memory + MAE_CHUNK,
        .tag_bytes = (uint32_t)message->tag_bytes,
        .job = {.mode = message->mode, .direction = direction, .key_slot = key_slot, .init = 1},
    };
    auth->job.context = MAE_NO_CONTEXT;
    MAE_TRY(mae_message_mode(dev, message->mode, &auth->composed));
    MAE_TRY(auth->composed ? mae_context_alloc(dev, &auth->job.context)
                           : mae_context_alloc_aead(dev, &auth->job.context));
    if (message->mode == MAE_CCM)
        return begin_ccm(auth, message);
    if (message->mode == MAE_CMAC)
        return auth->composed ? mae_mac_block(auth, auth->mask) : MAE_OK;
    if (message->nonce_bytes != 12)
        return run_iv(auth, message->nonce, (uint32_t)message->nonce_bytes);
    memcpy(auth->job.iv, message->nonce, 12);
    return MAE_OK;
}

/* ---- AAD ---- */

/* Returns the address of the AAD that waits in the message's buffer for a job. */
static uint8_t *staged(struct mae_auth *auth)
{
    return auth->stage + auth->stage_from;
}

/* Submits the AAD in a message's full buffer, when more AAD follows. */
static mae_error_t flush(struct mae_auth *auth)
{
    if (auth->composed) {
        MAE_TRY(mae_mac_update(auth, staged(auth), auth->staged));
    } else {
        MAE_TRY(run(auth, MAE_PHASE_AAD, staged(auth), NULL, auth->staged, false, NULL));
        MAE_TRY(mae_auth_wait(auth)); /* the stage is filled anew */
    }
    auth->staged = 0;
    return MAE_OK;
}

mae_error_t mae_auth_aad(struct mae_auth *auth, const uint8_t *aad, uint64_t bytes)
{
    while (bytes > 0) {
        if (auth->staged == MAE_CHUNK - auth->stage_from)
            MAE_TRY(flush(auth));
        uint32_t piece = MAE_CHUNK - auth->stage_from - auth->staged;
        if (piece > bytes)
            piece = (uint32_t)bytes;
        memcpy(staged(auth) + auth->staged, aad, piece);
        auth->staged += piece;
        if (auth->stage_used < auth->stage_from + auth->staged)
            auth->stage_used = auth->stage_from + auth->staged;
        aad += piece;
        bytes -= piece;
    }
    return MAE_OK;
}

/* Submits the last AAD in a message's buffer, before its data. */
static mae_error_t close_aad(struct mae_auth *auth)
{
    uint32_t bytes = auth->staged;
    auth->staged = 0;
    if (bytes == 0)
        return MAE_OK;
    if (!auth->composed)
        return run(auth, MAE_PHASE_AAD, staged(auth), NULL, bytes, false, NULL);
    uint32_t whole = (bytes + 15) / 16 * 16;
    memset(staged(auth) + bytes, 0, whole - bytes);
    return mae_mac_update(auth, staged(auth), whole);
}

/* ---- data ---- */

mae_error_t mae_auth_data(struct mae_auth *auth, const uint8_t *src, uint8_t *dst, uint64_t bytes,
                          bool last, struct mae_piece *piece)
{
    if (!auth->data_begun)
        MAE_TRY(close_aad(auth));
    auth->data_begun = true;
    if (!auth->composed)
        return run(auth, MAE_PHASE_DATA, src, dst, bytes, last, piece);
    MAE_TRY(mae_mac_ccm_data(auth, src, dst, bytes));
    return last ? mae_mac_finish(auth) : MAE_OK;
}

mae_error_t mae_auth_finish(struct mae_auth *auth)
{
    if (auth->composed) {
        if (auth->job.mode == MAE_CCM && !auth->data_begun)
            MAE_TRY(close_aad(auth));
        return mae_mac_finish(auth);
    }
    /* Without data the AAD's last job is the last of all. */
    bool aad = auth->job.mode == MAE_CMAC || (!auth->data_begun && auth->staged > 0);
    uint32_t bytes = auth->data_begun ? 0 : auth->staged;
    auth->staged = 0;
    return run(auth, aad ? MAE_PHASE_AAD : MAE_PHASE_DATA, staged(auth), NULL, bytes, true, NULL);
}

void mae_auth_end(struct mae_auth *auth)
{
    if (!auth->dev)
        return;
    mae_detail_hold(true);
    while (auth->outstanding > 0)
        if (mae_work(auth->dev, UINT64_MAX) != MAE_OK)
            break; /* the device is dead, and nothing is in flight any more */
    if (auth->job.context != MAE_NO_CONTEXT)
        (void)!mae_context_free(auth->dev, auth->job.context);
    mae_wipe(auth->stage, auth->stage_used);
    mae_wipe(auth->scratch, auth->scratch_used);
    mae_detail_hold(false);
    mae_wipe(auth, sizeof *auth);
}

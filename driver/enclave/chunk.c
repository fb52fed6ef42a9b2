/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts chunks into shared memory, and copies and decrypts chunks out of it (D1, H10, H17). */
#include "state.h"

/* Encrypts a chunk into shared memory through the stage; shared memory is never read back. */
mae_error_t chunk_seal(mae_session_t *session, const struct mae_h2d *h2d,
                       const struct request *request, uint8_t tag[WIRE_TAG], bool *given_up)
{
    struct key *key = keys_get(session, CLASS_DMA_IN, request->epoch);
    const uint8_t *data = h2d->data;
    uint8_t aad[WIRE_AAD];
    uint64_t before = request->place.address - request->place.base;
    wire_aad(aad, &request->place, CLASS_DMA_IN, h2d->queue, request->epoch, request->sequence);
    bool works = keys_begin(key, CLASS_DMA_IN, h2d->queue, request->sequence, aad, sizeof aad);
    for (size_t at = 0; works && at < request->place.length; at += WIRE_STAGE) {
        size_t left = request->place.length - at, size = left < WIRE_STAGE ? left : WIRE_STAGE;
        const uint8_t *plain = data ? data + before + at : session->stage;
        if (!data && h2d->fill(h2d->user, before + at, session->stage, size) != 0) {
            *given_up = true;
            gcm_wipe(session->stage, size);
            return MAE_OK;
        }
        works = gcm_update(key->gcm, session->stage, plain, size);
        if (works)
            outside_store(session, request->buffer.at + at, session->stage, size);
    }
    if (!works || !gcm_tag(key->gcm, tag))
        return session_poison(session, "sealing failed in %s", gcm_library());
    return MAE_OK;
}

bool chunk_open(mae_session_t *session, uint32_t queue, const struct request *request,
                const uint8_t tag[WIRE_TAG])
{
    struct key *key = keys_get(session, CLASS_DMA_OUT, request->epoch);
    const struct wire_place *place = &request->place;
    uint8_t aad[WIRE_AAD];
    uint8_t *data = request->task->data;
    if (data)
        data += place->address - place->base;
    wire_aad(aad, place, CLASS_DMA_OUT, queue, request->epoch, request->sequence);
    bool works = keys_begin(key, CLASS_DMA_OUT, queue, request->sequence, aad, sizeof aad);
    for (size_t at = 0; works && at < place->length; at += WIRE_STAGE) {
        size_t left = place->length - at, size = left < WIRE_STAGE ? left : WIRE_STAGE;
        outside_load(session, request->buffer.at + at, session->stage, size);
        works = gcm_update(key->gcm, data ? data + at : session->stage, session->stage, size);
    }
    if (!data)
        gcm_wipe(session->stage, sizeof session->stage);
    return works && gcm_check(key->gcm, tag);
}

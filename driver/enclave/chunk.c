/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts chunks into shared memory; copies chunks out of it and decrypts them (D1, H10, H17). */
#include "state.h"

/* Returns the thread's private 4 KiB buffer (stage) for the plaintext of chunks. */
static uint8_t *stage_of(mae_session_t *session, unsigned thread)
{
    return thread ? session->pool.lanes[thread].stage : session->stage;
}

/* Encrypts a chunk of a transfer by GCM into shared memory, through a private buffer. It never
   reads shared memory. */
enum chunk_end chunk_seal(mae_session_t *session, unsigned thread, struct request *request,
                          chunk_pause *pause, void *user)
{
    struct work *work = &request->work;
    const struct mae_h2d *h2d = work->h2d;
    const uint8_t *data = h2d->data;
    uint8_t aad[WIRE_AAD], *stage = stage_of(session, thread);
    struct gcm *gcm = work->key->gcm[thread];
    uint64_t before = request->place.address - request->place.base;
    wire_aad(aad, &request->place, CLASS_DMA_IN, work->queue, request->epoch, request->sequence);
    bool works = keys_begin(work->key, thread, CLASS_DMA_IN, work->queue, request->sequence, aad,
                            sizeof aad);
    for (size_t at = 0; works && at < request->place.length; at += WIRE_STAGE) {
        size_t left = request->place.length - at, size = left < WIRE_STAGE ? left : WIRE_STAGE;
        const uint8_t *plain = data ? data + before + at : stage;
        if (session->pool.stop)
            return CHUNK_FAILED;
        if (!data && h2d->fill(h2d->user, before + at, stage, size) != 0) {
            gcm_wipe(stage, size);
            return CHUNK_GIVEN_UP;
        }
        works = gcm_update(gcm, stage, plain, size);
        if (works)
            outside_store(session, request->buffer.at + at, stage, size);
        if (pause && !pause(user))
            return CHUNK_FAILED; /* the keys are wiped */
    }
    return works && gcm_tag(gcm, work->tag) ? CHUNK_DONE : CHUNK_FAILED;
}

bool chunk_open(mae_session_t *session, unsigned thread, const struct request *request)
{
    const struct work *work = &request->work;
    const struct wire_place *place = &request->place;
    uint8_t aad[WIRE_AAD], *stage = stage_of(session, thread), *data = work->data;
    struct gcm *gcm = work->key->gcm[thread];
    wire_aad(aad, place, CLASS_DMA_OUT, work->queue, request->epoch, request->sequence);
    bool works = keys_begin(work->key, thread, CLASS_DMA_OUT, work->queue, request->sequence, aad,
                            sizeof aad);
    for (size_t at = 0; works && at < place->length; at += WIRE_STAGE) {
        size_t left = place->length - at, size = left < WIRE_STAGE ? left : WIRE_STAGE;
        if (session->pool.stop)
            return false;
        outside_load(session, request->buffer.at + at, stage, size);
        works = gcm_update(gcm, data ? data + at : stage, stage, size);
    }
    if (!data)
        gcm_wipe(stage, WIRE_STAGE);
    return works && gcm_check(gcm, work->tag);
}

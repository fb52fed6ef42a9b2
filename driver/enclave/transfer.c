/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: chunks sealed into shared memory, or taken out of it (D1, H10, H17). */
#include "session.h"

#include <string.h>

/* The parameters common to both directions: see struct mae_inward. */
struct plan {
    uint32_t queue;
    uint64_t base, total, chunk, after;
    uint64_t count;
};

static uint64_t size_of(const struct plan *plan, uint64_t index)
{
    uint64_t left = plan->total - index * plan->chunk;
    return left < plan->chunk ? left : plan->chunk;
}

/* Returns true if the granules of an unanswered transfer overlap, unless both transfers
   are outward (H8). */
static bool meets_another(const mae_session_t *session, const struct plan *plan, bool outward)
{
    const uint64_t mask = ~(uint64_t)(WIRE_GRANULE - 1);
    uint64_t end = (plan->base + plan->total + WIRE_GRANULE - 1) & mask;
    for (const mae_task_t *task = session->tasks; task; task = task->following) {
        uint64_t other_end = (task->base + task->total + WIRE_GRANULE - 1) & mask;
        if (task->transfer && !task->result.done && !(outward && task->outward) &&
            plan->base < other_end && task->base < end)
            return true;
    }
    return false;
}

/* Checks everything that is known before a number is used; creates the task. */
static mae_error_t prepare(mae_session_t *session, struct plan *plan, enum wire_kind kind,
                           mae_task_t **task)
{
    bool outward = kind == KIND_D2H;
    uint64_t memory = session->caps.memory_bytes, blocks = 0;
    if (plan->chunk == 0)
        plan->chunk = session->caps.chunk_bytes;
    if (plan->total < 1 || plan->base % WIRE_GRANULE || plan->chunk % WIRE_GRANULE ||
        plan->chunk > session->caps.chunk_bytes)
        return session_fail(session, MAE_E_ARGUMENT,
                            "length 0, or an address that is no multiple of a granule");
    if (plan->total > memory || plan->base > memory - plan->total)
        return session_fail(session, MAE_E_ARGUMENT, "behind the device's memory");
    plan->count = (plan->total + plan->chunk - 1) / plan->chunk;
    if (session->transfers >= session->caps.regions)
        return session_fail(session, MAE_E_FULL, "too many unanswered transfers");
    if (meets_another(session, plan, outward))
        return session_fail(session, MAE_E_BUSY, "a transfer of the same memory is unanswered");
    if (plan->count > WIRE_SLOTS)
        return session_fail(session, MAE_E_FULL, "too many unanswered requests");
    for (uint64_t index = 0; index < plan->count; index++)
        blocks += wire_blocks(size_of(plan, index));
    mae_error_t error =
        request_room(session, plan->queue, kind, WIRE_TRANSFER, plan->count, blocks);
    if (error != MAE_OK)
        return error;
    mae_task_t *made = task_new(session, plan->queue);
    if (!made)
        return session_fail(session, MAE_E_MEMORY, "out of memory");
    made->transfer = true;
    made->outward = outward;
    made->base = plan->base;
    made->total = plan->total;
    session->transfers++;
    *task = made;
    return MAE_OK;
}

/* Allocates shared memory for every chunk, before any is sealed. */
static mae_error_t take_buffers(mae_session_t *session, const struct plan *plan,
                                struct shared buffers[WIRE_SLOTS])
{
    for (uint64_t index = 0; index < plan->count; index++) {
        mae_error_t error = outside_allocate(session, size_of(plan, index), &buffers[index]);
        if (error != MAE_OK) {
            while (index-- > 0)
                outside_release(session, &buffers[index]);
            return error;
        }
    }
    return MAE_OK;
}

/* Uses a sequence number for a chunk. */
static struct request *begin_chunk(mae_session_t *session, const struct plan *plan,
                                   enum wire_kind kind, uint64_t index, struct shared *buffer,
                                   mae_task_t *task)
{
    enum wire_class cls = kind == KIND_H2D ? CLASS_DMA_IN : CLASS_DMA_OUT;
    struct request *request = request_begin(session, plan->queue, kind, task);
    request->body_bytes = WIRE_TRANSFER;
    request->buffer = *buffer;
    request->place = (struct wire_place){
        .address = plan->base + index * plan->chunk,
        .length = (uint32_t)size_of(plan, index),
        .index = (uint32_t)index,
        .base = plan->base,
        .total = plan->total,
        .host = buffer->host,
        .after = plan->after,
    };
    keys_get(session, cls, request->epoch)->used += wire_blocks(request->place.length);
    return request;
}

/* Encrypts a chunk into shared memory through the stage; shared memory is never read back. */
static mae_error_t put(mae_session_t *session, const struct mae_inward *inward,
                       const struct request *request, uint8_t tag[WIRE_TAG], bool *given_up)
{
    struct key *key = keys_get(session, CLASS_DMA_IN, request->epoch);
    const uint8_t *data = inward->data;
    uint8_t aad[WIRE_AAD];
    uint64_t before = request->place.address - request->place.base;
    wire_aad(aad, &request->place, CLASS_DMA_IN, inward->queue, request->epoch, request->sequence);
    bool works = keys_begin(key, CLASS_DMA_IN, inward->queue, request->sequence, aad, sizeof aad);
    for (size_t at = 0; works && at < request->place.length; at += WIRE_STAGE) {
        size_t left = request->place.length - at, size = left < WIRE_STAGE ? left : WIRE_STAGE;
        const uint8_t *plain = data ? data + before + at : session->stage;
        if (!data && inward->fill(inward->user, before + at, session->stage, size) != 0) {
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

/* Abandons a chunk: its number was used, so its only request is SKIP (H11). */
static void give_up(mae_session_t *session, struct request *request, mae_task_t *task)
{
    outside_release(session, &request->buffer);
    request->kind = KIND_SKIP;
    request->body_bytes = WIRE_BLOCK;
    task->result.kind = KIND_SKIP;
    task->given_up = true;
    memset(request->message, 0, sizeof request->message);
}

/* Seals the chunks of a transfer, in order; `inward` is NULL for an outward one. */
static mae_error_t seal_chunks(mae_session_t *session, const struct plan *plan,
                               const struct mae_inward *inward, mae_task_t *task)
{
    struct shared buffers[WIRE_SLOTS];
    static const uint8_t none[WIRE_TAG];
    enum wire_kind kind = inward ? KIND_H2D : KIND_D2H;
    mae_error_t error = take_buffers(session, plan, buffers);
    bool given_up = false;
    for (uint64_t index = 0; error == MAE_OK && index < plan->count; index++) {
        uint8_t tag[WIRE_TAG];
        if (given_up) {
            outside_release(session, &buffers[index]);
            continue;
        }
        struct request *request = begin_chunk(session, plan, kind, index, &buffers[index], task);
        if (inward)
            error = put(session, inward, request, tag, &given_up);
        if (error != MAE_OK)
            break;
        if (given_up)
            give_up(session, request, task);
        else
            wire_transfer(request->message + WIRE_HEADER, &request->place, inward ? tag : none);
        error = request_seal(session, plan->queue, request);
        if (error == MAE_OK && session->send_while_sealing)
            (void)answer_send(session, plan->queue);
    }
    return error;
}

static mae_error_t transfer(mae_session_t *session, struct plan *plan,
                            const struct mae_inward *inward, void *data, mae_task_t **task)
{
    mae_task_t *made;
    mae_error_t error = prepare(session, plan, inward ? KIND_H2D : KIND_D2H, &made);
    if (error != MAE_OK)
        return error;
    made->data = data;
    error = seal_chunks(session, plan, inward, made);
    if (error == MAE_OK)
        *task = made;
    else
        task_drop(made); /* the session is over */
    return error;
}

mae_error_t mae_session_h2d(mae_session_t *session, const struct mae_inward *inward,
                            mae_task_t **task)
{
    if (task)
        *task = NULL;
    if (!session || !task || !inward || (!inward->data && !inward->fill))
        return MAE_E_ARGUMENT;
    if (session_over(session))
        return MAE_E_POISONED;
    struct mae_inward own = *inward;
    struct plan plan = {.queue = own.queue,
                        .base = own.base,
                        .total = own.total,
                        .chunk = own.chunk,
                        .after = own.after};
    if (own.data && own.total && !inside(session, own.data, own.total))
        return session_fail(session, MAE_E_ARGUMENT, "the data is not in the enclave");
    return transfer(session, &plan, &own, NULL, task);
}

mae_error_t mae_session_d2h(mae_session_t *session, const struct mae_outward *outward,
                            mae_task_t **task)
{
    if (task)
        *task = NULL;
    if (!session || !task || !outward)
        return MAE_E_ARGUMENT;
    if (session_over(session))
        return MAE_E_POISONED;
    struct mae_outward own = *outward;
    struct plan plan = {.queue = own.queue,
                        .base = own.base,
                        .total = own.total,
                        .chunk = own.chunk,
                        .after = own.after};
    if (own.total && !inside(session, own.data, own.total))
        return session_fail(session, MAE_E_ARGUMENT, "the buffer is not in the enclave");
    return transfer(session, &plan, NULL, own.data, task);
}

bool transfer_take(mae_session_t *session, uint32_t queue, const struct request *request,
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Seals or opens the chunks of transfers between application and device (D1, H10, H17). */
#include "state.h"

#include <string.h>

/* The parameters common to both directions: see struct mae_h2d. */
struct plan {
    uint32_t queue;
    uint64_t base, total, chunk, after;
    uint64_t count;
};

/* Returns the size of a chunk by its index. */
static uint64_t size_of(const struct plan *plan, uint64_t index)
{
    uint64_t left = plan->total - index * plan->chunk;
    return left < plan->chunk ? left : plan->chunk;
}

/* Returns true if the granules of an unanswered transfer overlap, unless both transfers
   are d2h (H8). */
static bool meets_another(const mae_session_t *session, const struct plan *plan, bool d2h)
{
    const uint64_t mask = ~(uint64_t)(WIRE_GRANULE - 1);
    uint64_t end = (plan->base + plan->total + WIRE_GRANULE - 1) & mask;
    for (const mae_task_t *task = session->tasks; task; task = task->following) {
        uint64_t other_end = (task->base + task->total + WIRE_GRANULE - 1) & mask;
        if (task->transfer && !task->result.done && !(d2h && task->d2h) && plan->base < other_end &&
            task->base < end)
            return true;
    }
    return false;
}

/* Checks everything that is known before a number is used; creates the task. */
static mae_error_t prepare(mae_session_t *session, struct plan *plan, enum wire_kind kind,
                           mae_task_t **task)
{
    bool d2h = kind == KIND_D2H;
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
    if (meets_another(session, plan, d2h))
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
    made->d2h = d2h;
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
        mae_error_t error = shared_allocate(session, size_of(plan, index), &buffers[index]);
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

/* Seals the chunks of a transfer, in order; `h2d` is NULL for a d2h one. */
static mae_error_t seal_chunks(mae_session_t *session, const struct plan *plan,
                               const struct mae_h2d *h2d, mae_task_t *task)
{
    struct shared buffers[WIRE_SLOTS];
    static const uint8_t none[WIRE_TAG];
    enum wire_kind kind = h2d ? KIND_H2D : KIND_D2H;
    mae_error_t error = take_buffers(session, plan, buffers);
    bool given_up = false;
    for (uint64_t index = 0; error == MAE_OK && index < plan->count; index++) {
        uint8_t tag[WIRE_TAG];
        if (given_up) {
            outside_release(session, &buffers[index]);
            continue;
        }
        struct request *request = begin_chunk(session, plan, kind, index, &buffers[index], task);
        if (h2d)
            error = chunk_seal(session, h2d, request, tag, &given_up);
        if (error != MAE_OK)
            break;
        if (given_up)
            give_up(session, request, task);
        else
            wire_transfer(request->message + WIRE_HEADER, &request->place, h2d ? tag : none);
        error = request_seal(session, plan->queue, request);
        if (error == MAE_OK && session->send_while_sealing)
            (void)request_send(session, plan->queue);
    }
    return error;
}

/* Starts a transfer of either direction and seals all its chunks. */
static mae_error_t transfer(mae_session_t *session, struct plan *plan, const struct mae_h2d *h2d,
                            void *data, mae_task_t **task)
{
    mae_task_t *made;
    mae_error_t error = prepare(session, plan, h2d ? KIND_H2D : KIND_D2H, &made);
    if (error != MAE_OK)
        return error;
    made->data = data;
    error = seal_chunks(session, plan, h2d, made);
    if (error == MAE_OK)
        *task = made;
    else
        task_drop(made); /* the session is over */
    return error;
}

mae_error_t mae_session_h2d(mae_session_t *session, const struct mae_h2d *h2d, mae_task_t **task)
{
    if (task)
        *task = NULL;
    if (!session || !task || !h2d || (!h2d->data && !h2d->fill))
        return MAE_E_ARGUMENT;
    if (session_over(session))
        return MAE_E_POISONED;
    struct mae_h2d own = *h2d;
    struct plan plan = {.queue = own.queue,
                        .base = own.base,
                        .total = own.total,
                        .chunk = own.chunk,
                        .after = own.after};
    if (own.data && own.total && !inside(session, own.data, own.total))
        return session_fail(session, MAE_E_ARGUMENT, "the data is not in the enclave");
    return transfer(session, &plan, &own, NULL, task);
}

mae_error_t mae_session_d2h(mae_session_t *session, const struct mae_d2h *d2h, mae_task_t **task)
{
    if (task)
        *task = NULL;
    if (!session || !task || !d2h)
        return MAE_E_ARGUMENT;
    if (session_over(session))
        return MAE_E_POISONED;
    struct mae_d2h own = *d2h;
    struct plan plan = {.queue = own.queue,
                        .base = own.base,
                        .total = own.total,
                        .chunk = own.chunk,
                        .after = own.after};
    if (own.total && !inside(session, own.data, own.total))
        return session_fail(session, MAE_E_ARGUMENT, "the buffer is not in the enclave");
    return transfer(session, &plan, NULL, own.data, task);
}

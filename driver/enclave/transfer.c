/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers data between an application and the protected card in encrypted chunks. */
#include "state.h"

#include <string.h>

/*
 * Sets the smallest first chunk and how chunks grow in a transfer. These are the first chunk's
 * bytes, the longest chunk in first ones, and a transfer's share of a queue's free slots
 * (docs/adr/0023-sealing-threads.md).
 */
enum { LEAST_CHUNK = 16384, LONGEST = 2, SHARE = 3 };

/* Describes a transfer in either direction and the chunks into which it is divided. */
struct plan {
    uint32_t queue;
    uint64_t base, total, chunk, after;
    bool grows; /* the chunks */
    uint64_t count;
    uint64_t at[WIRE_SLOTS + 1]; /* where each chunk begins; the last: the end */
};

/* Returns the size of a transfer's chunk in bytes, by its index. */
static uint64_t size_of(const struct plan *plan, uint64_t index)
{
    return plan->at[index + 1] - plan->at[index];
}

/* Divides a transfer into chunks of equal size; false if they are more than `most`. */
static bool divide(struct plan *plan, uint64_t size, uint64_t most)
{
    plan->count = (plan->total + size - 1) / size;
    if (plan->count > most)
        return false;
    for (uint64_t index = 0; index < plan->count; index++)
        plan->at[index] = index * size;
    plan->at[plan->count] = plan->total;
    return true;
}

/* Divides a transfer into chunks that grow, at most `most`, for several threads. Each is at most
   twice its predecessor and a thread's share of what is left, and none but the last is below
   `least` bytes. */
static bool divide_growing(struct plan *plan, uint64_t least, uint64_t most, unsigned threads)
{
    uint64_t at = 0, size = least;
    for (plan->count = 0; at < plan->total; plan->count++) {
        uint64_t left = plan->total - at, share = left / threads / WIRE_STAGE * WIRE_STAGE;
        if (plan->count == most)
            return false;
        size = size < share ? size : share;
        size = size > least ? size : least;
        size = size < LONGEST * least ? size : LONGEST * least;
        plan->at[plan->count] = at;
        at += size < left ? size : left;
        size *= 2;
    }
    plan->at[plan->count] = plan->total;
    return true;
}

/* Divides a transfer into chunks; false if the queue has too few free response slots. Chunks begin
   small only where the card waits for the first one; each costs the session's thread a request. */
static bool divide_transfer(const mae_session_t *session, struct plan *plan)
{
    const struct channel *channel = &session->channels[plan->queue];
    uint64_t unanswered = channel->next - channel->oldest;
    uint64_t most = (WIRE_SLOTS - unanswered) / SHARE;
    if (plan->grows && session->threads > 1)
        for (uint64_t least = LEAST_CHUNK; LONGEST * least <= plan->chunk; least *= 2)
            if (unanswered ? divide(plan, LONGEST * least, most)
                           : divide_growing(plan, least, most, session->threads))
                return true;
    return divide(plan, plan->chunk, WIRE_SLOTS);
}

/* Returns true if a transfer overlaps an unanswered one; two D2H transfers may overlap (H8). */
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

/* Checks a transfer's parameters, divides it into chunks and creates its task. */
static mae_error_t prepare(mae_session_t *session, struct plan *plan, enum wire_kind kind,
                           mae_task_t **task)
{
    bool d2h = kind == KIND_D2H;
    uint64_t memory = session->caps.memory_bytes, blocks = 0;
    plan->grows = plan->chunk == 0;
    if (plan->chunk == 0)
        plan->chunk = session->caps.chunk_bytes;
    if (plan->total < 1 || plan->base % WIRE_GRANULE || plan->chunk % WIRE_GRANULE ||
        plan->chunk > session->caps.chunk_bytes)
        return session_fail(session, MAE_E_ARGUMENT,
                            "length 0, or an address that is no multiple of a granule");
    if (plan->total > memory || plan->base > memory - plan->total)
        return session_fail(session, MAE_E_ARGUMENT, "behind the device's memory");
    if (plan->queue >= session->caps.queues)
        return session_fail(session, MAE_E_ARGUMENT, "no queue %u", plan->queue);
    if (session->transfers >= session->caps.regions)
        return session_fail(session, MAE_E_FULL, "too many unanswered transfers");
    if (meets_another(session, plan, d2h))
        return session_fail(session, MAE_E_BUSY, "a transfer of the same memory is unanswered");
    if (!divide_transfer(session, plan))
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

/* Allocates shared memory for every chunk of a transfer, before any is encrypted. */
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

/* Takes a sequence number for a chunk's request and fills in the chunk's place. */
static struct request *begin_chunk(mae_session_t *session, const struct plan *plan,
                                   enum wire_kind kind, uint64_t index, struct shared *buffer,
                                   mae_task_t *task, const struct mae_h2d *h2d)
{
    enum wire_class cls = kind == KIND_H2D ? CLASS_DMA_IN : CLASS_DMA_OUT;
    struct request *request = request_begin(session, plan->queue, kind, task);
    request->body_bytes = WIRE_TRANSFER;
    request->buffer = *buffer;
    request->place = (struct wire_place){
        .address = plan->base + plan->at[index],
        .length = (uint32_t)size_of(plan, index),
        .index = (uint32_t)index,
        .base = plan->base,
        .total = plan->total,
        .host = buffer->host,
        .after = plan->after,
    };
    struct key *key = keys_get(session, cls, request->epoch);
    key->used += wire_blocks(request->place.length);
    request->work = (struct work){.queue = plan->queue, .key = key, .h2d = h2d};
    return request;
}

/* Abandons a chunk whose sequence number is used: its request becomes SKIP (H11). */
static void give_up(mae_session_t *session, struct request *request, mae_task_t *task)
{
    outside_release(session, &request->buffer);
    request->kind = KIND_SKIP;
    request->body_bytes = WIRE_BLOCK;
    task->result.kind = KIND_SKIP;
    task->given_up = true;
    memset(request->message, 0, sizeof request->message);
}

/* Seals the request of a chunk, and sends sealed requests if the session allows that. */
static mae_error_t ask(mae_session_t *session, const struct plan *plan, struct request *request)
{
    if (request->kind != KIND_SKIP) /* the tag is zero for d2h */
        wire_transfer(request->message + WIRE_HEADER, &request->place, request->work.tag);
    mae_error_t error = request_seal(session, plan->queue, request);
    while (error == MAE_OK && session->send_while_sealing && request_send(session, plan->queue))
        ;
    return error;
}

/* Encrypts a transfer's chunks in this thread, one by one, and seals their requests. `h2d` is NULL
   for a d2h. */
static mae_error_t seal_chunks(mae_session_t *session, const struct plan *plan,
                               const struct mae_h2d *h2d, mae_task_t *task,
                               struct shared buffers[WIRE_SLOTS])
{
    enum wire_kind kind = h2d ? KIND_H2D : KIND_D2H;
    enum chunk_end end = CHUNK_DONE;
    mae_error_t error = MAE_OK;
    for (uint64_t index = 0; error == MAE_OK && index < plan->count; index++) {
        if (end == CHUNK_GIVEN_UP) {
            outside_release(session, &buffers[index]);
            continue;
        }
        struct request *request =
            begin_chunk(session, plan, kind, index, &buffers[index], task, h2d);
        if (h2d)
            end = chunk_seal(session, 0, request, NULL, NULL);
        if (end == CHUNK_FAILED)
            return session_poison(session, "sealing failed in %s", gcm_library());
        if (end == CHUNK_GIVEN_UP)
            give_up(session, request, task);
        error = ask(session, plan, request);
    }
    return error;
}

/* Describes a transfer whose chunks the sealing threads encrypt. */
struct sealing {
    mae_session_t *session;
    const struct plan *plan;
    uint64_t first; /* number */
    uint64_t asked; /* chunks whose requests are sealed */
};

/* Returns a transfer's first chunk request that is not sealed yet. */
static struct request *next_asked(const struct sealing *sealing)
{
    struct channel *channel = &sealing->session->channels[sealing->plan->queue];
    return &channel->requests[(sealing->first + sealing->asked) % WIRE_SLOTS];
}

/* Seals, in order, the requests whose chunks are encrypted; false if the session has ended. */
static bool ask_sealed(void *user)
{
    struct sealing *sealing = user;
    mae_session_t *session = sealing->session;
    for (; sealing->asked < sealing->plan->count; sealing->asked++) {
        struct request *request = next_asked(sealing);
        int state = request->work.state;
        if (state == WORK_FAILED)
            session_poison(session, "sealing failed in %s", gcm_library());
        else if (state != WORK_DONE)
            return true;
        if (session->poisoned || ask(session, sealing->plan, request) != MAE_OK)
            return false;
    }
    return true;
}

/*
 * Encrypts a transfer's chunks in all sealing threads and seals their requests. Their numbers are
 * used in order before the first is sealed; their requests are sealed in order by this thread.
 */
static mae_error_t seal_in_threads(mae_session_t *session, const struct plan *plan,
                                   const struct mae_h2d *h2d, mae_task_t *task,
                                   struct shared buffers[WIRE_SLOTS])
{
    struct sealing sealing = {
        .session = session, .plan = plan, .first = session->channels[plan->queue].next};
    for (uint64_t index = 0; index < plan->count; index++)
        threads_submit(session,
                       begin_chunk(session, plan, KIND_H2D, index, &buffers[index], task, h2d));
    while (sealing.asked < plan->count) {
        if (!threads_help(session, ask_sealed, &sealing) && !session->poisoned)
            threads_wait(session, next_asked(&sealing));
        if (session->poisoned || !ask_sealed(&sealing))
            return MAE_E_POISONED;
    }
    return MAE_OK;
}

/* Starts a transfer in either direction: seals all its chunks and requests. */
static mae_error_t transfer(mae_session_t *session, struct plan *plan, const struct mae_h2d *h2d,
                            void *data, mae_task_t **task)
{
    mae_task_t *made = NULL;
    struct shared buffers[WIRE_SLOTS];
    mae_error_t error = prepare(session, plan, h2d ? KIND_H2D : KIND_D2H, &made);
    if (error != MAE_OK)
        return error;
    made->data = data;
    error = take_buffers(session, plan, buffers);
    if (error == MAE_OK && h2d && h2d->data && plan->count > 1 && threads_ready(session))
        error = seal_in_threads(session, plan, h2d, made, buffers);
    else if (error == MAE_OK)
        error = seal_chunks(session, plan, h2d, made, buffers);
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

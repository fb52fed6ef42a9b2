/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests to the protected card, takes its responses and waits for them. */
#include "state.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* Returns the length of the response body to a request, which follows from the request alone. */
static size_t response_bytes(const struct request *request)
{
    if (request->kind == KIND_BATCH)
        return 16 + 8 * (size_t)request->reads;
    return request->kind == KIND_D2H ? 32 : 16;
}

/* Returns true if a genuine card could have sent this response to the request. */
static bool possible(const mae_session_t *session, const struct request *request,
                     const struct wire_response *response)
{
    uint64_t value = 0;
    uint32_t executed = 1;
    if (response->zero || response->status < STATUS_OK || response->status > STATUS_LAST)
        return false;
    if (response->status != STATUS_OK) {
        bool waited = response->status == STATUS_WAIT || response->status == STATUS_AFTER;
        if (request->kind != KIND_BATCH)
            return !response->executed && !response->value;
        return response->value < request->operations &&
               (response->executed == 0 || (waited && response->executed == response->value));
    }
    if (request->kind == KIND_BATCH)
        executed = request->operations;
    else if (request->kind == KIND_OPEN)
        value = session->capabilities;
    else if (request->kind == KIND_REKEY)
        value = request->epoch + 1;
    else if (request->kind == KIND_H2D || request->kind == KIND_D2H)
        value = request->place.length;
    return response->executed == executed && response->value == value;
}

/* Erases the keys of an epoch once no queue and no unanswered request uses them. */
static void erase_old(mae_session_t *session)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t queue = 0; queue < session->caps.queues; queue++) {
        const struct channel *channel = &session->channels[queue];
        least = channel->epoch < least ? channel->epoch : least;
        for (uint64_t number = channel->oldest; number != channel->next; number++) {
            const struct request *request = &channel->requests[number % WIRE_SLOTS];
            if (request->pending && request->epoch < least)
                least = request->epoch;
        }
    }
    for (int i = 0; i < 2; i++)
        if (session->banks[i].live && session->banks[i].epoch < least)
            keys_erase(&session->banks[i]);
}

/* Completes a request whose response was verified, and updates its task and queue. */
static void complete_request(mae_session_t *session, uint32_t queue, struct request *request,
                             const struct wire_response *response)
{
    struct channel *channel = &session->channels[queue];
    mae_task_t *task = request->task;
    struct mae_task_result *result = &task->result;
    request->pending = false;
    outside_release(session, &request->buffer);
    while (channel->oldest != channel->next &&
           !channel->requests[channel->oldest % WIRE_SLOTS].pending)
        channel->oldest++;
    if (request->kind == KIND_REKEY) {
        channel->switching = false;
        if (response->status == STATUS_OK)
            channel->epoch++;
    }
    if (response->status != STATUS_OK && (!result->number || request->sequence < result->number)) {
        result->error = MAE_E_REFUSED;
        result->number = request->sequence;
        result->kind = request->kind;
    }
    if (!result->error || result->number == request->sequence) {
        result->status = response->status;
        result->executed = response->executed;
        result->value = response->value;
    }
    erase_old(session);
    if (request->kind == KIND_CLOSE && response->status == STATUS_OK)
        keys_wipe(session);
    else if (request->kind == KIND_CLOSE)
        session->closing = false;
    if (--task->left == 0)
        task_answered(task);
}

/* Copies a response to private memory and decrypts it there; false if its tag is wrong. */
static bool open_answer(mae_session_t *session, uint32_t queue, const struct request *request,
                        uint64_t at, size_t body_bytes)
{
    uint8_t made[WIRE_HEADER];
    uint8_t *message = session->stage, *body = message + WIRE_HEADER;
    struct key *key = keys_get(session, CLASS_RESPONSE, request->epoch);
    outside_load(session, at, message, WIRE_HEADER + body_bytes + WIRE_TAG);
    wire_header(made, CLASS_RESPONSE, queue, request->kind, request->epoch, request->sequence);
    bool same = gcm_equal(made, message, WIRE_HEADER);
    bool right = keys_begin(key, 0, CLASS_RESPONSE, queue, request->sequence, made, WIRE_HEADER) &&
                 gcm_update(key->gcm[0], body, body, body_bytes) &&
                 gcm_check(key->gcm[0], body + body_bytes);
    return same & right;
}

/* Decrypts the chunk that an answered D2H request names; false if its tag is wrong. */
static bool open_chunk(mae_session_t *session, uint32_t queue, struct request *request,
                       const struct wire_response *response, const uint8_t *tag)
{
    uint8_t *data = request->task->data;
    const struct wire_place *place = &request->place;
    request->work = (struct work){.queue = queue,
                                  .key = keys_get(session, CLASS_DMA_OUT, request->epoch),
                                  .data = data ? data + (place->address - place->base) : NULL};
    memcpy(request->work.tag, tag, WIRE_TAG);
    request->opening = place->length < place->total && threads_ready(session);
    if (!request->opening)
        return chunk_open(session, 0, request);
    request->response = *response;
    threads_submit(session, request);
    return true;
}

/* Completes a D2H request once a thread has decrypted its chunk; false if none has yet. */
static bool poll_chunk(mae_session_t *session, uint32_t queue, struct request *request)
{
    int state = request->work.state;
    if (state != WORK_DONE && state != WORK_FAILED)
        return false;
    request->opening = false;
    if (state == WORK_DONE)
        complete_request(session, queue, request, &request->response);
    else
        session_poison_request(session, "chunk tag", queue, request);
    return true;
}

/* Reads the response to a request from shared memory if its number shows that it is there. */
static bool poll_response(mae_session_t *session, uint32_t queue, struct request *request)
{
    uint64_t slot =
        session->channels[queue].slots.at + WIRE_SLOT_BYTES * (request->sequence % WIRE_SLOTS);
    size_t body_bytes = response_bytes(request);
    const uint8_t *body = session->stage + WIRE_HEADER;
    uint8_t number[8], tag[WIRE_TAG];
    if (request->opening)
        return poll_chunk(session, queue, request);
    outside_load(session, slot, number, sizeof number);
    if (wire_get(number, 8) != request->sequence)
        return false;
    atomic_thread_fence(memory_order_acquire); /* the card wrote the answer before its number */
    if (!open_answer(session, queue, request, slot + 16, body_bytes)) {
        session_poison_request(session, "response tag", queue, request);
        return true;
    }
    struct wire_response response = wire_response(body);
    if (!possible(session, request, &response)) {
        session_poison_request(session, "impossible response", queue, request);
        return true;
    }
    if (request->kind == KIND_BATCH && response.status == STATUS_OK) {
        request->task->result.values = request->reads;
        for (uint32_t i = 0; i < request->reads; i++)
            request->task->values[i] = wire_get(body + 16 + 8 * i, 8);
    }
    if (request->kind == KIND_D2H && response.status == STATUS_OK) {
        memcpy(tag, body + 16, WIRE_TAG); /* the chunk may take the stage */
        if (!open_chunk(session, queue, request, &response, tag)) {
            session_poison_request(session, "chunk tag", queue, request);
            return true;
        }
    }
    gcm_wipe(session->stage, WIRE_HEADER + body_bytes + WIRE_TAG);
    if (!request->opening)
        complete_request(session, queue, request, &response);
    return true;
}

/* Polls all queues of a session once; returns true if a request was sent or a response taken. */
static bool poll(mae_session_t *session)
{
    bool some = false;
    for (uint32_t queue = 0; !session_over(session) && queue < session->caps.queues; queue++) {
        struct channel *channel = &session->channels[queue];
        some |= request_send(session, queue);
        for (uint64_t number = channel->oldest; number != channel->unsent; number++) {
            struct request *request = &channel->requests[number % WIRE_SLOTS];
            if (request->pending && request->sent)
                some |= poll_response(session, queue, request);
            if (session_over(session))
                break;
        }
    }
    return some || (!session->poisoned && threads_help(session, NULL, NULL));
}

mae_error_t mae_session_poll(mae_session_t *session, bool *news)
{
    bool some = session && poll(session);
    if (news)
        *news = some;
    if (!session)
        return MAE_E_ARGUMENT;
    return session_over(session) ? MAE_E_POISONED : MAE_OK;
}

/* Ends a protected session because one of its requests was not answered in time. */
static void expire(mae_session_t *session, const mae_task_t *task)
{
    const struct channel *channel = &session->channels[task->result.queue];
    for (uint64_t number = task->result.first; number <= task->result.last; number++) {
        const struct request *request = &channel->requests[number % WIRE_SLOTS];
        if (request->pending && request->sequence == number) {
            session_poison_request(session, "timeout", task->result.queue, request);
            return;
        }
    }
    session_poison(session, "timeout");
}

mae_error_t mae_session_wait(mae_session_t *session, mae_task_t *task)
{
    if (!session || !task || task->session != session || task->freed)
        return MAE_E_ARGUMENT;
    (void)session_over(session); /* then the task is done, and nothing outside is asked */
    uint64_t since = outside_now(session);
    while (!task->result.done) {
        bool news = poll(session);
        if (!news && session->pool.unfinished && !session->poisoned) { /* a thread has a chunk */
            sched_yield();
            news = true;
        }
        if (session->outside.pause)
            CALL_OUT(session->outside.pause(session->outside.user, news));
        uint64_t now = outside_now(session);
        if (news)
            since = now;
        if (!task->result.done && now - since > session->timeout)
            expire(session, task);
    }
    if (task->result.error == MAE_E_REFUSED)
        session_fail(session, MAE_E_REFUSED, "refused with status %u", task->result.status);
    else if (task->result.error == MAE_E_GIVEN_UP)
        session_fail(session, MAE_E_GIVEN_UP, "given up");
    return (mae_error_t)task->result.error;
}

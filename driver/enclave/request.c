/* SPDX-License-Identifier: Apache-2.0 */
/* Seals requests to the protected card: sequence numbers, key limits, ciphertext (H5, H11, H12). */
#include "state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- sealing ---- */

/* Returns the greatest length of the response body to a request of this kind. */
static size_t answer_bytes(enum wire_kind kind, size_t body_bytes)
{
    return kind == KIND_BATCH ? 16 + 8 * (body_bytes / WIRE_BLOCK) : 32; /* at most */
}

/* Returns the message class whose key encrypts the chunk of a transfer request. */
static enum wire_class chunk_class(enum wire_kind kind)
{
    return kind == KIND_H2D ? CLASS_DMA_IN : CLASS_DMA_OUT;
}

/* Returns true if a session key may encrypt that many further blocks (H12). */
static bool affords(mae_session_t *session, enum wire_class cls, uint32_t epoch, uint64_t blocks)
{
    uint64_t used = keys_get(session, cls, epoch)->used;
    return used <= session->block_limit && blocks <= session->block_limit - used;
}

mae_error_t request_room(mae_session_t *session, uint32_t queue, enum wire_kind kind,
                         size_t body_bytes, uint64_t count, uint64_t chunk_blocks)
{
    if (session_over(session))
        return MAE_E_POISONED;
    if (session->closing)
        return session_fail(session, MAE_E_STATE, "the session was closed");
    if (queue >= session->caps.queues)
        return session_fail(session, MAE_E_ARGUMENT, "no queue %u", queue);
    struct channel *channel = &session->channels[queue];
    if (channel->switching)
        return session_fail(session, MAE_E_BUSY, "a REKEY of this queue is unanswered");
    if (count > WIRE_SLOTS - (channel->next - channel->oldest))
        return session_fail(session, MAE_E_FULL, "too many unanswered requests");
    if (!affords(session, CLASS_REQUEST, channel->epoch, count * wire_blocks(body_bytes)) ||
        !affords(session, CLASS_RESPONSE, channel->epoch,
                 count * wire_blocks(answer_bytes(kind, body_bytes))) ||
        (chunk_blocks && !affords(session, chunk_class(kind), channel->epoch, chunk_blocks)))
        return session_fail(session, MAE_E_LIMIT, "rekey first");
    return MAE_OK;
}

struct request *request_begin(mae_session_t *session, uint32_t queue, enum wire_kind kind,
                              mae_task_t *task)
{
    struct channel *channel = &session->channels[queue];
    struct request *request = &channel->requests[channel->next % WIRE_SLOTS];
    memset(request, 0, offsetof(struct request, message));
    request->kind = kind;
    request->epoch = channel->epoch;
    request->sequence = channel->next;
    request->task = task;
    channel->next++;
    if (task->result.requests++ == 0)
        task->result.first = request->sequence;
    task->result.last = request->sequence;
    task->result.kind = kind;
    return request;
}

mae_error_t request_seal(mae_session_t *session, uint32_t queue, struct request *request)
{
    struct key *key = keys_get(session, CLASS_REQUEST, request->epoch);
    uint8_t *header = request->message, *body = header + WIRE_HEADER;
    key->used += wire_blocks(request->body_bytes);
    keys_get(session, CLASS_RESPONSE, request->epoch)->used +=
        wire_blocks(answer_bytes(request->kind, request->body_bytes));
    wire_header(header, CLASS_REQUEST, queue, request->kind, request->epoch, request->sequence);
    if (!keys_begin(key, 0, CLASS_REQUEST, queue, request->sequence, header, WIRE_HEADER) ||
        !gcm_update(key->gcm[0], body, body, request->body_bytes) ||
        !gcm_tag(key->gcm[0], body + request->body_bytes))
        return session_poison(session, "sealing failed in %s", gcm_library());
    request->pending = true;
    request->task->left++;
    return MAE_OK;
}

bool request_send(mae_session_t *session, uint32_t queue)
{
    struct channel *channel = &session->channels[queue];
    struct request *request = &channel->requests[channel->unsent % WIRE_SLOTS];
    uint32_t page = REGISTER_PAGE * (1 + queue);
    if (channel->unsent == channel->next || !request->pending ||
        !(outside_register(session, page + REGISTER_STATUS, 4) & 1))
        return false;
    atomic_thread_fence(memory_order_seq_cst); /* chunks before the request that names them */
    CALL_OUT(session->outside.write(session->outside.user, page + REGISTER_MAILBOX,
                                    request->message,
                                    WIRE_HEADER + request->body_bytes + WIRE_TAG));
    outside_write(session, page + REGISTER_DOORBELL, request->body_bytes / WIRE_BLOCK, 4);
    request->sent = true;
    channel->unsent++;
    return true;
}

/* ---- requests without a chunk ---- */

/* Seals an OPEN, BATCH, REKEY, SKIP or CLOSE request and creates its task. */
static mae_error_t ask(mae_session_t *session, uint32_t queue, enum wire_kind kind,
                       const struct mae_operation *operations, size_t count, mae_task_t **task)
{
    size_t body_bytes = WIRE_BLOCK * (operations ? count : 1);
    mae_error_t error = request_room(session, queue, kind, body_bytes, 1, 0);
    if (error != MAE_OK)
        return error;
    mae_task_t *made = task_new(session, queue);
    if (!made)
        return session_fail(session, MAE_E_MEMORY, "out of memory");
    struct request *request = request_begin(session, queue, kind, made);
    request->body_bytes = body_bytes;
    memset(request->message + WIRE_HEADER, 0, body_bytes);
    for (size_t i = 0; operations && i < count; i++) {
        const struct mae_operation *operation = &operations[i];
        uint8_t *bytes = request->message + WIRE_HEADER + WIRE_BLOCK * i;
        bytes[0] = operation->op;
        bytes[1] = operation->log2_width;
        wire_put(bytes + 2, operation->zero, 2);
        wire_put(bytes + 4, operation->offset, 4);
        wire_put(bytes + 8, operation->data, 8);
        request->reads += bytes[0] == MAE_OPERATION_READ;
        request->operations++;
    }
    error = request_seal(session, queue, request);
    if (error != MAE_OK) {
        task_drop(made);
        return error;
    }
    *task = made;
    return MAE_OK;
}

/* Checks the session and task pointers that a caller of the driver gave. */
static bool callable(mae_session_t *session, mae_task_t **task)
{
    if (task)
        *task = NULL;
    return session && task;
}

mae_error_t mae_session_open(mae_session_t *session, mae_task_t **task)
{
    return callable(session, task) ? ask(session, 0, KIND_OPEN, NULL, 0, task) : MAE_E_ARGUMENT;
}

mae_error_t mae_session_close(mae_session_t *session, mae_task_t **task)
{
    if (!callable(session, task))
        return MAE_E_ARGUMENT;
    for (uint32_t queue = 0; !session_over(session) && queue < session->caps.queues; queue++)
        if (session->channels[queue].oldest != session->channels[queue].next)
            return session_fail(session, MAE_E_BUSY, "requests are unanswered");
    mae_error_t error = ask(session, 0, KIND_CLOSE, NULL, 0, task);
    if (error == MAE_OK)
        session->closing = true;
    return error;
}

mae_error_t mae_session_skip(mae_session_t *session, uint32_t queue, mae_task_t **task)
{
    return callable(session, task) ? ask(session, queue, KIND_SKIP, NULL, 0, task) : MAE_E_ARGUMENT;
}

mae_error_t mae_session_rekey(mae_session_t *session, uint32_t queue, mae_task_t **task)
{
    if (!callable(session, task))
        return MAE_E_ARGUMENT;
    mae_error_t error = request_room(session, queue, KIND_REKEY, WIRE_BLOCK, 1, 0);
    if (error != MAE_OK)
        return error;
    uint32_t epoch = session->channels[queue].epoch + 1;
    bool there = keys_bank(session, epoch) != NULL;
    if (epoch > WIRE_LAST_EPOCH)
        return session_fail(session, MAE_E_LIMIT, "no epoch is left");
    if (!there && session->banks[0].live && session->banks[1].live)
        return session_fail(session, MAE_E_BUSY, "not every queue has left the epoch before");
    if (!there && !keys_load(session, epoch))
        return session_poison(session, "key derivation failed in %s", gcm_library());
    error = ask(session, queue, KIND_REKEY, NULL, 0, task);
    if (error == MAE_OK)
        session->channels[queue].switching = true;
    else if (!there && keys_bank(session, epoch))
        keys_erase(keys_bank(session, epoch));
    return error;
}

mae_error_t mae_session_batch(mae_session_t *session, uint32_t queue,
                              const struct mae_operation *operations, size_t count,
                              mae_task_t **task)
{
    if (!callable(session, task))
        return MAE_E_ARGUMENT;
    if (session_over(session))
        return MAE_E_POISONED;
    if (count < 1 || count > session->caps.operations)
        return session_fail(session, MAE_E_ARGUMENT, "1 to %u operations",
                            session->caps.operations);
    if (!inside(session, operations, count * sizeof *operations))
        return session_fail(session, MAE_E_ARGUMENT, "the operations are not in the enclave");
    return ask(session, queue, KIND_BATCH, operations, count, task);
}

struct mae_operation mae_operation_read(uint32_t offset, uint32_t log2_width)
{
    return (struct mae_operation){
        .op = MAE_OPERATION_READ, .log2_width = (uint8_t)log2_width, .offset = offset};
}

struct mae_operation mae_operation_write(uint32_t offset, uint32_t log2_width, uint64_t data)
{
    return (struct mae_operation){.op = MAE_OPERATION_WRITE,
                                  .log2_width = (uint8_t)log2_width,
                                  .offset = offset,
                                  .data = data};
}

struct mae_operation mae_operation_wait(const mae_task_t *task)
{
    return (struct mae_operation){
        .op = MAE_OPERATION_WAIT, .offset = task->result.queue, .data = task->result.last};
}

struct mae_operation mae_operation_wait_runs(uint64_t runs)
{
    return (struct mae_operation){.op = MAE_OPERATION_WAIT, .offset = WIRE_KERNEL, .data = runs};
}

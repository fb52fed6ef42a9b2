/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and frees protected sessions: checks the card, derives keys, opens queues (H18). */
#include "state.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT = 10000000, DEFAULT_THREADS = 4 };

/*
 * Maps a page that Linux clears in forked processes, by which a session detects a fork. Reading it
 * needs no system call, so that the check costs nothing and works where there are none, as in an
 * enclave, which cannot be forked. Linux before 4.14 lacks it; there the process's number tells
 * parent from child.
 */
static bool mark_birth(mae_session_t *session)
{
    void *page = mmap(NULL, sizeof *session->birth, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    session->process = madvise(page, sizeof *session->birth, MADV_WIPEONFORK) == 0 ? 0 : getpid();
    session->birth = page;
    *session->birth = 1;
    return true;
}

/* Decodes the card's 64-bit capability word; false if a host must not use such a card. */
static bool unpack(uint64_t word, struct mae_session_caps *caps)
{
    uint8_t field[8];
    wire_put(field, word, 8);
    *caps = (struct mae_session_caps){
        .queues = field[1], .depth = field[2], .operations = field[4], .regions = field[7]};
    if (field[0] != WIRE_VERSION || field[6] != 6 || field[1] < 1 || field[1] > WIRE_MAX_QUEUES ||
        field[2] < 1 || field[2] > 63 || field[3] < 12 || field[3] > 20 || field[4] < 4 ||
        field[4] > WIRE_MAX_OPERATIONS || field[5] < 12 || field[5] > 40 || field[7] < 1 ||
        field[7] > 64)
        return false;
    caps->chunk_bytes = UINT64_C(1) << field[3];
    caps->memory_bytes = UINT64_C(1) << field[5];
    return true;
}

/* Allocates and clears the response slots of a request queue in shared memory. */
static mae_error_t open_channel(mae_session_t *session, uint32_t queue)
{
    struct channel *channel = &session->channels[queue];
    uint32_t page = REGISTER_PAGE * (1 + queue);
    channel->next = channel->oldest = channel->unsent = 1;
    mae_error_t error =
        shared_allocate(session, (size_t)WIRE_SLOTS * WIRE_SLOT_BYTES, &channel->slots);
    if (error != MAE_OK)
        return error;
    outside_write(session, page + REGISTER_RESPONSE_BASE, channel->slots.host, 8);
    memset(session->stage, 0, sizeof session->stage);
    for (size_t at = 0; at < channel->slots.size; at += WIRE_STAGE)
        outside_store(session, channel->slots.at + at, session->stage, WIRE_STAGE);
    return MAE_OK;
}

/*
 * Returns the default number of threads that seal chunks: one for each processor, at most 4. It is
 * one where `load` and `store` are the caller's, who may not expect several at once.
 */
static unsigned default_threads(const struct mae_outside *outside)
{
    cpu_set_t processors;
    if (outside->load || outside->store ||
        sched_getaffinity(0, sizeof processors, &processors) != 0)
        return 1;
    unsigned count = (unsigned)CPU_COUNT(&processors);
    return count < 1 ? 1 : count < DEFAULT_THREADS ? count : DEFAULT_THREADS;
}

/* Checks the card's capabilities, exchanges nonces, derives the keys and opens all queues. */
static mae_error_t begin(mae_session_t *session)
{
    const struct mae_outside *outside = &session->outside;
    session->capabilities = outside_register(session, REGISTER_CAPABILITIES, 8);
    if (!unpack(session->capabilities, &session->caps)) {
        session->caps.queues = 0;
        return session_poison(session, "illegal capabilities: %016llx",
                              (unsigned long long)session->capabilities);
    }
    CALL_OUT(outside->read(outside->user, REGISTER_DEVICE_NONCE, session->device_nonce, 32));
    CALL_OUT(outside->write(outside->user, REGISTER_HOST_NONCE, session->host_nonce, 32));
    if (!keys_load(session, 0))
        return session_poison(session, "key derivation failed in %s", gcm_library());
    session->channels = calloc(session->caps.queues, sizeof *session->channels);
    if (!session->channels)
        return session_poison(session, "out of memory");
    for (uint32_t queue = 0; queue < session->caps.queues; queue++) {
        mae_error_t error = open_channel(session, queue);
        if (error != MAE_OK)
            return error;
    }
    /* Writes are posted: behind a read they have arrived. The secret comes to the card on another
       way, and must not overtake the nonce. */
    (void)outside_register(session, REGISTER_CAPABILITIES, 8);
    return MAE_OK;
}

/*
 * Returns true if the address ranges tell private from shared memory (H10): none wraps, and there
 * are enclave and buffers, or shared memory. Buffers lie in the enclave: it is what shared memory
 * is kept out of.
 */
static bool tells_private(const struct mae_session_config *config)
{
    uint64_t enclave_end = config->enclave_base + config->enclave_bytes;
    uint64_t buffers_end = config->buffers_base + config->buffers_bytes;
    if (enclave_end < config->enclave_base || buffers_end < config->buffers_base ||
        config->shared_base + config->shared_bytes < config->shared_base)
        return false;
    if (config->enclave_bytes && config->buffers_bytes)
        return config->buffers_base >= config->enclave_base && buffers_end <= enclave_end;
    return config->shared_bytes != 0;
}

mae_error_t mae_session_begin(const struct mae_outside *outside,
                              const struct mae_session_config *config, mae_session_t **result)
{
    if (!result)
        return MAE_E_ARGUMENT;
    *result = NULL;
    if (!outside || !config || !outside->read || !outside->write || !outside->allocate ||
        config->block_limit > WIRE_HOST_BLOCKS || config->threads > SEAL_THREADS ||
        !tells_private(config))
        return MAE_E_ARGUMENT;
    mae_session_t *session = calloc(1, sizeof *session);
    if (!session)
        return MAE_E_MEMORY;
    if (!mark_birth(session)) {
        free(session);
        return MAE_E_MEMORY;
    }
    session->outside = *outside;
    session->timeout = config->timeout ? config->timeout : DEFAULT_TIMEOUT;
    session->block_limit = config->block_limit ? config->block_limit : WIRE_HOST_BLOCKS;
    session->enclave_base = config->enclave_base;
    session->enclave_bytes = config->enclave_bytes;
    session->buffers_base = config->buffers_base;
    session->buffers_bytes = config->buffers_bytes;
    session->shared_base = config->shared_base;
    session->shared_bytes = config->shared_bytes;
    session->send_while_sealing = config->send_while_sealing;
    session->threads = config->threads ? config->threads : default_threads(outside);
    memcpy(session->secret, config->secret, sizeof session->secret);
    memcpy(session->session_id, config->session_id, sizeof session->session_id);
    memcpy(session->host_nonce, config->host_nonce, sizeof session->host_nonce);
    *result = session;
    if (!config->nonce_given && !gcm_random(session->host_nonce, sizeof session->host_nonce))
        return session_poison(session, "no random numbers from %s", gcm_library());
    return begin(session);
}

void mae_session_free(mae_session_t *session)
{
    if (!session)
        return;
    (void)session_over(session); /* of a forked child: nothing outside is touched */
    threads_stop(session, false);
    keys_wipe(session);
    for (uint32_t queue = 0; session->channels && queue < session->caps.queues; queue++) {
        struct channel *channel = &session->channels[queue];
        for (int i = 0; i < WIRE_SLOTS; i++)
            outside_release(session, &channel->requests[i].buffer);
        outside_release(session, &channel->slots);
    }
    while (session->tasks) {
        mae_task_t *task = session->tasks;
        if (!task->result.done && task->data)
            gcm_wipe(task->data, task->total);
        task_drop(task);
    }
    if (session->channels)
        gcm_wipe(session->channels, session->caps.queues * sizeof *session->channels);
    free(session->channels);
    munmap((void *)session->birth, sizeof *session->birth);
    gcm_wipe(session, sizeof *session);
    free(session);
}

void mae_task_free(mae_task_t *task)
{
    if (!task)
        return;
    (void)session_over(task->session); /* in a forked child no thread finishes anything */
    if (task->result.done) {
        task_drop(task);
        return;
    }
    if (task->data) {
        threads_finish(task->session);
        gcm_wipe(task->data, task->total);
    }
    task->data = NULL;
    task->freed = true;
}

mae_error_t mae_session_get_caps(const mae_session_t *session, struct mae_session_caps *caps)
{
    if (!session || !caps)
        return MAE_E_ARGUMENT;
    *caps = session->caps;
    return MAE_OK;
}

const char *mae_session_detail(const mae_session_t *session)
{
    return session ? session->detail : "";
}

const char *mae_session_advice(const mae_session_t *session)
{
    return session ? session->advice : "";
}

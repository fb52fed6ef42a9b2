/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes calls of the protected driver from fuzz data and checks what must always hold:
 * - a transfer that did not end well leaves zeroes in its buffer, and one that did the right bytes;
 * - after poison every task is done and every call fails, and neither keys nor secret are there;
 * - what nobody could seal never passes.
 */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

/* Returns true if all bytes of a buffer have a value. */
static bool all(const uint8_t *bytes, size_t size, uint8_t value)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* Checks the result and data of a completed driver task, then frees the task. */
static void finish(struct script *script, int at)
{
    mae_task_t *task = script->tasks[at].task;
    struct mae_task_result result;
    uint64_t values[WIRE_MAX_OPERATIONS];
    mae_task_get(task, &result);
    MUST(result.done);
    if (script->tasks[at].data)
        MUST(all(script->tasks[at].data, script->tasks[at].total,
                 result.error ? 0 : script->expected));
    if (!result.error) {
        MUST(!script->nothing_may_pass);
        script->passed++;
        MUST(mae_task_values(task, values, WIRE_MAX_OPERATIONS) == MAE_OK);
        for (uint32_t i = 0; i < result.values; i++)
            MUST(values[i] == script->word);
    } else {
        MUST(mae_task_values(task, values, WIRE_MAX_OPERATIONS) == MAE_E_STATE);
    }
    mae_task_free(task);
    free(script->tasks[at].data);
    script->tasks[at].task = NULL;
    script->tasks[at].data = NULL;
}

/* Supplies plaintext of a chunk to the driver; fails if the fuzz data says so. */
static int fill(void *user, uint64_t offset, void *bytes, size_t size)
{
    struct script *script = user;
    memset(bytes, (int)offset, size);
    return stream_byte(script->stream) == 7;
}

/* Makes one call of the driver, which the next bytes of fuzz data choose. */
static mae_error_t call(struct script *script, int at, uint8_t choice)
{
    struct stream *stream = script->stream;
    mae_session_t *session = script->session;
    mae_task_t **task = &script->tasks[at].task;
    static uint8_t plain[SCRIPT_ROOM];
    struct mae_operation operations[8];
    uint32_t queue = stream_byte(stream) % 4;
    uint64_t base = (uint64_t)(stream_byte(stream) % 32) * (choice & 0x40 ? 64 : 4096);
    uint64_t total = 1 + (stream_byte(stream) * 64u + stream_byte(stream)) % SCRIPT_ROOM;
    uint64_t chunk = (uint64_t)(stream_byte(stream) % 65) * 64;
    mae_error_t error;
    switch (choice % 8) {
    case 0:
        return mae_session_open(session, task);
    case 1:
        return mae_session_rekey(session, queue, task);
    case 2:
        return mae_session_skip(session, queue, task);
    case 3:
    case 4: {
        struct mae_h2d h2d = {.queue = queue,
                              .base = base,
                              .total = total,
                              .chunk = chunk,
                              .after = choice >> 7,
                              .data = choice & 0x20 ? plain : NULL,
                              .fill = fill,
                              .user = script};
        return mae_session_h2d(session, &h2d, task);
    }
    case 5: {
        uint8_t *data = malloc(total);
        struct mae_d2h d2h = {.queue = queue,
                              .base = base,
                              .total = total,
                              .chunk = chunk,
                              .after = choice >> 7,
                              .data = data};
        MUST(data);
        memset(data, 0xee, total);
        error = mae_session_d2h(session, &d2h, task);
        if (error == MAE_OK) {
            script->tasks[at].data = data;
            script->tasks[at].total = total;
        } else {
            free(data);
        }
        return error;
    }
    case 6:
        stream_bytes(stream, operations, sizeof operations);
        for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
            operations[i].op %= 4; /* a quarter reads, whose values an answer brings */
        return mae_session_batch(session, queue, operations, 1 + base / 64 % 8, task);
    default:
        return mae_session_close(session, task);
    }
}

/* Checks and frees all completed driver tasks of the fuzzed session. */
static void finish_done(struct script *script)
{
    for (int i = 0; i < SCRIPT_TASKS; i++) {
        struct mae_task_result result;
        if (!script->tasks[i].task)
            continue;
        mae_task_get(script->tasks[i].task, &result);
        if (result.done)
            finish(script, i);
    }
}

/* Returns the index of a free entry for a driver task, -1 if there is none. */
static int free_place(const struct script *script)
{
    for (int i = 0; i < SCRIPT_TASKS; i++)
        if (!script->tasks[i].task)
            return i;
    return -1;
}

/* Checks that an ended session has failed all tasks and holds no secret. */
static void check_poison(struct script *script)
{
    mae_session_t *session = script->session;
    mae_task_t *task;
    for (int i = 0; i < SCRIPT_TASKS; i++)
        if (script->tasks[i].task) {
            struct mae_task_result result;
            mae_task_get(script->tasks[i].task, &result);
            MUST(result.done);
            finish(script, i);
        }
    MUST(mae_session_open(session, &task) == MAE_E_POISONED && !task);
    MUST(mae_session_poll(session, NULL) == MAE_E_POISONED);
    MUST(all(session->secret, sizeof session->secret, 0));
    MUST(!session->banks[0].live && !session->banks[1].live);
    MUST(all((const uint8_t *)session->banks, sizeof session->banks, 0));
    MUST(mae_session_detail(session)[0]);
}

void script_run(struct script *script)
{
    mae_session_t *session = script->session;
    while (script->stream->left && !session->poisoned) {
        uint8_t choice = stream_byte(script->stream);
        int at = free_place(script);
        if (choice % 4 && at >= 0) {
            mae_error_t error = call(script, at, choice / 4);
            MUST((error == MAE_OK) == (script->tasks[at].task != NULL));
            MUST(error != MAE_E_POISONED || session->poisoned);
        } else if (choice == 4 && at != 0) {
            /* A task that nobody waits for any more. */
            for (int i = 0; i < SCRIPT_TASKS; i++)
                if (script->tasks[i].task) {
                    mae_task_free(script->tasks[i].task);
                    free(script->tasks[i].data);
                    script->tasks[i].task = NULL;
                    script->tasks[i].data = NULL;
                    break;
                }
        } else if (choice == 8 && script->tasks[0].task) {
            bool right = mae_session_wait(session, script->tasks[0].task) != MAE_E_ARGUMENT;
            MUST(right);
        } else {
            mae_error_t error = mae_session_poll(session, NULL);
            MUST(error == (session->poisoned ? MAE_E_POISONED : MAE_OK));
        }
        if (!session->poisoned)
            finish_done(script);
    }
    if (session->poisoned) {
        check_poison(script);
    } else {
        mae_session_free(session);
        script->session = NULL;
        /* The tasks went with it; an unfinished transfer leaves nothing. */
        for (int i = 0; i < SCRIPT_TASKS; i++) {
            if (script->tasks[i].data)
                MUST(all(script->tasks[i].data, script->tasks[i].total, 0));
            free(script->tasks[i].data);
        }
    }
    mae_session_free(script->session);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how much slower the driver seals and opens 1 MiB transfers than memcpy copies. Usage:
 * copies [THREADS]. The imitated card's own work is not timed. Prints JSON: bytes a second in the
 * fastest tenth of the rounds, so that a busy machine counts less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

enum { BYTES = 1 << 20, ROUNDS = 400, BATCHES = 19200, AT_ONCE = 48 };

/* Returns the host's time in seconds. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Compares two measured times; the order function of qsort. */
static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the time that a tenth of the measured rounds did not exceed. */
static double fast(double *times, size_t count)
{
    qsort(times, count, sizeof *times, order);
    return times[count / 10];
}

/* Ends the program with the session's error text if a call of the driver has failed. */
static void must(mae_error_t error, const mae_session_t *session)
{
    if (error != MAE_OK) {
        fprintf(stderr, "error %d: %s\n", (int)error, mae_session_detail(session));
        exit(1);
    }
}

/* Answers a request of the driver with success, as the imitated card. */
static void answer(struct fake *fake, const struct fake_request *request)
{
    uint8_t body[WIRE_MAX_ANSWER];
    size_t size = fake_body(fake, request, body);
    if (request->kind == KIND_D2H)
        fake_chunk(fake, request, body + 16);
    fake_answer(fake, request, body, size);
}

int main(int count, char **words)
{
    static struct fake fake;
    static const struct mae_operation write = {
        .op = MAE_OPERATION_WRITE, .log2_width = MAE_WIDTH_4, .offset = 64};
    struct mae_outside outside;
    struct mae_session_config config = {.nonce_given = 1, .threads = 1};
    uint8_t *data = aligned_alloc(WIRE_STAGE, BYTES), *other = aligned_alloc(WIRE_STAGE, BYTES);
    mae_session_t *session;
    mae_task_t *task;
    if (count > 1)
        config.threads = (uint32_t)strtoul(words[1], NULL, 10);
    static double copied[ROUNDS], sealed[ROUNDS], opened[ROUNDS], asked[BATCHES / AT_ONCE];
    double start;
    if (!data || !other || !fake_begin(&fake, (size_t)8 << 20))
        return 1;
    memset(data, 1, BYTES);
    memset(other, 2, BYTES);
    fake.rung = answer;
    config.shared_base = (uintptr_t)fake.window;
    config.shared_bytes = fake.window_bytes;
    memcpy(config.secret, fake.secret, sizeof config.secret);
    fake_outside(&fake, &outside);
    must(mae_session_begin(&outside, &config, &session), session);
    must(mae_session_open(session, &task), session);
    must(mae_session_wait(session, task), session);
    mae_task_free(task);
    size_t used = fake.used;
    for (int i = 0; i < ROUNDS; i++) {
        struct mae_h2d h2d = {.queue = 1, .total = BYTES, .data = data};
        struct mae_d2h d2h = {.queue = 1, .total = BYTES, .data = other};
        fake.used = used; /* nothing of the round before is outstanding */
        start = seconds();
        memcpy(other, data, BYTES);
        copied[i] = seconds() - start;
        start = seconds();
        must(mae_session_h2d(session, &h2d, &task), session);
        sealed[i] = seconds() - start;
        must(mae_session_wait(session, task), session);
        mae_task_free(task);
        must(mae_session_d2h(session, &d2h, &task), session);
        must(mae_session_wait(session, task), session);
        mae_task_free(task);
    }
    for (int i = 0; i < ROUNDS; i++) { /* opening by itself: the card has written before */
        struct mae_d2h d2h = {.queue = 2, .total = BYTES, .data = other};
        fake.used = used;
        must(mae_session_d2h(session, &d2h, &task), session);
        while (request_send(session, 2))
            ;
        start = seconds();
        must(mae_session_wait(session, task), session);
        opened[i] = seconds() - start;
        mae_task_free(task);
    }
    for (int i = 0; i < BATCHES / AT_ONCE; i++) { /* many at once: to ask the time takes longer */
        mae_task_t *tasks[AT_ONCE];
        start = seconds();
        for (int j = 0; j < AT_ONCE; j++)
            must(mae_session_batch(session, 0, &write, 1, &tasks[j]), session);
        asked[i] = seconds() - start;
        for (int j = 0; j < AT_ONCE; j++) {
            must(mae_session_wait(session, tasks[j]), session);
            mae_task_free(tasks[j]);
        }
    }
    mae_session_free(session);
    fake_end(&fake);
    printf("{\"library\": \"%s\", \"memcpy\": %.0f, \"seal\": %.0f, \"open\": %.0f, "
           "\"seal_write_ns\": %.0f}\n",
           gcm_library(), BYTES / fast(copied, ROUNDS), BYTES / fast(sealed, ROUNDS),
           BYTES / fast(opened, ROUNDS), 1e9 * fast(asked, BATCHES / AT_ONCE) / AT_ONCE);
    free(data);
    free(other);
    return 0;
}

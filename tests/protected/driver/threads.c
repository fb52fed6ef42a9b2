/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the sealing threads of driver/enclave over an imitated card: threads THREADS. Transfers both
 * ways, a damaged chunk, a timeout, tasks and sessions freed early, and a fork. Stops at the first
 * failure.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../../../driver/fuzz/fake.h"

enum { BYTES = 1 << 20, HELD = 64, ROUNDS = 20 };

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

/* Models a card: answers the enclave's requests and remembers them. */
struct card {
    struct fake fake;
    bool silent; /* answers nothing */
    int held;    /* answers so many requests late, in reverse */
    int count;
    struct fake_request requests[HELD];
    int64_t damage; /* this chunk of a d2h; -1: none */
    uint32_t chunks;
    uint64_t next; /* where the next chunk of the h2d must begin */
    uint64_t longest;
};

static uint8_t plain[BYTES], room[BYTES], other[BYTES];

/* Answers a request as a real card does, except for the damage that the test plans. */
static void respond(struct card *card, const struct fake_request *request)
{
    struct fake *fake = &card->fake;
    uint8_t body[WIRE_MAX_ANSWER];
    size_t size = fake_body(fake, request, body);
    if (request->kind == KIND_D2H) {
        fake_chunk(fake, request, body + 16);
        if (card->damage == (int64_t)request->place.index)
            *(uint8_t *)(uintptr_t)(request->place.host + request->place.length / 2) ^= 4;
    }
    fake_answer(fake, request, body, size);
}

/* Checks tag and address of a request's chunk, then answers the request now or later. */
static void rung(struct fake *fake, const struct fake_request *request)
{
    struct card *card = fake->user;
    if (request->kind == KIND_H2D) {
        MUST(fake_check(fake, request));
        MUST(request->place.index == card->chunks++ && request->place.address == card->next);
        card->next += request->place.length;
        if (request->place.length > card->longest)
            card->longest = request->place.length;
    }
    if (card->silent)
        return;
    if (request->kind == KIND_D2H && card->count < card->held) {
        card->requests[card->count++] = *request;
        return;
    }
    respond(card, request);
}

/* Answers the requests held back so far, the last one first. */
static void answer_held(struct card *card)
{
    while (card->count > 0)
        respond(card, &card->requests[--card->count]);
}

/* Opens a protected session between the enclave's driver and the modelled card. */
static mae_session_t *begin(struct card *card, unsigned threads, bool eager)
{
    struct mae_outside outside;
    struct mae_session_config config = {
        .nonce_given = 1, .timeout = 3000, .threads = threads, .send_while_sealing = eager};
    mae_session_t *session;
    mae_task_t *task;
    memset(card, 0, sizeof *card);
    MUST(fake_begin(&card->fake, (size_t)8 << 20));
    card->fake.rung = rung;
    card->fake.user = card;
    card->damage = -1;
    config.shared_base = (uintptr_t)card->fake.window;
    config.shared_bytes = card->fake.window_bytes;
    memcpy(config.secret, card->fake.secret, sizeof config.secret);
    fake_outside(&card->fake, &outside);
    MUST(mae_session_begin(&outside, &config, &session) == MAE_OK);
    MUST(mae_session_open(session, &task) == MAE_OK && mae_session_wait(session, task) == MAE_OK);
    mae_task_free(task);
    return session;
}

/* Starts a transfer of data to the modelled card. */
static mae_task_t *send(mae_session_t *session, struct card *card, uint64_t total, uint64_t chunk)
{
    struct mae_h2d h2d = {.queue = 1, .total = total, .chunk = chunk, .data = plain};
    mae_task_t *task;
    card->chunks = 0;
    card->next = 0;
    card->longest = 0;
    MUST(mae_session_h2d(session, &h2d, &task) == MAE_OK);
    return task;
}

/* Starts a transfer of data from the modelled card. */
static mae_task_t *receive(mae_session_t *session, uint64_t total, uint64_t chunk, uint8_t *to)
{
    struct mae_d2h d2h = {.queue = 2, .total = total, .chunk = chunk, .data = to};
    mae_task_t *task;
    memset(to, 0xee, total);
    MUST(mae_session_d2h(session, &d2h, &task) == MAE_OK);
    return task;
}

/* Returns true if all bytes of a buffer have a value. */
static bool all(const uint8_t *bytes, size_t size, uint8_t value)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* Returns the number of threads of this process. */
static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = -2; /* . and .. */
    MUST(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Tests transfers of many lengths both ways, with chunks of fixed and of growing length. */
static void test_transfers(unsigned threads, bool eager)
{
    static const uint64_t totals[] = {1, 4096, 8193, 65536, 100001, 602112, BYTES};
    static const uint64_t chunks[] = {0, 16384, 32768};
    struct card card;
    mae_session_t *session = begin(&card, threads, eager);
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++)
        for (size_t j = 0; j < sizeof chunks / sizeof chunks[0]; j++) {
            if (totals[i] > 60 * chunks[j] && chunks[j])
                continue;
            size_t used = card.fake.used;
            mae_task_t *up = send(session, &card, totals[i], chunks[j]);
            MUST(mae_session_wait(session, up) == MAE_OK);
            MUST(card.next == totals[i]);
            if (threads > 1 && !chunks[j] && totals[i] == BYTES)
                MUST(card.chunks > 16 && card.chunks <= 21 && card.longest == BYTES / 16);
            if (threads == 1 && !chunks[j])
                MUST(card.chunks == 1);
            mae_task_free(up);
            mae_task_t *down = receive(session, totals[i], chunks[j], room);
            MUST(mae_session_wait(session, down) == MAE_OK);
            MUST(all(room, totals[i], FAKE_PATTERN));
            mae_task_free(down);
            card.fake.used = used;
        }
    MUST(count_threads() >= (int)threads);
    mae_session_free(session);
    fake_end(&card.fake);
}

/* Tests parallel transfers, answers in reverse order, and calls while threads decrypt chunks. */
static void test_order(unsigned threads)
{
    struct card card;
    mae_session_t *session = begin(&card, threads, true);
    for (int round = 0; round < ROUNDS; round++) {
        size_t used = card.fake.used;
        struct mae_d2h d2h = {.queue = 0, .base = BYTES / 2, .total = BYTES / 2, .data = other};
        struct mae_operation write = mae_operation_write(64, MAE_WIDTH_4, 7);
        mae_task_t *second, *batch;
        card.held = HELD;
        mae_task_t *first = receive(session, BYTES / 2, 0, room);
        MUST(mae_session_d2h(session, &d2h, &second) == MAE_OK);
        MUST(mae_session_poll(session, NULL) == MAE_OK);
        answer_held(&card);
        card.held = 0;
        MUST(mae_session_poll(session, NULL) == MAE_OK);
        MUST(mae_session_batch(session, 1, &write, 1, &batch) == MAE_OK);
        MUST(mae_session_wait(session, batch) == MAE_OK);
        MUST(mae_session_wait(session, second) == MAE_OK);
        MUST(mae_session_wait(session, first) == MAE_OK);
        MUST(all(room, BYTES / 2, FAKE_PATTERN) && all(other, BYTES / 2, FAKE_PATTERN));
        mae_task_free(batch);
        mae_task_free(first);
        mae_task_free(second);
        card.fake.used = used;
    }
    mae_session_free(session);
    fake_end(&card.fake);
}

/* Tests that a damaged chunk fails its transfer and erases buffer, keys and threads. */
static void test_damage(unsigned threads, int64_t chunk)
{
    struct card card;
    int before = count_threads();
    mae_session_t *session = begin(&card, threads, true);
    struct mae_task_result result;
    mae_task_t *task = send(session, &card, BYTES, 65536);
    MUST(mae_session_wait(session, task) == MAE_OK);
    mae_task_free(task);
    MUST(count_threads() == before + (int)threads - 1);
    card.damage = chunk;
    task = receive(session, BYTES, 65536, room);
    MUST(mae_session_wait(session, task) == MAE_E_POISONED);
    mae_task_get(task, &result);
    MUST(result.done && result.error == MAE_E_POISONED);
    MUST(all(room, BYTES, 0));
    MUST(strstr(mae_session_detail(session), "chunk tag: D2H"));
    MUST(all((const uint8_t *)session->banks, sizeof session->banks, 0));
    MUST(!session->pool.lanes && count_threads() == before);
    mae_task_free(task);
    MUST(mae_session_open(session, &task) == MAE_E_POISONED);
    mae_session_free(session);
    fake_end(&card.fake);
}

/* Tests that a timed-out request ends the encrypting threads. */
static void test_timeout(unsigned threads)
{
    struct card card;
    int before = count_threads();
    mae_session_t *session = begin(&card, threads, true);
    card.silent = true;
    mae_task_t *task = send(session, &card, BYTES, 0);
    MUST(mae_session_wait(session, task) == MAE_E_POISONED);
    MUST(strstr(mae_session_detail(session), "timeout: H2D"));
    MUST(!session->pool.lanes && count_threads() == before);
    mae_task_free(task);
    mae_session_free(session);
    fake_end(&card.fake);
}

/* Tests that transfers and sessions can be freed while threads decrypt their chunks. */
static void test_freed(unsigned threads)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct card card;
        uint8_t *data = malloc(BYTES);
        MUST(data);
        mae_session_t *session = begin(&card, threads, true);
        mae_task_t *task = receive(session, BYTES, 0, data);
        MUST(mae_session_poll(session, NULL) == MAE_OK);
        if (round % 2) {
            mae_task_free(task);
            MUST(all(data, BYTES, 0));
            free(data);
            for (int i = 0; i < 100 && session->tasks; i++)
                MUST(mae_session_poll(session, NULL) == MAE_OK);
            MUST(!session->tasks);
            mae_session_free(session);
        } else {
            mae_session_free(session);
            MUST(all(data, BYTES, 0));
            free(data);
        }
        fake_end(&card.fake);
    }
}

/* Tests that a forked child has no keys and cannot use the session; the parent continues. */
static void test_fork(unsigned threads)
{
    struct card card;
    int status;
    mae_session_t *session = begin(&card, threads, true);
    mae_task_t *task = receive(session, BYTES, 0, room), *none;
    MUST(mae_session_poll(session, NULL) == MAE_OK);
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        struct mae_h2d h2d = {.queue = 1, .total = BYTES, .data = plain};
        bool right = mae_session_h2d(session, &h2d, &none) == MAE_E_POISONED;
        right &= mae_session_wait(session, task) == MAE_E_POISONED && all(room, BYTES, 0);
        right &= all((const uint8_t *)session->banks, sizeof session->banks, 0);
        mae_task_free(task);
        mae_session_free(session);
        _exit(right ? 42 : 1);
    }
    MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
    child = fork();
    MUST(child >= 0);
    if (child == 0) {
        mae_task_free(task); /* the first call after the fork */
        _exit(all(room, BYTES, 0) && session->poisoned ? 42 : 1);
    }
    MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
    MUST(mae_session_wait(session, task) == MAE_OK && all(room, BYTES, FAKE_PATTERN));
    mae_task_free(task);
    mae_session_free(session);
    fake_end(&card.fake);
}

/* Tests that a child forked after the session failed, too, leaves the buffers to its parent. */
static void test_fork_of_a_failed_session(unsigned threads)
{
    struct card card;
    int status;
    mae_session_t *session = begin(&card, threads, true);
    card.silent = true;
    mae_task_t *task = send(session, &card, BYTES, 0);
    MUST(mae_session_wait(session, task) == MAE_E_POISONED);
    mae_task_free(task);
    unsigned before = card.fake.released;
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        mae_session_free(session);
        _exit(card.fake.released == before ? 42 : 1);
    }
    MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
    mae_session_free(session);
    MUST(card.fake.released > before);
    fake_end(&card.fake);
}

/* Tests key changes during transfers: each key epoch has a cipher context for each thread. */
static void test_rekey(unsigned threads)
{
    struct card card;
    mae_session_t *session = begin(&card, threads, true);
    mae_task_t *task;
    for (int epoch = 0; epoch < 3; epoch++) {
        size_t used = card.fake.used;
        for (uint32_t queue = 0; queue < session->caps.queues; queue++) {
            MUST(mae_session_rekey(session, queue, &task) == MAE_OK);
            MUST(mae_session_wait(session, task) == MAE_OK);
            mae_task_free(task);
        }
        task = send(session, &card, BYTES, 0);
        MUST(mae_session_wait(session, task) == MAE_OK);
        mae_task_free(task);
        task = receive(session, BYTES, 0, room);
        MUST(mae_session_wait(session, task) == MAE_OK && all(room, BYTES, FAKE_PATTERN));
        mae_task_free(task);
        card.fake.used = used;
    }
    mae_session_free(session);
    fake_end(&card.fake);
}

/* Tests that a session refuses more threads than it has cipher contexts. */
static void test_refused(void)
{
    struct card card;
    struct mae_outside outside;
    struct mae_session_config config = {.nonce_given = 1, .threads = SEAL_THREADS + 1};
    mae_session_t *session;
    MUST(fake_begin(&card.fake, (size_t)1 << 20));
    config.shared_base = (uintptr_t)card.fake.window;
    config.shared_bytes = card.fake.window_bytes;
    fake_outside(&card.fake, &outside);
    MUST(mae_session_begin(&outside, &config, &session) == MAE_E_ARGUMENT && !session);
    fake_end(&card.fake);
}

int main(int count, char **words)
{
    unsigned threads = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 4;
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (uint8_t)(i * 31 + i / 4096);
    MUST(count_threads() >= 1);
    test_transfers(threads, false);
    test_transfers(threads, true);
    test_rekey(threads);
    test_order(threads);
    for (int64_t chunk = 0; chunk < 16; chunk += 5)
        test_damage(threads, chunk);
    test_timeout(threads);
    if (threads > 1) { /* one thread opens all in the call that sees the answers */
        test_freed(threads);
        test_fork(threads);
        test_fork_of_a_failed_session(threads);
    }
    test_refused();
    return 0;
}

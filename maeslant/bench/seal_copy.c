/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the enclave driver's time to seal and open a chunk, beside a plain copy. Usage:
 * seal_copy BYTES ROUNDS THREADS. It prints nanoseconds, the median of rounds, in each of several
 * threads at once, each with memory of its own: "copy", "seal" (encipher through a stage of 4 KiB
 * into other memory, as driver/enclave/chunk.c does), "open" (the way back), "request" (seal a
 * chunk's request) and "answer" (open its response); each warm (the same memory again) and cold
 * (memory that was last touched 256 MiB ago).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../driver/enclave/state.h"

enum { ARENA = 256 << 20, ANSWER = 16, WORKS = 5, MOST = 16 };

static mae_session_t session; /* whose outside is this process's memory */

/* Holds the GCM keys and buffers of one measuring thread. */
static _Thread_local struct gcm *sealer, *opener;
static _Thread_local uint8_t stage[WIRE_STAGE], aad[WIRE_AAD], body[WIRE_TRANSFER], answer[ANSWER];
static _Thread_local uint8_t message[256];
static _Thread_local uint64_t sequence;

/* Holds what all measuring threads share: sizes and times[work][cold][thread * rounds + round]. */
static size_t bytes, rounds, threads;
static double *times[WORKS][2];
static pthread_barrier_t together;

static void begin(struct gcm *gcm, size_t aad_bytes)
{
    uint8_t iv[WIRE_MASK] = {1};
    sequence++;
    memcpy(iv + 4, &sequence, sizeof sequence);
    if (!gcm_begin(gcm, iv, aad, aad_bytes))
        exit(1);
}

static void copy(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, bytes);
}

static void seal(uint8_t *to, const uint8_t *from)
{
    uint8_t tag[WIRE_TAG];
    begin(sealer, WIRE_AAD);
    for (size_t at = 0; at < bytes; at += WIRE_STAGE) {
        size_t size = bytes - at < WIRE_STAGE ? bytes - at : WIRE_STAGE;
        gcm_update(sealer, stage, from + at, size);
        outside_store(&session, (uintptr_t)(to + at), stage, size);
    }
    gcm_tag(sealer, tag);
}

static void unseal(uint8_t *to, const uint8_t *from)
{
    static const uint8_t tag[WIRE_TAG]; /* it is wrong: that takes as long */
    begin(opener, WIRE_AAD);
    for (size_t at = 0; at < bytes; at += WIRE_STAGE) {
        size_t size = bytes - at < WIRE_STAGE ? bytes - at : WIRE_STAGE;
        outside_load(&session, (uintptr_t)(from + at), stage, size);
        gcm_update(opener, to + at, stage, size);
    }
    (void)gcm_check(opener, tag);
}

static void request(uint8_t *to, const uint8_t *from)
{
    (void)from;
    begin(sealer, WIRE_HEADER);
    gcm_update(sealer, message + WIRE_HEADER, body, sizeof body);
    gcm_tag(sealer, message + WIRE_HEADER + sizeof body);
    memcpy(to, message, WIRE_HEADER + sizeof body + WIRE_TAG);
}

static void response(uint8_t *to, const uint8_t *from)
{
    (void)to;
    memcpy(message, from, WIRE_HEADER + sizeof answer + WIRE_TAG);
    begin(opener, WIRE_HEADER);
    gcm_update(opener, answer, message + WIRE_HEADER, sizeof answer);
    (void)gcm_check(opener, message + WIRE_HEADER + sizeof answer);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const struct {
    const char *name;
    void (*work)(uint8_t *to, const uint8_t *from);
} works[WORKS] = {
    {"copy", copy}, {"seal", seal}, {"open", unseal}, {"request", request}, {"answer", response}};

/* Measures one kind of work, such as sealing a chunk, on warm or cold memory. */
static void time_work(size_t work, int cold, uint8_t *to, const uint8_t *from, size_t places,
                      size_t stride, double *result)
{
    size_t place = 0, skip = places / rounds > 1 ? places / rounds : 1;
    pthread_barrier_wait(&together);
    for (size_t round = 0; round < rounds + 8; round++) {
        if (cold) /* a walk over all of it: what was touched before is out of the caches */
            place = (place + skip) % places;
        double start = now();
        works[work].work(to + place * stride, from + place * stride);
        double spent = now() - start;
        if (round >= 8)
            result[round - 8] = spent;
    }
}

/* Measures all kinds of work in one thread; the main function of a thread. */
static void *run(void *user)
{
    static const uint8_t key[WIRE_KEY] = {7};
    size_t thread = (size_t)(uintptr_t)user, arena = ARENA / threads;
    size_t stride = (bytes + 4096 + 4095) / 4096 * 4096, places = arena / stride;
    uint8_t *from = aligned_alloc(4096, arena), *to = aligned_alloc(4096, arena);
    sealer = gcm_new(key, true);
    opener = gcm_new(key, false);
    if (!from || !to || !sealer || !opener || places == 0)
        exit(1);
    memset(from, 0x5a, arena);
    memset(to, 0, arena);
    for (size_t work = 0; work < WORKS; work++) {
        time_work(work, 0, to, from, places, stride, times[work][0] + thread * rounds);
        memset(to + arena / 2, 1, arena / 2); /* push the first places out */
        time_work(work, 1, to, from, places, stride, times[work][1] + thread * rounds);
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t started[MOST];
    if (count != 4)
        return 2;
    bytes = strtoull(words[1], NULL, 10);
    rounds = strtoull(words[2], NULL, 10);
    threads = strtoull(words[3], NULL, 10);
    if (bytes < 1 || rounds < 1 || threads < 1 || threads > MOST)
        return 2;
    size_t samples = threads * rounds;
    for (size_t i = 0; i < WORKS; i++)
        for (int cold = 0; cold < 2; cold++)
            if (!(times[i][cold] = calloc(samples, sizeof(double))))
                return 1;
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++)
        if (pthread_create(&started[i], NULL, run, (void *)(uintptr_t)i) != 0)
            return 1;
    for (size_t i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    for (size_t i = 0; i < WORKS; i++)
        for (int cold = 0; cold < 2; cold++) {
            qsort(times[i][cold], samples, sizeof(double), order);
            printf("%s_%s %.1f\n", works[i].name, cold ? "cold" : "warm",
                   times[i][cold][samples / 2]);
        }
    printf("library %s\n", gcm_library());
    return 0;
}

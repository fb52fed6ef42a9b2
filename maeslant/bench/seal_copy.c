/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_copy BYTES ROUNDS: nanoseconds, the median of rounds, that the enclave's side of a chunk takes
 * beside a plain copy: "copy", "seal" (encipher through a stage of 4 KiB into other memory, as
 * driver/enclave/chunk.c does), "open" (the way back), "request" (seal a chunk's request) and
 * "answer" (open its response); each warm (the same memory again) and cold (memory that was last
 * touched 256 MiB ago).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../driver/enclave/gcm.h"

enum { ARENA = 256 << 20, ANSWER = 16 };

static struct gcm *sealer, *opener;
static uint8_t stage[WIRE_STAGE], aad[WIRE_AAD], body[WIRE_TRANSFER], answer[ANSWER];
static uint8_t message[256];
static uint64_t sequence;

static void begin(struct gcm *gcm, size_t aad_bytes)
{
    uint8_t iv[WIRE_MASK] = {1};
    sequence++;
    memcpy(iv + 4, &sequence, sizeof sequence);
    if (!gcm_begin(gcm, iv, aad, aad_bytes))
        exit(1);
}

static void copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void seal(uint8_t *to, const uint8_t *from, size_t bytes)
{
    uint8_t tag[WIRE_TAG];
    begin(sealer, WIRE_AAD);
    for (size_t at = 0; at < bytes; at += WIRE_STAGE) {
        size_t size = bytes - at < WIRE_STAGE ? bytes - at : WIRE_STAGE;
        gcm_update(sealer, stage, from + at, size);
        memcpy(to + at, stage, size);
    }
    gcm_tag(sealer, tag);
}

static void unseal(uint8_t *to, const uint8_t *from, size_t bytes)
{
    static const uint8_t tag[WIRE_TAG]; /* it is wrong: that takes as long */
    begin(opener, WIRE_AAD);
    for (size_t at = 0; at < bytes; at += WIRE_STAGE) {
        size_t size = bytes - at < WIRE_STAGE ? bytes - at : WIRE_STAGE;
        memcpy(stage, from + at, size);
        gcm_update(opener, to + at, stage, size);
    }
    (void)gcm_check(opener, tag);
}

static void request(uint8_t *to, const uint8_t *from, size_t bytes)
{
    (void)from, (void)bytes;
    begin(sealer, WIRE_HEADER);
    gcm_update(sealer, message + WIRE_HEADER, body, sizeof body);
    gcm_tag(sealer, message + WIRE_HEADER + sizeof body);
    memcpy(to, message, WIRE_HEADER + sizeof body + WIRE_TAG);
}

static void response(uint8_t *to, const uint8_t *from, size_t bytes)
{
    (void)to, (void)bytes;
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

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*work)(uint8_t *to, const uint8_t *from, size_t bytes);
    } works[] = {{"copy", copy},
                 {"seal", seal},
                 {"open", unseal},
                 {"request", request},
                 {"answer", response}};
    static const uint8_t key[WIRE_KEY] = {7};
    if (count != 3)
        return 2;
    size_t bytes = strtoull(words[1], NULL, 10), rounds = strtoull(words[2], NULL, 10);
    size_t stride = (bytes + 4096 + 4095) / 4096 * 4096, places = ARENA / stride;
    uint8_t *from = aligned_alloc(4096, ARENA), *to = aligned_alloc(4096, ARENA);
    double *times = calloc(rounds, sizeof *times);
    sealer = gcm_new(key, true);
    opener = gcm_new(key, false);
    if (!from || !to || !times || !sealer || !opener || places == 0)
        return 1;
    memset(from, 0x5a, ARENA);
    memset(to, 0, ARENA);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        for (int cold = 0; cold < 2; cold++) {
            size_t place = 0, skip = places / rounds > 1 ? places / rounds : 1;
            for (size_t round = 0; round < rounds + 8; round++) {
                if (cold) /* a walk over all of it: what was touched before is out of the caches */
                    place = (place + skip) % places;
                uint8_t *target = to + place * stride;
                const uint8_t *source = from + place * stride;
                double start = now();
                works[i].work(target, source, bytes);
                double spent = now() - start;
                if (round >= 8)
                    times[round - 8] = spent;
            }
            if (!cold) /* push the first places out */
                memset(to + ARENA / 2, 1, ARENA / 2);
            qsort(times, rounds, sizeof *times, order);
            printf("%s_%s %.1f\n", works[i].name, cold ? "cold" : "warm", times[rounds / 2]);
        }
    }
    printf("library %s\n", gcm_library());
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Defines CHECK, which ends a C test at its first failure, and a random number generator. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maeslant.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

#define CHECK_ERROR(call, expected) \
    do { \
        mae_error_t got_ = (call), want_ = (expected); \
        if (got_ != want_) { \
            printf("%s:%d: %s\n  gave '%s' (%s)\n  not '%s'\n", __FILE__, __LINE__, #call, \
                   mae_strerror(got_), mae_error_detail(), mae_strerror(want_)); \
            exit(1); \
        } \
    } while (0)

#define CHECK_OK(call) CHECK_ERROR(call, MAE_OK)

#define RUN(test) \
    do { \
        printf("%s\n", #test); \
        fflush(stdout); \
        test(); \
    } while (0)

/* Holds a thread's state of the tests' random generator (xorshift64*), seeded by MAESLANT_SEED. */
static _Thread_local uint64_t random_state;

static inline uint64_t random_word(void)
{
    if (random_state == 0) {
        const char *seed = getenv("MAESLANT_SEED");
        random_state = (seed ? strtoull(seed, NULL, 0) : 1) * 0x9e3779b97f4a7c15 | 1;
    }
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1d;
}

static inline uint64_t random_below(uint64_t limit)
{
    return random_word() % limit;
}

static inline void random_bytes(void *memory, size_t bytes)
{
    uint8_t *at = memory;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(random_word() >> 24);
}

#endif

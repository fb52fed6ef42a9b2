/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer, on random inputs or on files. `standalone SEED COUNT` takes
 * random inputs, which begin like an input that reaches a session; `standalone FILE...` takes
 * files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 14, PREFIX = 58 };

static uint64_t state;

/* Returns the next byte of a pseudo-random sequence (Vigna's xorshift64*). */
static uint8_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint8_t)(state * UINT64_C(0x2545f4914f6cdd1d) >> 56);
}

/* Runs the fuzz target on the contents of a file. */
static int file(const char *name)
{
    static uint8_t data[1 << 20];
    FILE *source = fopen(name, "rb");
    if (!source)
        return 1;
    size_t size = fread(data, 1, sizeof data, source);
    fclose(source);
    return LLVMFuzzerTestOneInput(data, size);
}

int main(int count, char **words)
{
    static uint8_t data[MOST];
    if (count == 3 && words[1][0] >= '0' && words[1][0] <= '9') {
        uint64_t seed = strtoull(words[1], NULL, 10), runs = strtoull(words[2], NULL, 10);
        for (uint64_t run = 0; run < runs; run++) {
            state = (seed << 32 | run) * UINT64_C(0x9e3779b97f4a7c15) + 1;
            uint8_t mask = (uint8_t)(0xff >> next() % 6); /* small numbers are likelier */
            size_t size = PREFIX + (next() * 256u + next()) % (MOST - PREFIX);
            for (size_t i = 0; i < size; i++)
                data[i] = next() & (next() % 4 ? mask : 0xff);
            if (run % 8)
                memset(data + 1, 2, PREFIX - 1);
            if (LLVMFuzzerTestOneInput(data, size))
                return 1;
        }
        printf("%llu runs\n", (unsigned long long)runs);
        return 0;
    }
    for (int i = 1; i < count; i++)
        if (file(words[i]))
            return 1;
    return 0;
}

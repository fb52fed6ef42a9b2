/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a device busy for ever: a queue of CTR jobs over 16 MiB of its memory, never empty. Prints
 * "under way" once jobs complete; ends with an error of the device only.
 *
 *   card_load DEVICE
 */
#include <stdio.h>
#include <string.h>

#include "maeslant.h"

enum { JOBS = 16, BYTES = 1 << 20 };

static int fail(const char *what, mae_error_t error)
{
    printf("%s: %s: %s\n", what, mae_strerror(error), mae_error_detail());
    return 1;
}

int main(int argc, char **argv)
{
    static const uint8_t key[16] = {1, 2, 3};
    struct mae_completion done;
    uint32_t context = 0; /* one: its jobs end one after the other */
    void *memory;
    mae_dev_t *dev;
    if (argc != 2) {
        fprintf(stderr, "usage: card_load DEVICE\n");
        return 2;
    }
    mae_error_t error = mae_open(argv[1], &dev);
    if (error == MAE_OK) /* a busy host simulates slowly */
        error = mae_set_stall_timeout(dev, 30000000);
    if (error == MAE_OK)
        error = mae_mem_alloc(dev, (size_t)JOBS * BYTES, &memory);
    if (error == MAE_OK)
        error = mae_key_load(dev, 0, key, sizeof key);
    if (error == MAE_OK)
        error = mae_context_alloc(dev, &context);
    if (error != MAE_OK)
        return fail("starting", error);
    memset(memory, 0, (size_t)JOBS * BYTES);
    for (uint64_t next = 0, completed = 0;; next++) {
        uint8_t *place = (uint8_t *)memory + next % JOBS * BYTES;
        struct mae_job job = {.mode = MAE_CTR,
                              .context = context,
                              .init = 1,
                              .length = BYTES,
                              .src = place,
                              .dst = place};
        error = mae_submit(dev, &job);
        if (error != MAE_OK)
            return fail("submitting", error);
        for (size_t count = 0; next - completed >= JOBS - 1; completed += count) {
            error = mae_wait(dev, &done, 1, &count, UINT64_MAX);
            if (error == MAE_OK && count == 1)
                error = done.error;
            if (error != MAE_OK)
                return fail("waiting", error);
        }
        if (completed == 1) {
            puts("under way");
            fflush(stdout);
        }
    }
}

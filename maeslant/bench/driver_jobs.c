/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the C driver's own time for a job on the device "null:", which moves no data. Usage:
 * driver_jobs ROUNDS. Prints lines "name nanoseconds", the median of the rounds, each of 256 jobs
 * that are submitted and fetched again: "MODE_single" with a doorbell for each job, "MODE_many"
 * with one for all, and "copy_BYTES", a memcpy of as many bytes in each of 256 buffers, which lie
 * in the cache when all of them fit there.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "maeslant.h"

enum { JOBS = 256, MOST = 65536 };

static const size_t sizes[] = {16, 64, 256, 1024, 1504, 4096, 16384, MOST};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Ends the program if a call of the driver has failed. */
static void must(mae_error_t error)
{
    if (error == MAE_OK)
        return;
    fprintf(stderr, "%s: %s\n", mae_strerror(error), mae_error_detail());
    exit(1);
}

/* Prints the median time of a job or a copy over all rounds. */
static void print_median(const char *name, double *times, size_t rounds)
{
    qsort(times, rounds, sizeof *times, compare);
    printf("%s %.1f\n", name, times[rounds / 2] / JOBS);
}

/* Submits all jobs to the null device and fetches their results. */
static void run_jobs(mae_dev_t *dev, const struct mae_job *jobs, bool many)
{
    struct mae_completion list[JOBS];
    size_t count;
    if (many)
        must(mae_submit_many(dev, jobs, JOBS, &count));
    for (size_t i = 0; !many && i < JOBS; i++)
        must(mae_submit(dev, &jobs[i]));
    must(mae_poll(dev, list, JOBS, &count));
    if (count != JOBS) {
        fprintf(stderr, "only %zu of %d jobs completed\n", count, JOBS);
        exit(1);
    }
}

/* Measures the driver's time for jobs of a mode, each a whole message of 1,024 bytes. */
static void time_mode(const char *name, mae_mode_t mode, double *times, size_t rounds)
{
    mae_dev_t *dev;
    struct mae_job jobs[JOBS] = {0};
    uint8_t key[16] = {1}, tweak_key[16] = {2}, *memory;
    uint32_t slot, tweak_slot, contexts[64];
    char label[32];
    must(mae_open("null:", &dev));
    must(mae_mem_alloc(dev, 1024, (void **)&memory));
    must(mae_key_alloc(dev, key, sizeof key, &slot));
    must(mae_key_alloc(dev, tweak_key, sizeof tweak_key, &tweak_slot));
    for (size_t i = 0; i < 64; i++)
        must(mae_context_alloc(dev, &contexts[i]));
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = (struct mae_job){
            .mode = mode,
            .key_slot = slot,
            .tweak_slot = tweak_slot,
            .context = contexts[i % 64],
            .init = 1,
            .length = 1024,
            .src = memory,
            .dst = memory,
        };
    for (int many = 0; many < 2; many++) {
        for (size_t round = 0; round < rounds; round++) {
            double start = now_ns();
            run_jobs(dev, jobs, many);
            times[round] = now_ns() - start;
        }
        snprintf(label, sizeof label, "%s_%s", name, many ? "many" : "single");
        print_median(label, times, rounds);
    }
    mae_close(dev);
}

int main(int argc, char **argv)
{
    size_t rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (rounds < 1 || rounds > 1000000) {
        fprintf(stderr, "use: driver_jobs ROUNDS (1 to 1000000)\n");
        return 2;
    }
    double *times = calloc(rounds, sizeof *times);
    uint8_t *from = calloc(JOBS, MOST), *to = calloc(JOBS, MOST);
    if (!times || !from || !to) {
        fprintf(stderr, "not enough memory\n");
        return 1;
    }
    time_mode("ctr", MAE_CTR, times, rounds);
    time_mode("xts", MAE_XTS, times, rounds);
    memset(from, 1, (size_t)JOBS * MOST);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char label[32];
        for (size_t round = 0; round < rounds; round++) {
            double start = now_ns();
            for (size_t job = 0; job < JOBS; job++)
                memcpy(to + job * sizes[i], from + job * sizes[i], sizes[i]);
            __asm__ volatile("" : : "r"(to) : "memory"); /* the copies are not left out */
            times[round] = now_ns() - start;
        }
        snprintf(label, sizeof label, "copy_%zu", sizes[i]);
        print_median(label, times, rounds);
    }
    free(times), free(from), free(to);
    return 0;
}

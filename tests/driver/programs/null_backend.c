/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the driver's own CPU time for a job on the backend "null", which moves no data. */
#include <time.h>

#include "generated/mae_stream_card_regs.h"
#include "mock/check.h"
#include "mock/toy_modes.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void capabilities(void)
{
    mae_dev_t *dev;
    struct mae_caps caps;
    struct mae_stats stats;
    uint32_t word;
    CHECK_ERROR(mae_open("null:x", &dev), MAE_E_URI);
    CHECK_OK(mae_open("null:", &dev));
    CHECK_OK(mae_get_caps(dev, &caps));
    CHECK(strcmp(caps.backend, "null") == 0 && caps.kind == MAE_KIND_STREAM && !caps.simulated);
    CHECK(caps.modes == unauthenticated_modes() && caps.directions == 3 &&
          caps.max_key_bytes == 32);
    CHECK_ERROR(mae_get_stats(dev, &stats), MAE_E_UNSUPPORTED);
    CHECK_ERROR(mae_reset_stats(dev), MAE_E_UNSUPPORTED);
    CHECK_OK(mae_run_clocks(dev, 1000));
    static const uint32_t beyond[] = {sizeof(mae_stream_card_t), 0x80000000, UINT32_MAX - 3};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        CHECK_ERROR(mae_register_read(dev, beyond[i], &word), MAE_E_BUS);
        CHECK_ERROR(mae_register_write(dev, beyond[i], 1), MAE_E_BUS);
    }
    mae_close(dev);
}

static void jobs_complete_at_once_and_touch_nothing(void)
{
    mae_dev_t *dev;
    uint8_t key[16] = {1}, *memory;
    struct mae_completion list[256];
    struct mae_job job = {.mode = MAE_CTR, .init = 1, .length = 4096};
    size_t count;
    CHECK_OK(mae_open("null:", &dev));
    CHECK_OK(mae_mem_alloc(dev, 4096, (void **)&memory));
    memset(memory, 0x5a, 4096);
    CHECK_OK(mae_key_alloc(dev, key, 16, &job.key_slot));
    CHECK_OK(mae_context_alloc(dev, &job.context));
    job.src = job.dst = memory;
    double start = seconds();
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 256; i++)
            CHECK_OK(mae_submit(dev, &job));
        CHECK_ERROR(mae_submit(dev, &job), MAE_E_FULL);
        CHECK_OK(mae_poll(dev, list, 256, &count));
        CHECK(count == 256 && list[255].error == MAE_OK && list[255].bytes == 4096);
    }
    printf("  %.0f ns a job\n", (seconds() - start) * 1e9 / 256000);
    for (int i = 0; i < 4096; i++)
        CHECK(memory[i] == 0x5a);
    mae_close(dev);
}

static void messages_pass(void)
{
    mae_dev_t *dev;
    mae_stream_t *stream;
    static uint8_t data[1 << 20];
    uint8_t key[32] = {1}, iv[16] = {2};
    size_t taken, given;
    CHECK_OK(mae_open("null:", &dev));
    CHECK_OK(mae_crypt(dev, MAE_XTS, MAE_ENCRYPT, key, 32, iv, data, data, sizeof data));
    CHECK_OK(mae_stream_begin(dev, MAE_CBC, MAE_ENCRYPT, key, 32, iv, &stream));
    CHECK_OK(mae_stream_update(stream, data, sizeof data, &taken, data, sizeof data, &given));
    CHECK(taken > 0);
    mae_stream_free(stream);
    mae_close(dev);
}

static void several_devices_at_once(void)
{
    mae_dev_t *list[8];
    uint8_t key[16] = {1}, iv[16] = {2}, data[100];
    for (int i = 0; i < 8; i++)
        CHECK_OK(mae_open("null:", &list[i]));
    for (int i = 0; i < 8; i++)
        CHECK_OK(mae_crypt(list[i], MAE_CTR, MAE_ENCRYPT, key, 16, iv, data, data, 100));
    for (int i = 0; i < 8; i++)
        mae_close(list[i]);
}

int main(void)
{
    RUN(capabilities);
    RUN(jobs_complete_at_once_and_touch_nothing);
    RUN(messages_pass);
    RUN(several_devices_at_once);
    return 0;
}

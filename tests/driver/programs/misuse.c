/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the driver refuses illegal arguments before it accesses the device. */
#include "mock/card.h"

static const uint8_t other_key[16] = {1};

static void refused_jobs(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory, *outside = malloc(64);
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    const struct mae_job good = simple_job(memory, 32);
    struct mae_segment list[2] = {{memory, 16}, {memory + 16, 8}};
    struct mae_job job;
    struct mae_completion done;
    size_t count;
#define REFUSED(change, expected) \
    do { \
        job = good; \
        change; \
        CHECK_ERROR(mae_submit(dev, &job), expected); \
    } while (0)
    REFUSED(job.mode = 31, MAE_E_MODE);
    REFUSED(job.mode = MAE_CMAC, MAE_E_MODE); /* the card has GCM only */
    REFUSED(job.mode = MAE_COPY, MAE_E_MODE);
    REFUSED(job.direction = 2, MAE_E_MODE);
    REFUSED(job.key_slot = 8, MAE_E_SLOT);
    REFUSED(job.key_slot = 1, MAE_E_KEY);
    REFUSED((job.mode = MAE_XTS, job.tweak_slot = 1), MAE_E_KEY);
    REFUSED((job.mode = MAE_XTS, job.tweak_slot = MAE_SLOT_NONE), MAE_E_SLOT);
    REFUSED((job.mode = MAE_XTS, job.tweak_slot = job.key_slot), MAE_E_KEY);
    CHECK_OK(mae_key_load(dev, 2, other_key, 16));
    REFUSED((job.mode = MAE_XTS, job.tweak_slot = 2, job.length = 15), MAE_E_LENGTH);
    REFUSED(job.context = 64, MAE_E_CONTEXT);
    REFUSED(job.length = 0, MAE_E_LENGTH);
    REFUSED(job.length = (uint64_t)1 << 32, MAE_E_LENGTH);
    REFUSED((job.mode = MAE_ECB, job.length = 17), MAE_E_LENGTH);
    REFUSED((job.mode = MAE_CBC, job.length = 8), MAE_E_LENGTH);
    REFUSED((job.mode = MAE_PCBC, job.length = 31), MAE_E_LENGTH);
    REFUSED(job.src = NULL, MAE_E_ARGUMENT);
    REFUSED(job.dst = NULL, MAE_E_ARGUMENT);
    REFUSED(job.src = outside, MAE_E_NOT_MAPPED);
    REFUSED(job.dst = outside, MAE_E_NOT_MAPPED);
    REFUSED(job.src = memory + 4096 - 31, MAE_E_NOT_MAPPED);
    REFUSED(job.src = memory - 1, MAE_E_NOT_MAPPED);
    REFUSED((job.src_list = list, job.src_entries = 2), MAE_E_LENGTH);
    REFUSED((job.src_list = list, job.src_entries = 0), MAE_E_ARGUMENT);
    REFUSED((job.src_list = list, job.src_entries = 65536), MAE_E_ARGUMENT);
    list[1].bytes = 17;
    REFUSED((job.dst_list = list, job.dst_entries = 2), MAE_E_LENGTH);
    list[1] = (struct mae_segment){NULL, 16};
    REFUSED((job.dst_list = list, job.dst_entries = 2), MAE_E_ARGUMENT);
    list[1] = (struct mae_segment){outside, 16};
    REFUSED((job.dst_list = list, job.dst_entries = 2), MAE_E_NOT_MAPPED);
    CHECK_ERROR(mae_submit(dev, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_submit(NULL, &good), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_submit_many(NULL, &good, 1, &count), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_submit_many(dev, NULL, 1, &count), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_submit_many(dev, &good, 1, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_poll(dev, NULL, 1, &count), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_poll(dev, &done, 1, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_wait(NULL, &done, 1, &count, 1), MAE_E_ARGUMENT);
    CHECK(mae_in_flight(dev) == 0 && mock->sub_head == 0); /* nothing reached the device */
    mae_close(dev);
    free(outside);
}

static void what_is_in_use_stays(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory, *mine = aligned_alloc(4096, 4096);
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_segment list[1] = {{mine, 32}};
    struct mae_completion done;
    size_t count;
    CHECK_OK(mae_mem_map(dev, mine, 4096, true));
    CHECK_ERROR(mae_mem_map(dev, mine + 4000, 200, true), MAE_E_BUSY); /* twice */
    struct mae_job job = simple_job(memory, 32);
    job.src_list = list;
    job.src_entries = 1;
    job.context = 3;
    CHECK_OK(mae_submit(dev, &job));
    CHECK_ERROR(mae_key_load(dev, 0, key, 16), MAE_E_BUSY);
    CHECK_ERROR(mae_key_erase(dev, 0), MAE_E_BUSY);
    CHECK_ERROR(mae_context_free(dev, 3), MAE_E_BUSY);
    CHECK_ERROR(mae_mem_unmap(dev, mine), MAE_E_BUSY);
    CHECK_ERROR(mae_mem_free(dev, memory), MAE_E_BUSY);
    CHECK_ERROR(mae_mem_unmap(dev, memory), MAE_E_NOT_MAPPED); /* it is mae_mem_alloc's */
    CHECK_ERROR(mae_mem_free(dev, mine), MAE_E_NOT_MAPPED);
    CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
    CHECK_OK(done.error);
    CHECK_OK(mae_context_free(dev, 3));
    CHECK_ERROR(mae_context_free(dev, 3), MAE_E_CONTEXT);
    CHECK_ERROR(mae_submit(dev, &job), MAE_E_CONTEXT);
    CHECK_OK(mae_key_erase(dev, 0));
    CHECK_OK(mae_mem_unmap(dev, mine));
    CHECK_ERROR(mae_mem_unmap(dev, mine), MAE_E_NOT_MAPPED);
    CHECK_OK(mae_mem_map(dev, mine, 4096, false)); /* read-only: not for results */
    job = simple_job(mine, 32);
    CHECK_OK(mae_key_load(dev, 0, key, 16));
    CHECK_ERROR(mae_submit(dev, &job), MAE_E_NOT_MAPPED);
    CHECK_OK(mae_mem_free(dev, memory));
    CHECK_ERROR(mae_mem_map(dev, NULL, 4096, true), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_mem_map(dev, mine, 0, true), MAE_E_ARGUMENT);
    mae_close(dev);
    free(mine);
}

static void a_tweak_key_is_in_use_too(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_job job = simple_job(memory, 32);
    struct mae_completion done;
    size_t count;
    job.mode = MAE_XTS;
    job.tweak_slot = 4;
    CHECK_OK(mae_key_load(dev, 4, key, 16));
    CHECK_OK(mae_submit(dev, &job));
    CHECK_ERROR(mae_key_erase(dev, 4), MAE_E_BUSY);
    CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
    CHECK_OK(mae_key_erase(dev, 4));
    mae_close(dev);
}

static void many_mappings(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory, *area = aligned_alloc(4096, 40 * 4096);
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    bool mapped[40] = {false};
    struct mae_completion done;
    size_t count;
    for (int round = 0; round < 2000; round++) {
        uint64_t page = random_below(40);
        uint8_t *at = area + 4096 * page;
        if (random_below(2)) {
            CHECK_ERROR(mae_mem_map(dev, at, 4096, true), mapped[page] ? MAE_E_BUSY : MAE_OK);
            mapped[page] = true;
        } else {
            CHECK_ERROR(mae_mem_unmap(dev, at), mapped[page] ? MAE_OK : MAE_E_NOT_MAPPED);
            mapped[page] = false;
        }
        page = random_below(40);
        struct mae_job job = simple_job(area + 4096 * page + 100, 16);
        mae_error_t error = mae_submit(dev, &job);
        CHECK_ERROR(error, mapped[page] ? MAE_OK : MAE_E_NOT_MAPPED);
        if (error == MAE_OK)
            CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
    }
    mae_close(dev);
    free(area);
}

/* Tests that the driver refuses XTS keys with two equal halves (FIPS 140-3 IG C.I). */
static void equal_keys_of_xts(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t keys[64] = {0}, memory[32] = {0};
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    for (size_t half = 16; half <= 32; half += 8) {
        random_bytes(keys, half);
        memcpy(keys + half, keys, half);
        CHECK_ERROR(mae_crypt(dev, MAE_XTS, MAE_ENCRYPT, keys, 2 * half, key, memory, memory, 32),
                    MAE_E_KEY);
        keys[2 * half - 1] ^= 1;
        CHECK_OK(mae_crypt(dev, MAE_XTS, MAE_ENCRYPT, keys, 2 * half, key, memory, memory, 32));
    }
    mae_close(dev);
}

static void a_copy_card(void)
{
    struct mock *mock = mock_new(MAE_KIND_COPY);
    mae_dev_t *dev;
    struct mae_caps caps;
    static uint8_t src[300000], dst[300000];
    uint32_t slot;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_get_caps(dev, &caps));
    CHECK(caps.kind == MAE_KIND_COPY && caps.key_slots == 0);
    random_bytes(src, sizeof src);
    CHECK_OK(mae_crypt(dev, MAE_COPY, MAE_ENCRYPT, NULL, 0, NULL, src, dst, sizeof src));
    CHECK(memcmp(src, dst, sizeof src) == 0);
    CHECK_ERROR(mae_key_alloc(dev, key, 16, &slot), MAE_E_SLOT);
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, key, src, dst, 16), MAE_E_SLOT);
    mae_close(dev);
}

int main(void)
{
    RUN(refused_jobs);
    RUN(what_is_in_use_stays);
    RUN(a_tweak_key_is_in_use_too);
    RUN(many_mappings);
    RUN(equal_keys_of_xts);
    RUN(a_copy_card);
    return 0;
}

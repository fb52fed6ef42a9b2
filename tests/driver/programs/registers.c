/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the driver's register accesses on a mock device: addresses, order and values. */
#include "mock/mock.h"

static size_t at; /* in the mock's log */

static void expect(const struct mock *mock, uint32_t write, uint32_t offset, uint32_t value)
{
    const struct mock_access *access = &mock->log[at];
    if (at >= mock->log_count || access->write != write || access->offset != offset ||
        (write && access->value != value)) {
        printf("access %zu: %s %03x %08x, expected %s %03x %08x\n", at,
               access->write ? "write" : "read", access->offset, access->value,
               write ? "write" : "read", offset, value);
        exit(1);
    }
    at++;
}

#define EXPECT_WRITE(offset, value) expect(mock, MOCK_WRITE, offset, value)
#define EXPECT_READ(offset) expect(mock, MOCK_READ, offset, 0)
#define EXPECT_NOTHING_MORE() CHECK(at == mock->log_count)

static void expect_probe(const struct mock *mock)
{
    at = 0;
    EXPECT_READ(0x00);
    EXPECT_READ(0x04);
    EXPECT_READ(0x08);
    EXPECT_READ(0x0c);
    EXPECT_READ(0x10);
}

static void opening_and_closing_a_card(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    uint64_t iova = mock->regions[0].iova;
    expect_probe(mock);
    EXPECT_WRITE(0x20, 0);
    EXPECT_READ(0x24);
    EXPECT_WRITE(0x80, (uint32_t)iova);
    EXPECT_WRITE(0x84, (uint32_t)(iova >> 32));
    EXPECT_WRITE(0x88, 8);
    EXPECT_WRITE(0x8c, 0);
    EXPECT_WRITE(0xa0, (uint32_t)iova + 256 * 64);
    EXPECT_WRITE(0xa4, (uint32_t)(iova >> 32));
    EXPECT_WRITE(0xa8, 8);
    EXPECT_WRITE(0xac, 0);
    EXPECT_WRITE(0x2c, 3);
    EXPECT_WRITE(0x28, 3);
    EXPECT_WRITE(0x20, 1);
    EXPECT_NOTHING_MORE();
    CHECK(iova % 64 == 0);
    mae_close(dev);
    EXPECT_WRITE(0x28, 0);
    EXPECT_WRITE(0x20, 0);
    EXPECT_READ(0x24);
    EXPECT_WRITE(0x20, 1u << 30); /* every key goes */
    EXPECT_READ(0x24);
    EXPECT_NOTHING_MORE();
    CHECK(mock->closed == 1 && mock->stopped == 1);
}

static void closing_with_jobs_in_flight(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    void *memory;
    uint8_t key[16] = {1};
    mock->hang = true;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_mem_alloc(dev, 64, &memory));
    CHECK_OK(mae_key_load(dev, 0, key, 16));
    struct mae_job job = {.mode = MAE_ECB, .init = 1, .length = 64, .src = memory, .dst = memory};
    CHECK_OK(mae_context_alloc(dev, &job.context));
    CHECK_OK(mae_submit(dev, &job));
    at = mock->log_count;
    mae_close(dev);
    EXPECT_WRITE(0x28, 0);
    EXPECT_WRITE(0x20, 1 | 1u << 8); /* abort */
    EXPECT_READ(0x24);               /* halted */
    EXPECT_WRITE(0x20, 0);
    EXPECT_READ(0x24);
    EXPECT_WRITE(0x20, 1u << 30);
    EXPECT_READ(0x24);
    EXPECT_NOTHING_MORE();
}

static void keys_of_every_size(void)
{
    uint8_t key[32];
    for (int i = 0; i < 32; i++)
        key[i] = (uint8_t)i;
    for (uint32_t bytes = 16; bytes <= 32; bytes += 8) {
        struct mock *mock = mock_new(MAE_KIND_STREAM);
        mae_dev_t *dev;
        CHECK_OK(mock_open(mock, &dev));
        at = mock->log_count;
        CHECK_OK(mae_key_load(dev, 5, key, bytes));
        for (uint32_t i = 0; i < bytes / 4; i++) /* byte 0 in bits 7:0 */
            EXPECT_WRITE(0x40 + 4 * i, 0x03020100 + 0x04040404 * i);
        EXPECT_WRITE(0x60, 1u << 31 | (bytes / 8 - 2) << 8 | 5);
        EXPECT_READ(0x64);
        EXPECT_NOTHING_MORE();
        CHECK_OK(mae_key_erase(dev, 5));
        EXPECT_WRITE(0x60, 1u << 31 | 1 << 16 | 5);
        EXPECT_READ(0x64);
        EXPECT_NOTHING_MORE();
        mae_close(dev);
    }
}

static void refused_keys(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    uint8_t key[32] = {0};
    uint32_t slot;
    mock->key_sizes = 1; /* AES-128 only */
    CHECK_OK(mock_open(mock, &dev));
    at = mock->log_count;
    CHECK_ERROR(mae_key_load(dev, 8, key, 16), MAE_E_SLOT);
    CHECK_ERROR(mae_key_load(dev, 0, key, 15), MAE_E_KEY);
    CHECK_ERROR(mae_key_load(dev, 0, key, 0), MAE_E_KEY);
    CHECK_ERROR(mae_key_load(dev, 0, key, 24), MAE_E_KEY);
    CHECK_ERROR(mae_key_load(dev, 0, key, 32), MAE_E_KEY);
    CHECK_ERROR(mae_key_load(dev, 0, NULL, 16), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_key_alloc(dev, key, 16, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_key_load(NULL, 0, key, 16), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_key_erase(dev, 8), MAE_E_SLOT);
    EXPECT_NOTHING_MORE(); /* none of them reached the device */
    for (uint32_t i = 0; i < 8; i++) {
        CHECK_OK(mae_key_alloc(dev, key, 16, &slot));
        CHECK(slot == i);
    }
    CHECK_ERROR(mae_key_alloc(dev, key, 16, &slot), MAE_E_SLOT);
    CHECK_OK(mae_key_erase(dev, 3));
    CHECK_OK(mae_key_alloc(dev, key, 16, &slot));
    CHECK(slot == 3);
    mock->words[0x64 / 4] = MAE_STREAM_CARD__KEY_STATUS__ERROR__BAD_KEY << 8;
    CHECK_ERROR(mae_key_load(dev, 0, key, 16), MAE_E_KEY);
    mock->words[0x64 / 4] = MAE_STREAM_CARD__KEY_STATUS__BUSY_bm;
    CHECK_ERROR(mae_key_load(dev, 0, key, 16), MAE_E_TIMEOUT);
    mae_close(dev);
}

static void a_job_is_a_descriptor_and_a_doorbell(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    void *memory;
    uint8_t key[16] = {1};
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_mem_alloc(dev, 1000, &memory));
    CHECK_OK(mae_key_load(dev, 2, key, 16));
    CHECK_OK(mae_key_load(dev, 3, key, 16));
    struct mae_job job = {.mode = MAE_XTS,
                          .direction = MAE_DECRYPT,
                          .key_slot = 2,
                          .tweak_slot = 3,
                          .init = 1,
                          .length = 100,
                          .src = memory,
                          .dst = (uint8_t *)memory + 500};
    random_bytes(job.iv, 16);
    CHECK_OK(mae_context_alloc(dev, &job.context));
    CHECK_OK(mae_context_alloc(dev, &job.context));
    at = mock->log_count;
    CHECK_OK(mae_submit(dev, &job));
    EXPECT_WRITE(0x8c, 1);
    EXPECT_NOTHING_MORE();
    const struct mae_ring_desc *desc = &mock->queue[0];
    CHECK(desc->op == 6 && desc->context_id == 1 && desc->key_slot == 2 && desc->tweak_slot == 3);
    CHECK(desc->flags == (MAE_DESC_DECRYPT | MAE_DESC_INIT | MAE_DESC_IRQ));
    CHECK(desc->length == 100 && desc->dst == desc->src + 500 && desc->dst != (uintptr_t)job.dst);
    CHECK(memcmp(desc->iv, job.iv, 16) == 0);
    struct mae_completion done;
    size_t count;
    CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
    CHECK(count == 1 && done.error == MAE_OK && done.bytes == 100 && done.context == 1);
    EXPECT_WRITE(0x2c, 1); /* the interrupt is acknowledged before the device is waited for */
    EXPECT_NOTHING_MORE();
    job.init = 0; /* goes on: no IV travels */
    job.mode = MAE_CBC;
    job.direction = MAE_ENCRYPT;
    job.length = 96;
    CHECK_OK(mae_submit(dev, &job));
    EXPECT_WRITE(0x8c, 2);
    CHECK(mock->queue[0].flags == MAE_DESC_IRQ && mock->queue[0].tweak_slot == 0);
    for (int i = 0; i < 16; i++)
        CHECK(mock->queue[0].iv[i] == 0);
    mae_close(dev);
}

static void expect_block_in(const struct mock *mock, const uint32_t *words)
{
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_WRITE(0x80 + 4 * i, words[i]);
}

static void expect_block_out(const struct mock *mock)
{
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_READ(0x90 + 4 * i);
}

static void a_job_of_the_peripheral(void)
{
    struct mock *mock = mock_new(MAE_KIND_PERIPHERAL);
    mae_dev_t *dev;
    uint8_t key[16] = {1}, data[40], want[40];
    CHECK_OK(mock_open(mock, &dev));
    expect_probe(mock);
    EXPECT_WRITE(0x20, 1u << 30); /* begins by wiping */
    EXPECT_READ(0x24);
    EXPECT_NOTHING_MORE();
    CHECK_OK(mae_key_load(dev, 2, key, 16));
    struct mae_job job = {
        .mode = MAE_CTR, .key_slot = 2, .init = 1, .length = 40, .src = data, .dst = data};
    for (int i = 0; i < 16; i++)
        job.iv[i] = (uint8_t)i;
    random_bytes(data, sizeof data);
    mock_reference(MAE_CTR, MAE_ENCRYPT, key, 16, job.iv, data, want, 40);
    uint32_t words[12] = {0};
    memcpy(words, data, 40);
    CHECK_OK(mae_context_alloc(dev, &job.context));
    at = mock->log_count;
    CHECK_OK(mae_submit(dev, &job));
    for (uint32_t i = 0; i < 4; i++)
        EXPECT_WRITE(0x70 + 4 * i, 0x03020100 + 0x04040404 * i);
    EXPECT_WRITE(0x30, 40);
    EXPECT_WRITE(0x20, 1u << 31 | 2 << 8 | 1 << 6 | 5);
    EXPECT_READ(0x24); /* was it taken? */
    /* Two blocks go in before the first comes out. */
    expect_block_in(mock, words);
    expect_block_in(mock, words + 4);
    expect_block_out(mock);
    expect_block_in(mock, words + 8);
    expect_block_out(mock);
    expect_block_out(mock);
    EXPECT_READ(0x24); /* did it go well? */
    EXPECT_NOTHING_MORE();
    CHECK(memcmp(data, want, 40) == 0);
    struct mae_completion done;
    size_t count;
    CHECK_OK(mae_poll(dev, &done, 1, &count));
    CHECK(count == 1 && done.error == MAE_OK && done.bytes == 40);
    mock->key_valid[2] = false; /* the device loses the key: the error comes with the job */
    CHECK_OK(mae_submit(dev, &job));
    CHECK_OK(mae_wait(dev, &done, 1, &count, 0));
    CHECK(count == 1 && done.error == MAE_E_KEY && done.bytes == 0);
    mae_close(dev);
}

/* Tests that the driver loads no key while a card still erases its memories after reset. */
static void a_card_that_is_still_erasing(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    uint8_t key[16] = {1};
    mock->erasing = 5;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_key_load(dev, 0, key, 16));
    CHECK(mock->erasing == 0 && mock->key_valid[0]);
    mae_close(dev);
    mock = mock_new(MAE_KIND_STREAM);
    mock->erasing = UINT32_MAX;
    CHECK_ERROR(mock_open(mock, &dev), MAE_E_TIMEOUT);
}

/* Tests that closing a card wipes its keys even if the card stays busy with a bus burst. */
static void a_card_that_stays_busy(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    uint8_t key[16] = {1};
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_key_load(dev, 0, key, 16));
    mock->words[CARD(status) / 4] |= MAE_STREAM_CARD__STATUS__BUSY_bm;
    at = mock->log_count;
    mae_close(dev);
    bool wiped = false;
    for (size_t i = at; i < mock->log_count; i++)
        wiped |= mock->log[i].write && mock->log[i].offset == CARD(ctrl) &&
                 mock->log[i].value & MAE_STREAM_CARD__CTRL__WIPE_bm;
    CHECK(wiped && !mock->key_valid[0]);
}

static void devices_that_are_not_ours(void)
{
    mae_dev_t *dev;
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mock->words[CARD(version) / 4] = 1 << 16; /* no identity */
    CHECK_ERROR(mae_attach(&mock_ops, mock, "mock", &dev), MAE_E_NOT_OURS);
    CHECK(dev == NULL && mock->closed == 1);
    mock = mock_new(MAE_KIND_STREAM);
    mock->words[CARD(id) / 4] = 0x4d414553;
    mock->words[CARD(version) / 4] = 2 << 16;
    CHECK_ERROR(mae_attach(&mock_ops, mock, "mock", &dev), MAE_E_NOT_OURS);
    mock = mock_new(MAE_KIND_STREAM);
    mock->contexts = 0;
    CHECK_ERROR(mock_open(mock, &dev), MAE_E_DEVICE);
    mock = mock_new(MAE_KIND_STREAM);
    mock->slots = 65;
    CHECK_ERROR(mock_open(mock, &dev), MAE_E_DEVICE);
    CHECK(mock->closed == 1);
}

/* Opens a mock device, runs a job and closes it; returns the first error. */
static mae_error_t life(struct mock *mock, mae_dev_t **dev)
{
    uint8_t key[16] = {7}, iv[16] = {9}, data[100];
    struct mae_completion done;
    struct mae_job job = {.mode = MAE_CTR, .init = 1, .length = 100};
    void *memory;
    size_t count;
    random_bytes(data, sizeof data);
    MAE_TRY(mock_open(mock, dev));
    MAE_TRY(mae_key_alloc(*dev, key, 16, &job.key_slot));
    MAE_TRY(mae_mem_alloc(*dev, 100, &memory));
    MAE_TRY(mae_context_alloc(*dev, &job.context));
    job.src = job.dst = memory;
    MAE_TRY(mae_submit(*dev, &job));
    MAE_TRY(mae_wait(*dev, &done, 1, &count, 1000));
    MAE_TRY(done.error);
    MAE_TRY(mae_context_free(*dev, job.context));
    MAE_TRY(mae_crypt(*dev, MAE_CBC, MAE_ENCRYPT, key, 16, iv, data, data, 96));
    MAE_TRY(mae_key_erase(*dev, job.key_slot));
    return mae_mem_free(*dev, memory);
}

/* Tests that, if any register access fails, the driver returns an error and can be closed. */
static void every_access_may_fail(mae_kind_t kind)
{
    int64_t clean = 0;
    for (int64_t number = -1; number < clean || clean == 0; number++) {
        struct mock *mock = mock_new(kind);
        mae_dev_t *dev = NULL;
        mock->fail_access = number;
        mae_error_t error = life(mock, &dev);
        if (number < 0) {
            CHECK_OK(error);
            clean = mock->accesses;
        } else if (error == MAE_OK) {
            /* Only the last of a message's clean-up goes unreported: the key's erasure. */
            CHECK(number > clean - 8);
        } else {
            CHECK(error == MAE_E_BUS || error == MAE_E_DEAD);
        }
        mae_close(dev);
        CHECK(mock->closed == 1);
    }
    CHECK(clean > 30);
}

static void every_access_may_fail_on_a_card(void)
{
    every_access_may_fail(MAE_KIND_STREAM);
}

static void every_access_may_fail_on_a_peripheral(void)
{
    every_access_may_fail(MAE_KIND_PERIPHERAL);
}

int main(void)
{
    RUN(opening_and_closing_a_card);
    RUN(closing_with_jobs_in_flight);
    RUN(keys_of_every_size);
    RUN(refused_keys);
    RUN(a_job_is_a_descriptor_and_a_doorbell);
    RUN(a_job_of_the_peripheral);
    RUN(a_card_that_is_still_erasing);
    RUN(a_card_that_stays_busy);
    RUN(devices_that_are_not_ours);
    RUN(every_access_may_fail_on_a_card);
    RUN(every_access_may_fail_on_a_peripheral);
    return 0;
}

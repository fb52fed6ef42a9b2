/* SPDX-License-Identifier: Apache-2.0 */
/* Tests single jobs of authenticated messages, and the register-level calls for firmware. */
#include "mock/aead_case.h"

static mae_error_t run(mae_dev_t *dev, const struct mae_job *job, struct mae_completion *done)
{
    size_t count;
    MAE_TRY(mae_submit(dev, job));
    MAE_TRY(mae_wait(dev, done, 1, &count, 1000000));
    CHECK(count == 1);
    return done->error;
}

/* Tests 12 authenticated messages whose jobs interleave, each in a context of the mock device. */
static void messages_take_turns(mae_kind_t kind)
{
    enum { MESSAGES = 12, LENGTH = 200, AAD = 64, STRIDE = 1024 };
    struct mock *mock = mock_new(kind);
    mae_dev_t *dev;
    struct mae_caps caps;
    uint8_t *memory, key[16], want[LENGTH], tag[16], ctr[LENGTH];
    uint32_t slot, plain_context;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_get_caps(dev, &caps));
    CHECK(caps.aead_contexts == (kind == MAE_KIND_PERIPHERAL ? 16 : 64));
    random_bytes(key, 16);
    CHECK_OK(mae_key_alloc(dev, key, 16, &slot));
    CHECK_OK(mae_mem_alloc(dev, (MESSAGES + 1) * STRIDE, (void **)&memory));
    CHECK_OK(mae_context_alloc(dev, &plain_context));
    for (int round = 0; round < 30; round++) {
        struct mae_job jobs[MESSAGES];
        struct mae_completion done;
        uint32_t step[MESSAGES] = {0}, left = MESSAGES;
        random_bytes(memory, MESSAGES * STRIDE);
        for (uint32_t i = 0; i < MESSAGES; i++) {
            uint8_t *area = memory + i * STRIDE; /* IV 0..31, AAD 32..95, data 128..., result */
            jobs[i] = (struct mae_job){.mode = MAE_GCM, .key_slot = slot, .direction = i % 2};
            CHECK_OK(mae_context_alloc_aead(dev, &jobs[i].context));
            memcpy(jobs[i].iv, area, 12);
        }
        while (left > 0) {
            uint32_t i = (uint32_t)random_below(MESSAGES);
            uint8_t *area = memory + i * STRIDE;
            struct mae_job *job = &jobs[i];
            bool odd = i % 3 == 0; /* an IV of 20 bytes */
            struct toy_message toy = {
                MAE_GCM, i % 2, mock_key(key, 16), area, odd ? 20 : 12, area + 32, AAD, 16};
            if (random_below(5) == 0) { /* a plain message in between */
                struct mae_job plain = {.mode = MAE_CTR,
                                        .key_slot = slot,
                                        .context = plain_context,
                                        .init = 1,
                                        .src = memory + MESSAGES * STRIDE,
                                        .dst = memory + MESSAGES * STRIDE,
                                        .length = LENGTH};
                mock_reference(MAE_CTR, 0, key, 16, plain.iv, plain.src, ctr, LENGTH);
                CHECK_OK(run(dev, &plain, &done));
                CHECK(memcmp(plain.dst, ctr, LENGTH) == 0);
            }
            if (step[i] == 6)
                continue;
            job->init = step[i] == (odd ? 0 : 1);
            job->dst = NULL;
            job->final = 0;
            switch (step[i]++) {
            case 0:
                if (!odd)
                    continue;
                job->phase = MAE_PHASE_IV;
                job->src = area;
                job->length = 20;
                break;
            case 1:
            case 2:
                job->phase = MAE_PHASE_AAD;
                job->src = area + 32 + (step[i] == 3 ? 48 : 0);
                job->length = step[i] == 3 ? AAD - 48 : 48;
                break;
            case 3:
            case 4:
                job->phase = MAE_PHASE_DATA;
                job->src = area + 128 + (step[i] == 5 ? 96 : 0);
                job->dst = area + 512 + (step[i] == 5 ? 96 : 0);
                job->length = step[i] == 5 ? 0 : 96;
                break;
            default:
                job->src = area + 128 + 96;
                job->dst = area + 512 + 96;
                job->length = LENGTH - 96;
                job->final = 1;
                toy_gcm(&toy, area + 128, want, LENGTH, tag);
                memcpy(job->tag, tag, 16);
                job->tag_bytes = 13;
                left--;
            }
            CHECK_OK(run(dev, job, &done));
            CHECK(done.bytes == (job->phase == MAE_PHASE_DATA ? job->length : 0));
            if (!job->final || i % 2)
                CHECK(all_zero(done.tag, 16));
            else
                CHECK(memcmp(done.tag, tag, 16) == 0);
            if (job->final)
                CHECK(memcmp(area + 512, want, LENGTH) == 0);
        }
        for (uint32_t i = 0; i < MESSAGES; i++)
            CHECK_OK(mae_context_free(dev, jobs[i].context));
    }
    mae_close(dev);
}

static void messages_take_turns_on_a_card(void)
{
    messages_take_turns(MAE_KIND_STREAM);
}

static void messages_take_turns_on_a_peripheral(void)
{
    messages_take_turns(MAE_KIND_PERIPHERAL);
}

/* Tests that an unauthenticated message continues right if AEAD jobs run between its own jobs. */
static void plain_messages_go_on(void)
{
    enum { PARTS = 6, PART = 48 };
    static uint8_t plain[PARTS * PART], want[PARTS * PART];
    for (int kind = MAE_KIND_PERIPHERAL; kind <= MAE_KIND_STREAM; kind++) {
        for (int i = 0; i < BLOCK_MODES; i++) {
            mae_mode_t mode = block_modes[i].mode;
            for (int decrypt = 0; decrypt < 2; decrypt++) {
                struct mock *mock = mock_new(kind);
                mae_dev_t *dev;
                uint8_t *memory, key[32];
                struct mae_completion done;
                struct mae_job job = {.mode = mode, .direction = decrypt, .length = PART};
                CHECK_OK(mock_open(mock, &dev));
                random_bytes(key, 32);
                random_bytes(plain, sizeof plain);
                random_bytes(job.iv, 16);
                if (mode == MAE_CTR)
                    memset(job.iv + 1, 0xff, 15); /* the counter carries all the way */
                mock_reference(mode, decrypt, key, mode == MAE_XTS ? 32 : 16, job.iv, plain, want,
                               sizeof plain);
                CHECK_OK(mae_key_alloc(dev, key, 16, &job.key_slot));
                CHECK_OK(mae_key_alloc(dev, key + 16, 16, &job.tweak_slot));
                CHECK_OK(mae_mem_alloc(dev, PART, (void **)&memory));
                CHECK_OK(mae_context_alloc(dev, &job.context));
                job.src = job.dst = memory;
                for (int part = 0; part < PARTS; part++) {
                    bool between = part % 2 == 0;
                    memcpy(memory, plain + PART * part, PART);
                    if (between) {
                        new_case(MAE_GCM, 20, 10);
                        CHECK_OK(mae_seal_with_chosen_nonce(dev, &test.message));
                    }
                    job.init = part == 0;
                    if (mode == MAE_XTS && part == 2 && kind == MAE_KIND_PERIPHERAL) {
                        CHECK_ERROR(run(dev, &job, &done), MAE_E_STATE);
                        break;
                    }
                    CHECK_OK(run(dev, &job, &done));
                    CHECK(memcmp(memory, want + PART * part, PART) == 0);
                }
                mae_close(dev);
            }
        }
    }
}

static void descriptors(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    uint8_t *memory;
    struct mae_completion done;
    struct mae_job job = {.mode = MAE_GCM, .direction = MAE_DECRYPT, .phase = MAE_PHASE_AAD};
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_key_alloc(dev, (const uint8_t *)"0123456789abcdef", 16, &job.key_slot));
    CHECK_OK(mae_mem_alloc(dev, 4096, (void **)&memory));
    CHECK_OK(mae_context_alloc_aead(dev, &job.context));
    random_bytes(job.iv, 16);
    random_bytes(job.tag, 16);
    job.init = 1;
    job.src = memory;
    job.dst = memory; /* ignored */
    job.length = 32;
    job.tag_bytes = 16; /* ignored: not final */
    CHECK_OK(mae_submit(dev, &job));
    const struct mae_ring_desc *desc = &mock->queue[0];
    CHECK(desc->op == 8 && desc->phase == 1 && desc->tag_bytes == 0 && desc->dst == 0);
    CHECK(desc->flags == (MAE_DESC_DECRYPT | MAE_DESC_INIT | MAE_DESC_IRQ));
    CHECK(memcmp(desc->nonce, job.iv, 12) == 0 && all_zero(desc->iv, 16));
    CHECK_OK(mae_wait(dev, &done, 1, &(size_t){0}, 1000));
    job.init = 0;
    job.phase = MAE_PHASE_DATA;
    job.final = 1;
    job.tag_bytes = 12;
    job.length = 0; /* nothing is read or written: no address */
    job.src = job.dst = NULL;
    CHECK_OK(mae_submit(dev, &job));
    CHECK(desc->phase == 0 && desc->tag_bytes == 12 && desc->length == 0 && desc->src == 0);
    CHECK(desc->flags == (MAE_DESC_DECRYPT | MAE_DESC_FINAL | MAE_DESC_IRQ));
    CHECK(memcmp(desc->iv, job.tag, 12) == 0 && all_zero(desc->iv + 12, 4));
    CHECK(all_zero(desc->nonce, 12));
    mae_close(dev);
}

static void jobs_out_of_order(void)
{
    for (int kind = MAE_KIND_PERIPHERAL; kind <= MAE_KIND_STREAM; kind++) {
        struct mock *mock = mock_new(kind);
        mae_dev_t *dev;
        uint8_t *memory;
        uint32_t plain;
        struct mae_completion done;
        struct mae_job good = {.mode = MAE_GCM, .init = 1, .length = 32, .tag_bytes = 16}, job;
        CHECK_OK(mock_open(mock, &dev));
        CHECK_OK(mae_key_alloc(dev, (const uint8_t *)"0123456789abcdef", 16, &good.key_slot));
        CHECK_OK(mae_mem_alloc(dev, 4096, (void **)&memory));
        CHECK_OK(mae_context_alloc(dev, &plain));
        CHECK_OK(mae_context_alloc_aead(dev, &good.context));
        good.src = good.dst = memory;
#define TRY_JOB(change, expected) \
    do { \
        job = good; \
        change; \
        CHECK_ERROR(run(dev, &job, &done), expected); \
    } while (0)
        TRY_JOB(job.init = 0, MAE_E_STATE); /* nothing has been started */
        TRY_JOB(job.phase = 3, MAE_E_ARGUMENT);
        TRY_JOB((job.phase = MAE_PHASE_IV, job.init = 0), MAE_E_ARGUMENT);
        TRY_JOB((job.phase = MAE_PHASE_IV, job.final = 1), MAE_E_ARGUMENT);
        TRY_JOB((job.phase = MAE_PHASE_IV, job.length = 0), MAE_E_ARGUMENT);
        TRY_JOB((job.direction = 1, job.final = 1, job.tag_bytes = 3), MAE_E_ARGUMENT);
        TRY_JOB((job.direction = 1, job.final = 1, job.tag_bytes = 17), MAE_E_ARGUMENT);
        TRY_JOB(job.src = NULL, MAE_E_ARGUMENT);
        TRY_JOB(job.dst = NULL, MAE_E_ARGUMENT);
        TRY_JOB((job.phase = MAE_PHASE_AAD, job.dst = NULL), MAE_OK);
        TRY_JOB((job.init = 0, job.phase = MAE_PHASE_IV), MAE_E_ARGUMENT);
        TRY_JOB((job.init = 0, job.direction = 1), MAE_E_STATE);
        TRY_JOB((job.init = 0, job.context = plain), MAE_E_STATE);
        TRY_JOB((job.init = 0, job.phase = MAE_PHASE_AAD, job.length = 5), MAE_OK);
        TRY_JOB((job.init = 0, job.phase = MAE_PHASE_AAD, job.length = 16), MAE_E_STATE);
        TRY_JOB(job.init = 0, MAE_OK); /* data */
        TRY_JOB((job.init = 0, job.phase = MAE_PHASE_AAD, job.length = 16), MAE_E_STATE);
        TRY_JOB((job.init = 0, job.final = 1), MAE_OK);
        TRY_JOB((job.init = 0, job.final = 1), MAE_E_STATE); /* it has ended */
        TRY_JOB(job.init = 1, MAE_OK);
        mock->key_valid[good.key_slot] = false; /* a job that fails ends its message */
        TRY_JOB(job.init = 0, MAE_E_KEY);
        mock->key_valid[good.key_slot] = true;
        TRY_JOB(job.init = 0, MAE_E_STATE);
        if (kind == MAE_KIND_PERIPHERAL) {
            TRY_JOB(job.mode = MAE_CTR, MAE_E_CONTEXT); /* the library's contexts: not for it */
            TRY_JOB((job.mode = MAE_CMAC, job.phase = MAE_PHASE_DATA), MAE_E_ARGUMENT);
            TRY_JOB((job.mode = MAE_CCM, job.phase = MAE_PHASE_IV), MAE_E_ARGUMENT);
            TRY_JOB(job.context = plain, MAE_OK); /* the device's own is for every mode */
            TRY_JOB((job.context = plain, job.mode = MAE_CTR), MAE_OK);
            TRY_JOB((job.context = plain, job.init = 0), MAE_E_STATE); /* CTR took its place */
        }
        dev->contexts[good.context].message.data_bytes = 0;
        TRY_JOB(job.init = 1, MAE_OK);
        dev->contexts[good.context].message.data_bytes = ((uint64_t)1 << 36) - 32 - 31;
        TRY_JOB(job.init = 0, MAE_E_LENGTH); /* a byte too many in all */
        dev->contexts[good.context].message.data_bytes--;
        TRY_JOB(job.init = 0, MAE_OK);
        mae_close(dev);
    }
}

/* Tests that a message with a wrong tag does not affect the next one in the same context. */
static void the_next_message_in_a_context(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    uint8_t *memory;
    struct mae_completion done;
    size_t count;
    struct mae_job job = {.mode = MAE_GCM, .direction = MAE_DECRYPT, .init = 1, .length = 32};
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_key_alloc(dev, (const uint8_t *)"0123456789abcdef", 16, &job.key_slot));
    CHECK_OK(mae_mem_alloc(dev, 4096, (void **)&memory));
    CHECK_OK(mae_context_alloc_aead(dev, &job.context));
    job.src = job.dst = memory;
    job.tag_bytes = 16;
    job.final = 1;
    CHECK_OK(mae_submit(dev, &job)); /* its tag is wrong */
    job.final = 0;
    CHECK_OK(mae_submit(dev, &job));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
        CHECK_ERROR(done.error, i ? MAE_OK : MAE_E_AUTH);
    }
    job.init = 0;
    CHECK_OK(run(dev, &job, &done));
    mae_close(dev);
}

static void wrong_tags_leave_nothing(void)
{
    for (int kind = MAE_KIND_PERIPHERAL; kind <= MAE_KIND_STREAM; kind++) {
        struct mock *mock = mock_new(kind);
        mae_dev_t *dev;
        uint8_t *memory;
        struct mae_completion done;
        struct mae_job job = {.mode = MAE_GCM, .direction = MAE_DECRYPT, .init = 1, .final = 1};
        CHECK_OK(mock_open(mock, &dev));
        CHECK_OK(mae_key_alloc(dev, (const uint8_t *)"0123456789abcdef", 16, &job.key_slot));
        CHECK_OK(mae_mem_alloc(dev, 4096, (void **)&memory));
        CHECK_OK(mae_context_alloc_aead(dev, &job.context));
        memset(memory, 0xaa, 4096);
        struct mae_segment list[] = {{memory + 1000, 30}, {memory + 1050, 0}, {memory + 2000, 70}};
        job.src = memory;
        job.dst_list = list;
        job.dst_entries = 3;
        job.length = 100;
        job.tag_bytes = 4;
        CHECK_ERROR(run(dev, &job, &done), MAE_E_AUTH);
        CHECK(done.bytes == 0 && all_zero(done.tag, 16));
        CHECK(all_zero(memory + 1000, 30) && all_zero(memory + 2000, 70));
        CHECK(memory[1030] == 0xaa && memory[2070] == 0xaa && memory[999] == 0xaa);
        CHECK_ERROR(run(dev, &job, &done), MAE_E_AUTH);
        mae_close(dev);
    }
}

/* ---- firmware ---- */

static void firmware(void)
{
    struct mock *mock = mock_new(MAE_KIND_PERIPHERAL);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    const struct mae_pio_bus bus = dev->bus;
    for (int round = 0; round < 60; round++) {
        mae_mode_t mode = round % 2 ? MAE_CCM : MAE_GCM;
        size_t length = pick_length(1500);
        uint8_t mac[16];
        new_case(mode, length, random_below(4) ? random_below(100) : 0);
        CHECK_OK(mae_pio_key_load(&bus, 1, test.key, test.key_bytes));
        struct mae_pio_message message = {
            .mode = mode,
            .key_slot = 1,
            .nonce = test.nonce,
            .nonce_bytes = (uint32_t)test.message.nonce_bytes,
            .aad = test.aad,
            .aad_bytes = (uint32_t)test.message.aad_bytes,
            .tag = test.got_tag,
            .tag_bytes = (uint32_t)test.message.tag_bytes,
        };
        CHECK_OK(mae_pio_seal(&bus, &message, test.plain, test.out, (uint32_t)length));
        CHECK(memcmp(test.out, test.sealed, length) == 0);
        CHECK(memcmp(test.got_tag, test.tag, message.tag_bytes) == 0);
        CHECK_OK(mae_pio_unseal(&bus, &message, test.out, test.out, (uint32_t)length));
        CHECK(memcmp(test.out, test.plain, length) == 0 && test.out[length] == 0xee);
        test.got_tag[random_below(message.tag_bytes)] ^= 1;
        CHECK_ERROR(mae_pio_unseal(&bus, &message, test.sealed, test.out, (uint32_t)length),
                    MAE_E_AUTH);
        CHECK(all_zero(test.out, length) && test.out[length] == 0xee);
        toy_cmac(mock_key(test.key, test.key_bytes), test.plain, length, mac);
        CHECK_OK(mae_pio_mac(&bus, &message, test.plain, (uint32_t)length));
        CHECK(memcmp(test.got_tag, mac, message.tag_bytes) == 0);
        CHECK_OK(mae_pio_mac_verify(&bus, &message, test.plain, (uint32_t)length));
        test.got_tag[0] ^= 1;
        CHECK_ERROR(mae_pio_mac_verify(&bus, &message, test.plain, (uint32_t)length), MAE_E_AUTH);
    }
    struct mae_pio_message message = {
        .mode = MAE_GCM, .key_slot = 1, .nonce = test.nonce, .nonce_bytes = 12, .tag = test.tag};
    for (message.tag_bytes = 0; message.tag_bytes < 4; message.tag_bytes++)
        CHECK_ERROR(mae_pio_seal(&bus, &message, test.plain, test.out, 5), MAE_E_ARGUMENT);
    message.tag_bytes = 16;
    message.nonce_bytes = 0;
    CHECK_ERROR(mae_pio_seal(&bus, &message, test.plain, test.out, 5), MAE_E_ARGUMENT);
    message.nonce_bytes = 12;
    CHECK_ERROR(mae_pio_seal(&bus, &message, NULL, test.out, 5), MAE_E_ARGUMENT);
    message.mode = MAE_CCM;
    CHECK_ERROR(mae_pio_seal(&bus, &message, test.plain, test.out, 1 << 24), MAE_E_LENGTH);
    message.nonce_bytes = 14;
    CHECK_ERROR(mae_pio_seal(&bus, &message, test.plain, test.out, 5), MAE_E_ARGUMENT);
    message.mode = MAE_CTR;
    CHECK_ERROR(mae_pio_seal(&bus, &message, test.plain, test.out, 5), MAE_E_MODE);
    mae_close(dev);
}

/* Tests that firmware can encrypt one block by a job of one ECB block. */
static void firmware_block(void)
{
    struct mock *mock = mock_new(MAE_KIND_PERIPHERAL);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, 16, 0);
    CHECK_OK(mae_pio_key_load(&dev->bus, 2, test.key, test.key_bytes));
    struct mae_pio_job job = {.mode = MAE_ECB, .init = 1, .key_slot = 2, .length = 16};
    uint8_t whole[16], alone[16];
    CHECK_OK(mae_pio_run(&dev->bus, &job, test.plain, whole));
    CHECK_OK(mae_pio_block(&dev->bus, 2, MAE_ENCRYPT, test.plain, alone));
    CHECK(memcmp(whole, alone, 16) == 0 && memcmp(alone, test.plain, 16) != 0);
    CHECK_OK(mae_pio_block(&dev->bus, 2, MAE_DECRYPT, alone, alone));
    CHECK(memcmp(alone, test.plain, 16) == 0);
    CHECK_ERROR(mae_pio_block(&dev->bus, 3, MAE_ENCRYPT, test.plain, alone), MAE_E_KEY);
    mock->fail_access = mock->accesses + 3;
    CHECK_ERROR(mae_pio_block(&dev->bus, 2, MAE_ENCRYPT, test.plain, alone), MAE_E_BUS);
    mae_close(dev);
}

/* Tests that the firmware calls erase their output after a wrong tag or a bus error. */
static void firmware_wipes(void)
{
    struct mock *mock = mock_new(MAE_KIND_PERIPHERAL);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, 100, 20);
    CHECK_OK(mae_pio_key_load(&dev->bus, 1, test.key, test.key_bytes));
    struct mae_pio_job job = {.mode = MAE_GCM,
                              .direction = MAE_DECRYPT,
                              .init = 1,
                              .key_slot = 1,
                              .iv = test.nonce,
                              .length = 100,
                              .final = 1,
                              .tag = test.tag,
                              .tag_bytes = 16};
    memset(test.out, 0xee, 101);
    CHECK_ERROR(mae_pio_run(&dev->bus, &job, test.sealed, test.out), MAE_E_AUTH);
    CHECK(all_zero(test.out, 100) && test.out[100] == 0xee);
    struct mae_pio_message message = {.mode = MAE_GCM,
                                      .key_slot = 1,
                                      .nonce = test.nonce,
                                      .nonce_bytes = 12,
                                      .tag = test.tag,
                                      .tag_bytes = 16};
    memset(test.out, 0xee, 101);
    mock->fail_access = mock->accesses + 50; /* blocks have come out by then */
    CHECK_ERROR(mae_pio_unseal(&dev->bus, &message, test.sealed, test.out, 100), MAE_E_BUS);
    CHECK(all_zero(test.out, 100) && test.out[100] == 0xee);
    mae_close(dev);
}

int main(void)
{
    RUN(messages_take_turns_on_a_card);
    RUN(messages_take_turns_on_a_peripheral);
    RUN(plain_messages_go_on);
    RUN(descriptors);
    RUN(jobs_out_of_order);
    RUN(the_next_message_in_a_context);
    RUN(wrong_tags_leave_nothing);
    RUN(firmware);
    RUN(firmware_block);
    RUN(firmware_wipes);
    return 0;
}

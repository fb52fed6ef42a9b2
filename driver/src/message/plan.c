/* SPDX-License-Identifier: Apache-2.0 */
/* Divides a message into jobs of a device: IVs, keys and contexts. */
#include "plan.h"

#include <string.h>

enum { BATCH = MAE_PARALLEL };

/* ---- IVs ---- */

/* Loads an XTS tweak as an element of GF(2^128); byte 0 is the least significant. */
static void load_field(const uint8_t bytes[16], uint64_t *low, uint64_t *high)
{
    *low = *high = 0;
    for (int i = 7; i >= 0; i--) {
        *low = *low << 8 | bytes[i];
        *high = *high << 8 | bytes[8 + i];
    }
}

/* Stores an element of GF(2^128) as an XTS tweak, in little-endian byte order. */
static void store_field(uint8_t bytes[16], uint64_t low, uint64_t high)
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(low >> 8 * i);
        bytes[8 + i] = (uint8_t)(high >> 8 * i);
    }
}

/* Multiplies two elements of GF(2^128), as XTS defines that field (IEEE 1619). (low, high) := (low,
   high) * (by_low, by_high). */
static void field_multiply(uint64_t *low, uint64_t *high, uint64_t by_low, uint64_t by_high)
{
    uint64_t a_low = *low, a_high = *high, sum_low = 0, sum_high = 0;
    for (int i = 0; i < 128; i++) {
        uint64_t bit = (i < 64 ? by_low >> i : by_high >> (i - 64)) & 1;
        uint64_t carry = a_high >> 63;
        sum_low ^= a_low & (0 - bit);
        sum_high ^= a_high & (0 - bit);
        a_high = a_high << 1 | a_low >> 63;
        a_low = a_low << 1 ^ (0x87 & (0 - carry));
    }
    *low = sum_low;
    *high = sum_high;
}

/* Computes a power of alpha, by which XTS multiplies tweaks, in GF(2^128). */
static void field_power(uint64_t exponent, uint64_t *low, uint64_t *high)
{
    uint64_t square_low = 2, square_high = 0;
    *low = 1;
    *high = 0;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            field_multiply(low, high, square_low, square_high);
        field_multiply(&square_low, &square_high, square_low, square_high);
    }
}

void mae_tweak_advance(uint8_t tweak[16], uint64_t blocks)
{
    uint64_t low, high, factor_low, factor_high;
    load_field(tweak, &low, &high);
    field_power(blocks, &factor_low, &factor_high);
    field_multiply(&low, &high, factor_low, factor_high);
    store_field(tweak, low, high);
}

struct one_job {
    bool done;
    mae_error_t error;
};

/* Records that the device has completed the job that encrypts XTS tweaks. */
static void one_job_done(void *arg, const struct mae_completion *completion)
{
    struct one_job *one = arg;
    one->error = completion->error;
    one->done = true;
}

/* Encrypts or decrypts XTS tweaks in place by an ECB job under the tweak key. */
static mae_error_t ecb_tweaks(struct mae_plan *plan, mae_direction_t direction, uint32_t count)
{
    struct one_job one = {0};
    struct mae_job job = {
        .mode = MAE_ECB,
        .direction = direction,
        .key_slot = plan->job.tweak_slot,
        .context = plan->tweak_context,
        .init = 1,
        .length = 16 * count,
        .src = plan->tweaks,
        .dst = plan->tweaks,
    };
    mae_error_t error;
    while ((error = mae_submit_own(plan->dev, &job, one_job_done, &one)) == MAE_E_FULL &&
           plan->outstanding > 0)
        MAE_TRY(mae_work(plan->dev, UINT64_MAX));
    MAE_TRY(error);
    while (!one.done)
        MAE_TRY(mae_work(plan->dev, UINT64_MAX));
    return one.error;
}

/*
 * Computes the IVs of the next jobs of an XTS message. The device starts a job with E(K2, iv). Job
 * k of a message must start with the tweak E(K2, iv) * alpha^(k * blocks), so its IV is that,
 * decrypted under K2.
 */
static mae_error_t next_tweaks(struct mae_plan *plan)
{
    if (!plan->tweaks) {
        void *memory;
        MAE_TRY(mae_mem_alloc(plan->dev, 16 * BATCH, &memory));
        plan->tweaks = memory;
        memcpy(plan->tweaks, plan->job.iv, 16);
        MAE_TRY(ecb_tweaks(plan, MAE_ENCRYPT, 1));
        load_field(plan->tweaks, &plan->tweak_low, &plan->tweak_high);
        field_power(plan->chunk / 16, &plan->factor_low, &plan->factor_high);
    }
    for (int i = 0; i < BATCH; i++) {
        field_multiply(&plan->tweak_low, &plan->tweak_high, plan->factor_low, plan->factor_high);
        store_field(plan->tweaks + 16 * i, plan->tweak_low, plan->tweak_high);
    }
    plan->tweaks_left = BATCH;
    return ecb_tweaks(plan, MAE_DECRYPT, BATCH);
}

mae_error_t mae_plan_next(struct mae_plan *plan, struct mae_job *job, const uint8_t *src,
                          uint32_t bytes)
{
    uint64_t number = plan->jobs++;
    if (plan->parallel && plan->job.mode == MAE_XTS && number > 0) {
        if (plan->tweaks_left == 0)
            MAE_TRY(next_tweaks(plan));
        memcpy(plan->job.iv, plan->tweaks + 16 * (BATCH - plan->tweaks_left--), 16);
    }
    *job = plan->job;
    job->init = number == 0 || plan->parallel;
    if (plan->parallel && bytes >= 16) /* their chain values do not depend on the output */
        mae_chain_advance(job->mode, job->direction, plan->job.iv, src + bytes - 16, NULL,
                          bytes / 16);
    return MAE_OK;
}

/* ---- what a message needs ---- */

/* Returns true if jobs of a message can run at the same time, each from its own IV. */
static bool independent(const struct mae_dev *dev, const struct mae_job *job)
{
    if (job->mode != MAE_XTS)
        return mae_mode_divides(job->mode, job->direction);
    /* By the device's own ECB in both directions, in a context beside the data's. */
    return dev->caps.directions == 3 && (dev->caps.modes >> MAE_ECB & 1) && mae_has_dma(dev) &&
           mae_free_contexts(dev) >= 3;
}

uint32_t mae_free_contexts(const struct mae_dev *dev)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < dev->caps.contexts; i++)
        count += !dev->contexts[i].held;
    return count;
}

mae_error_t mae_plan_begin(struct mae_plan *plan, struct mae_dev *dev, const struct mae_job *common,
                           uint64_t length, uint32_t chunk, uint32_t contexts)
{
    *plan = (struct mae_plan){.dev = dev, .job = *common, .chunk = chunk};
    plan->tweak_context = UINT32_MAX;
    plan->parallel = length > chunk && independent(dev, common);
    if (plan->parallel && common->mode == MAE_XTS) {
        MAE_TRY(mae_context_alloc(dev, &plan->tweak_context));
    }
    if (!plan->parallel)
        contexts = 1;
    if (contexts > MAE_PARALLEL)
        contexts = MAE_PARALLEL;
    mae_error_t error = MAE_OK;
    while (plan->context_count < contexts && error == MAE_OK) {
        error = mae_context_alloc(dev, &plan->contexts[plan->context_count]);
        plan->context_count += error == MAE_OK;
    }
    if (plan->context_count == 0) {
        mae_plan_end(plan);
        return error;
    }
    plan->limit = plan->parallel ? plan->context_count : MAE_CHUNKS_AHEAD;
    return MAE_OK;
}

void mae_plan_end(struct mae_plan *plan)
{
    if (!plan->dev)
        return;
    mae_detail_hold(true);
    while (plan->outstanding > 0)
        if (mae_work(plan->dev, UINT64_MAX) != MAE_OK)
            break; /* the device is dead, and nothing is in flight any more */
    for (uint32_t i = 0; i < plan->context_count; i++)
        (void)!mae_context_free(plan->dev, plan->contexts[i]);
    if (plan->tweak_context != UINT32_MAX)
        (void)!mae_context_free(plan->dev, plan->tweak_context);
    if (plan->tweaks)
        (void)!mae_mem_free(plan->dev, plan->tweaks);
    mae_detail_hold(false);
    mae_wipe(plan, sizeof *plan);
}

/* ---- keys ---- */

mae_error_t mae_keys_take(struct mae_dev *dev, mae_mode_t mode, const uint8_t *key, size_t bytes,
                          uint32_t *key_slot, uint32_t *tweak_slot)
{
    *key_slot = *tweak_slot = MAE_SLOT_NONE;
    if (mode == MAE_COPY)
        return MAE_OK;
    if (!key)
        return MAE_E_ARGUMENT;
    if (mode != MAE_XTS)
        return mae_key_alloc(dev, key, bytes, key_slot);
    if (bytes != 32 && bytes != 48 && bytes != 64)
        return mae_detail(MAE_E_KEY, "XTS takes two keys, together 32, 48 or 64 bytes, not %zu",
                          bytes);
    if (mae_tags_equal(key, key + bytes / 2, bytes / 2))
        return mae_detail(MAE_E_KEY, "the two keys of XTS are equal (FIPS 140-3 IG C.I)");
    MAE_TRY(mae_key_alloc(dev, key, bytes / 2, key_slot));
    mae_error_t error = mae_key_alloc(dev, key + bytes / 2, bytes / 2, tweak_slot);
    if (error != MAE_OK)
        mae_keys_give(dev, *key_slot, MAE_SLOT_NONE);
    return error;
}

void mae_keys_give(struct mae_dev *dev, uint32_t key_slot, uint32_t tweak_slot)
{
    mae_detail_hold(true);
    if (key_slot != MAE_SLOT_NONE)
        (void)!mae_key_erase(dev, key_slot);
    if (tweak_slot != MAE_SLOT_NONE)
        (void)!mae_key_erase(dev, tweak_slot);
    mae_detail_hold(false);
}

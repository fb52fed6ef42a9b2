/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts or decrypts a whole message in one call, in parallel jobs where the mode allows. */
#include <string.h>

#include "plan.h"

enum {
    SMALL_CHUNK = 4096,
    PIECES = 32,                /* a shorter message is cut into about so many jobs */
    LONG_CHUNK = 16 * MAE_CHUNK /* chained modes: the change from job to job costs latency */
};

/* Records that the device has completed a message's job, and frees its context. */
static void job_done(void *arg, const struct mae_completion *completion)
{
    struct mae_plan *plan = arg;
    plan->outstanding--;
    if (plan->parallel) /* free for the next job: from the end, where mae_crypt_slot takes it */
        plan->contexts[plan->limit - 1 - plan->outstanding] = completion->context;
    if (plan->error == MAE_OK && completion->error != MAE_OK) {
        plan->error = completion->error;
        (void)mae_detail(plan->error, "job of the message failed, device status %u",
                         completion->device_status);
    }
}

/* Submits a job of a message to the device; waits while the queue is full of its jobs. */
static mae_error_t submit(struct mae_plan *plan, struct mae_job *job)
{
    while (plan->dev->used >= plan->dev->depth && plan->outstanding > 0)
        MAE_TRY(mae_work(plan->dev, UINT64_MAX));
    job->context = plan->contexts[plan->parallel ? plan->limit - 1 - plan->outstanding : 0];
    plan->outstanding++; /* before: a peripheral completes inside the call */
    mae_error_t error = mae_submit_own(plan->dev, job, job_done, plan);
    if (error != MAE_OK)
        plan->outstanding--;
    return error;
}

/* Processes a message in buffers that the device can access. */
static mae_error_t run_direct(struct mae_dev *dev, const struct mae_job *common, const uint8_t *src,
                              uint8_t *dst, uint64_t length)
{
    struct mae_plan plan;
    uint64_t chunk = (length / PIECES + SMALL_CHUNK - 1) / SMALL_CHUNK * SMALL_CHUNK;
    if (chunk < SMALL_CHUNK)
        chunk = SMALL_CHUNK;
    if (chunk > MAE_CHUNK)
        chunk = MAE_CHUNK;
    MAE_TRY(mae_plan_begin(&plan, dev, common, length, (uint32_t)chunk, MAE_PARALLEL));
    if (!plan.parallel)
        chunk = LONG_CHUNK;
    mae_error_t error = MAE_OK;
    for (uint64_t at = 0; at < length && error == MAE_OK && plan.error == MAE_OK;) {
        struct mae_job job;
        uint64_t bytes = length - at < chunk ? length - at : chunk;
        if (common->mode == MAE_XTS && length - at - bytes < 16)
            bytes = length - at; /* the last two blocks stay together, for stealing */
        while (plan.outstanding == plan.limit && error == MAE_OK)
            error = mae_work(dev, UINT64_MAX);
        if (error == MAE_OK)
            error = mae_plan_next(&plan, &job, src + at, (uint32_t)bytes);
        if (error != MAE_OK)
            break;
        job.src = src + at;
        job.dst = dst + at;
        job.length = bytes;
        error = submit(&plan, &job);
        at += bytes;
    }
    while (plan.outstanding > 0 && error == MAE_OK)
        error = mae_work(dev, UINT64_MAX);
    if (error == MAE_OK)
        error = plan.error;
    mae_plan_end(&plan);
    return error;
}

/* Processes a small message through a buffer that the device can access. */
static mae_error_t run_bounced(struct mae_dev *dev, const struct mae_job *common, const void *src,
                               void *dst, uint64_t length)
{
    if (!dev->bounce)
        MAE_TRY(mae_mem_alloc(dev, MAE_CHUNK, &dev->bounce));
    memcpy(dev->bounce, src, length);
    mae_error_t error = run_direct(dev, common, dev->bounce, dev->bounce, length);
    if (error == MAE_OK)
        memcpy(dst, dev->bounce, length);
    mae_wipe(dev->bounce, length);
    return error;
}

/*
 * Processes a large message and maps its buffers for that time. MAE_E_NOT_MAPPED: that was not
 * possible.
 */
static mae_error_t run_mapped(struct mae_dev *dev, const struct mae_job *common, const void *src,
                              void *dst, uint64_t length)
{
    bool map_dst = !mae_is_mapped(dev, dst, length, true);
    if (map_dst && mae_mem_map(dev, dst, length, true) != MAE_OK)
        return MAE_E_NOT_MAPPED;
    bool map_src = !mae_is_mapped(dev, src, length, false);
    mae_error_t error = MAE_OK;
    if (map_src && mae_mem_map(dev, (void *)src, length, false) != MAE_OK)
        error = MAE_E_NOT_MAPPED;
    if (error == MAE_OK) {
        error = run_direct(dev, common, src, dst, length);
        mae_detail_hold(true);
        if (map_src)
            (void)!mae_mem_unmap(dev, (void *)src);
        mae_detail_hold(false);
    }
    mae_detail_hold(true);
    if (map_dst)
        (void)!mae_mem_unmap(dev, dst);
    mae_detail_hold(false);
    return error;
}

/* Processes a large message, whose pages other mappings share, through a stream's buffers. */
static mae_error_t run_streamed(struct mae_dev *dev, const struct mae_job *common,
                                const uint8_t *src, uint8_t *dst, uint64_t length)
{
    mae_stream_t *stream;
    MAE_TRY(mae_stream_open(dev, common, &stream));
    uint64_t in = 0, out = 0;
    size_t taken, given = 0;
    mae_error_t error = MAE_OK;
    while (in < length && error == MAE_OK) {
        error = mae_stream_update(stream, src + in, length - in, &taken, dst + out, in - out,
                                  &given); /* in place: never write what was not read */
        in += taken;
        out += given;
    }
    while (error == MAE_OK && out < length) {
        error = mae_stream_finish(stream, dst + out, length - out, &given);
        out += given;
    }
    mae_detail_hold(true);
    mae_stream_free(stream);
    mae_detail_hold(false);
    return error;
}

mae_error_t mae_crypt_slot(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                           uint32_t key_slot, uint32_t tweak_slot, const uint8_t *iv,
                           const void *src, void *dst, uint64_t length)
{
    MAE_TRY(mae_usable(dev));
    struct mae_job common = {
        .mode = mode, .direction = direction, .key_slot = key_slot, .tweak_slot = tweak_slot};
    MAE_TRY(mae_check_message(dev, &common, iv));
    MAE_TRY(mae_check_length(mode, length));
    if (length == 0)
        return MAE_OK;
    uintptr_t from = (uintptr_t)src, to = (uintptr_t)dst;
    if (!src || !dst || length > SIZE_MAX)
        return MAE_E_ARGUMENT;
    if (from != to && from < to + length && to < from + length)
        return mae_detail(MAE_E_ARGUMENT, "source and destination overlap");
    mae_error_t error;
    if (!mae_has_dma(dev) ||
        (mae_is_mapped(dev, src, length, false) && mae_is_mapped(dev, dst, length, true))) {
        error = run_direct(dev, &common, src, dst, length);
    } else if (length <= MAE_CHUNK) {
        error = run_bounced(dev, &common, src, dst, length);
    } else {
        error = run_mapped(dev, &common, src, dst, length);
        if (error == MAE_E_NOT_MAPPED)
            error = run_streamed(dev, &common, src, dst, length);
    }
    mae_wipe(&common, sizeof common);
    return error;
}

mae_error_t mae_crypt(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                      const uint8_t *key, size_t key_bytes, const uint8_t *iv, const void *src,
                      void *dst, uint64_t length)
{
    uint32_t key_slot, tweak_slot;
    MAE_TRY(mae_usable(dev));
    MAE_TRY(mae_keys_take(dev, mode, key, key_bytes, &key_slot, &tweak_slot));
    mae_error_t error =
        mae_crypt_slot(dev, mode, direction, key_slot, tweak_slot, iv, src, dst, length);
    mae_keys_give(dev, key_slot, tweak_slot);
    return error;
}

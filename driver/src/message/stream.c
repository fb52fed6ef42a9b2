/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypts or decrypts a message in pieces, without authentication (mae_stream_*). A stream has a
 * ring of buffers; the counters of what has been filled, handed to the device and given back run
 * freely and tell each buffer's state:
 *
 *   drained <= buffer < submitted   in the device, or done and being given to the caller
 *   submitted <= buffer < filled    full, waiting for its turn
 *   buffer == filled                being filled
 *
 * XTS holds a full buffer back until 16 more bytes follow it: a shorter tail must travel with it.
 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum {
    BLOCK = 16,
    STRIDE = MAE_CHUNK + 64, /* room for a tail of XTS */
    CHAINED_BUFFERS = 2 * MAE_CHUNKS_AHEAD
};

struct buffer {
    struct mae_stream *stream;
    uint8_t *data;
    uint32_t bytes;
    uint32_t given;
    bool done;
};

struct mae_stream {
    struct mae_dev *dev;
    struct mae_plan plan;
    uint32_t key_slot, tweak_slot; /* ours to erase, or MAE_SLOT_NONE */
    void *memory;
    struct buffer buffers[MAE_PARALLEL];
    uint32_t count;
    uint64_t drained, submitted, filled;
    uint64_t total;
    bool finishing;
};

/* Returns a buffer of the stream's ring of buffers, by its running number. */
static struct buffer *at(struct mae_stream *stream, uint64_t number)
{
    return &stream->buffers[number % stream->count];
}

/* Records that the device has processed a stream's buffer, and the first error. */
static void job_done(void *arg, const struct mae_completion *completion)
{
    struct buffer *buffer = arg;
    struct mae_plan *plan = &buffer->stream->plan;
    buffer->done = true;
    plan->outstanding--;
    if (plan->error == MAE_OK && completion->error != MAE_OK) {
        plan->error = completion->error;
        (void)mae_detail(plan->error, "job of the stream failed, device status %u",
                         completion->device_status);
    }
}

/*
 * Returns true if a stream may submit a buffer. XTS keeps buffers back while the message's end may
 * be near.
 */
static bool may_go(struct mae_stream *stream, uint64_t number)
{
    if (number >= stream->filled)
        return false;
    if (stream->plan.job.mode != MAE_XTS || stream->finishing || number + 1 < stream->filled)
        return true;
    return number + 1 - stream->drained < stream->count && at(stream, number + 1)->bytes >= BLOCK;
}

/* Submits the full buffers of a stream to the device. */
static mae_error_t pump(struct mae_stream *stream)
{
    struct mae_plan *plan = &stream->plan;
    while (may_go(stream, stream->submitted) && plan->outstanding < plan->limit) {
        struct buffer *buffer = at(stream, stream->submitted);
        struct mae_job job;
        if (stream->dev->used >= stream->dev->depth) /* full of others' jobs */
            return plan->outstanding > 0 ? MAE_OK : MAE_E_FULL;
        MAE_TRY(mae_plan_next(plan, &job, buffer->data, buffer->bytes));
        job.context = plan->contexts[stream->submitted % plan->context_count];
        job.src = job.dst = buffer->data;
        job.length = buffer->bytes;
        buffer->done = false;
        plan->outstanding++; /* before: a peripheral completes inside the call */
        mae_error_t error = mae_submit_own(stream->dev, &job, job_done, buffer);
        if (error != MAE_OK) {
            plan->outstanding--;
            return error;
        }
        stream->submitted++;
    }
    return plan->error;
}

/* Copies input into the free buffers of a stream; returns the number of bytes. */
static size_t take(struct mae_stream *stream, const uint8_t *src, size_t bytes)
{
    size_t taken = 0;
    while (taken < bytes && stream->filled - stream->drained < stream->count) {
        struct buffer *buffer = at(stream, stream->filled);
        size_t piece = MAE_CHUNK - buffer->bytes;
        if (piece > bytes - taken)
            piece = bytes - taken;
        memcpy(buffer->data + buffer->bytes, src + taken, piece);
        buffer->bytes += (uint32_t)piece;
        taken += piece;
        if (buffer->bytes == MAE_CHUNK)
            stream->filled++;
    }
    stream->total += taken;
    return taken;
}

/* Copies processed data of a stream to the caller; returns the number of bytes. */
static size_t give(struct mae_stream *stream, uint8_t *dst, size_t room)
{
    size_t given = 0;
    while (given < room && stream->drained < stream->submitted &&
           at(stream, stream->drained)->done) {
        struct buffer *buffer = at(stream, stream->drained);
        size_t piece = buffer->bytes - buffer->given;
        if (piece > room - given)
            piece = room - given;
        memcpy(dst + given, buffer->data + buffer->given, piece);
        buffer->given += (uint32_t)piece;
        given += piece;
        if (buffer->given == buffer->bytes) {
            buffer->bytes = buffer->given = 0;
            stream->drained++;
        }
    }
    return given;
}

/* Advances the device until it has processed a stream's oldest buffer. */
static mae_error_t wait_oldest(struct mae_stream *stream)
{
    while (!at(stream, stream->drained)->done)
        MAE_TRY(mae_work(stream->dev, UINT64_MAX));
    return stream->plan.error;
}

/* Stores a stream's first error, after which it stays failed; MAE_E_FULL is no error. */
static mae_error_t keep(struct mae_stream *stream, mae_error_t error)
{
    if (error != MAE_OK && error != MAE_E_FULL && stream->plan.error == MAE_OK)
        stream->plan.error = error;
    return error;
}

mae_error_t mae_stream_update(mae_stream_t *stream, const void *src, size_t bytes, size_t *taken,
                              void *dst, size_t room, size_t *given)
{
    if (!taken || !given)
        return MAE_E_ARGUMENT;
    *taken = *given = 0;
    if (!stream || (bytes > 0 && !src) || (room > 0 && !dst))
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(stream->dev));
    if (stream->finishing)
        return MAE_E_STATE;
    MAE_TRY(stream->plan.error);
    const uint8_t *in = src;
    uint8_t *out = dst;
    /* What has completed meanwhile first, so that its buffers take the new input. */
    if (stream->plan.outstanding > 0) {
        mae_error_t error = mae_work(stream->dev, 0);
        if (error != MAE_OK && error != MAE_E_TIMEOUT)
            return keep(stream, error);
    }
    for (;;) {
        size_t got = give(stream, out + *given, room - *given);
        size_t put = take(stream, in + *taken, bytes - *taken);
        *given += got;
        *taken += put;
        MAE_TRY(keep(stream, pump(stream)));
        if (got > 0 || put > 0)
            continue;
        if (*taken > 0 || *given > 0 || bytes == 0 || room == 0)
            return MAE_OK;
        MAE_TRY(keep(stream, wait_oldest(stream)));
    }
}

/* Closes a stream's last buffer, whose tail of less than a block joins the one before. */
static mae_error_t close_input(struct mae_stream *stream)
{
    MAE_TRY(mae_check_length(stream->plan.job.mode, stream->total));
    struct buffer *last = at(stream, stream->filled);
    bool open = stream->filled - stream->drained < stream->count && last->bytes > 0;
    if (open && stream->plan.job.mode == MAE_XTS && last->bytes < BLOCK) {
        struct buffer *before = at(stream, stream->filled - 1);
        memcpy(before->data + before->bytes, last->data, last->bytes);
        before->bytes += last->bytes;
        last->bytes = 0;
    } else if (open) {
        stream->filled++;
    }
    stream->finishing = true;
    return MAE_OK;
}

mae_error_t mae_stream_finish(mae_stream_t *stream, void *dst, size_t room, size_t *given)
{
    if (!given)
        return MAE_E_ARGUMENT;
    *given = 0;
    if (!stream || (room > 0 && !dst))
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(stream->dev));
    MAE_TRY(stream->plan.error);
    if (!stream->finishing)
        MAE_TRY(keep(stream, close_input(stream)));
    for (;;) {
        MAE_TRY(keep(stream, pump(stream)));
        *given += give(stream, (uint8_t *)dst + *given, room - *given);
        if (*given == room || stream->drained == stream->filled)
            return MAE_OK;
        MAE_TRY(keep(stream, pump(stream)));
        MAE_TRY(keep(stream, wait_oldest(stream)));
    }
}

void mae_stream_free(mae_stream_t *stream)
{
    if (!stream)
        return;
    if (mae_check_process(stream->dev) == MAE_OK) { /* else the device's state is the parent's */
        mae_plan_end(&stream->plan);
        if (stream->memory)
            (void)!mae_mem_free(stream->dev, stream->memory);
        mae_keys_give(stream->dev, stream->key_slot, stream->tweak_slot);
    }
    mae_wipe(stream, sizeof *stream);
    free(stream);
}

mae_error_t mae_stream_open(struct mae_dev *dev, const struct mae_job *common,
                            struct mae_stream **out)
{
    struct mae_stream *stream = calloc(1, sizeof *stream);
    *out = NULL;
    if (!stream)
        return MAE_E_MEMORY;
    stream->dev = dev;
    stream->key_slot = stream->tweak_slot = MAE_SLOT_NONE;
    /* Half of what is free, so that other streams find some too. */
    uint32_t contexts = (mae_free_contexts(dev) + 1) / 2;
    mae_error_t error = mae_plan_begin(&stream->plan, dev, common, UINT64_MAX, MAE_CHUNK, contexts);
    if (error == MAE_OK) {
        stream->count = stream->plan.parallel ? stream->plan.context_count : CHAINED_BUFFERS;
        if (stream->count < CHAINED_BUFFERS)
            stream->count = CHAINED_BUFFERS;
        error = mae_mem_alloc(dev, (size_t)stream->count * STRIDE, &stream->memory);
    }
    if (error != MAE_OK) {
        mae_stream_free(stream);
        return error;
    }
    for (uint32_t i = 0; i < stream->count; i++) {
        stream->buffers[i].stream = stream;
        stream->buffers[i].data = (uint8_t *)stream->memory + (size_t)i * STRIDE;
    }
    *out = stream;
    return MAE_OK;
}

mae_error_t mae_stream_begin(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                             const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                             mae_stream_t **stream)
{
    struct mae_job common = {.mode = mode, .direction = direction};
    if (!stream)
        return MAE_E_ARGUMENT;
    *stream = NULL;
    MAE_TRY(mae_usable(dev));
    MAE_TRY(mae_keys_take(dev, mode, key, key_bytes, &common.key_slot, &common.tweak_slot));
    mae_error_t error = mae_check_message(dev, &common, iv);
    if (error == MAE_OK)
        error = mae_stream_open(dev, &common, stream);
    if (error == MAE_OK) {
        (*stream)->key_slot = common.key_slot;
        (*stream)->tweak_slot = common.tweak_slot;
    } else {
        mae_keys_give(dev, common.key_slot, common.tweak_slot);
    }
    mae_wipe(&common, sizeof common);
    return error;
}

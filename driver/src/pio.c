/* SPDX-License-Identifier: Apache-2.0 */
/* Runs jobs of libmaeslant on the peripheral, inside mae_submit, over its registers. */
#include <string.h>

#include "device.h"

/* Holds a position in a job's buffer or scatter-gather list. */
struct cursor {
    const struct mae_segment *list;
    uint8_t *at;
    uint64_t left; /* in this piece */
};

/* Returns a position at the start of a job's buffer or scatter-gather list. */
static struct cursor cursor_of(const void *buffer, const struct mae_segment *list, uint64_t bytes)
{
    if (list)
        return (struct cursor){.list = list};
    return (struct cursor){.at = (uint8_t *)buffer, .left = bytes};
}

/* Returns the next contiguous bytes of a job's buffer or list, at most `wanted`. */
static uint8_t *advance(struct cursor *cursor, uint32_t wanted, uint32_t *got)
{
    while (cursor->left == 0) {
        cursor->at = cursor->list->data;
        cursor->left = cursor->list->bytes;
        cursor->list++;
    }
    *got = wanted < cursor->left ? wanted : (uint32_t)cursor->left;
    uint8_t *at = cursor->at;
    cursor->at += *got;
    cursor->left -= *got;
    return at;
}

/* Holds the position and last block of a job's source or destination. */
struct side {
    struct cursor cursor;
    uint8_t last[16]; /* the last whole block */
};

/* Copies the next block from a job's source, for the peripheral. */
static void get(void *arg, uint8_t *block, uint32_t n)
{
    struct side *side = arg;
    for (uint32_t got, at = 0; at < n; at += got) {
        const uint8_t *piece = advance(&side->cursor, n - at, &got);
        memcpy(block + at, piece, got);
    }
    if (n == 16)
        memcpy(side->last, block, 16);
}

/* Copies the peripheral's next output block to a job's destination. */
static void put(void *arg, const uint8_t *block, uint32_t n)
{
    struct side *side = arg;
    for (uint32_t got, at = 0; at < n; at += got) {
        uint8_t *piece = advance(&side->cursor, n - at, &got);
        memcpy(piece, block + at, got);
    }
    if (n == 16)
        memcpy(side->last, block, 16);
}

/* Wipes the peripheral when libmaeslant opens it. */
static mae_error_t pio_start(struct mae_dev *dev)
{
    return mae_pio_wipe(&dev->bus); /* whatever an earlier user left */
}

/* Overwrites a job's destination with zeros, in all of its segments. */
static void wipe_all(struct cursor cursor, uint64_t bytes)
{
    for (uint32_t got; bytes > 0; bytes -= got) {
        uint8_t *piece = advance(&cursor, bytes < MAE_CHUNK ? (uint32_t)bytes : MAE_CHUNK, &got);
        mae_wipe(piece, got);
    }
}

/*
 * Loads a message's state into the peripheral before its job, and saves another message's. A GCM,
 * CCM or CMAC message is all in registers. Every mode uses the IV's registers.
 */
static mae_error_t take_turn(struct mae_dev *dev, const struct mae_job *job)
{
    struct mae_context *context = &dev->contexts[job->context];
    bool goes_on = mae_is_aead(job->mode) && !job->init;
    if (dev->loaded == job->context && goes_on)
        return MAE_OK;
    if (dev->loaded != MAE_NO_CONTEXT && dev->loaded != job->context)
        MAE_TRY(mae_pio_save(&dev->bus, &dev->contexts[dev->loaded].saved));
    dev->loaded = MAE_NO_CONTEXT;
    if (goes_on)
        MAE_TRY(mae_pio_restore(&dev->bus, &context->saved));
    mae_wipe(&context->saved, sizeof context->saved);
    if (mae_is_aead(job->mode))
        dev->loaded = job->context;
    return MAE_OK;
}

/* Stores a message's chain value, in case another message uses the peripheral in between. */
static void keep_chain(struct mae_dev *dev, const struct mae_job *job, const uint8_t in[16],
                       const uint8_t out[16])
{
    if (job->init)
        memcpy(dev->chain, job->iv, 16);
    mae_chain_advance(job->mode, job->direction, dev->chain, in, out, job->length / 16);
    dev->chain_lost = false;
}

/* Runs a job on the peripheral, from start to completion. */
static mae_error_t pio_submit(struct mae_dev *dev, uint32_t index, const struct mae_job *job)
{
    bool sinks = dev->entries[index].sinks;
    struct side src = {.cursor = cursor_of(job->src, job->src_list, job->length)};
    struct side dst = {.cursor = cursor_of(job->dst, job->dst_list, job->length)};
    struct cursor whole = dst.cursor;
    uint8_t tag[16] = {0};
    bool aead = mae_is_aead(job->mode), makes_tag = aead && job->final;
    bool resumes = !aead && !job->init && dev->chain_lost;
    struct mae_pio_job pio = {
        .mode = job->mode,
        .direction = job->direction,
        .init = job->init || resumes,
        .key_slot = job->key_slot,
        .tweak_slot = job->mode == MAE_XTS ? job->tweak_slot : 0,
        .iv = job->mode == MAE_ECB || job->mode == MAE_CMAC ? NULL
              : resumes                                     ? dev->chain
                                                            : job->iv,
        .length = (uint32_t)job->length,
        .phase = job->phase,
        .final = job->final,
        .tag = tag,
        .tag_bytes = job->tag_bytes,
    };
    if (resumes && job->mode == MAE_XTS)
        return mae_detail(MAE_E_STATE, "XTS cannot continue after jobs of GCM, CCM or CMAC");
    if (makes_tag && job->direction == MAE_DECRYPT)
        memcpy(tag, job->tag, job->tag_bytes);
    mae_error_t error = take_turn(dev, job);
    if (error == MAE_OK)
        error = mae_pio_run_with(&dev->bus, &pio, get, &src, put, &dst);
    if (error == MAE_E_AUTH && !sinks)
        wipe_all(whole, job->length);
    if (aead && (job->final || error != MAE_OK))
        dev->loaded = MAE_NO_CONTEXT; /* it has ended */
    if (aead)
        dev->chain_lost = true;
    else if (error == MAE_OK)
        keep_chain(dev, job, src.last, dst.last);
    bool made = makes_tag && job->direction == MAE_ENCRYPT;
    mae_complete(dev, index, error, (uint32_t)error, error == MAE_OK && !sinks ? job->length : 0,
                 made ? tag : NULL);
    mae_wipe(tag, sizeof tag);
    mae_wipe(&src, sizeof src);
    mae_wipe(&dst, sizeof dst);
    return MAE_OK;
}

/* Does nothing, because the peripheral runs jobs inside mae_submit. */
static mae_error_t nothing(struct mae_dev *dev)
{
    (void)dev;
    return MAE_OK;
}

/* Wipes the peripheral when libmaeslant closes it. */
static void pio_stop(struct mae_dev *dev)
{
    (void)mae_pio_wipe(&dev->bus);
}

const struct mae_engine mae_engine_pio = {
    .start = pio_start,
    .submit = pio_submit,
    .announce = nothing,
    .collect = nothing,
    .acknowledge = nothing,
    .check = nothing,
    .stop = pio_stop,
};

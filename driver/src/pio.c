/* SPDX-License-Identifier: Apache-2.0 */
/* The peripheral: jobs run to their end inside mae_submit, word by word over its registers. */
#include <string.h>

#include "device.h"

/* A place in a buffer or a list. */
struct cursor {
    const struct mae_segment *list;
    uint8_t *at;
    uint64_t left; /* in this piece */
};

static struct cursor cursor_of(const void *buffer, const struct mae_segment *list, uint64_t bytes)
{
    if (list)
        return (struct cursor){.list = list};
    return (struct cursor){.at = (uint8_t *)buffer, .left = bytes};
}

/* The next bytes in one piece, at most `wanted`. */
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

static void get(void *arg, uint8_t *block, uint32_t n)
{
    for (uint32_t got; n > 0; n -= got, block += got) {
        const uint8_t *piece = advance(arg, n, &got);
        memcpy(block, piece, got);
    }
}

static void put(void *arg, const uint8_t *block, uint32_t n)
{
    for (uint32_t got; n > 0; n -= got, block += got) {
        uint8_t *piece = advance(arg, n, &got);
        memcpy(piece, block, got);
    }
}

static mae_error_t pio_start(struct mae_dev *dev)
{
    return mae_pio_wipe(&dev->bus); /* whatever an earlier user left */
}

/* Zeros over a destination, wherever its pieces are. */
static void wipe_all(struct cursor cursor, uint64_t bytes)
{
    for (uint32_t got; bytes > 0; bytes -= got) {
        uint8_t *piece = advance(&cursor, bytes < MAE_CHUNK ? (uint32_t)bytes : MAE_CHUNK, &got);
        mae_wipe(piece, got);
    }
}

/*
 * A message of GCM, CCM or CMAC is all in registers: another one's is saved before they are used,
 * and this one's put back if it was. Every mode uses the IV's registers.
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

static mae_error_t pio_submit(struct mae_dev *dev, uint32_t index, const struct mae_job *job)
{
    bool sinks = dev->entries[index].sinks;
    struct cursor src = cursor_of(job->src, job->src_list, job->length);
    struct cursor dst = cursor_of(job->dst, job->dst_list, job->length), whole = dst;
    uint8_t tag[16] = {0};
    bool makes_tag = mae_is_aead(job->mode) && job->final;
    struct mae_pio_job pio = {
        .mode = job->mode,
        .direction = job->direction,
        .init = job->init,
        .key_slot = job->key_slot,
        .tweak_slot = job->mode == MAE_XTS ? job->tweak_slot : 0,
        .iv = job->mode == MAE_ECB || job->mode == MAE_CMAC ? NULL : job->iv,
        .length = (uint32_t)job->length,
        .phase = job->phase,
        .final = job->final,
        .tag = tag,
        .tag_bytes = job->tag_bytes,
    };
    if (makes_tag && job->direction == MAE_DECRYPT)
        memcpy(tag, job->tag, job->tag_bytes);
    mae_error_t error = take_turn(dev, job);
    if (error == MAE_OK)
        error = mae_pio_run_with(&dev->bus, &pio, get, &src, put, &dst);
    if (error == MAE_E_AUTH && !sinks)
        wipe_all(whole, job->length);
    if (mae_is_aead(job->mode) && (job->final || error != MAE_OK))
        dev->loaded = MAE_NO_CONTEXT; /* it has ended */
    bool made = makes_tag && job->direction == MAE_ENCRYPT;
    mae_complete(dev, index, error, (uint32_t)error, error == MAE_OK && !sinks ? job->length : 0,
                 made ? tag : NULL);
    mae_wipe(tag, sizeof tag);
    return MAE_OK;
}

static mae_error_t nothing(struct mae_dev *dev)
{
    (void)dev;
    return MAE_OK;
}

static void pio_stop(struct mae_dev *dev)
{
    (void)mae_pio_wipe(&dev->bus);
}

const struct mae_engine mae_engine_pio = {
    .start = pio_start,
    .submit = pio_submit,
    .collect = nothing,
    .acknowledge = nothing,
    .check = nothing,
    .stop = pio_stop,
};

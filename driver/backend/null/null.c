/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the backend "null", a stream card without hardware that moves no data. Every
 * descriptor completes the moment its doorbell rings and no data is touched, so what a program
 * spends here is the library's own cost.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "generated/mae_stream_card_regs.h"

#define WORD(name) (offsetof(mae_stream_card_t, name) / 4)
#define FIELD(reg, field, value) ((uint32_t)(value) << MAE_STREAM_CARD__##reg##__##field##_bp)

enum { WORDS = sizeof(mae_stream_card_t) / 4, LANES = 4, CONTEXTS = 64, SLOTS = 64, BANKS = 4 };

struct null_card {
    uint32_t words[WORDS];
    uint16_t sub_head;
    uint16_t comp_tail;
};

/* Returns the base address of the null card's ring from its two registers. */
static uint64_t base(const struct null_card *card, size_t low)
{
    return (uint64_t)card->words[low + 1] << 32 | card->words[low];
}

/* Completes all jobs submitted to the null card at once, without moving their data. */
static void complete_all(struct null_card *card)
{
    const struct mae_ring_desc *descs = (void *)(uintptr_t)base(card, WORD(sub_base_lo));
    struct mae_ring_completion *completions = (void *)(uintptr_t)base(card, WORD(comp_base_lo));
    uint32_t sub_mask = (1u << card->words[WORD(sub_log2)]) - 1;
    uint32_t comp_log2 = card->words[WORD(comp_log2)];
    for (; card->sub_head != (uint16_t)card->words[WORD(sub_tail)]; card->sub_head++) {
        const struct mae_ring_desc *desc = &descs[card->sub_head & sub_mask];
        completions[card->comp_tail & ((1u << comp_log2) - 1)] = (struct mae_ring_completion){
            .cookie = desc->cookie,
            .status = MAE_STATUS_OK,
            .context_id = desc->context_id,
            .index = card->sub_head,
            .bytes = desc->length,
            .phase = ((uint32_t)card->comp_tail >> comp_log2 & 1) ^ 1,
        };
        card->comp_tail++;
    }
}

/* Reads a 32-bit register of the null card. */
static mae_error_t null_read32(void *backend, uint32_t offset, uint32_t *value)
{
    const struct null_card *card = backend;
    if (offset / 4 >= WORDS)
        return MAE_E_BUS;
    *value = card->words[offset / 4];
    return MAE_OK;
}

/* Writes a 32-bit register of the null card; a doorbell completes all jobs. */
static mae_error_t null_write32(void *backend, uint32_t offset, uint32_t value)
{
    struct null_card *card = backend;
    size_t word = offset / 4;
    if (word >= WORDS)
        return MAE_E_BUS;
    if (word < WORD(ctrl) || (word >= WORD(key) && word < WORD(sub_base_lo)))
        return MAE_OK; /* read-only; keys are not even kept in memory */
    if (word == WORD(ctrl)) {
        if (value & ~card->words[word] & MAE_STREAM_CARD__CTRL__ENABLE_bm)
            card->sub_head = card->comp_tail = 0;
        value &= MAE_STREAM_CARD__CTRL__ENABLE_bm;
    }
    if (word == WORD(status) || word == WORD(irq_status))
        return MAE_OK;
    card->words[word] = value;
    if (word == WORD(sub_tail) && card->words[WORD(ctrl)])
        complete_all(card);
    return MAE_OK;
}

/* Maps memory for the null card, whose bus addresses are pointers. */
static mae_error_t null_map(void *backend, void *memory, size_t bytes, bool writable,
                            uint64_t *iova)
{
    (void)backend, (void)bytes, (void)writable;
    *iova = (uintptr_t)memory;
    return MAE_OK;
}

/* Does nothing, because the null card keeps no mapping. */
static mae_error_t null_unmap(void *backend, uint64_t iova, size_t bytes)
{
    (void)backend, (void)iova, (void)bytes;
    return MAE_OK;
}

/* Returns at once, because every job of the null card has completed. */
static mae_error_t null_wait(void *backend, uint64_t max_ns)
{
    (void)backend, (void)max_ns;
    return MAE_OK; /* everything has completed already */
}

/* Returns the host's monotonic time in ns as the time of the null card. */
static uint64_t null_now(void *backend)
{
    struct timespec now;
    (void)backend;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Does nothing, because the null card has no DMA. */
static void null_stop(void *backend)
{
    (void)backend;
}

/* Frees the null card when the library closes the device. */
static void null_close(void *backend)
{
    free(backend);
}

static const struct mae_ops null_ops = {
    .name = "null",
    .clocks_per_us = 1000,
    .read32 = null_read32,
    .write32 = null_write32,
    .dma_map = null_map,
    .dma_unmap = null_unmap,
    .wait = null_wait,
    .now_ns = null_now,
    .stop = null_stop,
    .close = null_close,
};

/* Creates the null card with its capabilities, as mae_open does for "null:". */
static mae_error_t null_open(const char *rest, void **backend, char *name, size_t name_size)
{
    if (*rest != '\0')
        return mae_detail(MAE_E_URI, "null: takes no name and no options");
    struct null_card *card = calloc(1, sizeof *card);
    if (!card)
        return MAE_E_MEMORY;
    card->words[WORD(id)] = MAE_STREAM_CARD__ID__MAGIC_reset;
    card->words[WORD(version)] = FIELD(VERSION, MAJOR, MAE_STREAM_CARD__VERSION__MAJOR_reset) |
                                 FIELD(VERSION, MINOR, MAE_STREAM_CARD__VERSION__MINOR_reset);
    card->words[WORD(caps)] = FIELD(CAPS, LANES, LANES) | FIELD(CAPS, KEY_SLOTS, SLOTS) |
                              FIELD(CAPS, CONTEXTS, CONTEXTS) | FIELD(CAPS, KEY_BANKS, BANKS);
    card->words[WORD(features)] = FIELD(FEATURES, AES128, 1) | FIELD(FEATURES, AES192, 1) |
                                  FIELD(FEATURES, AES256, 1) | FIELD(FEATURES, ENCRYPT, 1) |
                                  FIELD(FEATURES, DECRYPT, 1);
    card->words[WORD(modes)] = mae_unauthenticated_modes();
    strncpy(name, "null", name_size - 1);
    *backend = card;
    return MAE_OK;
}

/* Adds the null card to the list that mae_device_list returns. */
static void null_list(struct mae_device_info *list, size_t max, size_t *count)
{
    if (*count < max)
        list[*count] = (struct mae_device_info){
            .uri = "null:", .summary = "no device: measures the library", .available = 1};
    ++*count;
}

const struct mae_backend mae_backend_null = {&null_ops, null_open, null_list};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imitates a device in software behind the driver's operations table, for tests. Notes every
 * register access, carries jobs out with the toy cipher in any order the contexts allow, and
 * misbehaves on request. Bus addresses differ from pointers, and what is not mapped cannot be
 * reached.
 */
#ifndef MOCK_H
#define MOCK_H

#include <unistd.h>

#include "check.h"
#include "device.h"
#include "generated/mae_peripheral_regs.h"
#include "generated/mae_stream_card_regs.h"
#include "toy_aead.h"
#include "toy_modes.h"

#define CARD(name) ((uint32_t)offsetof(mae_stream_card_t, name))
#define PERIPH(name) ((uint32_t)offsetof(mae_peripheral_t, name))

enum { MOCK_WORDS = 64, MOCK_LOG = 1 << 16, MOCK_REGIONS = 512, MOCK_READ = 0, MOCK_WRITE = 1 };

struct mock_access {
    uint32_t write, offset, value;
};

struct mock_region {
    uint64_t iova;
    uint8_t *memory;
    size_t bytes;
    bool writable;
};

struct mock {
    /* What it is, and how it behaves. */
    mae_kind_t kind;
    uint32_t contexts, slots, modes, directions, key_sizes;
    bool in_order; /* else jobs of different contexts run in random order */
    bool hang;     /* takes jobs and completes none */
    bool no_interrupt;
    bool posts;              /* acknowledgements arrive as late as PCI Express allows */
    uint32_t status_of_next; /* the next job ends with this status; its data is not touched */
    bool bad_tag;            /* every tag is found wrong */
    bool keeps_plaintext;    /* does not overwrite what failed */
    bool wrong_cookie;
    bool ring_error;       /* completions cannot be written */
    int64_t fail_access;   /* the access with this number fails; < 0: none */
    int64_t removed_at;    /* that access and all after it fail; < 0: none */
    int64_t fail_map;      /* so many mappings succeed, then none; < 0: all */
    bool mapping_overlaps; /* mappings of the caller's memory fail */
    uint32_t erasing;      /* so many reads of a card's status still show `wiping` */
    uint32_t delay_us;     /* this machine's time that a wait takes more */
    uint32_t job_ns;       /* its own time that each job takes more */

    /* What happened. */
    struct mock_access log[MOCK_LOG];
    size_t log_count;
    int64_t accesses;
    uint32_t jobs, most_in_flight, waits, closed, stopped;
    uint32_t unreported; /* waits in which jobs ended without an interrupt */
    bool mapped_running; /* memory was mapped while the card was enabled */
    uint64_t now_ns;

    /* Its state. */
    uint32_t words[MOCK_WORDS];
    uint32_t acknowledged; /* bits of an acknowledgement that is still on its way */
    uint64_t keys[64];
    bool key_valid[64];
    uint8_t chains[256][16];
    struct toy_state messages[256];
    struct mock_region regions[MOCK_REGIONS];
    uint64_t next_iova;
    struct mae_ring_desc queue[1024]; /* fetched, not carried out */
    uint16_t queue_index[1024];
    uint32_t queued;
    uint16_t sub_head, comp_tail;
    /* The peripheral's job. */
    uint8_t in[4096], out[4096];
    uint32_t length, written, read, produced;
    struct mae_ring_desc job;
    uint8_t tag[16];
};

static struct mae_ops mock_ops; /* below */

#include "mock_memory.h"

/* ---- jobs ---- */

static void mock_crypt(struct mock *mock, const struct mae_ring_desc *desc, const uint8_t *in,
                       uint8_t *out)
{
    uint8_t *chain = mock->chains[desc->context_id];
    int decrypt = desc->flags & MAE_DESC_DECRYPT ? 1 : 0;
    if (desc->flags & MAE_DESC_INIT)
        memcpy(chain, desc->iv, 16);
    if ((desc->flags & MAE_DESC_INIT) && desc->op == MAE_XTS)
        toy_cipher(mock->keys[desc->tweak_slot], 0, chain, chain);
    toy_mode(desc->op, decrypt, mock->keys[desc->key_slot], chain, in, out, desc->length);
}

/* Runs a GCM, CCM or CMAC job on the mock device; returns its status and writes its tag. */
static uint8_t mock_aead(struct mock *mock, const struct mae_ring_desc *desc,
                         struct toy_state *state, uint8_t *data, uint8_t tag[16])
{
    const struct toy_job job = {
        .mode = desc->op,
        .decrypt = desc->flags & MAE_DESC_DECRYPT ? 1 : 0,
        .key = mock->keys[desc->key_slot],
        .phase = desc->phase,
        .init = desc->flags & MAE_DESC_INIT ? 1 : 0,
        .final = desc->flags & MAE_DESC_FINAL ? 1 : 0,
    };
    uint8_t wrong = 0;
    toy_device_job(&job, state, data, data, desc->length, tag);
    if (!job.final || !job.decrypt)
        return MAE_STATUS_OK;
    CHECK(desc->tag_bytes >= 4 && desc->tag_bytes <= 16);
    for (int i = 0; i < desc->tag_bytes; i++)
        wrong |= tag[i] ^ desc->iv[i];
    memset(tag, 0, 16);
    if (!wrong && !mock->bad_tag)
        return MAE_STATUS_OK;
    if (!mock->keeps_plaintext)
        memset(data, 0, desc->length);
    return MAE_STATUS_BAD_TAG;
}

static void mock_complete(struct mock *mock, const struct mae_ring_desc *desc, uint16_t index,
                          uint8_t status, const uint8_t tag[16])
{
    uint64_t base =
        (uint64_t)mock->words[CARD(comp_base_hi) / 4] << 32 | mock->words[CARD(comp_base_lo) / 4];
    uint32_t log2 = mock->words[CARD(comp_log2) / 4];
    uint16_t head = (uint16_t)mock->words[CARD(comp_head) / 4];
    CHECK((uint16_t)(mock->comp_tail - head) < 1u << log2); /* the ring has room */
    uint64_t place = base + 32 * (mock->comp_tail & ((1u << log2) - 1));
    struct mae_ring_completion *completion = (void *)mock_reach(mock, place, 32, true);
    CHECK(completion && place % 32 == 0);
    if (mock->ring_error) {
        mock->words[CARD(irq_status) / 4] |= MAE_STREAM_CARD__IRQ_STATUS__RING_ERROR_bm;
        mock->words[CARD(status) / 4] |= MAE_STREAM_CARD__STATUS__RING_ERROR_bm;
        return;
    }
    *completion = (struct mae_ring_completion){
        .cookie = desc->cookie ^ (mock->wrong_cookie ? 0x10000 : 0),
        .status = status,
        .context_id = desc->context_id,
        .index = index,
        .bytes = status == MAE_STATUS_OK && !mock_sinks(desc) ? desc->length : 0,
        .phase = ((uint32_t)mock->comp_tail >> log2 & 1) ^ 1,
    };
    if (status == MAE_STATUS_DESC_FETCH)
        completion->cookie = 0;
    if (status == MAE_STATUS_OK)
        memcpy(completion->tag, tag, 16);
    mock->comp_tail++;
    mock->jobs++;
    mock->words[CARD(irq_status) / 4] |= MAE_STREAM_CARD__IRQ_STATUS__COMPLETION_bm;
}

/* Asserts that descriptor fields are zero which the job's mode does not use. */
static void mock_check(const struct mae_ring_desc *desc)
{
    static const uint8_t zero[16];
    bool aead = mock_is_aead(desc), init = desc->flags & MAE_DESC_INIT;
    bool final = desc->flags & MAE_DESC_FINAL, decrypt = desc->flags & MAE_DESC_DECRYPT;
    CHECK(desc->record_high == 0 && desc->flags >> 6 == 0);
    CHECK(aead || (desc->phase == 0 && desc->tag_bytes == 0 && !final && desc->length > 0));
    CHECK(!aead || desc->op == MAE_GCM);
    if (!aead || !init || desc->phase == MAE_PHASE_IV)
        CHECK(memcmp(desc->nonce, zero, 12) == 0);
    if (aead && !(final && decrypt))
        CHECK(desc->tag_bytes == 0 && memcmp(desc->iv, zero, 16) == 0);
    if (mock_sinks(desc))
        CHECK(desc->dst == 0 && desc->dst_entries == 0 && !(desc->flags & MAE_DESC_DST_LIST));
}

static void mock_fetch(struct mock *mock)
{
    uint64_t base =
        (uint64_t)mock->words[CARD(sub_base_hi) / 4] << 32 | mock->words[CARD(sub_base_lo) / 4];
    uint32_t mask = (1u << mock->words[CARD(sub_log2) / 4]) - 1;
    while (mock->sub_head != (uint16_t)mock->words[CARD(sub_tail) / 4]) {
        const struct mae_ring_desc *desc =
            (void *)mock_reach(mock, base + 64 * (mock->sub_head & mask), 64, false);
        CHECK(desc);
        mock_check(desc);
        mock->queue_index[mock->queued] = mock->sub_head++;
        mock->queue[mock->queued++] = *desc;
        if (mock->queued > mock->most_in_flight)
            mock->most_in_flight = mock->queued;
    }
}

static uint8_t mock_card_aead(struct mock *mock, const struct mae_ring_desc *desc, uint8_t *data,
                              uint8_t tag[16])
{
    struct toy_state *state = &mock->messages[desc->context_id];
    if (desc->flags & MAE_DESC_INIT && desc->phase != MAE_PHASE_IV) {
        memcpy(state->iv, desc->nonce, 12);
        toy_number(state->iv + 16, 1, 4);
    }
    return mock_aead(mock, desc, state, data, tag);
}

/* Runs one queued job of the mock device: the oldest of a randomly chosen context. */
static void mock_step(struct mock *mock)
{
    uint32_t pick = mock->in_order ? 0 : (uint32_t)random_below(mock->queued);
    for (uint32_t i = 0; i < pick; i++)
        if (mock->queue[i].context_id == mock->queue[pick].context_id)
            pick = i;
    struct mae_ring_desc desc = mock->queue[pick];
    uint16_t index = mock->queue_index[pick];
    mock->queued--;
    for (uint32_t i = pick; i < mock->queued; i++) {
        mock->queue[i] = mock->queue[i + 1];
        mock->queue_index[i] = mock->queue_index[i + 1];
    }
    uint8_t status = (uint8_t)mock->status_of_next, *data = malloc(desc.length + 1), tag[16] = {0};
    mock->status_of_next = MAE_STATUS_OK;
    CHECK(data && desc.context_id < mock->contexts);
    if (status == MAE_STATUS_OK && desc.op != MAE_COPY && !mock->key_valid[desc.key_slot])
        status = MAE_STATUS_BAD_KEY;
    if (status == MAE_STATUS_OK && !mock_move(mock, &desc, false, data))
        status = MAE_STATUS_READ_DECERR;
    if (status == MAE_STATUS_OK) {
        if (mock_is_aead(&desc))
            status = mock_card_aead(mock, &desc, data, tag);
        else
            mock_crypt(mock, &desc, data, data);
        if (!mock_sinks(&desc) && !mock_move(mock, &desc, true, data))
            status = MAE_STATUS_WRITE_DECERR;
    }
    free(data);
    mock_complete(mock, &desc, index, status, tag);
}

/* Lets an acknowledgement that was on its way arrive. */
static void mock_arrive(struct mock *mock)
{
    mock->words[CARD(irq_status) / 4] &= ~mock->acknowledged;
    mock->acknowledged = 0;
}

static mae_error_t mock_wait(void *backend, uint64_t max_ns)
{
    struct mock *mock = backend;
    uint32_t jobs = mock->jobs;
    mock->waits++;
    if (mock->delay_us > 0)
        usleep(mock->delay_us);
    if (mock->kind != MAE_KIND_PERIPHERAL && !mock->hang && mock->queued > 0) {
        uint64_t steps = 1 + random_below(mock->queued);
        for (uint64_t i = 0; i < steps; i++)
            mock_step(mock);
        mock->now_ns += (max_ns < 1000 ? max_ns : 1000) + steps * mock->job_ns;
    } else {
        mock->now_ns += max_ns;
    }
    mock_arrive(mock);
    if (!mock->no_interrupt &&
        (mock->words[CARD(irq_status) / 4] & mock->words[CARD(irq_enable) / 4]))
        return MAE_OK;
    mock->unreported += jobs != mock->jobs;
    return MAE_E_TIMEOUT;
}

/* ---- registers ---- */

static void mock_note(struct mock *mock, uint32_t write, uint32_t offset, uint32_t value)
{
    if (mock->log_count < MOCK_LOG)
        mock->log[mock->log_count++] = (struct mock_access){write, offset, value};
}

static void mock_key_command(struct mock *mock, uint32_t value)
{
    uint32_t slot = value & 63, key = CARD(key) / 4, words = 4 + 2 * (value >> 8 & 3);
    if (mock->erasing > 0) {
        mock->words[CARD(key_status) / 4] = MAE_STREAM_CARD__KEY_STATUS__ERROR__BUSY
                                            << MAE_STREAM_CARD__KEY_STATUS__ERROR_bp;
        memset(&mock->words[key], 0, 32);
        return;
    }
    mock->key_valid[slot] = !(value >> 16 & 1);
    mock->keys[slot] = words;
    for (uint32_t i = 0; i < 8; i++) {
        if (i < words)
            mock->keys[slot] = mock->keys[slot] * 0x100000001b3 + mock->words[key + i];
        mock->words[key + i] = 0; /* the window empties itself */
    }
}

#include "mock_peripheral.h"

static mae_error_t mock_access(struct mock *mock)
{
    bool removed = mock->removed_at >= 0 && mock->accesses >= mock->removed_at;
    return mock->accesses++ == mock->fail_access || removed ? mae_detail(MAE_E_BUS, "injected")
                                                            : MAE_OK;
}

static mae_error_t mock_read32(void *backend, uint32_t offset, uint32_t *value)
{
    struct mock *mock = backend;
    MAE_TRY(mock_access(mock));
    CHECK(offset % 4 == 0 && offset / 4 < MOCK_WORDS);
    mock_arrive(mock);
    *value = mock->words[offset / 4];
    if (mock->kind != MAE_KIND_PERIPHERAL && offset == CARD(status) && mock->queued > 0)
        *value |= MAE_STREAM_CARD__STATUS__BUSY_bm;
    if (mock->kind != MAE_KIND_PERIPHERAL && offset == CARD(status) && mock->erasing > 0) {
        *value |= MAE_STREAM_CARD__STATUS__WIPING_bm;
        mock->erasing -= mock->erasing < UINT32_MAX; /* that many: for ever */
    }
    if (mock->kind == MAE_KIND_PERIPHERAL)
        mock_peripheral_read(mock, offset, value);
    mock_note(mock, MOCK_READ, offset, *value);
    return MAE_OK;
}

static mae_error_t mock_write32(void *backend, uint32_t offset, uint32_t value)
{
    struct mock *mock = backend;
    MAE_TRY(mock_access(mock));
    CHECK(offset % 4 == 0 && offset / 4 < MOCK_WORDS);
    mock_note(mock, MOCK_WRITE, offset, value);
    if (offset == CARD(irq_status)) {
        mock->acknowledged |= value;
        if (!mock->posts)
            mock_arrive(mock);
    } else if (offset == CARD(ctrl) && mock->kind != MAE_KIND_PERIPHERAL) {
        if (value & ~mock->words[offset / 4] & MAE_STREAM_CARD__CTRL__ENABLE_bm)
            mock->sub_head = mock->comp_tail = 0;
        if (value & MAE_STREAM_CARD__CTRL__ABORT_bm) {
            mock->queued = 0;
            mock->words[CARD(status) / 4] |= MAE_STREAM_CARD__STATUS__HALTED_bm;
        }
        if (value & MAE_STREAM_CARD__CTRL__WIPE_bm) {
            CHECK((mock->words[offset / 4] & 1) == 0 && mock->queued == 0);
            memset(mock->keys, 0, sizeof mock->keys);
            memset(mock->key_valid, 0, sizeof mock->key_valid);
        }
        mock->words[offset / 4] = value & MAE_STREAM_CARD__CTRL__ENABLE_bm;
    } else {
        mock->words[offset / 4] = value;
    }
    if (offset == CARD(key_cmd) && value >> 31)
        mock_key_command(mock, value);
    if (mock->kind == MAE_KIND_PERIPHERAL) {
        if (offset == PERIPH(ctrl) && (value & MAE_PERIPHERAL__CTRL__WIPE_bm)) {
            memset(mock->keys, 0, sizeof mock->keys);
            memset(mock->key_valid, 0, sizeof mock->key_valid);
        }
        mock_peripheral_write(mock, offset, value);
    } else if (offset == CARD(sub_tail) && mock->words[CARD(ctrl) / 4]) {
        mock_fetch(mock);
    }
    return MAE_OK;
}

static uint64_t mock_now(void *backend)
{
    return ((struct mock *)backend)->now_ns;
}

static void mock_stop(void *backend)
{
    ((struct mock *)backend)->stopped++;
}

static void mock_close(void *backend)
{
    struct mock *mock = backend;
    mock->closed++;
    for (int i = 0; i < MOCK_REGIONS; i++)
        CHECK(!mock->regions[i].memory); /* nothing stays mapped */
}

static struct mae_ops mock_ops = {
    .name = "mock",
    .poll_ns = 1000,
    .clocks_per_us = 200,
    .simulated = true,
    .read32 = mock_read32,
    .write32 = mock_write32,
    .dma_map = mock_map,
    .dma_unmap = mock_unmap,
    .wait = mock_wait,
    .now_ns = mock_now,
    .stop = mock_stop,
    .close = mock_close,
};

/* Creates a mock device of a kind with all features; the caller must free it. */
static inline struct mock *mock_make(mae_kind_t kind)
{
    struct mock *mock = calloc(1, sizeof *mock);
    CHECK(mock);
    mock->kind = kind;
    mock->contexts = kind == MAE_KIND_PERIPHERAL ? 1 : 64;
    mock->slots = kind == MAE_KIND_COPY ? 0 : 8;
    mock->modes = kind == MAE_KIND_COPY ? 1u << MAE_COPY : unauthenticated_modes() | 1u << MAE_GCM;
    if (kind == MAE_KIND_PERIPHERAL)
        mock->modes |= 1u << MAE_CCM | 1u << MAE_CMAC;
    mock->directions = 3;
    mock->key_sizes = 7;
    mock->fail_access = mock->removed_at = mock->fail_map = -1;
    return mock;
}

/* Creates a mock device that is freed when the next one is created. */
static inline struct mock *mock_new(mae_kind_t kind)
{
    static struct mock *old;
    free(old);
    return old = mock_make(kind);
}

static inline mae_error_t mock_open(struct mock *mock, mae_dev_t **dev)
{
    mock->words[CARD(id) / 4] = mock->kind == MAE_KIND_PERIPHERAL
                                    ? MAE_PERIPHERAL__ID__MAGIC_reset
                                    : MAE_STREAM_CARD__ID__MAGIC_reset;
    mock->words[CARD(version) / 4] = 1 << 16;
    mock->words[CARD(caps) / 4] = 4 | mock->slots << 8 | mock->contexts << 16 | 2u << 28;
    mock->words[CARD(features) / 4] = mock->key_sizes | mock->directions << 4;
    mock->words[CARD(modes) / 4] = mock->modes;
    return mae_attach(&mock_ops, mock, "mock", dev);
}

/* Computes the toy cipher's 64-bit key from the bytes of an AES key. */
static inline uint64_t mock_key(const uint8_t *key, size_t bytes)
{
    uint64_t hash = bytes / 4;
    for (size_t i = 0; i < bytes / 4; i++) {
        uint32_t word;
        memcpy(&word, key + 4 * i, 4);
        hash = hash * 0x100000001b3 + word;
    }
    return hash;
}

/* Computes a whole message by the toy cipher, to compare with the driver's output. */
static inline void mock_reference(mae_mode_t mode, mae_direction_t direction, const uint8_t *key,
                                  size_t key_bytes, const uint8_t *iv, const uint8_t *in,
                                  uint8_t *out, size_t length)
{
    uint8_t chain[16] = {0};
    uint64_t data_key = mock_key(key, mode == MAE_XTS ? key_bytes / 2 : key_bytes);
    if (iv)
        memcpy(chain, iv, 16);
    if (mode == MAE_XTS)
        toy_cipher(mock_key(key + key_bytes / 2, key_bytes / 2), 0, chain, chain);
    toy_mode(mode, direction == MAE_DECRYPT, data_key, chain, in, out, length);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submits jobs to the stream card by a ring in host memory, and takes its completions. At most
 * MAE_DEPTH jobs are in flight, as many as either ring has entries, so neither can overflow: a
 * descriptor is only written over one that has been read.
 */
#include <stdatomic.h>
#include <string.h>

#include "device.h"
#include "generated/mae_stream_card_regs.h"

#define REG(name) ((uint32_t)offsetof(mae_stream_card_t, name))

enum {
    DESC_BYTES = MAE_DEPTH * sizeof(struct mae_ring_desc),
    COMPLETION_BYTES = MAE_DEPTH * sizeof(struct mae_ring_completion),
    MASK = MAE_DEPTH - 1,
    HEAD_STEP = MAE_DEPTH / 4, /* completions taken before the card is told */
    STOP_POLLS = 1000
};

/* Writes a register of the stream card. */
static mae_error_t write_reg(struct mae_dev *dev, uint32_t offset, uint32_t value)
{
    return dev->ops->write32(dev->backend, offset, value);
}

/* Polls the stream card's status register until some bits are 0; MAE_E_TIMEOUT if they stay 1. */
static mae_error_t wait_status(struct mae_dev *dev, uint32_t mask)
{
    for (int i = 0; i < STOP_POLLS; i++) {
        uint32_t status;
        MAE_TRY(dev->ops->read32(dev->backend, REG(status), &status));
        if ((status & mask) == 0)
            return MAE_OK;
    }
    return MAE_E_TIMEOUT;
}

/* Allocates the submission and completion rings and starts the stream card with them. */
static mae_error_t ring_start(struct mae_dev *dev)
{
    struct mae_ring *ring = &dev->ring;
    uint64_t iova;
    /* An earlier user may have left the card running, and it may still write a completion to an
       address that the new ring gets, so it stops first. After a reset it erases its memories, and
       takes no key meanwhile. */
    MAE_TRY(write_reg(dev, REG(ctrl), 0));
    MAE_TRY(
        wait_status(dev, MAE_STREAM_CARD__STATUS__BUSY_bm | MAE_STREAM_CARD__STATUS__WIPING_bm));
    MAE_TRY(mae_mem_alloc(dev, DESC_BYTES + COMPLETION_BYTES, &ring->memory));
    MAE_TRY(mae_translate(dev, ring->memory, DESC_BYTES + COMPLETION_BYTES, true, &iova));
    ring->descs = ring->memory;
    ring->completions = (void *)((uint8_t *)ring->memory + DESC_BYTES);
    MAE_TRY(mae_write64(dev, REG(sub_base_lo), iova));
    MAE_TRY(write_reg(dev, REG(sub_log2), MAE_RING_LOG2));
    MAE_TRY(write_reg(dev, REG(sub_tail), 0));
    MAE_TRY(mae_write64(dev, REG(comp_base_lo), iova + DESC_BYTES));
    MAE_TRY(write_reg(dev, REG(comp_log2), MAE_RING_LOG2));
    MAE_TRY(write_reg(dev, REG(comp_head), 0));
    MAE_TRY(write_reg(dev, REG(irq_status),
                      MAE_STREAM_CARD__IRQ_STATUS__COMPLETION_bm |
                          MAE_STREAM_CARD__IRQ_STATUS__RING_ERROR_bm));
    MAE_TRY(write_reg(dev, REG(irq_enable),
                      MAE_STREAM_CARD__IRQ_ENABLE__COMPLETION_bm |
                          MAE_STREAM_CARD__IRQ_ENABLE__RING_ERROR_bm));
    return write_reg(dev, REG(ctrl), MAE_STREAM_CARD__CTRL__ENABLE_bm);
}

/* Allocates the scatter-gather lists of a job in memory that the stream card can read. */
static mae_error_t reserve_lists(struct mae_dev *dev, struct mae_entry *entry, uint32_t entries)
{
    if (entries <= entry->lists_capacity)
        return MAE_OK;
    void *memory;
    if (entry->lists)
        MAE_TRY(mae_mem_free(dev, entry->lists));
    entry->lists = NULL;
    entry->lists_capacity = 0;
    MAE_TRY(mae_mem_alloc(dev, entries * sizeof *entry->lists, &memory));
    entry->lists = memory;
    entry->lists_capacity = entries;
    return MAE_OK;
}

/* Returns the device address of a job's source or destination, or of its list. */
static mae_error_t place(struct mae_dev *dev, struct mae_entry *entry, int side, const void *buffer,
                         const struct mae_segment *list, uint32_t entries)
{
    bool write = side == 1;
    if (entry->length == 0)
        return MAE_OK;
    if (!list)
        return mae_translate(dev, buffer, entry->length, write, &entry->iova[side]);
    struct mae_ring_sg_entry *out = entry->lists + (write ? entry->list_entries[0] : 0);
    for (uint32_t i = 0; i < entries; i++) {
        out[i] = (struct mae_ring_sg_entry){.length = (uint32_t)list[i].bytes};
        if (list[i].bytes > 0)
            MAE_TRY(mae_translate(dev, list[i].data, list[i].bytes, write, &out[i].addr));
    }
    return mae_translate(dev, out, entries * sizeof *out, false, &entry->iova[side]);
}

/* Fills in the fields of a stream card's descriptor that only GCM uses. */
static void describe_aead(struct mae_ring_desc *desc, const struct mae_job *job)
{
    desc->phase = (uint8_t)job->phase;
    if (job->init && job->phase != MAE_PHASE_IV)
        memcpy(desc->nonce, job->iv, sizeof desc->nonce);
    if (!job->final)
        return;
    desc->flags |= MAE_DESC_FINAL;
    if (job->direction == MAE_DECRYPT) {
        desc->tag_bytes = (uint8_t)job->tag_bytes;
        memcpy(desc->iv, job->tag, job->tag_bytes);
    }
}

/* Rings the stream card's doorbell, which tells it how far its submission ring is filled. */
static mae_error_t ring_announce(struct mae_dev *dev)
{
    atomic_thread_fence(memory_order_release); /* the descriptors are there before the doorbell */
    return write_reg(dev, REG(sub_tail), dev->ring.sub_tail);
}

/* Writes a job's descriptor into the stream card's submission ring. It rings the doorbell, if not
   batched. */
static mae_error_t ring_submit(struct mae_dev *dev, uint32_t index, const struct mae_job *job)
{
    struct mae_ring *ring = &dev->ring;
    struct mae_entry *entry = &dev->entries[index];
    entry->list_entries[0] = entry->list_entries[1] = 0; /* until both lists are in place */
    entry->iova[0] = entry->iova[1] = 0;
    bool lists = job->length > 0;
    uint32_t src_entries = lists && job->src_list ? job->src_entries : 0;
    uint32_t dst_entries = lists && job->dst_list && !entry->sinks ? job->dst_entries : 0;
    MAE_TRY(reserve_lists(dev, entry, src_entries + dst_entries));
    entry->list_entries[0] = src_entries;
    entry->list_entries[1] = dst_entries;
    MAE_TRY(place(dev, entry, 0, job->src, job->src_list, src_entries));
    if (!entry->sinks)
        MAE_TRY(place(dev, entry, 1, job->dst, job->dst_list, dst_entries));

    uint8_t flags = MAE_DESC_IRQ;
    if (job->direction == MAE_DECRYPT)
        flags |= MAE_DESC_DECRYPT;
    if (job->init)
        flags |= MAE_DESC_INIT;
    if (src_entries)
        flags |= MAE_DESC_SRC_LIST;
    if (dst_entries)
        flags |= MAE_DESC_DST_LIST;
    bool record = job->mode != MAE_COPY && job->key_slot >= MAE_RECORD_FIRST;
    uint32_t key = job->mode == MAE_COPY ? 0 : job->key_slot - (record ? MAE_RECORD_FIRST : 0);
    if (record)
        flags |= MAE_DESC_RECORD;
    struct mae_ring_desc *desc = &ring->descs[ring->sub_tail & MASK];
    *desc = (struct mae_ring_desc){
        .cookie = (uint32_t)entry->generation << 16 | index,
        .op = (uint8_t)job->mode,
        .flags = flags,
        .context_id = (uint8_t)job->context,
        .key_slot = (uint8_t)key,
        .record_high = (uint8_t)(key >> 8),
        .length = (uint32_t)job->length,
        .tweak_slot = job->mode == MAE_XTS ? (uint8_t)job->tweak_slot : 0,
        .src = entry->iova[0],
        .dst = entry->iova[1],
        .src_entries = (uint16_t)src_entries,
        .dst_entries = (uint16_t)dst_entries,
    };
    if (entry->aead)
        describe_aead(desc, job);
    else if (job->init && job->mode != MAE_ECB && job->mode != MAE_COPY)
        memcpy(desc->iv, job->iv, sizeof desc->iv);
    entry->index = ring->sub_tail;
    ring->sub_tail++;
    if (dev->batch)
        return MAE_OK;
    mae_error_t error = ring_announce(dev);
    if (error != MAE_OK)
        ring->sub_tail--;
    return error;
}

/* Converts the status in a stream card's completion to an error code. */
static mae_error_t status_error(uint8_t status)
{
    switch (status) {
    case MAE_STATUS_OK:
        return MAE_OK;
    case MAE_STATUS_BAD_OP:
        return MAE_E_MODE;
    case MAE_STATUS_BAD_CONTEXT:
        return MAE_E_CONTEXT;
    case MAE_STATUS_BAD_LENGTH:
        return MAE_E_LENGTH;
    case MAE_STATUS_BAD_KEY:
    case MAE_STATUS_KEY_RECORD:
        return MAE_E_KEY;
    case MAE_STATUS_DESC_FETCH:
    case MAE_STATUS_LIST_FETCH:
        return MAE_E_BUS_LIST;
    case MAE_STATUS_READ_SLVERR:
    case MAE_STATUS_READ_DECERR:
        return MAE_E_BUS_READ;
    case MAE_STATUS_WRITE_SLVERR:
    case MAE_STATUS_WRITE_DECERR:
        return MAE_E_BUS_WRITE;
    case MAE_STATUS_ABORTED:
        return MAE_E_ABORTED;
    case MAE_STATUS_BAD_TAG:
        return MAE_E_AUTH;
    default:
        return MAE_E_DEVICE;
    }
}

/* Returns the job that a stream card's completion names, MAE_DEPTH if there is none. */
static uint32_t entry_of(const struct mae_dev *dev, const struct mae_ring_completion *completion)
{
    uint32_t index = completion->cookie & 0xffff;
    if (completion->status != MAE_STATUS_DESC_FETCH) {
        if (index >= MAE_DEPTH || !dev->entries[index].in_flight ||
            dev->entries[index].generation != completion->cookie >> 16)
            return MAE_DEPTH;
        return index;
    }
    /* The card never saw the cookie, but knows which descriptor it was. */
    for (index = 0; index < MAE_DEPTH; index++)
        if (dev->entries[index].in_flight && dev->entries[index].index == completion->index)
            break;
    return index;
}

/* Takes all new completions from the stream card's completion ring. */
static mae_error_t ring_collect(struct mae_dev *dev)
{
    struct mae_ring *ring = &dev->ring;
    while (dev->in_flight > 0) {
        const struct mae_ring_completion *place = &ring->completions[ring->comp_head & MASK];
        uint32_t expected = (ring->comp_head >> MAE_RING_LOG2 & 1) ^ 1;
        if ((*(const volatile uint32_t *)&place->phase & 1) != expected)
            break;
        atomic_thread_fence(memory_order_acquire); /* the phase first, then the rest */
        struct mae_ring_completion completion = *place;
        uint32_t index = entry_of(dev, &completion);
        if (index == MAE_DEPTH)
            return mae_detail(MAE_E_DEVICE, "completion of an unknown job, cookie %08x",
                              completion.cookie);
        ring->comp_head++;
        if (ring->comp_head % HEAD_STEP == 0)
            MAE_TRY(write_reg(dev, REG(comp_head), ring->comp_head));
        mae_complete(dev, index, status_error(completion.status), completion.status,
                     completion.bytes, completion.tag);
    }
    return MAE_OK;
}

/* Clears the stream card's completion interrupt; it is clear on return. A write that is still on
   its way would clear the interrupt of a later completion, too, and that would never be reported. */
static mae_error_t ring_acknowledge(struct mae_dev *dev)
{
    uint32_t status;
    MAE_TRY(write_reg(dev, REG(irq_status), MAE_STREAM_CARD__IRQ_STATUS__COMPLETION_bm));
    if (!dev->ops->posted)
        return MAE_OK;
    return dev->ops->read32(dev->backend, REG(irq_status), &status);
}

/* Returns an error if the stream card reports that it could not write a completion. */
static mae_error_t ring_check(struct mae_dev *dev)
{
    uint32_t status;
    MAE_TRY(dev->ops->read32(dev->backend, REG(status), &status));
    if (status & MAE_STREAM_CARD__STATUS__RING_ERROR_bm)
        return mae_detail(MAE_E_BUS, "the card could not write a completion");
    return MAE_OK;
}

/*
 * Stops the stream card's jobs and erases its keys and data, if it still answers. That includes
 * jobs that the bus holds back, as far as possible.
 */
static void ring_stop(struct mae_dev *dev)
{
    uint32_t status;
    if (write_reg(dev, REG(irq_enable), 0) != MAE_OK)
        return;
    if (dev->in_flight > 0 || dev->dead) {
        const uint32_t abort = MAE_STREAM_CARD__CTRL__ENABLE_bm | MAE_STREAM_CARD__CTRL__ABORT_bm;
        if (write_reg(dev, REG(ctrl), abort) != MAE_OK)
            return;
        for (int i = 0; i < STOP_POLLS; i++)
            if (dev->ops->read32(dev->backend, REG(status), &status) != MAE_OK ||
                (status & MAE_STREAM_CARD__STATUS__HALTED_bm))
                break;
    }
    if (write_reg(dev, REG(ctrl), 0) != MAE_OK)
        return;
    (void)wait_status(dev, MAE_STREAM_CARD__STATUS__BUSY_bm); /* a wipe does not need it */
    if (write_reg(dev, REG(ctrl), MAE_STREAM_CARD__CTRL__WIPE_bm) == MAE_OK)
        (void)wait_status(dev, MAE_STREAM_CARD__STATUS__WIPING_bm);
}

const struct mae_engine mae_engine_ring = {
    .start = ring_start,
    .submit = ring_submit,
    .announce = ring_announce,
    .collect = ring_collect,
    .acknowledge = ring_acknowledge,
    .check = ring_check,
    .stop = ring_stop,
};

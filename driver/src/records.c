/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the stream card's table of key records in host memory. The card caches the keys of records;
 * it is told to forget one before its key changes.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "generated/mae_stream_card_regs.h"

#define REG(name) ((uint32_t)offsetof(mae_stream_card_t, name))

enum { FORGET_POLLS = 100000 }; /* a record that is being read is waited for */

/* Waits until the stream card has forgotten what it should. */
static mae_error_t wait_forgotten(struct mae_dev *dev)
{
    for (int i = 0; i < FORGET_POLLS; i++) {
        uint32_t state;
        MAE_TRY(dev->ops->read32(dev->backend, REG(key_records), &state));
        if (!(state & MAE_STREAM_CARD__KEY_RECORDS__BUSY_bm))
            return MAE_OK;
    }
    return mae_detail(MAE_E_TIMEOUT, "the card does not forget a key");
}

/* Lets the stream card erase its copy of a record's key. */
static mae_error_t forget(struct mae_dev *dev, uint32_t index)
{
    atomic_thread_fence(memory_order_release); /* the record is there before the command */
    MAE_TRY(dev->ops->write32(dev->backend, REG(key_forget),
                              index | MAE_STREAM_CARD__KEY_FORGET__GO_bm));
    return wait_forgotten(dev);
}

mae_error_t mae_record_load(struct mae_dev *dev, uint32_t slot, const uint8_t *key, size_t bytes)
{
    uint32_t index = slot - MAE_RECORD_FIRST;
    struct mae_ring_key_record *record = &dev->records.memory[index];
    mae_wipe(record, sizeof *record);
    memcpy(record->key, key, bytes);
    record->key_bytes = (uint32_t)bytes;
    record->valid = MAE_KEY_RECORD_VALID;
    return forget(dev, index);
}

mae_error_t mae_record_erase(struct mae_dev *dev, uint32_t slot)
{
    uint32_t index = slot - MAE_RECORD_FIRST;
    mae_wipe(&dev->records.memory[index], sizeof *dev->records.memory);
    return forget(dev, index);
}

/* Writes address and size of the table of records to the stream card. */
static mae_error_t announce(struct mae_dev *dev, uint32_t count)
{
    uint64_t iova, bytes = count * sizeof *dev->records.memory;
    MAE_TRY(mae_translate(dev, dev->records.memory, bytes, false, &iova));
    MAE_TRY(mae_write64(dev, REG(key_table_lo), iova));
    MAE_TRY(dev->ops->write32(dev->backend, REG(key_table_size), count));
    return wait_forgotten(dev);
}

mae_error_t mae_key_records(mae_dev_t *dev, uint32_t count)
{
    uint32_t state;
    MAE_TRY(mae_usable(dev));
    if (count == 0 || count > MAE_RECORDS_MOST)
        return mae_detail(MAE_E_ARGUMENT, "%u key records: 1 to %d are possible", count,
                          MAE_RECORDS_MOST);
    if (dev->records.count > 0)
        return mae_detail(MAE_E_STATE, "the device has %u key records", dev->records.count);
    if (dev->caps.kind != MAE_KIND_STREAM)
        return mae_detail(MAE_E_UNSUPPORTED, "only the stream card reads key records");
    MAE_TRY(dev->ops->read32(dev->backend, REG(key_records), &state));
    if ((state & MAE_STREAM_CARD__KEY_RECORDS__SLOTS_bm) == 0)
        return mae_detail(MAE_E_UNSUPPORTED, "this card takes keys in slots only");
    struct mae_slot *slots = calloc(count, sizeof *slots);
    if (!slots)
        return MAE_E_MEMORY;
    void *memory;
    mae_error_t error = mae_mem_alloc(dev, count * sizeof *dev->records.memory, &memory);
    if (error == MAE_OK) {
        dev->records.memory = memory;
        error = announce(dev, count);
    }
    if (error != MAE_OK) {
        free(slots); /* the memory, of which the card may know, goes with all other mappings */
        return error;
    }
    dev->records.slots = slots;
    dev->records.count = count;
    return MAE_OK;
}

void mae_records_close(struct mae_dev *dev)
{
    free(dev->records.slots);
    dev->records = (struct mae_records){0};
}

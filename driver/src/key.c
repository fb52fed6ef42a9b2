/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads keys into a device's key slots and records and erases them; tracks which are in use. Only
 * records keep the keys themselves, for the card to read.
 */
#include "device.h"

/* Checks that a key slot or record exists and that no job of the device uses it. */
static mae_error_t check_slot(struct mae_dev *dev, uint32_t slot, struct mae_slot **state)
{
    MAE_TRY(mae_usable(dev));
    *state = mae_find_slot(dev, slot);
    if (!*state)
        return mae_detail(MAE_E_SLOT, "slot %u: this device has %u", slot, dev->caps.key_slots);
    if ((*state)->jobs > 0)
        return mae_detail(MAE_E_BUSY, "slot %u is in use", slot);
    return MAE_OK;
}

/* Checks that the device supports an AES key of this length. */
static mae_error_t check_key(const struct mae_dev *dev, const uint8_t *key, size_t bytes)
{
    if (!key)
        return MAE_E_ARGUMENT;
    if (bytes != 16 && bytes != 24 && bytes != 32)
        return mae_detail(MAE_E_KEY, "a key has 16, 24 or 32 bytes, not %zu", bytes);
    if (!(dev->key_sizes >> (bytes / 8 - 2) & 1))
        return mae_detail(MAE_E_KEY, "this device has no AES-%zu", 8 * bytes);
    return MAE_OK;
}

mae_error_t mae_key_load(mae_dev_t *dev, uint32_t slot, const uint8_t *key, size_t bytes)
{
    struct mae_slot *state;
    MAE_TRY(check_slot(dev, slot, &state));
    MAE_TRY(check_key(dev, key, bytes));
    state->key_bytes = 0;
    if (slot >= MAE_RECORD_FIRST)
        MAE_TRY(mae_record_load(dev, slot, key, bytes));
    else
        MAE_TRY(mae_pio_key_load(&dev->bus, slot, key, bytes));
    state->key_bytes = (uint8_t)bytes;
    state->seals = (struct mae_seal_count){0};
    return MAE_OK;
}

mae_error_t mae_key_alloc(mae_dev_t *dev, const uint8_t *key, size_t bytes, uint32_t *slot)
{
    if (!slot)
        return MAE_E_ARGUMENT;
    *slot = MAE_SLOT_NONE;
    MAE_TRY(mae_usable(dev));
    for (uint32_t i = 0; i < dev->caps.key_slots; i++) {
        if (dev->slots[i].key_bytes == 0) {
            MAE_TRY(mae_key_load(dev, i, key, bytes));
            *slot = i;
            return MAE_OK;
        }
    }
    for (uint32_t i = 0; i < dev->records.count; i++) {
        if (dev->records.slots[i].key_bytes == 0) {
            MAE_TRY(mae_key_load(dev, MAE_RECORD_FIRST + i, key, bytes));
            *slot = MAE_RECORD_FIRST + i;
            return MAE_OK;
        }
    }
    return mae_detail(MAE_E_SLOT, "all %u slots and %u records hold keys", dev->caps.key_slots,
                      dev->records.count);
}

mae_error_t mae_key_erase(mae_dev_t *dev, uint32_t slot)
{
    struct mae_slot *state;
    MAE_TRY(check_slot(dev, slot, &state));
    if (slot >= MAE_RECORD_FIRST)
        MAE_TRY(mae_record_erase(dev, slot));
    else
        MAE_TRY(mae_pio_key_erase(&dev->bus, slot));
    state->key_bytes = 0;
    return MAE_OK;
}

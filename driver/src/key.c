/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads keys into a device's key slots and erases them; tracks which slots are in use. The keys
 * themselves are not kept.
 */
#include "device.h"

/* Checks that a key slot exists and that no job of the device uses it. */
static mae_error_t check_slot(const struct mae_dev *dev, uint32_t slot)
{
    MAE_TRY(mae_usable(dev));
    if (slot >= dev->caps.key_slots)
        return mae_detail(MAE_E_SLOT, "slot %u: this device has %u", slot, dev->caps.key_slots);
    if (dev->slots[slot].jobs > 0)
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
    MAE_TRY(check_slot(dev, slot));
    MAE_TRY(check_key(dev, key, bytes));
    dev->slots[slot].key_bytes = 0;
    MAE_TRY(mae_pio_key_load(&dev->bus, slot, key, bytes));
    dev->slots[slot].key_bytes = (uint8_t)bytes;
    dev->slots[slot].seals = (struct mae_seal_count){0};
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
    return mae_detail(MAE_E_SLOT, "all %u slots hold keys", dev->caps.key_slots);
}

mae_error_t mae_key_erase(mae_dev_t *dev, uint32_t slot)
{
    MAE_TRY(check_slot(dev, slot));
    MAE_TRY(mae_pio_key_erase(&dev->bus, slot));
    dev->slots[slot].key_bytes = 0;
    return MAE_OK;
}

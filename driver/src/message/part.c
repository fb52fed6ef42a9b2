/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts or decrypts a part of a message by itself, from the IV at its position. */
#include <string.h>

#include "plan.h"

/*
 * Computes the IV of the part of an XTS message at a position. The tweak's key is the second half.
 * The card starts with E(K2, iv), which must come out as E(K2, first iv) * alpha^blocks.
 */
static mae_error_t seek_xts(struct mae_dev *dev, const uint8_t *key, size_t key_bytes,
                            uint64_t blocks, uint8_t iv[16])
{
    const uint8_t *second = key + key_bytes / 2;
    MAE_TRY(mae_crypt(dev, MAE_ECB, MAE_ENCRYPT, second, key_bytes / 2, NULL, iv, iv, 16));
    mae_tweak_advance(iv, blocks);
    return mae_crypt(dev, MAE_ECB, MAE_DECRYPT, second, key_bytes / 2, NULL, iv, iv, 16);
}

mae_error_t mae_crypt_part(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                           const uint8_t *key, size_t key_bytes, const uint8_t *iv, uint64_t offset,
                           const uint8_t *before, const void *src, void *dst, uint64_t length)
{
    uint8_t own[16] = {0};
    mae_error_t error = MAE_OK;
    MAE_TRY(mae_usable(dev));
    if (offset == 0 || mode == MAE_ECB || mode == MAE_COPY)
        return mae_crypt(dev, mode, direction, key, key_bytes, iv, src, dst, length);
    if (!mae_mode_divides(mode, direction))
        return mae_detail(MAE_E_MODE, "a message of this mode cannot begin in its middle");
    if (offset % 16 != 0)
        return mae_detail(MAE_E_ARGUMENT, "a part begins at a multiple of 16 bytes");
    if (!iv || !key || (mae_mode_looks_back(mode) && !before))
        return mae_detail(MAE_E_ARGUMENT, "no key, no IV, or no block before the part");
    memcpy(own, iv, sizeof own);
    mae_chain_advance(mode, direction, own, before, NULL, offset / 16);
    if (mode == MAE_XTS)
        error = seek_xts(dev, key, key_bytes, offset / 16, own);
    if (error == MAE_OK)
        error = mae_crypt(dev, mode, direction, key, key_bytes, own, src, dst, length);
    mae_wipe(own, sizeof own);
    return error;
}

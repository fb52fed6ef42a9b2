/* SPDX-License-Identifier: Apache-2.0 */
/* Determines whether a mode's messages can be divided, or be composed from other modes. */
#include "auth.h"

bool mae_mode_divides(mae_mode_t mode, mae_direction_t direction)
{
    switch (mode) {
    case MAE_ECB:
    case MAE_CTR:
    case MAE_XTS:
    case MAE_COPY:
        return true;
    case MAE_CBC:
    case MAE_CFB:
        return direction == MAE_DECRYPT;
    default:
        return false;
    }
}

mae_error_t mae_message_mode(struct mae_dev *dev, mae_mode_t mode, bool *composed)
{
    const uint32_t needed = 1u << MAE_ECB | 1u << MAE_CBC | 1u << MAE_CTR;
    if (!mae_is_aead(mode))
        return mae_detail(MAE_E_MODE, "mode %u authenticates nothing", (unsigned)mode);
    *composed = !(dev->caps.modes >> mode & 1);
    if (*composed && (mode == MAE_GCM || (dev->caps.modes & needed) != needed))
        return mae_detail(MAE_E_MODE, "this device lacks mode %u", (unsigned)mode);
    return MAE_OK;
}

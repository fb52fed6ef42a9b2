/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the modes: legal lengths, directions of the cipher, chain values, division. */
#include <string.h>

#include "auth.h"

enum trait {
    WHOLE_BLOCKS = 1, /* a message is a multiple of 16 bytes */
    FORWARD = 2,      /* both directions use the forward cipher */
    DIVIDES = 4,      /* any part of a message can start from an IV of its own */
    LOOKS_BACK = 8,   /* so can a part of a decryption, from the ciphertext block before it */
    AUTHENTICATES = 16,
};

static const uint8_t traits[] = {
    [MAE_ECB] = WHOLE_BLOCKS | DIVIDES,
    [MAE_CBC] = WHOLE_BLOCKS | LOOKS_BACK,
    [MAE_PCBC] = WHOLE_BLOCKS,
    [MAE_CFB] = FORWARD | LOOKS_BACK,
    [MAE_OFB] = FORWARD,
    [MAE_CTR] = FORWARD | DIVIDES,
    [MAE_XTS] = DIVIDES,
    [MAE_COPY] = DIVIDES,
    [MAE_GCM] = FORWARD | AUTHENTICATES,
    [MAE_CCM] = FORWARD | AUTHENTICATES,
    [MAE_CMAC] = FORWARD | AUTHENTICATES,
};

static bool has(mae_mode_t mode, enum trait trait)
{
    return mae_mode_known(mode) && traits[mode] & trait;
}

bool mae_mode_known(mae_mode_t mode)
{
    return (unsigned)mode < sizeof traits;
}

bool mae_is_aead(mae_mode_t mode)
{
    return has(mode, AUTHENTICATES);
}

bool mae_mode_looks_back(mae_mode_t mode)
{
    return has(mode, LOOKS_BACK);
}

bool mae_mode_divides(mae_mode_t mode, mae_direction_t direction)
{
    return has(mode, DIVIDES) || (has(mode, LOOKS_BACK) && direction == MAE_DECRYPT);
}

uint32_t mae_unauthenticated_modes(void)
{
    uint32_t modes = 0;
    for (unsigned mode = 0; mode < sizeof traits; mode++)
        if (mode != MAE_COPY && !(traits[mode] & AUTHENTICATES))
            modes |= 1u << mode;
    return modes;
}

uint32_t mae_mode_directions(mae_mode_t mode, mae_direction_t direction)
{
    if (mode == MAE_COPY)
        return 0;
    if (has(mode, FORWARD))
        return 1;
    return (direction == MAE_DECRYPT ? 2u : 1u) | (mode == MAE_XTS ? 1u : 0u);
}

mae_error_t mae_check_length(mae_mode_t mode, uint64_t length)
{
    if (has(mode, WHOLE_BLOCKS) && length % 16 != 0)
        return mae_detail(MAE_E_LENGTH, "ECB, CBC and PCBC take whole blocks of 16 bytes");
    if (mode == MAE_XTS && length < 16)
        return mae_detail(MAE_E_LENGTH, "XTS takes 16 bytes at least");
    return MAE_OK;
}

void mae_counter_add(uint8_t counter[16], uint64_t blocks)
{
    for (int i = 15; i >= 0 && blocks > 0; i--) {
        blocks += counter[i];
        counter[i] = (uint8_t)blocks;
        blocks >>= 8;
    }
}

void mae_chain_advance(mae_mode_t mode, mae_direction_t direction, uint8_t chain[16],
                       const uint8_t in[16], const uint8_t out[16], uint64_t blocks)
{
    switch (mode) {
    case MAE_CBC:
    case MAE_CFB:
        memcpy(chain, direction == MAE_ENCRYPT ? out : in, 16);
        break;
    case MAE_PCBC:
    case MAE_OFB:
        for (int i = 0; i < 16; i++)
            chain[i] = in[i] ^ out[i];
        break;
    case MAE_CTR:
        mae_counter_add(chain, blocks);
        break;
    default:
        break;
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

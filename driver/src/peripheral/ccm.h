/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the blocks that encode nonce, lengths and AAD in CCM (SP 800-38C appendix A).
 * Freestanding.
 */
#ifndef MAE_CCM_H
#define MAE_CCM_H

#include "maeslant.h"

enum { MAE_CCM_NONCE_LEAST = 7, MAE_CCM_NONCE_MOST = 13, MAE_CCM_PREFIX_MOST = 10 };

/* Stores a number in big-endian order in the `bytes` bytes before `end`. */
static inline void mae_ccm_number(uint8_t *end, uint64_t value, uint32_t bytes)
{
    for (; bytes > 0; bytes--, value >>= 8)
        *--end = (uint8_t)value;
}

/* Builds CCM's first counter block A0, with the counter value 0 (SP 800-38C A.3). */
static inline void mae_ccm_counter(uint8_t block[16], const uint8_t *nonce, uint32_t nonce_bytes)
{
    for (uint32_t i = 0; i < 16; i++)
        block[i] = 0;
    block[0] = (uint8_t)(14 - nonce_bytes); /* q - 1 */
    for (uint32_t i = 0; i < nonce_bytes; i++)
        block[1 + i] = nonce[i];
}

/* Builds CCM's block B0, the first one under the CBC-MAC (SP 800-38C A.2.1). */
static inline void mae_ccm_first(uint8_t block[16], const uint8_t *nonce, uint32_t nonce_bytes,
                                 uint64_t aad_bytes, uint64_t length, uint32_t tag_bytes)
{
    mae_ccm_counter(block, nonce, nonce_bytes);
    block[0] |= (uint8_t)((aad_bytes > 0 ? 64 : 0) | (tag_bytes - 2) / 2 << 3);
    mae_ccm_number(block + 16, length, 15 - nonce_bytes);
}

/* Builds the prefix that encodes the length of CCM's AAD; returns its length, 0 to 10. */
static inline uint32_t mae_ccm_prefix(uint8_t prefix[MAE_CCM_PREFIX_MOST], uint64_t aad_bytes)
{
    if (aad_bytes == 0)
        return 0;
    if (aad_bytes < 0xff00) {
        mae_ccm_number(prefix + 2, aad_bytes, 2);
        return 2;
    }
    bool four = aad_bytes <= UINT32_MAX;
    prefix[0] = 0xff;
    prefix[1] = four ? 0xfe : 0xff;
    mae_ccm_number(prefix + (four ? 6 : 10), aad_bytes, four ? 4 : 8);
    return four ? 6 : 10;
}

/* Returns true if CCM's length field, beside a nonce of that size, can hold a length. */
static inline bool mae_ccm_fits(uint64_t length, uint32_t nonce_bytes)
{
    uint32_t bits = 8 * (15 - nonce_bytes);
    return bits >= 64 || length >> bits == 0;
}

/* Returns true if GCM, CCM or CMAC allows a tag of a given length. */
static inline bool mae_tag_length_allowed(uint32_t mode, uint32_t bytes)
{
    if (mode == MAE_CCM)
        return bytes >= 4 && bytes <= 16 && bytes % 2 == 0;
    if (mode == MAE_GCM)
        return bytes == 4 || bytes == 8 || (bytes >= 12 && bytes <= 16);
    return bytes >= 4 && bytes <= 16;
}

#endif

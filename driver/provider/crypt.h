/* SPDX-License-Identifier: Apache-2.0 */
/* Declares how a piece of a message without authentication goes through the device as one job. */
#ifndef MAE_PROVIDER_CRYPT_H
#define MAE_PROVIDER_CRYPT_H

#include "card.h"

/* Describes a piece of a message: `head` bytes, then `bytes` bytes, then `pad` bytes of zero. */
struct piece {
    mae_mode_t mode;
    mae_direction_t direction;
    struct key *key;
    const uint8_t *iv; /* NULL: ECB */
    const uint8_t *head;
    size_t head_bytes;
    const uint8_t *in;
    size_t bytes;
    size_t pad;
    uint8_t last_in[BLOCK]; /* result: the last block of input, and of output */
    uint8_t last_out[BLOCK];
};

/* Encrypts or decrypts a piece on the device. Writes all but the pad to `out`, which may be `in`,
   or NULL. Raises an OpenSSL error and returns 0 if it fails. */
int crypt_piece(struct card *card, struct piece *piece, uint8_t *out);

#endif

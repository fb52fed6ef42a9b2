/* SPDX-License-Identifier: Apache-2.0 */
/* Declares a GCM message that goes through the device in pieces of any size. */
#ifndef MAE_PROVIDER_GCM_H
#define MAE_PROVIDER_GCM_H

#include "card.h"

enum { GCM_IV_MOST = 128 };

/*
 * Holds a GCM message. The device takes whole blocks until the last job, and the caller gets each
 * byte at once: a block that is not full yet is held here, and what its first bytes turn into is
 * computed from the block of the keystream.
 */
struct gcm {
    struct card *card;
    struct key *key;
    mae_direction_t direction;
    uint8_t iv[GCM_IV_MOST];
    size_t iv_bytes;
    bool open;        /* has a context of the device and its key in a slot */
    bool begun;       /* the device has had a job of it */
    bool data;        /* all AAD has gone to the device */
    bool counted;     /* first_counter is known */
    bool failed;      /* a job or its preparation did; only gcm_drop is left */
    uint32_t process; /* that began it, and alone goes on with it: both would use its IV */
    uint32_t opening, context;
    uint8_t first_counter[BLOCK];
    uint8_t keystream[BLOCK]; /* of the data block that is held */
    uint8_t held[BLOCK];      /* AAD, then data, of a block that is not full */
    size_t held_bytes;
    uint64_t blocks; /* of data that the device has had */
};

/* Starts a message under a key, which it shares; the device hears of it with its first data. A
   forked child that goes on with its parent's message gets an error. */
void gcm_start(struct gcm *gcm, struct card *card, struct key *key, const uint8_t *iv,
               size_t iv_bytes, mae_direction_t direction);
/* Adds AAD to a message, before its data. Raises an OpenSSL error and returns 0 if it fails. */
int gcm_aad(struct gcm *gcm, const uint8_t *aad, size_t bytes);
/* Encrypts or decrypts data of a message; `out` may be `in`. Plaintext comes before the tag has been
   verified. Raises an OpenSSL error and returns 0 if it fails. */
int gcm_data(struct gcm *gcm, uint8_t *out, const uint8_t *in, size_t bytes);
/* Ends a message: writes its tag of 16 bytes, or verifies `tag_bytes` of it; 0: it is wrong. */
int gcm_finish(struct gcm *gcm, uint8_t *tag, size_t tag_bytes);
/* Drops a message and wipes it, whether it is finished or not. */
void gcm_drop(struct gcm *gcm);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares an authenticated message (GCM, CCM, CMAC) that is being processed on a device. Uses the
 * device's own GCM, CCM or CMAC; composes CCM and CMAC of CBC, CTR and ECB jobs on other devices.
 */
#ifndef MAE_AUTH_H
#define MAE_AUTH_H

#include "device.h"

struct mae_auth;

/* Counts the unfinished jobs of a piece of an authenticated message's data. */
struct mae_piece {
    struct mae_auth *auth;
    uint32_t jobs;
};

struct mae_auth {
    struct mae_dev *dev;
    struct mae_job job; /* what its jobs have in common; init until the first has gone */
    bool composed;      /* of other modes */
    bool data_begun;
    bool wrote; /* to a destination of the caller's */
    uint32_t outstanding;
    mae_error_t error;  /* the first */
    uint8_t tag[16];    /* the one made; before the last job of a decryption, the expected one */
    uint32_t tag_bytes; /* of it to compare */
    struct mae_piece own;
    /* MAE_CHUNK bytes each, from mae_mem_alloc. */
    uint8_t *stage;                    /* an IV, then AAD */
    uint32_t stage_from;               /* where AAD begins in it */
    uint32_t staged;                   /* AAD waiting for a job */
    uint8_t *scratch;                  /* what CBC writes, of which only the last block is wanted */
    uint32_t stage_used, scratch_used; /* to be wiped */
    /* Composed messages. */
    uint8_t mac[16];     /* CBC-MAC so far */
    uint8_t counter[16]; /* CCM: of the next data block */
    uint8_t mask[16];    /* CCM: E(K, A0). CMAC: E(K, 0) */
};

enum { MAE_AUTH_BYTES = 2 * MAE_CHUNK };

/* Begins an authenticated message on a device and allocates its context. `message` is complete and
   allowed, `memory` has MAE_AUTH_BYTES. Call mae_auth_end afterwards, also after a failure. */
mae_error_t mae_auth_begin(struct mae_auth *auth, struct mae_dev *dev,
                           const struct mae_message *message, mae_direction_t direction,
                           uint32_t key_slot, uint8_t *memory);
/* Adds AAD from any memory to an authenticated message, or data to that of a CMAC. */
mae_error_t mae_auth_aad(struct mae_auth *auth, const uint8_t *aad, uint64_t bytes);
/* Adds data to an authenticated message, in whole blocks unless `last`. `piece` may be NULL. */
mae_error_t mae_auth_data(struct mae_auth *auth, const uint8_t *src, uint8_t *dst, uint64_t bytes,
                          bool last, struct mae_piece *piece);
/* Ends an authenticated message if its last data was not marked as the last. */
mae_error_t mae_auth_finish(struct mae_auth *auth);
/* Waits until the device has completed all jobs of a message; returns the first error. */
mae_error_t mae_auth_wait(struct mae_auth *auth);
void mae_auth_end(struct mae_auth *auth);

/* Encrypts a block in place by AES under the message's key. mac.c: composed messages; each function
   returns when its jobs are done. */
mae_error_t mae_mac_block(struct mae_auth *auth, uint8_t block[16]); /* := E(K, block) */
mae_error_t mae_mac_update(struct mae_auth *auth, const uint8_t *data, uint64_t bytes);
mae_error_t mae_mac_ccm_data(struct mae_auth *auth, const uint8_t *src, uint8_t *dst,
                             uint64_t bytes);
mae_error_t mae_mac_finish(struct mae_auth *auth);
/* Submits a job of an authenticated message to the device; `piece` counts the job. */
mae_error_t mae_auth_submit(struct mae_auth *auth, const struct mae_job *job,
                            struct mae_piece *piece);

/* Names the origin of a message's nonce: drawn, counted or chosen by the caller. */
enum mae_nonce_kind { MAE_NONCE_DRAWN, MAE_NONCE_COUNTED, MAE_NONCE_CHOSEN };
/* Checks the fields of an authenticated message and fills in its default values. In aead.c. */
mae_error_t mae_message_check(struct mae_dev *dev, const struct mae_message *given,
                              mae_direction_t direction, enum mae_nonce_kind kind,
                              struct mae_message *message);
/* Writes a message's nonce and counts the message against its key's limit. It fails at the
   limit. */
mae_error_t mae_message_nonce(struct mae_dev *dev, const struct mae_message *message,
                              enum mae_nonce_kind kind, struct mae_nonce_counter *counter);
/*
 * Returns the key slot of a message; loads the key into a free one if it is not loaded. *owned:
 * erase it afterwards.
 */
mae_error_t mae_message_key(struct mae_dev *dev, const struct mae_message *message, uint32_t *slot,
                            bool *owned);
/* Determines if a device has a message's mode, or the library must compose it. MAE_E_MODE if
   neither. In modes.c. */
mae_error_t mae_message_mode(struct mae_dev *dev, mae_mode_t mode, bool *composed);

#endif

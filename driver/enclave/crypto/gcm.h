/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares AES-256-GCM and key derivation for the enclave's driver. Only private memory comes here.
 */
#ifndef MAE_GCM_H
#define MAE_GCM_H

#include "../wire.h"

enum { SEAL_THREADS = 16 }; /* at most */

struct gcm; /* a key that seals, or one that opens, in one thread at a time */

/* Derives a session key and its IV mask from the secret (SP 800-108r1, H3); false on failure. The
   KDF runs in counter mode over CMAC-AES-256. */
bool gcm_derive(const uint8_t secret[WIRE_KEY], const uint8_t *context, size_t context_bytes,
                uint8_t *output, size_t output_bytes);
bool gcm_random(uint8_t *bytes, size_t size);
void gcm_wipe(void *memory, size_t size);
bool gcm_equal(const void *a, const void *b, size_t size); /* in constant time */

struct gcm *gcm_new(const uint8_t key[WIRE_KEY], bool seals);
void gcm_free(struct gcm *gcm); /* wipes; NULL is allowed */

/*
 * Starts a GCM message under a key, with its IV and AAD. Then come any number of updates (whole
 * blocks but for the last; in place is allowed), then the tag or its check.
 */
bool gcm_begin(struct gcm *gcm, const uint8_t iv[WIRE_MASK], const uint8_t *aad, size_t aad_bytes);
bool gcm_update(struct gcm *gcm, uint8_t *to, const uint8_t *from, size_t size);
bool gcm_tag(struct gcm *gcm, uint8_t tag[WIRE_TAG]);
bool gcm_check(struct gcm *gcm,
               const uint8_t tag[WIRE_TAG]); /* all 128 bits, constant time (H15) */

const char *gcm_library(void);

#endif

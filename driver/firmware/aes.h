/* SPDX-License-Identifier: Apache-2.0 */
/* Declares AES in software (FIPS 197): key expansion, encryption and decryption of a block. */
#ifndef MAESLANT_FIRMWARE_AES_H
#define MAESLANT_FIRMWARE_AES_H

#include <stdint.h>

struct aes_key {
    uint32_t rounds;
    uint8_t round_keys[240];
};

/* Expands an AES key of 16, 24 or 32 bytes into round keys. */
void aes_expand(struct aes_key *key, const uint8_t *bytes, uint32_t count);
/* Encrypts one AES block; in == out is allowed. */
void aes_encrypt(const struct aes_key *key, const uint8_t in[16], uint8_t out[16]);
void aes_decrypt(const struct aes_key *key, const uint8_t in[16], uint8_t out[16]);

#endif

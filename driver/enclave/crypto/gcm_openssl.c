/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the enclave's AES-256-GCM by OpenSSL, for machines without ipsec-mb. */
#include "gcm.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>

struct gcm {
    EVP_CIPHER_CTX *context;
};

struct gcm *gcm_new(const uint8_t key[WIRE_KEY], bool seals)
{
    struct gcm *gcm = calloc(1, sizeof *gcm);
    if (!gcm)
        return NULL;
    gcm->context = EVP_CIPHER_CTX_new();
    if (!gcm->context ||
        EVP_CipherInit_ex(gcm->context, EVP_aes_256_gcm(), NULL, key, NULL, seals) != 1) {
        gcm_free(gcm);
        return NULL;
    }
    return gcm;
}

void gcm_free(struct gcm *gcm)
{
    if (!gcm)
        return;
    EVP_CIPHER_CTX_free(gcm->context); /* wipes the key schedule */
    free(gcm);
}

bool gcm_begin(struct gcm *gcm, const uint8_t iv[WIRE_MASK], const uint8_t *aad, size_t aad_bytes)
{
    int size;
    return EVP_CipherInit_ex(gcm->context, NULL, NULL, NULL, iv, -1) == 1 &&
           EVP_CipherUpdate(gcm->context, NULL, &size, aad, (int)aad_bytes) == 1;
}

bool gcm_update(struct gcm *gcm, uint8_t *to, const uint8_t *from, size_t size)
{
    int given;
    return EVP_CipherUpdate(gcm->context, to, &given, from, (int)size) == 1 && given == (int)size;
}

bool gcm_tag(struct gcm *gcm, uint8_t tag[WIRE_TAG])
{
    int size;
    uint8_t rest[WIRE_BLOCK]; /* nothing is left over: GCM is a stream */
    return EVP_CipherFinal_ex(gcm->context, rest, &size) == 1 &&
           EVP_CIPHER_CTX_ctrl(gcm->context, EVP_CTRL_AEAD_GET_TAG, WIRE_TAG, tag) == 1;
}

bool gcm_check(struct gcm *gcm, const uint8_t tag[WIRE_TAG])
{
    int size;
    uint8_t rest[WIRE_BLOCK];
    return EVP_CIPHER_CTX_ctrl(gcm->context, EVP_CTRL_AEAD_SET_TAG, WIRE_TAG, (void *)tag) == 1 &&
           EVP_CipherFinal_ex(gcm->context, rest, &size) == 1;
}

const char *gcm_library(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* AES-256-GCM and the key derivation by OpenSSL. */
#include "gcm.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdlib.h>

struct gcm {
    EVP_CIPHER_CTX *context;
};

bool gcm_derive(const uint8_t secret[WIRE_KEY], const uint8_t *context, size_t context_bytes,
                uint8_t *output, size_t output_bytes)
{
    static const char label[] = "maeslant1"; /* without its end */
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "KBKDF", NULL);
    EVP_KDF_CTX *derivation = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_MODE, (char *)"counter", 0),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_MAC, (char *)"CMAC", 0),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_CIPHER, (char *)"AES-256-CBC", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, WIRE_KEY),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)label, sizeof label - 1),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)context, context_bytes),
        OSSL_PARAM_construct_end(),
    };
    bool done = derivation && EVP_KDF_derive(derivation, output, output_bytes, params) == 1;
    EVP_KDF_CTX_free(derivation);
    EVP_KDF_free(kdf);
    return done;
}

bool gcm_random(uint8_t *bytes, size_t size)
{
    return RAND_bytes(bytes, (int)size) == 1;
}

void gcm_wipe(void *memory, size_t size)
{
    if (memory)
        OPENSSL_cleanse(memory, size);
}

bool gcm_equal(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}

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

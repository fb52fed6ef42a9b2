/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the enclave's key derivation, random bytes, wiping and comparison by OpenSSL. */
#include "gcm.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

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

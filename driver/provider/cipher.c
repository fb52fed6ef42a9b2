/* SPDX-License-Identifier: Apache-2.0 */
/* Answers OpenSSL's questions about a cipher, and sets keys: what all ciphers share. */
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "provider.h"

/* Sets a parameter of type int, if it is asked for. */
static int answer_int(OSSL_PARAM params[], const char *name, int value)
{
    OSSL_PARAM *param = OSSL_PARAM_locate(params, name);
    return !param || OSSL_PARAM_set_int(param, value);
}

/* Sets a parameter of type size_t, if it is asked for. */
static int answer_size(OSSL_PARAM params[], const char *name, size_t value)
{
    OSSL_PARAM *param = OSSL_PARAM_locate(params, name);
    return !param || OSSL_PARAM_set_size_t(param, value);
}

int cipher_get_params(const struct cipher_info *info, OSSL_PARAM params[])
{
    bool aead = info->mode == MAE_GCM || info->mode == MAE_CCM;
    size_t key_bytes = info->mode == MAE_XTS ? 2 * info->key_bytes : info->key_bytes;
    OSSL_PARAM *mode = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_MODE);
    return (!mode || OSSL_PARAM_set_uint(mode, info->evp_mode)) &&
           answer_size(params, OSSL_CIPHER_PARAM_KEYLEN, key_bytes) &&
           answer_size(params, OSSL_CIPHER_PARAM_BLOCK_SIZE, info->block_bytes) &&
           answer_size(params, OSSL_CIPHER_PARAM_IVLEN, info->iv_bytes) &&
           answer_int(params, OSSL_CIPHER_PARAM_AEAD, aead) &&
           answer_int(params, OSSL_CIPHER_PARAM_CUSTOM_IV, aead || info->mode == MAE_XTS) &&
           answer_int(params, OSSL_CIPHER_PARAM_CTS, 0) &&
           answer_int(params, OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, 0) &&
           answer_int(params, OSSL_CIPHER_PARAM_HAS_RAND_KEY, 0);
}

const OSSL_PARAM *cipher_gettable_params(void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_MODE, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_BLOCK_SIZE, NULL),
        OSSL_PARAM_int(OSSL_CIPHER_PARAM_AEAD, NULL),
        OSSL_PARAM_int(OSSL_CIPHER_PARAM_CUSTOM_IV, NULL),
        OSSL_PARAM_int(OSSL_CIPHER_PARAM_CTS, NULL),
        OSSL_PARAM_int(OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK, NULL),
        OSSL_PARAM_int(OSSL_CIPHER_PARAM_HAS_RAND_KEY, NULL),
        OSSL_PARAM_END,
    };
    (void)provider;
    return list;
}

int cipher_set_key(struct card *card, struct key **at, const struct cipher_info *info,
                   const uint8_t *key, size_t bytes)
{
    uint32_t parts = info->mode == MAE_XTS ? 2 : 1;
    if (!key)
        return 1;
    if (bytes != parts * info->key_bytes)
        return fail(PROV_R_INVALID_KEY_LENGTH, "maeslant: a key of %zu bytes, not %u", bytes,
                    parts * info->key_bytes);
    struct key *fresh = key_new(key, bytes, parts);
    if (!fresh)
        return fail(ERR_R_MALLOC_FAILURE, "maeslant: out of memory");
    key_free(card, *at);
    *at = fresh;
    return 1;
}

int cipher_check_key_bytes(const struct cipher_info *info, const OSSL_PARAM params[])
{
    const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_KEYLEN);
    size_t bytes = 0, wanted = info->mode == MAE_XTS ? 2 * info->key_bytes : info->key_bytes;
    if (!param)
        return 1;
    if (OSSL_PARAM_get_size_t(param, &bytes) && bytes == wanted)
        return 1;
    return fail(PROV_R_INVALID_KEY_LENGTH, "maeslant: this cipher's key has %zu bytes", wanted);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Offers GMAC (SP 800-38D) as a MAC of OpenSSL: a GCM message that is all AAD. */
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "gcm.h"
#include "mac.h"

/* Holds a MAC context of OpenSSL. */
struct context {
    struct card *card;
    const struct cipher_info *cipher;
    struct key *key;
    struct gcm message; /* between the first input and the tag */
    uint8_t iv[GCM_IV_MOST];
    size_t iv_bytes;  /* 0: none is set, or it has been used */
    uint32_t process; /* that set the IV */
    bool begun;
};

static void *context_new(void *provider)
{
    struct context *context = OPENSSL_zalloc(sizeof *context);
    if (context)
        context->card = provider_card(provider);
    return context;
}

static void context_free(void *given)
{
    struct context *context = given;
    if (!context)
        return;
    gcm_drop(&context->message);
    key_free(context->card, context->key);
    OPENSSL_clear_free(context, sizeof *context);
}

static void *context_copy(void *given)
{
    struct context *context = given, *copy;
    if (context->message.open) {
        fail(PROV_R_NOT_SUPPORTED, "maeslant: a message that the device has begun is not copied");
        return NULL;
    }
    copy = OPENSSL_memdup(context, sizeof *context);
    if (copy) {
        (void)key_share(copy->key);
        (void)key_share(copy->message.key);
    }
    return copy;
}

/* Sets the cipher, key and IV, where parameters name them. */
static int set_context_params(void *given, const OSSL_PARAM params[])
{
    struct context *context = given;
    const OSSL_PARAM *param;
    if (!params)
        return 1;
    if (!mac_set_cipher(context->card, mae_gcm_ciphers, MAE_GCM, &context->cipher, params))
        return 0;
    if ((param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_KEY))) {
        if (!context->cipher || param->data_type != OSSL_PARAM_OCTET_STRING)
            return fail(PROV_R_NO_KEY_SET, "maeslant: GMAC needs its cipher before its key");
        if (!cipher_set_key(context->card, &context->key, context->cipher, param->data,
                            param->data_size))
            return 0;
    }
    if (!(param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_IV)))
        return 1;
    void *iv = context->iv;
    size_t bytes = 0;
    if (!OSSL_PARAM_get_octet_string(param, &iv, GCM_IV_MOST, &bytes) || bytes == 0)
        return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: an IV has 1 to %d bytes", GCM_IV_MOST);
    context->iv_bytes = bytes;
    context->process = mae_process();
    return 1;
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_CIPHER, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_MAC_PARAM_IV, NULL, 0),
        OSSL_PARAM_END,
    };
    (void)context;
    (void)provider;
    return list;
}

/* Starts a message, under a new key or the one before. */
static int init(void *given, const uint8_t *key, size_t key_bytes, const OSSL_PARAM params[])
{
    struct context *context = given;
    gcm_drop(&context->message);
    if (context->begun)
        context->iv_bytes = 0; /* the IV of a message must not serve again */
    context->begun = false;
    if (!set_context_params(context, params))
        return 0;
    if (!context->cipher)
        return fail(PROV_R_MISSING_CIPHER, "maeslant: GMAC needs a cipher, as AES-128-GCM");
    return cipher_set_key(context->card, &context->key, context->cipher, key, key_bytes);
}

/* Begins the message with its first input, or its end. */
static int begin(struct context *context)
{
    if (context->begun)
        return 1;
    if (!context->key)
        return fail(PROV_R_NO_KEY_SET, "maeslant: no key is set");
    if (context->iv_bytes == 0)
        return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: no IV is set, or it has been used");
    if (context->process != mae_process())
        return fail(PROV_R_INVALID_IV_LENGTH,
                    "maeslant: this IV was set before a fork: its parent may use it");
    gcm_start(&context->message, context->card, context->key, context->iv, context->iv_bytes,
              MAE_ENCRYPT);
    context->begun = true;
    return 1;
}

static int update(void *given, const uint8_t *in, size_t bytes)
{
    struct context *context = given;
    return bytes == 0 || (begin(context) && gcm_aad(&context->message, in, bytes));
}

static int final(void *given, uint8_t *out, size_t *written, size_t room)
{
    struct context *context = given;
    if (room < BLOCK)
        return fail(PROV_R_OUTPUT_BUFFER_TOO_SMALL, "maeslant: a GMAC has 16 bytes");
    if (!begin(context) || !gcm_finish(&context->message, out, BLOCK))
        return 0;
    *written = BLOCK;
    return 1;
}

const OSSL_DISPATCH mae_gmac_functions[] = {
    MAE_FUNCTION(OSSL_FUNC_MAC_NEWCTX, context_new),
    MAE_FUNCTION(OSSL_FUNC_MAC_FREECTX, context_free),
    MAE_FUNCTION(OSSL_FUNC_MAC_DUPCTX, context_copy),
    MAE_FUNCTION(OSSL_FUNC_MAC_INIT, init),
    MAE_FUNCTION(OSSL_FUNC_MAC_UPDATE, update),
    MAE_FUNCTION(OSSL_FUNC_MAC_FINAL, final),
    MAE_FUNCTION(OSSL_FUNC_MAC_GET_PARAMS, mac_get_params),
    MAE_FUNCTION(OSSL_FUNC_MAC_GETTABLE_PARAMS, mac_gettable_params),
    MAE_FUNCTION(OSSL_FUNC_MAC_GET_CTX_PARAMS, mac_get_context_params),
    MAE_FUNCTION(OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS, mac_gettable_context_params),
    MAE_FUNCTION(OSSL_FUNC_MAC_SET_CTX_PARAMS, set_context_params),
    MAE_FUNCTION(OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS, settable),
    {0, NULL}};

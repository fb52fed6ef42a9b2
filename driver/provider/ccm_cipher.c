/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offers CCM as ciphers of OpenSSL. CCM knows its lengths before the first byte, and OpenSSL has its
 * data come in one update: so a message is one call of libmaeslant.
 */
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "provider.h"

enum { TAG_BYTES = 16, TAG_USUAL = 12, NONCE_LEAST = 7, NONCE_MOST = 13 };

/* Holds a cipher context of OpenSSL. */
struct context {
    struct card *card;
    const struct cipher_info *info;
    struct key *key;
    mae_direction_t direction;
    uint32_t process; /* that set the nonce */
    uint8_t nonce[NONCE_MOST];
    size_t nonce_bytes;
    uint8_t tag[TAG_BYTES];
    size_t tag_bytes;
    uint8_t *aad;
    size_t aad_bytes, length;
    bool has_nonce, has_tag, has_length;
};

/* Makes a context of a cipher. */
static void *context_new(void *provider, const struct cipher_info *info)
{
    struct context *context = OPENSSL_zalloc(sizeof *context);
    if (!context)
        return NULL;
    context->card = provider_card(provider);
    context->info = info;
    context->nonce_bytes = info->iv_bytes;
    context->tag_bytes = TAG_USUAL;
    return context;
}

/* Forgets a context's AAD. */
static void drop_aad(struct context *context)
{
    OPENSSL_clear_free(context->aad, context->aad_bytes);
    context->aad = NULL;
    context->aad_bytes = 0;
}

/* Frees a context and erases its key. */
static void context_free(void *given)
{
    struct context *context = given;
    if (!context)
        return;
    drop_aad(context);
    key_free(context->card, context->key);
    OPENSSL_clear_free(context, sizeof *context);
}

/* Copies a context, with the AAD that it holds. */
static void *context_copy(void *given)
{
    struct context *context = given, *copy = OPENSSL_memdup(context, sizeof *context);
    if (!copy)
        return NULL;
    if (context->aad && !(copy->aad = OPENSSL_memdup(context->aad, context->aad_bytes))) {
        OPENSSL_clear_free(copy, sizeof *copy);
        return NULL;
    }
    (void)key_share(copy->key);
    return copy;
}

/* ---- parameters ---- */

/* Sets the tag that a decryption expects, or the tag's length alone. */
static int set_tag(struct context *context, const OSSL_PARAM *param)
{
    size_t bytes = param->data_size;
    if (param->data_type != OSSL_PARAM_OCTET_STRING || bytes % 2 != 0 || bytes < 4 ||
        bytes > TAG_BYTES)
        return fail(PROV_R_INVALID_TAG_LENGTH, "maeslant: a tag of CCM has 4, 6, ... 16 bytes");
    if (param->data && context->direction == MAE_ENCRYPT)
        return fail(PROV_R_TAG_NOT_NEEDED, "maeslant: a tag is set for a decryption only");
    if (param->data)
        memcpy(context->tag, param->data, bytes);
    context->has_tag = param->data != NULL;
    context->tag_bytes = bytes;
    return 1;
}

/* Sets tag, nonce length and key length. */
static int set_context_params(void *given, const OSSL_PARAM params[])
{
    struct context *context = given;
    const OSSL_PARAM *param;
    size_t bytes = 0;
    if (!params)
        return 1;
    if (OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD))
        return fail(PROV_R_NOT_SUPPORTED, "maeslant: TLS 1.2 with CCM is not offered: take GCM");
    if ((param = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_TAG)) &&
        !set_tag(context, param))
        return 0;
    if ((param = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_AEAD_IVLEN))) {
        if (!OSSL_PARAM_get_size_t(param, &bytes) || bytes < NONCE_LEAST || bytes > NONCE_MOST)
            return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: a nonce of CCM has 7 to 13 bytes");
        context->has_nonce = context->has_nonce && bytes == context->nonce_bytes;
        context->nonce_bytes = bytes;
    }
    return cipher_check_key_bytes(context->info, params);
}

/* Answers questions about the state of a context. */
static int get_context_params(void *given, OSSL_PARAM params[])
{
    struct context *context = given;
    const struct {
        const char *name;
        size_t value;
    } sizes[] = {
        {OSSL_CIPHER_PARAM_KEYLEN, context->info->key_bytes},
        {OSSL_CIPHER_PARAM_AEAD_IVLEN, context->nonce_bytes},
        {OSSL_CIPHER_PARAM_AEAD_TAGLEN, context->tag_bytes},
    };
    const char *const ivs[] = {OSSL_CIPHER_PARAM_IV, OSSL_CIPHER_PARAM_UPDATED_IV};
    OSSL_PARAM *param;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if ((param = OSSL_PARAM_locate(params, sizes[i].name)) &&
            !OSSL_PARAM_set_size_t(param, sizes[i].value))
            return 0;
    for (int i = 0; i < 2; i++)
        if ((param = OSSL_PARAM_locate(params, ivs[i])) &&
            !OSSL_PARAM_set_octet_string(param, context->nonce, context->nonce_bytes) &&
            !OSSL_PARAM_set_octet_ptr(param, context->nonce, context->nonce_bytes))
            return fail(PROV_R_FAILED_TO_SET_PARAMETER, "maeslant: no room for the nonce");
    param = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD_TAG);
    if (!param)
        return 1;
    if (context->direction != MAE_ENCRYPT || !context->has_tag ||
        param->data_size != context->tag_bytes)
        return fail(PROV_R_INVALID_TAG, "maeslant: no tag has been made, or of another length");
    return OSSL_PARAM_set_octet_string(param, context->tag, context->tag_bytes);
}

/* Lists the questions about a context. */
static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, NULL),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, 0),
        OSSL_PARAM_END,
    };
    (void)context;
    (void)provider;
    return list;
}

/* Lists what can be set in a context. */
static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, NULL),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, NULL, 0),
        OSSL_PARAM_END,
    };
    (void)context;
    (void)provider;
    return list;
}

/* ---- messages ---- */

/* Starts a message, with the key, nonce and parameters that are given. */
static int start(struct context *context, mae_direction_t direction, const uint8_t *key,
                 size_t key_bytes, const uint8_t *iv, size_t iv_bytes, const OSSL_PARAM params[])
{
    context->direction = direction;
    context->has_length = false;
    if (direction == MAE_ENCRYPT)
        context->has_tag = false;
    drop_aad(context);
    if (!cipher_set_key(context->card, &context->key, context->info, key, key_bytes))
        return 0;
    if (iv) {
        if (iv_bytes != context->nonce_bytes)
            return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: a nonce of %zu bytes, not %zu",
                        iv_bytes, context->nonce_bytes);
        memcpy(context->nonce, iv, iv_bytes);
        context->has_nonce = true;
        context->process = mae_process();
    }
    return set_context_params(context, params);
}

static int encrypt_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                        size_t iv_bytes, const OSSL_PARAM params[])
{
    return start(context, MAE_ENCRYPT, key, key_bytes, iv, iv_bytes, params);
}

static int decrypt_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                        size_t iv_bytes, const OSSL_PARAM params[])
{
    return start(context, MAE_DECRYPT, key, key_bytes, iv, iv_bytes, params);
}

/* Encrypts or decrypts the message. A wrong tag raises no error, as in OpenSSL's own. */
static int run_message(struct context *context, uint8_t *out, const uint8_t *in, size_t bytes)
{
    struct mae_message message = {.mode = MAE_CCM,
                                  .nonce = context->nonce,
                                  .nonce_bytes = context->nonce_bytes,
                                  .aad = context->aad,
                                  .aad_bytes = context->aad_bytes,
                                  .src = in,
                                  .dst = out,
                                  .length = bytes,
                                  .tag = context->tag,
                                  .tag_bytes = context->tag_bytes};
    struct card *card = context->card;
    bool seals = context->direction == MAE_ENCRYPT;
    mae_error_t error = card_enter(card);
    if (error == MAE_OK)
        error = key_pin(card, context->key);
    if (error == MAE_OK) {
        message.key_slot = context->key->slots[0];
        error = seals ? mae_seal_with_chosen_nonce(card->dev, &message)
                      : mae_unseal(card->dev, &message);
        key_unpin(card, context->key);
    }
    card_leave(card);
    context->has_nonce = false;
    context->has_length = false;
    context->has_tag = seals && error == MAE_OK;
    drop_aad(context);
    if (error == MAE_E_AUTH)
        return 0;
    return error == MAE_OK ? 1 : fail_card(error);
}

/* Takes the message's length, its AAD, or all of its data. */
static int update(void *given, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t bytes)
{
    struct context *context = given;
    *written = 0;
    if (!context->key)
        return fail(PROV_R_NO_KEY_SET, "maeslant: no key is set");
    if (!context->has_nonce)
        return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: no nonce is set, or it has been used");
    if (context->direction == MAE_ENCRYPT && context->process != mae_process())
        return fail(PROV_R_INVALID_IV_LENGTH,
                    "maeslant: this nonce was set before a fork: its parent may use it");
    if (!out && !in) {
        context->length = bytes;
        context->has_length = true;
    } else if (!out) {
        if (!context->has_length && bytes > 0)
            return fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: the length comes before AAD");
        drop_aad(context);
        if (bytes > 0 && !(context->aad = OPENSSL_memdup(in, bytes)))
            return fail(ERR_R_MALLOC_FAILURE, "maeslant: out of memory");
        context->aad_bytes = bytes;
    } else {
        if (room < bytes)
            return fail(PROV_R_OUTPUT_BUFFER_TOO_SMALL, "maeslant: room for %zu bytes, not %zu",
                        room, bytes);
        if (context->has_length && context->length != bytes)
            return fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: %zu bytes, %zu were announced",
                        bytes, context->length);
        if (context->direction == MAE_DECRYPT && !context->has_tag)
            return fail(PROV_R_TAG_NOT_SET, "maeslant: a decryption needs the tag first");
        if (!run_message(context, out, in, bytes))
            return 0;
    }
    *written = bytes;
    return 1;
}

/* Ends the message: nothing is left, for its data was processed as a whole. */
static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    (void)context;
    (void)out;
    (void)room;
    *written = 0;
    return 1;
}

/* Takes length, AAD, data, or the end (EVP_Cipher). */
static int once(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                size_t bytes)
{
    if (out && !in)
        return final(context, out, written, room);
    return update(context, out, written, room, in, bytes);
}

/* ---- tables ---- */

#define FUNCTIONS(name, index) \
    MAE_CIPHER_OWN(name, mae_ccm_ciphers, index, context_new) \
    static const OSSL_DISPATCH name##_functions[] = { \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_NEWCTX, name##_new), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_FREECTX, context_free), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_DUPCTX, context_copy), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_ENCRYPT_INIT, encrypt_init), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_DECRYPT_INIT, decrypt_init), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_UPDATE, update), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_FINAL, final), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_CIPHER, once), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_GET_PARAMS, name##_get_params), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_GETTABLE_PARAMS, cipher_gettable_params), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_GET_CTX_PARAMS, get_context_params), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, gettable), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_SET_CTX_PARAMS, set_context_params), \
        MAE_FUNCTION(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, settable), \
        {0, NULL}};
FUNCTIONS(ccm128, 0)
FUNCTIONS(ccm192, 1)
FUNCTIONS(ccm256, 2)

#define CCM(names, bits, functions) \
    {names, functions, MAE_CCM, EVP_CIPH_CCM_MODE, (bits) / 8, 1, NONCE_LEAST}
const struct cipher_info mae_ccm_ciphers[] = {
    CCM("AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7", 128, ccm128_functions),
    CCM("AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27", 192, ccm192_functions),
    CCM("AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47", 256, ccm256_functions),
    {0},
};

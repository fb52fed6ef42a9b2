/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offers CMAC (SP 800-38B) as a MAC of OpenSSL. It is CBC on the device, of which the last block of
 * ciphertext is kept: so contexts can be copied, and none of the device is held in between.
 */
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "crypt.h"
#include "mac.h"

/* Holds a MAC context of OpenSSL. */
struct context {
    struct card *card;
    const struct cipher_info *cipher;
    struct key *key;
    uint8_t chain[BLOCK];
    uint8_t held[BLOCK]; /* the last block so far, which may be the message's last */
    size_t held_bytes;
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
    key_free(context->card, context->key);
    OPENSSL_clear_free(context, sizeof *context);
}

static void *context_copy(void *given)
{
    struct context *context = given, *copy = OPENSSL_memdup(context, sizeof *context);
    if (copy)
        (void)key_share(copy->key);
    return copy;
}

/* Sets the cipher and the key, where parameters name them. */
static int set_context_params(void *given, const OSSL_PARAM params[])
{
    struct context *context = given;
    if (!params)
        return 1;
    if (!mac_set_cipher(context->card, mae_block_ciphers, MAE_CBC, &context->cipher, params))
        return 0;
    const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_KEY);
    if (!param)
        return 1;
    if (!context->cipher || param->data_type != OSSL_PARAM_OCTET_STRING)
        return fail(PROV_R_NO_KEY_SET, "maeslant: CMAC needs its cipher before its key");
    return cipher_set_key(context->card, &context->key, context->cipher, param->data,
                          param->data_size);
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_CIPHER, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_PROPERTIES, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, NULL, 0),
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
    if (!set_context_params(context, params))
        return 0;
    if (!context->cipher)
        return fail(PROV_R_MISSING_CIPHER, "maeslant: CMAC needs a cipher, as AES-128-CBC");
    if (!cipher_set_key(context->card, &context->key, context->cipher, key, key_bytes))
        return 0;
    if (!context->key)
        return fail(PROV_R_NO_KEY_SET, "maeslant: no key is set");
    memset(context->chain, 0, BLOCK);
    OPENSSL_cleanse(context->held, BLOCK);
    context->held_bytes = 0;
    return 1;
}

/* Moves the chain over held and new input, whole blocks. */
static int chain(struct context *context, const uint8_t *in, size_t bytes)
{
    struct piece piece = {.mode = MAE_CBC,
                          .key = context->key,
                          .iv = context->chain,
                          .head = context->held,
                          .head_bytes = context->held_bytes,
                          .in = in,
                          .bytes = bytes};
    if (!crypt_piece(context->card, &piece, NULL))
        return 0;
    memcpy(context->chain, piece.last_out, BLOCK);
    return 1;
}

static int update(void *given, const uint8_t *in, size_t bytes)
{
    struct context *context = given;
    size_t total = context->held_bytes + bytes;
    size_t keep = total % BLOCK == 0 && total > 0 ? BLOCK : total % BLOCK;
    if (!context->key)
        return fail(PROV_R_NO_KEY_SET, "maeslant: no key is set");
    if (bytes == 0)
        return 1;
    if (total > keep) {
        size_t used = total - keep - context->held_bytes;
        if (!chain(context, in, used))
            return 0;
        context->held_bytes = 0;
        in += used;
        bytes -= used;
    }
    memcpy(context->held + context->held_bytes, in, bytes);
    context->held_bytes += bytes;
    return 1;
}

/* Doubles a block in the field of CMAC. */
static void twice(uint8_t *block)
{
    uint8_t carry = (uint8_t)(0 - (block[0] >> 7)) & 0x87;
    for (int i = 0; i < BLOCK; i++)
        block[i] = (uint8_t)(block[i] << 1 | (i < BLOCK - 1 ? block[i + 1] >> 7 : 0));
    block[BLOCK - 1] ^= carry;
}

/* Ends the message: masks its last block by a subkey and encrypts it. */
static int final(void *given, uint8_t *out, size_t *written, size_t room)
{
    struct context *context = given;
    uint8_t subkey[BLOCK] = {0};
    if (!context->key)
        return fail(PROV_R_NO_KEY_SET, "maeslant: no key is set");
    if (room < BLOCK)
        return fail(PROV_R_OUTPUT_BUFFER_TOO_SMALL, "maeslant: a CMAC has 16 bytes");
    struct piece zero = {.mode = MAE_ECB, .key = context->key, .in = subkey, .bytes = BLOCK};
    if (!crypt_piece(context->card, &zero, subkey))
        return 0;
    twice(subkey);
    if (context->held_bytes < BLOCK) {
        twice(subkey);
        memset(context->held + context->held_bytes, 0, BLOCK - context->held_bytes);
        context->held[context->held_bytes] = 0x80;
        context->held_bytes = BLOCK;
    }
    for (int i = 0; i < BLOCK; i++)
        context->held[i] ^= subkey[i];
    OPENSSL_cleanse(subkey, sizeof subkey);
    OPENSSL_cleanse(&zero, sizeof zero);
    if (!chain(context, NULL, 0))
        return 0;
    memcpy(out, context->chain, BLOCK);
    *written = BLOCK;
    return 1;
}

const OSSL_DISPATCH mae_cmac_functions[] = {
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

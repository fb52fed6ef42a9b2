/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offers ECB, CBC, CTR and XTS as ciphers of OpenSSL. The chain lies in the context here, not in the
 * device: each update is a job of its own, so contexts can be copied, and none is held in between.
 */
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "crypt.h"
#include "provider.h"

enum { XTS_MOST = BLOCK << 20 }; /* IEEE 1619: 2^20 blocks a data unit */

/* Holds a cipher context of OpenSSL. */
struct context {
    struct card *card;
    const struct cipher_info *info;
    struct key *key;
    mae_direction_t direction;
    bool pads, has_iv;
    uint8_t first_iv[BLOCK];
    uint8_t iv[BLOCK];
    uint8_t held[BLOCK]; /* ECB, CBC: input that waits; CTR: keystream, unused from its end */
    size_t held_bytes;
};

/* Makes a context of a cipher. */
static void *context_new(void *provider, const struct cipher_info *info)
{
    struct context *context = OPENSSL_zalloc(sizeof *context);
    if (!context)
        return NULL;
    context->card = provider_card(provider);
    context->info = info;
    context->pads = info->block_bytes > 1;
    return context;
}

/* Frees a context and erases its key. */
static void context_free(void *given)
{
    struct context *context = given;
    if (!context)
        return;
    key_free(context->card, context->key);
    OPENSSL_clear_free(context, sizeof *context);
}

/* Copies a context, in the middle of a message too. */
static void *context_copy(void *given)
{
    struct context *context = given, *copy = OPENSSL_memdup(context, sizeof *context);
    if (copy)
        (void)key_share(copy->key);
    return copy;
}

/* ---- parameters ---- */

/* Sets padding. Refuses what asks for the records of TLS up to 1.2 in CBC. */
static int set_context_params(void *given, const OSSL_PARAM params[])
{
    struct context *context = given;
    unsigned number = 0;
    if (!params)
        return 1;
    const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_TLS_VERSION);
    if (param && OSSL_PARAM_get_uint(param, &number) && number != 0)
        return fail(PROV_R_NOT_SUPPORTED, "maeslant: TLS with CBC is not offered: take GCM");
    param = OSSL_PARAM_locate_const(params, OSSL_CIPHER_PARAM_PADDING);
    if (param && !OSSL_PARAM_get_uint(param, &number))
        return fail(PROV_R_FAILED_TO_GET_PARAMETER, "maeslant: padding is a number");
    if (param)
        context->pads = number != 0 && context->info->block_bytes > 1;
    return cipher_check_key_bytes(context->info, params);
}

/* Sets an octet string, or a pointer to one, if it is asked for. */
static int answer_iv(OSSL_PARAM params[], const char *name, const uint8_t *iv, size_t bytes)
{
    OSSL_PARAM *param = OSSL_PARAM_locate(params, name);
    return !param || OSSL_PARAM_set_octet_string(param, iv, bytes) ||
           OSSL_PARAM_set_octet_ptr(param, iv, bytes);
}

/* Answers questions about the state of a context. */
static int get_context_params(void *given, OSSL_PARAM params[])
{
    struct context *context = given;
    const struct cipher_info *info = context->info;
    OSSL_PARAM *param;
    if ((param = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_PADDING)) &&
        !OSSL_PARAM_set_uint(param, context->pads))
        return 0;
    if ((param = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_NUM)) &&
        !OSSL_PARAM_set_uint(param, info->mode == MAE_CTR && context->held_bytes > 0
                                        ? BLOCK - (unsigned)context->held_bytes
                                        : 0))
        return 0;
    if ((param = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_IVLEN)) &&
        !OSSL_PARAM_set_size_t(param, info->iv_bytes))
        return 0;
    if ((param = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_KEYLEN)) &&
        !OSSL_PARAM_set_size_t(param, (info->mode == MAE_XTS ? 2 : 1) * info->key_bytes))
        return 0;
    return answer_iv(params, OSSL_CIPHER_PARAM_IV, context->first_iv, info->iv_bytes) &&
           answer_iv(params, OSSL_CIPHER_PARAM_UPDATED_IV, context->iv, info->iv_bytes);
}

/* Lists the questions about a context. */
static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_IVLEN, NULL),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, NULL),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_NUM, NULL),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_IV, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_UPDATED_IV, NULL, 0),
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
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_PADDING, NULL),
        OSSL_PARAM_uint(OSSL_CIPHER_PARAM_TLS_VERSION, NULL),
        OSSL_PARAM_END,
    };
    (void)context;
    (void)provider;
    return list;
}

/* ---- starting ---- */

/* Refuses a key of XTS whose halves are equal, a new one or that of a context. As OpenSSL does, lets
   it decrypt what was encrypted elsewhere under such a key. */
static int check_halves(const struct context *context, mae_direction_t direction,
                        const uint8_t *key, size_t bytes)
{
    if (!key && context->key) {
        key = context->key->material;
        bytes = 2 * context->info->key_bytes;
    }
    if (key && context->info->mode == MAE_XTS && direction == MAE_ENCRYPT &&
        CRYPTO_memcmp(key, key + bytes / 2, bytes / 2) == 0)
        return fail(PROV_R_XTS_DUPLICATED_KEYS, "maeslant: the two keys of XTS are equal");
    return 1;
}

/* Starts a message, with the key, IV and parameters that are given. */
static int start(struct context *context, mae_direction_t direction, const uint8_t *key,
                 size_t key_bytes, const uint8_t *iv, size_t iv_bytes, const OSSL_PARAM params[])
{
    const struct cipher_info *info = context->info;
    if (!check_halves(context, direction, key, key_bytes) ||
        !cipher_set_key(context->card, &context->key, info, key, key_bytes))
        return 0;
    context->direction = direction;
    OPENSSL_cleanse(context->held, sizeof context->held);
    context->held_bytes = 0;
    if (iv && info->iv_bytes > 0) {
        if (iv_bytes != info->iv_bytes)
            return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: an IV of %zu bytes, not %u", iv_bytes,
                        info->iv_bytes);
        memcpy(context->first_iv, iv, BLOCK);
        memcpy(context->iv, iv, BLOCK);
        context->has_iv = true;
    } else if (info->mode == MAE_CBC) {
        memcpy(context->iv, context->first_iv, BLOCK);
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

/* Checks that a context has all it needs, and the caller room for the output. */
static int ready(const struct context *context, size_t needed, size_t room)
{
    if (!context->key)
        return fail(PROV_R_NO_KEY_SET, "maeslant: no key is set");
    if (context->info->iv_bytes > 0 && !context->has_iv)
        return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: no IV is set");
    if (room < needed)
        return fail(PROV_R_OUTPUT_BUFFER_TOO_SMALL, "maeslant: room for %zu bytes, not %zu", room,
                    needed);
    return 1;
}

/* ---- data ---- */

/* Runs held and new input through the device, and moves the chain of CBC on. */
static int run_blocks(struct context *context, uint8_t *out, const uint8_t *in, size_t bytes)
{
    struct piece piece = {.mode = context->info->mode,
                          .direction = context->direction,
                          .key = context->key,
                          .iv = context->info->iv_bytes > 0 ? context->iv : NULL,
                          .head = context->held,
                          .head_bytes = context->held_bytes,
                          .in = in,
                          .bytes = bytes};
    int done = crypt_piece(context->card, &piece, out);
    if (done && context->info->mode == MAE_CBC)
        memcpy(context->iv, context->direction == MAE_ENCRYPT ? piece.last_out : piece.last_in,
               BLOCK);
    OPENSSL_cleanse(&piece, sizeof piece);
    return done;
}

/* Takes input of ECB or CBC; holds back what is no whole block, and the one that may be padding. */
static int block_update(void *given, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                        size_t bytes)
{
    struct context *context = given;
    size_t total = context->held_bytes + bytes, keep = total % BLOCK;
    if (keep == 0 && total > 0 && context->pads && context->direction == MAE_DECRYPT)
        keep = BLOCK;
    size_t run = total - keep;
    *written = 0;
    if (!ready(context, run, room))
        return 0;
    if (run == 0) {
        if (bytes > 0)
            memcpy(context->held + context->held_bytes, in, bytes);
        context->held_bytes += bytes;
        return 1;
    }
    uint8_t rest[BLOCK];
    size_t used = run - context->held_bytes; /* of the new input; the rest is to be held */
    memcpy(rest, in + used, keep);
    int done = run_blocks(context, out, in, used);
    memcpy(context->held, rest, keep);
    context->held_bytes = keep;
    OPENSSL_cleanse(rest, sizeof rest);
    *written = done ? run : 0;
    return done;
}

/* Removes the padding of the last block; returns its number of bytes, or BLOCK: it is wrong. */
static size_t unpad(const uint8_t *block)
{
    size_t count = block[BLOCK - 1], wrong = count == 0 || count > BLOCK;
    for (size_t i = 0; i < BLOCK; i++)
        wrong |= (BLOCK - i <= count) & (block[i] != count);
    return wrong ? BLOCK : BLOCK - count;
}

/* Ends a message of ECB or CBC: adds the padding, or checks and removes it. */
static int block_final(void *given, uint8_t *out, size_t *written, size_t room)
{
    struct context *context = given;
    uint8_t last[BLOCK];
    size_t held = context->held_bytes, given_bytes = BLOCK;
    *written = 0;
    if (!context->pads && held == 0)
        return 1;
    if (!context->pads || (context->direction == MAE_DECRYPT && held != BLOCK))
        return fail(PROV_R_WRONG_FINAL_BLOCK_LENGTH, "maeslant: the data is not whole blocks");
    if (context->direction == MAE_ENCRYPT) {
        memset(context->held + held, (int)(BLOCK - held), BLOCK - held);
        context->held_bytes = BLOCK;
    }
    int done = ready(context, 0, 0) && run_blocks(context, last, NULL, 0);
    context->held_bytes = 0;
    if (done && context->direction == MAE_DECRYPT && (given_bytes = unpad(last)) == BLOCK)
        done = fail(PROV_R_BAD_DECRYPT, "maeslant: the padding is wrong");
    if (done && room < given_bytes)
        done = fail(PROV_R_OUTPUT_BUFFER_TOO_SMALL, "maeslant: no room for the last block");
    if (done) {
        memcpy(out, last, given_bytes);
        *written = given_bytes;
    }
    OPENSSL_cleanse(last, sizeof last);
    return done;
}

/* Adds a number to the counter of CTR. */
static void advance(uint8_t *counter, size_t blocks)
{
    for (int i = BLOCK - 1; i >= 0 && blocks > 0; i--) {
        blocks += counter[i];
        counter[i] = (uint8_t)blocks;
        blocks >>= 8;
    }
}

/* Encrypts or decrypts data in CTR; keeps what is left of the last block of keystream. */
static int counter_update(void *given, uint8_t *out, size_t *written, size_t room,
                          const uint8_t *in, size_t bytes)
{
    struct context *context = given;
    size_t kept = context->held_bytes < bytes ? context->held_bytes : bytes;
    *written = 0;
    if (!ready(context, bytes, room))
        return 0;
    for (size_t i = 0; i < kept; i++)
        out[i] = in[i] ^ context->held[BLOCK - context->held_bytes + i];
    context->held_bytes -= kept;
    size_t left = bytes - kept;
    if (left > 0) {
        struct piece piece = {.mode = MAE_CTR,
                              .key = context->key,
                              .iv = context->iv,
                              .in = in + kept,
                              .bytes = left,
                              .pad = (BLOCK - left % BLOCK) % BLOCK};
        if (!crypt_piece(context->card, &piece, out + kept))
            return 0;
        memcpy(context->held, piece.last_out, BLOCK);
        context->held_bytes = piece.pad;
        advance(context->iv, (left + piece.pad) / BLOCK);
        OPENSSL_cleanse(&piece, sizeof piece);
    }
    *written = bytes;
    return 1;
}

/* Encrypts or decrypts one data unit of XTS: each update is one. */
static int unit_update(void *given, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                       size_t bytes)
{
    struct context *context = given;
    *written = 0;
    if (!ready(context, bytes, room))
        return 0;
    if (bytes == 0)
        return 1;
    if (bytes < BLOCK)
        return fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: XTS takes 16 bytes at least");
    if (bytes > XTS_MOST)
        return fail(PROV_R_XTS_DATA_UNIT_IS_TOO_LARGE, "maeslant: a data unit has 16 MiB at most");
    int done = run_blocks(context, out, in, bytes);
    *written = done ? bytes : 0;
    return done;
}

/* Ends a message of a mode that holds nothing back. */
static int nothing_final(void *context, uint8_t *out, size_t *written, size_t room)
{
    (void)context;
    (void)out;
    (void)room;
    *written = 0;
    return 1;
}

/* Encrypts or decrypts in one call whole blocks of ECB or CBC, without padding (EVP_Cipher). */
static int block_once(void *given, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                      size_t bytes)
{
    struct context *context = given;
    *written = 0;
    if (!ready(context, bytes, room))
        return 0;
    if (bytes % BLOCK != 0)
        return fail(PROV_R_WRONG_FINAL_BLOCK_LENGTH, "maeslant: the data is not whole blocks");
    context->held_bytes = 0;
    if (!run_blocks(context, out, in, bytes))
        return 0;
    *written = bytes;
    return 1;
}

/* ---- tables ---- */

#define FUNCTIONS(name, index, update, final, once) \
    MAE_CIPHER_OWN(name, mae_block_ciphers, index, context_new) \
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
FUNCTIONS(ecb128, 0, block_update, block_final, block_once)
FUNCTIONS(ecb192, 1, block_update, block_final, block_once)
FUNCTIONS(ecb256, 2, block_update, block_final, block_once)
FUNCTIONS(cbc128, 3, block_update, block_final, block_once)
FUNCTIONS(cbc192, 4, block_update, block_final, block_once)
FUNCTIONS(cbc256, 5, block_update, block_final, block_once)
FUNCTIONS(ctr128, 6, counter_update, nothing_final, counter_update)
FUNCTIONS(ctr192, 7, counter_update, nothing_final, counter_update)
FUNCTIONS(ctr256, 8, counter_update, nothing_final, counter_update)
FUNCTIONS(xts128, 9, unit_update, nothing_final, unit_update)
FUNCTIONS(xts256, 10, unit_update, nothing_final, unit_update)

#define ECB(names, bits, functions) \
    {names, functions, MAE_ECB, EVP_CIPH_ECB_MODE, (bits) / 8, BLOCK, 0}
#define CBC(names, bits, functions) \
    {names, functions, MAE_CBC, EVP_CIPH_CBC_MODE, (bits) / 8, BLOCK, BLOCK}
#define CTR(names, bits, functions) \
    {names, functions, MAE_CTR, EVP_CIPH_CTR_MODE, (bits) / 8, 1, BLOCK}
#define XTS(names, bits, functions) \
    {names, functions, MAE_XTS, EVP_CIPH_XTS_MODE, (bits) / 8, 1, BLOCK}
const struct cipher_info mae_block_ciphers[] = {
    ECB("AES-128-ECB:2.16.840.1.101.3.4.1.1", 128, ecb128_functions),
    ECB("AES-192-ECB:2.16.840.1.101.3.4.1.21", 192, ecb192_functions),
    ECB("AES-256-ECB:2.16.840.1.101.3.4.1.41", 256, ecb256_functions),
    CBC("AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2", 128, cbc128_functions),
    CBC("AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22", 192, cbc192_functions),
    CBC("AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42", 256, cbc256_functions),
    CTR("AES-128-CTR", 128, ctr128_functions),
    CTR("AES-192-CTR", 192, ctr192_functions),
    CTR("AES-256-CTR", 256, ctr256_functions),
    XTS("AES-128-XTS:1.3.111.2.1619.0.1.1", 128, xts128_functions),
    XTS("AES-256-XTS:1.3.111.2.1619.0.1.2", 256, xts256_functions),
    {0},
};

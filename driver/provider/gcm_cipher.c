/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offers GCM as ciphers of OpenSSL, with what TLS needs of it: TLS 1.3 uses IV, AAD, data and tag
 * like any program, TLS 1.2 hands over whole records.
 */
#include <string.h>
#include <sys/random.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "gcm.h"
#include "provider.h"

enum {
    TAG_BYTES = 16,
    TAG_LEAST = 4,
    IV_BYTES = 12,
    TLS_AAD = EVP_AEAD_TLS1_AAD_LEN,
    TLS_FIXED = EVP_GCM_TLS_FIXED_IV_LEN,
    TLS_EXPLICIT = EVP_GCM_TLS_EXPLICIT_IV_LEN,
};

/* Says what is left to do with a context's IV. */
enum iv_state { IV_MISSING, IV_SET, IV_IN_USE, IV_USED_UP };

/* Holds a cipher context of OpenSSL. */
struct context {
    struct card *card;
    const struct cipher_info *info;
    struct key *key;
    struct gcm message; /* between the first input under an IV and the tag */
    mae_direction_t direction;
    enum iv_state state;
    uint32_t process; /* that set the IV */
    uint8_t iv[GCM_IV_MOST];
    size_t iv_bytes;
    uint8_t tag[TAG_BYTES];
    size_t tag_bytes; /* 0: there is none */
    uint8_t tls_aad[TLS_AAD];
    bool tls, tls_iv; /* a record's AAD, and the connection's part of the IV, have been given */
};

/* Makes a context of a cipher. */
static void *context_new(void *provider, const struct cipher_info *info)
{
    struct context *context = OPENSSL_zalloc(sizeof *context);
    if (!context)
        return NULL;
    context->card = provider_card(provider);
    context->info = info;
    context->iv_bytes = IV_BYTES;
    return context;
}

/* Frees a context, drops its message, erases its key. */
static void context_free(void *given)
{
    struct context *context = given;
    if (!context)
        return;
    gcm_drop(&context->message);
    key_free(context->card, context->key);
    OPENSSL_clear_free(context, sizeof *context);
}

/* Copies a context, unless the device has begun its message. */
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

/* ---- parameters ---- */

/* Sets the tag that a decryption expects. */
static int set_tag(struct context *context, const OSSL_PARAM *param)
{
    void *tag = context->tag;
    size_t bytes = 0;
    if (!param->data || context->direction == MAE_ENCRYPT)
        return fail(PROV_R_INVALID_TAG, "maeslant: a tag is set for a decryption only");
    if (!OSSL_PARAM_get_octet_string(param, &tag, TAG_BYTES, &bytes) || bytes < TAG_LEAST)
        return fail(PROV_R_INVALID_TAG_LENGTH, "maeslant: a tag has 4 to 16 bytes");
    context->tag_bytes = bytes;
    return 1;
}

/* Sets how many bytes the IV has. */
static int set_iv_bytes(struct context *context, const OSSL_PARAM *param)
{
    size_t bytes = 0;
    if (!OSSL_PARAM_get_size_t(param, &bytes) || bytes == 0 || bytes > GCM_IV_MOST)
        return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: an IV has 1 to %d bytes", GCM_IV_MOST);
    if (bytes != context->iv_bytes) {
        context->iv_bytes = bytes;
        context->state = IV_MISSING;
    }
    return 1;
}

/* Takes the AAD of a TLS 1.2 record; corrects its length to the plaintext's. */
static int set_tls_aad(struct context *context, const OSSL_PARAM *param)
{
    size_t bytes = 0, more = TLS_EXPLICIT + (context->direction == MAE_DECRYPT ? TAG_BYTES : 0);
    void *aad = context->tls_aad;
    if (!OSSL_PARAM_get_octet_string(param, &aad, TLS_AAD, &bytes) || bytes != TLS_AAD)
        return fail(PROV_R_INVALID_AAD, "maeslant: the AAD of a record has 13 bytes");
    size_t length = (size_t)context->tls_aad[TLS_AAD - 2] << 8 | context->tls_aad[TLS_AAD - 1];
    if (length < more)
        return fail(PROV_R_INVALID_AAD, "maeslant: this record is too short");
    length -= more;
    context->tls_aad[TLS_AAD - 2] = (uint8_t)(length >> 8);
    context->tls_aad[TLS_AAD - 1] = (uint8_t)length;
    context->tls = true;
    return 1;
}

/* Takes the part of the IV that a TLS 1.2 connection fixes; draws where its counter begins. */
static int set_tls_iv(struct context *context, const OSSL_PARAM *param)
{
    void *iv = context->iv;
    size_t bytes = 0;
    if (context->iv_bytes != IV_BYTES ||
        !OSSL_PARAM_get_octet_string(param, &iv, IV_BYTES, &bytes) ||
        (bytes != TLS_FIXED && bytes != IV_BYTES))
        return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: the fixed part of an IV has 4 bytes");
    if (bytes == TLS_FIXED && context->direction == MAE_ENCRYPT &&
        getrandom(context->iv + TLS_FIXED, TLS_EXPLICIT, 0) != TLS_EXPLICIT)
        return fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: no random numbers");
    context->tls_iv = true;
    context->state = IV_SET;
    context->process = mae_process();
    return 1;
}

/* Sets what OpenSSL wants set: tag, lengths, parts of TLS. */
static int set_context_params(void *given, const OSSL_PARAM params[])
{
    static const struct {
        const char *name;
        int (*set)(struct context *, const OSSL_PARAM *);
    } table[] = {
        {OSSL_CIPHER_PARAM_AEAD_TAG, set_tag},
        {OSSL_CIPHER_PARAM_AEAD_IVLEN, set_iv_bytes},
        {OSSL_CIPHER_PARAM_AEAD_TLS1_AAD, set_tls_aad},
        {OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, set_tls_iv},
    };
    struct context *context = given;
    if (!params)
        return 1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, table[i].name);
        if (param && !table[i].set(context, param))
            return 0;
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
        {OSSL_CIPHER_PARAM_AEAD_IVLEN, context->iv_bytes},
        {OSSL_CIPHER_PARAM_AEAD_TAGLEN, TAG_BYTES},
        {OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, context->tls ? TAG_BYTES : 0},
    };
    const char *const ivs[] = {OSSL_CIPHER_PARAM_IV, OSSL_CIPHER_PARAM_UPDATED_IV};
    OSSL_PARAM *param;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if ((param = OSSL_PARAM_locate(params, sizes[i].name)) &&
            !OSSL_PARAM_set_size_t(param, sizes[i].value))
            return 0;
    for (int i = 0; i < 2; i++)
        if ((param = OSSL_PARAM_locate(params, ivs[i])) &&
            (context->state == IV_MISSING ||
             (!OSSL_PARAM_set_octet_string(param, context->iv, context->iv_bytes) &&
              !OSSL_PARAM_set_octet_ptr(param, context->iv, context->iv_bytes))))
            return fail(PROV_R_FAILED_TO_SET_PARAMETER, "maeslant: no IV, or no room for it");
    param = OSSL_PARAM_locate(params, OSSL_CIPHER_PARAM_AEAD_TAG);
    if (!param)
        return 1;
    size_t bytes = param->data_size;
    if (context->direction != MAE_ENCRYPT || context->tag_bytes == 0 || bytes == 0 ||
        bytes > TAG_BYTES)
        return fail(PROV_R_INVALID_TAG, "maeslant: no tag has been made, or not so long a one");
    return OSSL_PARAM_set_octet_string(param, context->tag, bytes);
}

/* Lists the questions about a context. */
static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_KEYLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TAGLEN, NULL),
        OSSL_PARAM_size_t(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD, NULL),
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
        OSSL_PARAM_octet_string(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED, NULL, 0),
        OSSL_PARAM_END,
    };
    (void)context;
    (void)provider;
    return list;
}

/* ---- messages ---- */

/* Starts a message, with the key, IV and parameters that are given. */
static int start(struct context *context, mae_direction_t direction, const uint8_t *key,
                 size_t key_bytes, const uint8_t *iv, size_t iv_bytes, const OSSL_PARAM params[])
{
    gcm_drop(&context->message);
    if (direction == MAE_ENCRYPT || context->direction != direction)
        context->tag_bytes = 0; /* a tag that was made is none that is expected */
    context->direction = direction;
    if (context->state == IV_IN_USE)
        context->state = IV_USED_UP; /* dropped half-way; the same IV must not serve again */
    if (!cipher_set_key(context->card, &context->key, context->info, key, key_bytes))
        return 0;
    if (iv) {
        if (iv_bytes == 0 || iv_bytes > GCM_IV_MOST)
            return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: an IV has 1 to %d bytes", GCM_IV_MOST);
        memcpy(context->iv, iv, iv_bytes);
        context->iv_bytes = iv_bytes;
        context->state = IV_SET;
        context->process = mae_process();
        context->tls_iv = false;
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

/* Begins the message under the IV that is set, with the first input or the tag. */
static int begin(struct context *context)
{
    if (context->state == IV_IN_USE)
        return 1;
    if (!context->key)
        return fail(PROV_R_NO_KEY_SET, "maeslant: no key is set");
    if (context->state != IV_SET)
        return fail(PROV_R_INVALID_IV_LENGTH, "maeslant: no IV is set, or it has been used");
    if (context->direction == MAE_ENCRYPT && context->process != mae_process())
        return fail(PROV_R_INVALID_IV_LENGTH,
                    "maeslant: this IV was set before a fork: its parent may use it");
    gcm_start(&context->message, context->card, context->key, context->iv, context->iv_bytes,
              context->direction);
    context->state = IV_IN_USE;
    return 1;
}

/* Ends the message: makes the tag, or verifies it. */
static int finish(struct context *context)
{
    bool seals = context->direction == MAE_ENCRYPT;
    if (!seals && context->tag_bytes == 0)
        return fail(PROV_R_INVALID_TAG, "maeslant: a decryption needs the tag");
    if (!begin(context))
        return 0;
    context->state = IV_USED_UP;
    int done = gcm_finish(&context->message, context->tag, context->tag_bytes);
    if (seals)
        context->tag_bytes = done ? TAG_BYTES : 0;
    return done;
}

/* ---- records of TLS 1.2: explicit part of the IV, data, tag ---- */

/* Encrypts or decrypts a record in place. */
static int record(struct context *context, uint8_t *data, size_t *written, size_t bytes)
{
    bool seals = context->direction == MAE_ENCRYPT;
    uint8_t *explicit_iv = context->iv + TLS_FIXED, *text = data + TLS_EXPLICIT;
    context->tls = false;
    if (!context->tls_iv || bytes < TLS_EXPLICIT + TAG_BYTES)
        return fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: this is no record of TLS 1.2");
    size_t length = bytes - TLS_EXPLICIT - TAG_BYTES;
    if (seals)
        memcpy(data, explicit_iv, TLS_EXPLICIT);
    else
        memcpy(explicit_iv, data, TLS_EXPLICIT);
    context->state = IV_SET;
    /* Which of both processes goes on with a connection after a fork is its user's. */
    context->process = mae_process();
    if (!seals) {
        memcpy(context->tag, text + length, TAG_BYTES);
        context->tag_bytes = TAG_BYTES;
    }
    int done = begin(context) && gcm_aad(&context->message, context->tls_aad, TLS_AAD) &&
               gcm_data(&context->message, text, text, length) && finish(context);
    gcm_drop(&context->message);
    context->state = IV_USED_UP;
    if (!done) {
        OPENSSL_cleanse(data, bytes);
        return 0;
    }
    if (seals) {
        memcpy(text + length, context->tag, TAG_BYTES);
        for (int i = TLS_EXPLICIT - 1; i >= 0 && ++explicit_iv[i] == 0; i--)
            ;
    }
    *written = seals ? bytes : length;
    return 1;
}

/* ---- what OpenSSL calls with data ---- */

/* Takes AAD, where there is no output, or data; a record of TLS 1.2, if its AAD has been given. */
static int update(void *given, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t bytes)
{
    struct context *context = given;
    *written = 0;
    if (out && room < bytes)
        return fail(PROV_R_OUTPUT_BUFFER_TOO_SMALL, "maeslant: room for %zu bytes, not %zu", room,
                    bytes);
    if (context->tls && (!out || out != in))
        return fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: a record is processed in place");
    if (context->tls)
        return record(context, out, written, bytes);
    if (bytes == 0)
        return 1;
    if (!begin(context) || !(out ? gcm_data(&context->message, out, in, bytes)
                                 : gcm_aad(&context->message, in, bytes)))
        return 0;
    *written = bytes;
    return 1;
}

/* Ends the message. */
static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    (void)out;
    (void)room;
    *written = 0;
    return finish(context);
}

/* Takes AAD, data, or the end (EVP_Cipher). */
static int once(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                size_t bytes)
{
    return in ? update(context, out, written, room, in, bytes) : final(context, out, written, room);
}

/* ---- tables ---- */

#define FUNCTIONS(name, index) \
    MAE_CIPHER_OWN(name, mae_gcm_ciphers, index, context_new) \
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
FUNCTIONS(gcm128, 0)
FUNCTIONS(gcm192, 1)
FUNCTIONS(gcm256, 2)

#define GCM(names, bits, functions) \
    {names, functions, MAE_GCM, EVP_CIPH_GCM_MODE, (bits) / 8, 1, IV_BYTES}
const struct cipher_info mae_gcm_ciphers[] = {
    GCM("AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", 128, gcm128_functions),
    GCM("AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26", 192, gcm192_functions),
    GCM("AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", 256, gcm256_functions),
    {0},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the algorithms of the OpenSSL provider and what they share. */
#ifndef MAE_PROVIDER_PROVIDER_H
#define MAE_PROVIDER_PROVIDER_H

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "card.h"

/* Describes a cipher as OpenSSL knows it. */
struct cipher_info {
    const char *names; /* separated by colons: OpenSSL's, other ones, the object identifier */
    const OSSL_DISPATCH *functions;
    mae_mode_t mode;
    unsigned evp_mode; /* EVP_CIPH_*_MODE */
    uint32_t key_bytes;
    uint32_t block_bytes;
    uint32_t iv_bytes;
};

/* The ciphers of three files, each list ended by an entry without names. */
extern const struct cipher_info mae_block_ciphers[];
extern const struct cipher_info mae_gcm_ciphers[];
extern const struct cipher_info mae_ccm_ciphers[];
extern const OSSL_DISPATCH mae_cmac_functions[];
extern const OSSL_DISPATCH mae_gmac_functions[];

/* Returns the device of a provider. */
struct card *provider_card(void *provider);
/* Answers OpenSSL's questions about a cipher: mode, lengths, kind. */
int cipher_get_params(const struct cipher_info *info, OSSL_PARAM params[]);
/* Lists these questions. */
const OSSL_PARAM *cipher_gettable_params(void *provider);
/* Replaces a context's key by a new one, if `key` is not NULL. Raises an error and returns 0 for a
   wrong length. */
int cipher_set_key(struct card *card, struct key **at, const struct cipher_info *info,
                   const uint8_t *key, size_t bytes);
/* Refuses a parameter that asks for a key of another length than the cipher's; 1: none does. */
int cipher_check_key_bytes(const struct cipher_info *info, const OSSL_PARAM params[]);

/* Defines the functions by which a cipher's contexts are made and its parameters read. */
#define MAE_CIPHER_OWN(name, list, index, make) \
    static void *name##_new(void *provider) \
    { \
        return make(provider, &list[index]); \
    } \
    static int name##_get_params(OSSL_PARAM params[]) \
    { \
        return cipher_get_params(&list[index], params); \
    }

#define MAE_FUNCTION(id, function) {id, (void (*)(void))function}

#endif

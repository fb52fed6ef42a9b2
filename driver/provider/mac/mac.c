/* SPDX-License-Identifier: Apache-2.0 */
/* Answers OpenSSL's questions about CMAC and GMAC, and finds the cipher that they are told to use. */
#include <string.h>
#include <strings.h>

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "mac.h"

/* Returns true if a name is among those of a cipher. */
static bool named(const struct cipher_info *info, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = info->names; at; at = (at = strchr(at, ':')) ? at + 1 : NULL)
        if (length > 0 && strcspn(at, ":") == length && strncasecmp(at, name, length) == 0)
            return true;
    return false;
}

int mac_set_cipher(const struct card *card, const struct cipher_info *list, mae_mode_t mode,
                   const struct cipher_info **cipher, const OSSL_PARAM params[])
{
    const OSSL_PARAM *param = OSSL_PARAM_locate_const(params, OSSL_MAC_PARAM_CIPHER);
    const char *name = NULL;
    if (!param)
        return 1;
    if (!OSSL_PARAM_get_utf8_string_ptr(param, &name) || !name)
        return fail(PROV_R_FAILED_TO_GET_PARAMETER, "maeslant: the cipher of a MAC has a name");
    for (; list->names; list++) {
        if (list->mode == mode && named(list, name) &&
            list->key_bytes <= card->caps.max_key_bytes) {
            *cipher = list;
            return 1;
        }
    }
    return fail(PROV_R_INVALID_MODE, "maeslant: this MAC is not offered with %.40s", name);
}

int mac_get_params(OSSL_PARAM params[])
{
    const char *const names[] = {OSSL_MAC_PARAM_SIZE, OSSL_MAC_PARAM_BLOCK_SIZE};
    for (int i = 0; i < 2; i++) {
        OSSL_PARAM *param = OSSL_PARAM_locate(params, names[i]);
        if (param && !OSSL_PARAM_set_size_t(param, BLOCK))
            return 0;
    }
    return 1;
}

int mac_get_context_params(void *context, OSSL_PARAM params[])
{
    (void)context;
    return mac_get_params(params);
}

static const OSSL_PARAM gettable[] = {
    OSSL_PARAM_size_t(OSSL_MAC_PARAM_SIZE, NULL),
    OSSL_PARAM_size_t(OSSL_MAC_PARAM_BLOCK_SIZE, NULL),
    OSSL_PARAM_END,
};

const OSSL_PARAM *mac_gettable_params(void *provider)
{
    (void)provider;
    return gettable;
}

const OSSL_PARAM *mac_gettable_context_params(void *context, void *provider)
{
    (void)context;
    (void)provider;
    return gettable;
}

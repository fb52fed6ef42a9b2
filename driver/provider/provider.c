/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is loaded by OpenSSL as the provider "maeslant": opens the device and offers what it has.
 *
 * The device's URI is the parameter `device` of the provider's section in the OpenSSL configuration,
 * or the environment variable MAESLANT_DEVICE, which goes first.
 */
#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "provider.h"

#define PROPERTIES "provider=maeslant"

enum { CIPHERS_MOST = 24, MACS_MOST = 2 };

/* Holds a loaded provider. */
struct provider {
    struct card *card;
    OSSL_ALGORITHM ciphers[CIPHERS_MOST + 1], macs[MACS_MOST + 1];
};

struct card *provider_card(void *provider)
{
    return ((struct provider *)provider)->card;
}

/* ---- what the device has ---- */

/* Returns true if the device has a mode, or libmaeslant can compose it of what the device has. */
static bool has_mode(const struct mae_caps *caps, mae_mode_t mode)
{
    const uint32_t composed = 1u << MAE_ECB | 1u << MAE_CBC | 1u << MAE_CTR;
    if ((mode == MAE_CCM || mode == MAE_CMAC) && (caps->modes & composed) == composed)
        return true;
    return caps->modes >> mode & 1;
}

/* Adds the ciphers of a list to the provider's, those that the device has in both directions. */
static size_t add_ciphers(struct provider *provider, size_t count, const struct cipher_info *list)
{
    const struct mae_caps *caps = &provider->card->caps;
    for (; list->names && count < CIPHERS_MOST; list++)
        if (has_mode(caps, list->mode) && caps->directions == 3 &&
            list->key_bytes <= caps->max_key_bytes)
            provider->ciphers[count++] = (OSSL_ALGORITHM){.algorithm_names = list->names,
                                                          .property_definition = PROPERTIES,
                                                          .implementation = list->functions};
    return count;
}

/* Lists what the provider's device has. */
static void list_algorithms(struct provider *provider)
{
    const struct mae_caps *caps = &provider->card->caps;
    size_t count = add_ciphers(provider, 0, mae_block_ciphers);
    count = add_ciphers(provider, count, mae_gcm_ciphers);
    (void)add_ciphers(provider, count, mae_ccm_ciphers);
    OSSL_ALGORITHM *mac = provider->macs;
    if (has_mode(caps, MAE_CBC) && has_mode(caps, MAE_ECB))
        *mac++ = (OSSL_ALGORITHM){.algorithm_names = "CMAC",
                                  .property_definition = PROPERTIES,
                                  .implementation = mae_cmac_functions};
    if (has_mode(caps, MAE_GCM))
        *mac++ = (OSSL_ALGORITHM){.algorithm_names = "GMAC:1.0.9797.3.4",
                                  .property_definition = PROPERTIES,
                                  .implementation = mae_gmac_functions};
}

/* ---- what OpenSSL calls ---- */

static const OSSL_ALGORITHM *query(void *given, int operation, int *no_cache)
{
    struct provider *provider = given;
    *no_cache = 0;
    return operation == OSSL_OP_CIPHER ? provider->ciphers
           : operation == OSSL_OP_MAC  ? provider->macs
                                       : NULL;
}

static const OSSL_PARAM *gettable_params(void *provider)
{
    static const OSSL_PARAM list[] = {
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, NULL, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, NULL, 0),
        OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, NULL, 0),
        OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, NULL),
        OSSL_PARAM_uint64("clocks", NULL),
        OSSL_PARAM_END,
    };
    (void)provider;
    return list;
}

static int get_params(void *given, OSSL_PARAM params[])
{
    struct provider *provider = given;
    const struct {
        const char *name, *value;
    } texts[] = {
        {OSSL_PROV_PARAM_NAME, "Maeslant AES accelerator"},
        {OSSL_PROV_PARAM_VERSION, MAESLANT_VERSION},
        {OSSL_PROV_PARAM_BUILDINFO, provider->card->uri},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        OSSL_PARAM *param = OSSL_PARAM_locate(params, texts[i].name);
        if (param && !OSSL_PARAM_set_utf8_ptr(param, texts[i].value))
            return 0;
    }
    OSSL_PARAM *clocks = OSSL_PARAM_locate(params, "clocks");
    if (clocks && !OSSL_PARAM_set_uint64(clocks, card_clocks(provider->card)))
        return 0;
    OSSL_PARAM *status = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
    return !status || OSSL_PARAM_set_int(status, provider->card->dev != NULL);
}

static void teardown(void *given)
{
    struct provider *provider = given;
    card_close(provider->card);
    OPENSSL_free(provider);
}

/* Returns the URI of the device, of the environment or of the OpenSSL configuration, or NULL. */
static const char *device_uri(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core)
{
    const char *uri = secure_getenv("MAESLANT_DEVICE");
    if (uri && *uri)
        return uri;
    char *configured = NULL;
    OSSL_PARAM params[] = {OSSL_PARAM_utf8_ptr("device", &configured, 0), OSSL_PARAM_END};
    for (; core->function_id != 0; core++)
        if (core->function_id == OSSL_FUNC_CORE_GET_PARAMS)
            (void)OSSL_FUNC_core_get_params(core)(handle, params);
    return configured;
}

__attribute__((visibility("default"))) int OSSL_provider_init(const OSSL_CORE_HANDLE *handle,
                                                              const OSSL_DISPATCH *core,
                                                              const OSSL_DISPATCH **functions,
                                                              void **context)
{
    static const OSSL_DISPATCH own[] = {
        MAE_FUNCTION(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
        MAE_FUNCTION(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable_params),
        MAE_FUNCTION(OSSL_FUNC_PROVIDER_GET_PARAMS, get_params),
        MAE_FUNCTION(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query),
        {0, NULL},
    };
    const char *uri = device_uri(handle, core);
    if (!uri)
        return fail(PROV_R_MISSING_CONFIG_DATA,
                    "maeslant: no device is named: set `device` in the provider's section of the "
                    "OpenSSL configuration, or MAESLANT_DEVICE, as in sim:stream?lanes=4");
    struct provider *provider = OPENSSL_zalloc(sizeof *provider);
    if (!provider)
        return 0;
    provider->card = card_open(uri);
    if (!provider->card) {
        OPENSSL_free(provider);
        return 0;
    }
    list_algorithms(provider);
    *functions = own;
    *context = provider;
    return 1;
}

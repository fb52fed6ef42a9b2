/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the OpenSSL provider beside OpenSSL's default one; what the tests of it share. */
#ifndef MAE_TEST_EVP_H
#define MAE_TEST_EVP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#define OURS "provider=maeslant"
#define THEIRS "provider=default"

/* Ends the test with OpenSSL's errors unless a condition holds. */
#define CHECK(condition, ...) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            ERR_print_errors_fp(stderr); \
            exit(1); \
        } \
    } while (0)

struct providers {
    OSSL_PROVIDER *ours, *theirs;
};

/* Loads both providers; ours from a folder. */
static inline struct providers load_providers(const char *folder)
{
    struct providers loaded;
    CHECK(OSSL_PROVIDER_set_default_search_path(NULL, folder), "%s", folder);
    loaded.theirs = OSSL_PROVIDER_load(NULL, "default");
    CHECK(loaded.theirs, "default");
    loaded.ours = OSSL_PROVIDER_load(NULL, "maeslant");
    CHECK(loaded.ours, "maeslant of %s", folder);
    return loaded;
}

/* Unloads both providers. */
static inline void unload_providers(struct providers *loaded)
{
    CHECK(OSSL_PROVIDER_unload(loaded->ours), "maeslant");
    CHECK(OSSL_PROVIDER_unload(loaded->theirs), "default");
}

/* Checks that a call failed, with an error of the provider that says so. */
static inline void refused(int result, const char *text)
{
    const char *data = NULL;
    int flags = 0, found = 0;
    CHECK(result <= 0, "not refused: %s", text);
    while (ERR_get_error_all(NULL, NULL, NULL, &data, &flags))
        found |= (flags & ERR_TXT_STRING) && strstr(data, text);
    CHECK(found, "no error says: %s", text);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times messages through OpenSSL's EVP interface, one after the other under one key: by OpenSSL
 * itself and by the provider, in CPU time; of a simulated device, in its clocks.
 *
 *   evp_messages FOLDER-OF-THE-PROVIDER NANOSECONDS-TO-MEASURE CIPHER
 *
 * Prints a line for each size: bytes, nanoseconds of OpenSSL, of the provider, clocks of the device.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>

enum { MOST = 1 << 20, DEVICE_ROUNDS = 3, AAD = 5 };

static unsigned char data[MOST], tag[16];

/* Ends the program with OpenSSL's errors unless `done`. */
static void need(int done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "%s failed\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Encrypts a message in place; in GCM as TLS 1.3 does a record: IV, AAD of 5 bytes, data, tag. */
static void seal(EVP_CIPHER_CTX *context, int bytes)
{
    static unsigned char iv[16];
    unsigned char aad[AAD] = {23, 3, 3}, rest[16];
    int count, aead = EVP_CIPHER_CTX_get_mode(context) == EVP_CIPH_GCM_MODE;
    for (int i = 11; i >= 0 && ++iv[i] == 0; i--)
        ;
    need(EVP_EncryptInit_ex(context, NULL, NULL, NULL, iv) &&
             (!aead || EVP_EncryptUpdate(context, NULL, &count, aad, AAD)) &&
             EVP_EncryptUpdate(context, data, &count, data, bytes) &&
             EVP_EncryptFinal_ex(context, rest, &count) &&
             (!aead || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, sizeof tag, tag)),
         "a message");
}

/* Returns the nanoseconds of the CPU for a message, measured for a time. */
static double time_of(EVP_CIPHER_CTX *context, int bytes, uint64_t least)
{
    uint64_t rounds = 0, start = now(), end = start;
    for (; end - start < least; end = now(), rounds++)
        seal(context, bytes);
    return (double)(end - start) / (double)rounds;
}

/* Makes a context for a cipher of a provider. */
static EVP_CIPHER_CTX *context_of(const char *name, const char *provider)
{
    unsigned char key[16] = {1};
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, provider);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    need(cipher && context && EVP_EncryptInit_ex(context, cipher, NULL, key, NULL), provider);
    EVP_CIPHER_free(cipher);
    return context;
}

/* Returns the clocks that the provider's device has run. */
static uint64_t clocks(OSSL_PROVIDER *provider)
{
    uint64_t value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_uint64("clocks", &value), OSSL_PARAM_END};
    need(OSSL_PROVIDER_get_params(provider, params), "reading the clocks");
    return value;
}

int main(int count, char **arguments)
{
    need(count == 4, "usage: evp_messages FOLDER NANOSECONDS CIPHER");
    uint64_t least = strtoull(arguments[2], NULL, 10);
    need(OSSL_PROVIDER_set_default_search_path(NULL, arguments[1]), "the provider's folder");
    OSSL_PROVIDER *theirs = OSSL_PROVIDER_load(NULL, "default");
    OSSL_PROVIDER *ours = OSSL_PROVIDER_load(NULL, "maeslant");
    need(ours && theirs, "loading the provider");
    EVP_CIPHER_CTX *here = context_of(arguments[3], "provider=default");
    EVP_CIPHER_CTX *card = context_of(arguments[3], "provider=maeslant");
    for (int bytes = 64; bytes <= MOST; bytes *= 4) {
        double other = time_of(here, bytes, least), own = 0, taken = 0;
        seal(card, bytes); /* loads the key */
        uint64_t before = clocks(ours);
        if (before == 0)
            own = time_of(card, bytes, least);
        for (int i = 0; before > 0 && i < DEVICE_ROUNDS; i++)
            seal(card, bytes);
        taken = (double)(clocks(ours) - before) / DEVICE_ROUNDS;
        printf("%d %.1f %.1f %.1f\n", bytes, other, own, taken);
    }
    EVP_CIPHER_CTX_free(here);
    EVP_CIPHER_CTX_free(card);
    OSSL_PROVIDER_unload(ours);
    OSSL_PROVIDER_unload(theirs);
    return 0;
}

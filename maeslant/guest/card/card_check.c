/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a device with OpenSSL: CTR, CBC both ways, XTS and GCM over data of a given size.
 *
 *   card_check DEVICE BYTES        for example: card_check vfio:0000:00:02.0 1000000
 */
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "maeslant.h"

struct row {
    const char *name;
    mae_mode_t mode;
    mae_direction_t direction;
    size_t key_bytes;
    size_t granule; /* the length is a multiple of it */
    size_t most;    /* bytes: OpenSSL has 2^20 blocks of XTS; a chain is slow in a simulation */
    const EVP_CIPHER *(*cipher)(void);
};

static const struct row rows[] = {
    {"AES-256-CTR encryption", MAE_CTR, MAE_ENCRYPT, 32, 1, SIZE_MAX, EVP_aes_256_ctr},
    {"AES-128-CBC encryption", MAE_CBC, MAE_ENCRYPT, 16, 16, 65536, EVP_aes_128_cbc},
    {"AES-192-CBC decryption", MAE_CBC, MAE_DECRYPT, 24, 16, SIZE_MAX, EVP_aes_192_cbc},
    {"AES-256-XTS encryption", MAE_XTS, MAE_ENCRYPT, 64, 16, 16777216, EVP_aes_256_xts},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const char *what, mae_error_t error)
{
    printf("%s: %s: %s\n", what, mae_strerror(error), mae_error_detail());
    return 1;
}

/* Prints one row of the report. */
static int report(const char *name, size_t bytes, double start, int equal)
{
    double took = seconds() - start;
    printf("%-24s %10zu bytes %8.2f s  %s\n", name, bytes, took,
           equal ? "equal to OpenSSL's" : "DIFFERENT from OpenSSL's");
    fflush(stdout);
    return !equal;
}

/* Lets OpenSSL do what a row says. Returns 0 if it did. */
static int by_openssl(const struct row *row, const uint8_t *key, const uint8_t *iv,
                      const uint8_t *src, uint8_t *dst, size_t bytes)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int given = 0;
    int good = context &&
               EVP_CipherInit_ex(context, row->cipher(), NULL, key, iv,
                                 row->direction == MAE_ENCRYPT) == 1 &&
               EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
               EVP_CipherUpdate(context, dst, &given, src, (int)bytes) == 1;
    EVP_CIPHER_CTX_free(context);
    return good && (size_t)given == bytes ? 0 : 1;
}

/* Compares the device with OpenSSL in AES-256-GCM, and sees a changed message refused. */
static int compare_gcm(mae_dev_t *dev, const uint8_t *key, const uint8_t *src, uint8_t *dst,
                       uint8_t *expected, size_t bytes)
{
    uint8_t nonce[12], tag[16], wanted[16];
    int given = 0;
    struct mae_message message = {.mode = MAE_GCM,
                                  .key = key,
                                  .key_bytes = 32,
                                  .nonce = nonce,
                                  .aad = "header",
                                  .aad_bytes = 6,
                                  .src = src,
                                  .dst = dst,
                                  .length = bytes,
                                  .tag = tag,
                                  .tag_bytes = sizeof tag};
    double start = seconds();
    mae_error_t error = mae_seal(dev, &message);
    if (error != MAE_OK)
        return fail("mae_seal", error);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int good = context && EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce) == 1 &&
               EVP_EncryptUpdate(context, NULL, &given, (const uint8_t *)"header", 6) == 1 &&
               EVP_EncryptUpdate(context, expected, &given, src, (int)bytes) == 1 &&
               EVP_EncryptFinal_ex(context, expected, &given) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, sizeof wanted, wanted) == 1;
    EVP_CIPHER_CTX_free(context);
    good = good && memcmp(dst, expected, bytes) == 0 && memcmp(tag, wanted, sizeof tag) == 0;
    int bad = report("AES-256-GCM sealing", bytes, start, good);

    message.src = expected;
    start = seconds();
    message.nonce_bytes = sizeof nonce;
    error = mae_unseal(dev, &message);
    if (error != MAE_OK)
        return fail("mae_unseal", error);
    bad |= report("AES-256-GCM opening", bytes, start, memcmp(dst, src, bytes) == 0);
    expected[bytes / 2] ^= 1;
    error = mae_unseal(dev, &message);
    printf("a changed message is %s\n", error == MAE_E_AUTH ? "refused" : "NOT REFUSED");
    return bad | (error != MAE_E_AUTH);
}

int main(int argc, char **argv)
{
    size_t bytes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    uint8_t *src = malloc(bytes + 1), *dst = malloc(bytes + 1), *expected = malloc(bytes + 1);
    uint8_t key[64], iv[16];
    mae_dev_t *dev;
    int bad = 0;
    if (bytes < 64 || bytes > INT32_MAX || !src || !dst || !expected) {
        fprintf(stderr, "usage: card_check DEVICE BYTES\n");
        return 2;
    }
    srand(1);
    for (size_t i = 0; i < bytes; i++)
        src[i] = (uint8_t)(rand() >> 7);
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(rand() >> 7);
    memcpy(iv, src, sizeof iv);

    mae_error_t error = mae_open(argv[1], &dev);
    if (error != MAE_OK)
        return fail(argv[1], error);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        size_t length = bytes < row->most ? bytes : row->most;
        length -= length % row->granule;
        double start = seconds();
        error =
            mae_crypt(dev, row->mode, row->direction, key, row->key_bytes, iv, src, dst, length);
        if (error != MAE_OK)
            return fail(row->name, error);
        int equal = by_openssl(row, key, iv, src, expected, length) == 0 &&
                    memcmp(dst, expected, length) == 0;
        bad |= report(row->name, length, start, equal);
    }
    bad |= compare_gcm(dev, key, src, dst, expected, bytes);
    mae_close(dev);
    free(src);
    free(dst);
    free(expected);
    return bad;
}

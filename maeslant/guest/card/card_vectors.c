/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a device with published test vectors, read from a file of tests/vectors/export.py.
 *
 *   card_vectors DEVICE FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "maeslant.h"

enum { PARTS = 6, OPENS = 0, WRONG = 1, REFUSED = 2 };

/* Precedes each vector in the file; little-endian. The parts come after it, in this order. */
struct head {
    char mode[4];
    uint8_t encrypt; /* the vector says how it is encrypted; else only how it is decrypted */
    uint8_t outcome;
    uint8_t spare[2];
    uint32_t bytes[PARTS];
};

enum part { KEY, IV, AAD, PLAINTEXT, CIPHERTEXT, TAG };

struct vector {
    struct head head;
    uint8_t *part[PARTS];
};

struct family {
    const char *name;
    mae_mode_t mode;
    int (*good)(mae_dev_t *dev, mae_mode_t mode, const struct vector *vector);
    unsigned long ran, wrong;
    double seconds;
};

static uint8_t *out; /* as long as the file */

/* Returns 1 if a device gives the published result of an unauthenticated mode. */
static int good_cipher(mae_dev_t *dev, mae_mode_t mode, const struct vector *vector)
{
    bool encrypt = vector->head.encrypt;
    enum part from = encrypt ? PLAINTEXT : CIPHERTEXT, to = encrypt ? CIPHERTEXT : PLAINTEXT;
    size_t bytes = vector->head.bytes[from];
    mae_error_t error = mae_crypt(
        dev, mode, encrypt ? MAE_ENCRYPT : MAE_DECRYPT, vector->part[KEY], vector->head.bytes[KEY],
        mode == MAE_ECB ? NULL : vector->part[IV], vector->part[from], out, bytes);
    return error == MAE_OK && memcmp(out, vector->part[to], bytes) == 0;
}

/* Returns 1 if a device decrypts, encrypts or refuses a message of GCM or CCM as published. */
static int good_aead(mae_dev_t *dev, mae_mode_t mode, const struct vector *vector)
{
    static const mae_error_t expected[] = {MAE_OK, MAE_E_AUTH, MAE_E_ARGUMENT};
    const uint32_t *bytes = vector->head.bytes;
    uint8_t tag[16] = {0};
    struct mae_message message = {.mode = mode,
                                  .key = vector->part[KEY],
                                  .key_bytes = bytes[KEY],
                                  .nonce = vector->part[IV],
                                  .nonce_bytes = bytes[IV],
                                  .aad = vector->part[AAD],
                                  .aad_bytes = bytes[AAD],
                                  .src = vector->part[CIPHERTEXT],
                                  .dst = out,
                                  .length = bytes[CIPHERTEXT],
                                  .tag = vector->part[TAG],
                                  .tag_bytes = bytes[TAG]};
    if (mae_unseal(dev, &message) != expected[vector->head.outcome])
        return 0;
    if (vector->head.outcome == OPENS && memcmp(out, vector->part[PLAINTEXT], message.length) != 0)
        return 0;
    if (vector->head.outcome == WRONG || !vector->head.encrypt)
        return 1;
    message.src = vector->part[PLAINTEXT];
    message.tag = tag;
    mae_error_t error = mae_seal_with_chosen_nonce(dev, &message);
    if (vector->head.outcome == REFUSED)
        return error == MAE_E_ARGUMENT;
    return error == MAE_OK && memcmp(out, vector->part[CIPHERTEXT], message.length) == 0 &&
           memcmp(tag, vector->part[TAG], bytes[TAG]) == 0;
}

/* Returns 1 if a device computes and verifies a CMAC as published. */
static int good_mac(mae_dev_t *dev, mae_mode_t mode, const struct vector *vector)
{
    static const mae_error_t expected[] = {MAE_OK, MAE_E_AUTH};
    uint8_t tag[16] = {0};
    struct mae_message message = {.mode = mode,
                                  .key = vector->part[KEY],
                                  .key_bytes = vector->head.bytes[KEY],
                                  .src = vector->part[PLAINTEXT],
                                  .length = vector->head.bytes[PLAINTEXT],
                                  .tag = tag,
                                  .tag_bytes = vector->head.bytes[TAG]};
    if (vector->head.outcome == REFUSED) { /* for its key, and it comes with no tag */
        message.tag_bytes = sizeof tag;
        return mae_mac(dev, &message) == MAE_E_KEY;
    }
    mae_error_t error = mae_mac(dev, &message);
    int same = memcmp(tag, vector->part[TAG], vector->head.bytes[TAG]) == 0;
    if (error != MAE_OK || same != (vector->head.outcome == OPENS))
        return 0;
    message.tag = vector->part[TAG];
    return mae_mac_verify(dev, &message) == expected[vector->head.outcome];
}

static struct family families[] = {
    {.name = "ecb", .mode = MAE_ECB, .good = good_cipher},
    {.name = "cbc", .mode = MAE_CBC, .good = good_cipher},
    {.name = "cfb", .mode = MAE_CFB, .good = good_cipher},
    {.name = "ofb", .mode = MAE_OFB, .good = good_cipher},
    {.name = "ctr", .mode = MAE_CTR, .good = good_cipher},
    {.name = "xts", .mode = MAE_XTS, .good = good_cipher},
    {.name = "gcm", .mode = MAE_GCM, .good = good_aead},
    {.name = "ccm", .mode = MAE_CCM, .good = good_aead},
    {.name = "cmac", .mode = MAE_CMAC, .good = good_mac},
};

enum { FAMILIES = sizeof families / sizeof families[0] };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reads a whole file; NULL on failure. */
static uint8_t *whole(const char *name, size_t *bytes)
{
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    long size = ftell(file);
    rewind(file);
    uint8_t *data = size > 0 ? malloc((size_t)size) : NULL;
    if (data && fread(data, 1, (size_t)size, file) != (size_t)size)
        return NULL;
    fclose(file);
    *bytes = (size_t)size;
    return data;
}

/* Takes a vector from the file; returns its bytes there, 0 if they are not whole. */
static size_t take(uint8_t *data, size_t left, struct vector *vector)
{
    size_t at = sizeof vector->head;
    if (left < at)
        return 0;
    memcpy(&vector->head, data, at);
    for (int i = 0; i < PARTS; i++) {
        if (vector->head.bytes[i] > left - at)
            return 0;
        vector->part[i] = data + at;
        at += vector->head.bytes[i];
    }
    return at;
}

int main(int argc, char **argv)
{
    size_t bytes = 0, step;
    uint8_t *data = argc == 3 ? whole(argv[2], &bytes) : NULL;
    mae_dev_t *dev;
    int bad = 0;
    out = malloc(bytes + 1);
    if (!data || !out) {
        fprintf(stderr, "usage: card_vectors DEVICE FILE\n");
        return 2;
    }
    mae_error_t error = mae_open(argv[1], &dev);
    if (error != MAE_OK) {
        printf("%s: %s: %s\n", argv[1], mae_strerror(error), mae_error_detail());
        return 1;
    }
    for (size_t at = 0; at < bytes && !bad; at += step) {
        struct vector vector;
        struct family *family = families;
        step = take(data + at, bytes - at, &vector);
        while (family < families + FAMILIES &&
               strncmp(family->name, vector.head.mode, sizeof vector.head.mode) != 0)
            family++;
        bad = step == 0 || family == families + FAMILIES || vector.head.outcome > REFUSED;
        if (bad)
            break;
        double start = seconds();
        int good = family->good(dev, family->mode, &vector);
        family->seconds += seconds() - start;
        family->ran++;
        if (!good && family->wrong++ < 3)
            printf("%s: vector %lu is wrong: %s\n", family->name, family->ran, mae_error_detail());
    }
    if (bad)
        printf("%s is damaged\n", argv[2]);
    for (int i = 0; i < FAMILIES; i++) {
        const struct family *family = &families[i];
        printf("%-5s %6lu vectors %8.2f s  %s\n", family->name, family->ran, family->seconds,
               family->wrong ? "NOT as published" : "as published");
        bad |= family->wrong != 0;
    }
    mae_close(dev);
    free(data);
    free(out);
    return bad;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypts a file on a device piece by piece, as `maeslant encrypt` and `maeslant decrypt` do.
 *
 *   card_file DEVICE encrypt|decrypt ctr|gcm KEY IV INPUT OUTPUT      (KEY and IV in hex)
 *
 * gcm: the output of encryption ends with the tag. Nothing is left under the name OUTPUT if the
 * work fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "maeslant.h"

enum { PIECE = 1 << 20, TAG = 16 };

static uint8_t in[PIECE], out[PIECE];

static int fail(const char *what, mae_error_t error)
{
    printf("%s: %s: %s\n", what, mae_strerror(error), mae_error_detail());
    return 1;
}

/* Decodes hexadecimal digits; returns the number of bytes, 0 if there are none or too many. */
static size_t unhex(const char *text, uint8_t *bytes, size_t most)
{
    size_t count = strlen(text) / 2;
    if (count > most || strlen(text) % 2)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (sscanf(text + 2 * i, "%2hhx", &bytes[i]) != 1)
            return 0;
    return count;
}

/* Holds what encrypts or decrypts the file; the other is NULL. */
struct work {
    mae_stream_t *stream;
    mae_aead_t *aead;
};

static mae_error_t put(FILE *output, size_t bytes)
{
    return fwrite(out, 1, bytes, output) == bytes ? MAE_OK : MAE_E_SYSTEM;
}

static mae_error_t update(const struct work *work, const uint8_t *src, size_t bytes, size_t *taken,
                          size_t *given)
{
    if (work->aead)
        return mae_aead_update(work->aead, src, bytes, taken, out, PIECE, given);
    return mae_stream_update(work->stream, src, bytes, taken, out, PIECE, given);
}

/* Encrypts or decrypts `left` bytes. Of an authenticated message the tag is behind them. */
static mae_error_t transform(const struct work *work, bool encrypt, FILE *input, FILE *output,
                             uint64_t left)
{
    uint8_t tag[TAG];
    size_t taken, given;
    mae_error_t error = MAE_OK;
    while (left > 0) {
        size_t bytes = fread(in, 1, left < PIECE ? (size_t)left : PIECE, input);
        if (bytes == 0)
            return MAE_E_SYSTEM;
        left -= bytes;
        for (size_t at = 0; at < bytes; at += taken) {
            error = update(work, in + at, bytes - at, &taken, &given);
            if (error == MAE_OK)
                error = put(output, given);
            if (error != MAE_OK)
                return error;
        }
    }
    if (work->aead && !encrypt && fread(tag, 1, TAG, input) != TAG)
        return MAE_E_SYSTEM;
    if (work->aead)
        error = mae_aead_finish(work->aead, tag);
    for (given = 1; error == MAE_OK && given > 0;) {
        error = work->aead ? mae_aead_read(work->aead, out, PIECE, &given)
                           : mae_stream_finish(work->stream, out, PIECE, &given);
        if (error == MAE_OK)
            error = put(output, given);
    }
    if (error != MAE_OK || !work->aead || !encrypt)
        return error;
    memcpy(out, tag, TAG);
    return put(output, TAG);
}

/* Encrypts or decrypts the file on a device that is open. */
static mae_error_t process(mae_dev_t *dev, char **arguments, FILE *input, FILE *output)
{
    bool encrypt = strcmp(arguments[0], "encrypt") == 0, gcm = strcmp(arguments[1], "gcm") == 0;
    uint8_t key[32], iv[16];
    struct work work = {NULL, NULL};
    struct mae_message message = {.mode = MAE_GCM,
                                  .key = key,
                                  .key_bytes = unhex(arguments[2], key, sizeof key),
                                  .nonce = iv,
                                  .nonce_bytes = unhex(arguments[3], iv, sizeof iv),
                                  .tag_bytes = TAG};
    if (fseek(input, 0, SEEK_END) != 0)
        return MAE_E_SYSTEM;
    long length = ftell(input) - (gcm && !encrypt ? TAG : 0);
    rewind(input);
    if (length < 0 || message.nonce_bytes < (gcm ? 1 : sizeof iv))
        return MAE_E_LENGTH;
    mae_error_t error;
    if (!gcm)
        error = mae_stream_begin(dev, MAE_CTR, encrypt ? MAE_ENCRYPT : MAE_DECRYPT, key,
                                 message.key_bytes, iv, &work.stream);
    else if (encrypt)
        error = mae_aead_seal_with_chosen_nonce(dev, &message, &work.aead);
    else
        error = mae_aead_unseal_unverified(dev, &message, &work.aead); /* OUTPUT has no name yet */
    if (error == MAE_OK)
        error = transform(&work, encrypt, input, output, (uint64_t)length);
    mae_stream_free(work.stream);
    mae_aead_free(work.aead);
    return error;
}

int main(int argc, char **argv)
{
    char part[4096];
    mae_dev_t *dev;
    if (argc != 8 || snprintf(part, sizeof part, "%s.part", argv[7]) >= (int)sizeof part) {
        fprintf(stderr, "usage: card_file DEVICE encrypt|decrypt ctr|gcm KEY IV INPUT OUTPUT\n");
        return 2;
    }
    FILE *input = fopen(argv[6], "rb"), *output = fopen(part, "wb");
    if (!input || !output) {
        perror(input ? part : argv[6]);
        return 1;
    }
    mae_error_t error = mae_open(argv[1], &dev);
    if (error != MAE_OK)
        return remove(part), fail(argv[1], error);
    error = process(dev, argv + 2, input, output);
    mae_close(dev);
    fclose(input);
    if (fclose(output) != 0 && error == MAE_OK)
        error = MAE_E_SYSTEM;
    if (error == MAE_OK && rename(part, argv[7]) == 0)
        return 0;
    remove(part);
    return fail(argv[6], error);
}

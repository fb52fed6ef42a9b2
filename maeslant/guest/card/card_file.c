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

static int put(FILE *output, size_t bytes)
{
    return fwrite(out, 1, bytes, output) == bytes ? 0 : -1;
}

/* Encrypts or decrypts `left` bytes by a stream. */
static mae_error_t by_stream(mae_stream_t *stream, FILE *input, FILE *output, uint64_t left)
{
    size_t taken, given;
    while (left > 0) {
        size_t bytes = fread(in, 1, left < PIECE ? (size_t)left : PIECE, input);
        if (bytes == 0)
            return MAE_E_SYSTEM;
        left -= bytes;
        for (size_t at = 0; at < bytes; at += taken) {
            mae_error_t error =
                mae_stream_update(stream, in + at, bytes - at, &taken, out, PIECE, &given);
            if (error != MAE_OK || put(output, given) != 0)
                return error != MAE_OK ? error : MAE_E_SYSTEM;
        }
    }
    do {
        mae_error_t error = mae_stream_finish(stream, out, PIECE, &given);
        if (error != MAE_OK || put(output, given) != 0)
            return error != MAE_OK ? error : MAE_E_SYSTEM;
    } while (given > 0);
    return MAE_OK;
}

/* Encrypts or decrypts `left` bytes by an authenticated message; the tag is behind them. */
static mae_error_t by_aead(mae_aead_t *aead, bool encrypt, FILE *input, FILE *output, uint64_t left)
{
    uint8_t tag[TAG];
    size_t taken, given;
    while (left > 0) {
        size_t bytes = fread(in, 1, left < PIECE ? (size_t)left : PIECE, input);
        if (bytes == 0)
            return MAE_E_SYSTEM;
        left -= bytes;
        for (size_t at = 0; at < bytes; at += taken) {
            mae_error_t error =
                mae_aead_update(aead, in + at, bytes - at, &taken, out, PIECE, &given);
            if (error != MAE_OK || put(output, given) != 0)
                return error != MAE_OK ? error : MAE_E_SYSTEM;
        }
    }
    if (!encrypt && fread(tag, 1, TAG, input) != TAG)
        return MAE_E_SYSTEM;
    mae_error_t error = mae_aead_finish(aead, tag);
    if (error != MAE_OK)
        return error;
    do {
        error = mae_aead_read(aead, out, PIECE, &given);
        if (error != MAE_OK || put(output, given) != 0)
            return error != MAE_OK ? error : MAE_E_SYSTEM;
    } while (given > 0);
    memcpy(out, tag, TAG);
    return encrypt && put(output, TAG) != 0 ? MAE_E_SYSTEM : MAE_OK;
}

/* Encrypts or decrypts the file on a device that is open. */
static mae_error_t work(mae_dev_t *dev, char **arguments, FILE *input, FILE *output)
{
    bool encrypt = strcmp(arguments[0], "encrypt") == 0, gcm = strcmp(arguments[1], "gcm") == 0;
    uint8_t key[32], iv[16];
    mae_stream_t *stream = NULL;
    mae_aead_t *aead = NULL;
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
                                 message.key_bytes, iv, &stream);
    else if (encrypt)
        error = mae_aead_seal_with_chosen_nonce(dev, &message, &aead);
    else
        error = mae_aead_unseal_unverified(dev, &message, &aead); /* OUTPUT has no name yet */
    if (error == MAE_OK)
        error = gcm ? by_aead(aead, encrypt, input, output, (uint64_t)length)
                    : by_stream(stream, input, output, (uint64_t)length);
    mae_stream_free(stream);
    mae_aead_free(aead);
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
    error = work(dev, argv + 2, input, output);
    mae_close(dev);
    fclose(input);
    if (fclose(output) != 0 && error == MAE_OK)
        error = MAE_E_SYSTEM;
    if (error == MAE_OK && rename(part, argv[7]) == 0)
        return 0;
    remove(part);
    return fail(argv[6], error);
}

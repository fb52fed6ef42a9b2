/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seals a message with AES-256-GCM on a device, opens it again, and sees a changed one refused.
 *
 *   seal_gcm [DEVICE]        for example: seal_gcm sim:peripheral
 */
#include <stdio.h>
#include <string.h>

#include "maeslant.h"

static int fail(const char *what, mae_error_t error)
{
    const char *detail = mae_error_detail();
    fprintf(stderr, "%s: %s%s%s\n", what, mae_strerror(error), *detail ? ": " : "", detail);
    return 1;
}

static void print(const char *what, const uint8_t *bytes, size_t count)
{
    printf("%s ", what);
    for (size_t i = 0; i < count; i++)
        printf("%02x%s", bytes[i], i + 1 < count ? "" : "\n");
}

int main(int argc, char **argv)
{
    static const char text[] = "attack at dawn", header[] = "header";
    uint8_t key[32], nonce[12], tag[16], sealed[sizeof text - 1], opened[sizeof text] = {0};
    const char *uri = argc > 1 ? argv[1] : "sim:stream?lanes=4";
    mae_dev_t *dev;

    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i; /* an example's key: yours is random */
    struct mae_message message = {
        .mode = MAE_GCM,
        .key = key,
        .key_bytes = sizeof key,
        .nonce = nonce,
        .nonce_bytes = sizeof nonce,
        .aad = header,
        .aad_bytes = strlen(header),
        .src = text,
        .dst = sealed,
        .length = sizeof sealed,
        .tag = tag,
        .tag_bytes = sizeof tag,
    };

    mae_error_t error = mae_open(uri, &dev);
    if (error != MAE_OK)
        return fail(uri, error);
    error = mae_seal(dev, &message); /* draws the nonce: it travels with the message */
    if (error != MAE_OK)
        return fail("mae_seal", error);
    print("nonce", nonce, sizeof nonce);
    print("text", sealed, sizeof sealed);
    print("tag", tag, sizeof tag);

    message.src = sealed;
    message.dst = opened;
    error = mae_unseal(dev, &message);
    if (error != MAE_OK)
        return fail("mae_unseal", error);
    printf("opened: %s\n", (const char *)opened);

    sealed[0] ^= 1;
    error = mae_unseal(dev, &message);
    printf("changed: %s\n", error == MAE_E_AUTH ? "refused" : "taken for good!");
    mae_close(dev);
    return error == MAE_E_AUTH ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypts the message of NIST SP 800-38A F.5.1 (CTR, AES-128) on a device and prints it in hex.
 *
 *   encrypt_ctr [DEVICE]        for example: encrypt_ctr sim:stream?lanes=4
 */
#include <stdio.h>

#include "maeslant.h"

static int fail(const char *what, mae_error_t error)
{
    const char *detail = mae_error_detail();
    fprintf(stderr, "%s: %s%s%s\n", what, mae_strerror(error), *detail ? ": " : "", detail);
    return 1;
}

int main(int argc, char **argv)
{
    static const uint8_t key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
    static const uint8_t counter[16] = {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
                                        0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff};
    uint8_t data[32] = {0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e,
                        0x11, 0x73, 0x93, 0x17, 0x2a, 0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03,
                        0xac, 0x9c, 0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51};
    const char *uri = argc > 1 ? argv[1] : "sim:stream?lanes=4";
    mae_dev_t *dev;

    mae_error_t error = mae_open(uri, &dev);
    if (error != MAE_OK)
        return fail(uri, error);
    error = mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, sizeof key, counter, data, data, sizeof data);
    if (error == MAE_OK)
        for (size_t i = 0; i < sizeof data; i++)
            printf("%02x%s", data[i], i + 1 < sizeof data ? "" : "\n");
    else
        fail("mae_crypt", error);
    mae_close(dev);
    return error == MAE_OK ? 0 : 1;
}

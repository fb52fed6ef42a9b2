/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the enclave's AES-256-GCM with OpenSSL for all lengths, in pieces, and if tampered. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../driver/enclave/crypto/gcm.h"

enum { LONGEST = 20000, MOST_AAD = 64 };

static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)rand();
}

static void openssl(const uint8_t *key, const uint8_t *iv, const uint8_t *aad, size_t aad_bytes,
                    const uint8_t *plain, size_t size, uint8_t *sealed, uint8_t *tag)
{
    int count;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, iv);
    EVP_EncryptUpdate(context, NULL, &count, aad, (int)aad_bytes);
    EVP_EncryptUpdate(context, sealed, &count, plain, (int)size);
    EVP_EncryptFinal_ex(context, sealed + size, &count);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, WIRE_TAG, tag);
    EVP_CIPHER_CTX_free(context);
}

static bool opens(const uint8_t *key, const uint8_t *iv, const uint8_t *aad, size_t aad_bytes,
                  uint8_t *text, size_t size, const uint8_t *tag)
{
    struct gcm *gcm = gcm_new(key, false);
    bool right = gcm_begin(gcm, iv, aad, aad_bytes) && gcm_update(gcm, text, text, size) &&
                 gcm_check(gcm, tag);
    gcm_free(gcm);
    return right;
}

int main(void)
{
    static uint8_t plain[LONGEST], made[LONGEST], wanted[LONGEST + 16], copy[LONGEST];
    uint8_t key[WIRE_KEY], iv[WIRE_MASK], aad[MOST_AAD], tag[WIRE_TAG], right[WIRE_TAG];
    for (int round = 0; round < 2500; round++) {
        size_t size = round < 600 ? (size_t)round : (size_t)rand() % LONGEST;
        size_t aad_bytes = (size_t)rand() % MOST_AAD;
        fill(key, sizeof key), fill(iv, sizeof iv), fill(aad, sizeof aad), fill(plain, size);
        struct gcm *gcm = gcm_new(key, true);
        if (!gcm || !gcm_begin(gcm, iv, aad, aad_bytes))
            return printf("%s does not begin\n", gcm_library()), 1;
        for (size_t at = 0; at < size;) {
            size_t piece = 16 * (size_t)(rand() % 300 + 1);
            piece = piece < size - at ? piece : size - at;
            gcm_update(gcm, made + at, plain + at, piece);
            at += piece;
        }
        gcm_tag(gcm, tag);
        gcm_free(gcm);
        openssl(key, iv, aad, aad_bytes, plain, size, wanted, right);
        if (memcmp(made, wanted, size) != 0 || memcmp(tag, right, sizeof tag) != 0)
            return printf("%s: %zu bytes sealed differ\n", gcm_library(), size), 1;
        memcpy(copy, wanted, size);
        if (!opens(key, iv, aad, aad_bytes, copy, size, right) || memcmp(copy, plain, size) != 0)
            return printf("%s: %zu bytes do not open\n", gcm_library(), size), 1;
        uint8_t *victims[] = {right, wanted, iv, aad};
        size_t sizes[] = {sizeof right, size, sizeof iv, aad_bytes};
        for (int i = 0; i < 4; i++) {
            if (sizes[i] == 0)
                continue;
            size_t at = (size_t)rand() % sizes[i];
            uint8_t bit = (uint8_t)(1 << rand() % 8);
            victims[i][at] ^= bit;
            memcpy(copy, wanted, size);
            if (opens(key, iv, aad, aad_bytes, copy, size, right))
                return printf("%s: a change in %d was not noticed\n", gcm_library(), i), 1;
            victims[i][at] ^= bit;
        }
    }
    printf("%s is right\n", gcm_library());
    return 0;
}

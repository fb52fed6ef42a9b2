/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the enclave's AES-256-GCM with OpenSSL on fuzzed keys, messages and divisions. It is a
 * libFuzzer target: any key, IV, AAD, length, division into pieces, in place or not, with several
 * messages under one key. A tag with one bit changed is refused, and nothing is written beside a
 * buffer.
 */
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "../enclave/crypto/gcm.h"
#include "script.h"

enum { MOST = 3 * WIRE_STAGE, EDGE = 64, EDGE_VALUE = 0xa5, MESSAGES = 2 };

struct message {
    uint8_t iv[WIRE_MASK], aad[256], text[MOST], cipher[MOST], tag[WIRE_TAG];
    size_t aad_bytes, bytes;
};

/* Aborts the fuzz target if a condition does not hold. */
static void must(bool right)
{
    if (!right)
        abort();
}

/* Computes ciphertext and tag of the fuzzed message by OpenSSL, as the expected result. */
static void oracle(struct message *message, const uint8_t key[WIRE_KEY])
{
    int done;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    must(context && EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, message->iv) == 1);
    must(EVP_EncryptUpdate(context, NULL, &done, message->aad, (int)message->aad_bytes) == 1);
    must(EVP_EncryptUpdate(context, message->cipher, &done, message->text, (int)message->bytes) ==
         1);
    must(EVP_EncryptFinal_ex(context, message->cipher + done, &done) == 1);
    must(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, WIRE_TAG, message->tag) == 1);
    EVP_CIPHER_CTX_free(context);
}

/* Encrypts or decrypts the fuzzed message in pieces by gcm.h and compares with OpenSSL. */
static void run(struct gcm *gcm, const struct message *message, const uint8_t *from,
                const uint8_t *wanted, struct stream *stream)
{
    static uint8_t room[EDGE + MOST + EDGE], copy[MOST];
    uint8_t *to = room + EDGE;
    memset(room, EDGE_VALUE, sizeof room);
    memcpy(copy, from, message->bytes);
    must(gcm_begin(gcm, message->iv, message->aad, message->aad_bytes));
    for (size_t at = 0, piece; at < message->bytes; at += piece) {
        uint8_t choice = stream_byte(stream);
        piece = (size_t)WIRE_BLOCK * (1 + choice / 2);
        if (piece > message->bytes - at)
            piece = message->bytes - at;
        if (choice & 1)
            memcpy(to + at, copy + at, piece);
        must(gcm_update(gcm, to + at, choice & 1 ? to + at : copy + at, piece));
    }
    must(memcmp(to, wanted, message->bytes) == 0);
    for (size_t i = 0; i < EDGE; i++)
        must(room[i] == EDGE_VALUE && to[message->bytes + i] == EDGE_VALUE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct message message;
    struct stream stream = {.data = data, .left = size};
    uint8_t key[WIRE_KEY], tag[WIRE_TAG];
    stream_bytes(&stream, key, sizeof key);
    struct gcm *seals = gcm_new(key, true), *opens = gcm_new(key, false);
    must(seals && opens);
    for (int i = 0; i < MESSAGES; i++) {
        stream_bytes(&stream, message.iv, sizeof message.iv);
        message.aad_bytes = stream_byte(&stream);
        message.bytes = (stream_byte(&stream) * 256u + stream_byte(&stream)) % (MOST + 1);
        uint8_t spoilt = stream_byte(&stream);
        stream_bytes(&stream, message.aad, message.aad_bytes);
        stream_bytes(&stream, message.text, message.bytes < 512 ? message.bytes : 512);
        oracle(&message, key);
        run(seals, &message, message.text, message.cipher, &stream);
        must(gcm_tag(seals, tag) && memcmp(tag, message.tag, sizeof tag) == 0);
        run(opens, &message, message.cipher, message.text, &stream);
        must(gcm_check(opens, tag));
        tag[spoilt / 8 % WIRE_TAG] ^= (uint8_t)(1u << spoilt % 8);
        run(opens, &message, message.cipher, message.text, &stream);
        must(!gcm_check(opens, tag));
    }
    gcm_free(seals);
    gcm_free(opens);
    return 0;
}

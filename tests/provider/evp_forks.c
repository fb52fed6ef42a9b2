/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks in the middle of messages: the parent goes on, the child may not encrypt under an IV that
 * its parent has, and whatever else it does works.
 *
 *   evp_forks FOLDER-OF-THE-PROVIDER
 */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evp.h"

enum { OPEN = 2, MANY = 24, TLS_AAD = EVP_AEAD_TLS1_AAD_LEN, RECORD = 64 };

/* Waits for a child, which must have ended well. */
static void ended(pid_t child)
{
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child: %d", status);
}

/* Begins a message of a provider: sets key and IV, adds so much AAD and so much data. */
static EVP_CIPHER_CTX *begun(const char *name, const char *provider, int aad, int bytes,
                             unsigned char *out)
{
    unsigned char key[32] = {1}, iv[12] = {2}, data[16] = {3};
    int count = 0;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, provider);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    CHECK(cipher && EVP_EncryptInit_ex(context, cipher, NULL, NULL, NULL), "%s", name);
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, sizeof iv, NULL), "nonce");
    CHECK(EVP_EncryptInit_ex(context, NULL, NULL, key, iv), "init");
    CHECK(!aad || EVP_EncryptUpdate(context, NULL, &count, data, aad), "AAD");
    CHECK(!bytes || EVP_EncryptUpdate(context, out, &count, data, bytes), "data");
    EVP_CIPHER_free(cipher);
    return context;
}

/* Ends a message with 8 bytes more, at `out`; writes the tag behind them; frees its context. */
static void end(EVP_CIPHER_CTX *context, unsigned char *out)
{
    unsigned char data[8] = {4};
    int count = 0, none = 0, ccm = EVP_CIPHER_CTX_get_mode(context) == EVP_CIPH_CCM_MODE;
    CHECK(EVP_EncryptUpdate(context, out, &count, data, sizeof data), "update");
    CHECK(EVP_EncryptFinal_ex(context, out + count, &none), "final");
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, ccm ? 12 : 16, out + count), "tag");
    EVP_CIPHER_CTX_free(context);
}

/* Goes on in a forked child with a message that its parent has begun, after so much of it; compares
   the parent's result with that of OpenSSL. */
static void forked_message(const char *name, int aad, int bytes)
{
    unsigned char iv[12] = {5}, out[48] = {0}, theirs[48] = {0};
    int count = 0;
    EVP_CIPHER_CTX *context = begun(name, OURS, aad, bytes, out);
    pid_t child = fork();
    if (child == 0) {
        refused(EVP_EncryptUpdate(context, out, &count, out, 8), "before a fork");
        if (EVP_CIPHER_CTX_get_mode(context) == EVP_CIPH_GCM_MODE)
            refused(EVP_EncryptFinal_ex(context, out, &count), "before a fork");
        CHECK(EVP_EncryptInit_ex(context, NULL, NULL, NULL, iv), "init in the child");
        end(context, out);
        _exit(0);
    }
    ended(child);
    end(context, out + bytes);
    end(begun(name, THEIRS, aad, bytes, theirs), theirs + bytes);
    CHECK(memcmp(out, theirs, sizeof out) == 0, "%s: another result after a fork", name);
}

/* Forks between the IV of a GMAC and its message. */
static void forked_gmac(void)
{
    unsigned char key[16] = {1}, iv[12] = {2}, data[20] = {3}, tag[16];
    size_t bytes = 0;
    char cipher[] = "AES-128-GCM";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0),
                           OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, iv, sizeof iv),
                           OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "GMAC", OURS);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    CHECK(EVP_MAC_init(context, key, sizeof key, params), "init");
    pid_t child = fork();
    if (child == 0) {
        refused(EVP_MAC_update(context, data, sizeof data), "before a fork");
        refused(EVP_MAC_final(context, tag, &bytes, sizeof tag), "before a fork");
        iv[0]++;
        CHECK(EVP_MAC_init(context, key, sizeof key, params), "init in the child");
        CHECK(EVP_MAC_update(context, data, sizeof data), "update in the child");
        CHECK(EVP_MAC_final(context, tag, &bytes, sizeof tag), "final in the child");
        _exit(0);
    }
    ended(child);
    CHECK(EVP_MAC_update(context, data, sizeof data), "update in the parent");
    CHECK(EVP_MAC_final(context, tag, &bytes, sizeof tag), "final in the parent");
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
}

/* Decrypts in a child under an IV that was set before the fork: nothing is said twice by that. */
static void decrypts_in_a_child(const char *name)
{
    unsigned char key[16] = {1}, iv[12] = {2}, data[20] = {3}, out[20], tag[16];
    int count = 0;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, OURS);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    CHECK(EVP_EncryptInit_ex(context, cipher, NULL, NULL, NULL), "init");
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL), "nonce");
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, NULL) || !strstr(name, "CCM"),
          "tag");
    CHECK(EVP_EncryptInit_ex(context, NULL, NULL, key, iv), "init");
    CHECK(EVP_EncryptUpdate(context, out, &count, data, sizeof data), "encrypt");
    CHECK(EVP_EncryptFinal_ex(context, out, &count), "final");
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag), "tag");
    CHECK(EVP_DecryptInit_ex(context, NULL, NULL, NULL, NULL), "init");
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag), "tag");
    CHECK(EVP_DecryptInit_ex(context, NULL, NULL, key, iv), "init");
    pid_t child = fork();
    if (child == 0) {
        CHECK(EVP_DecryptUpdate(context, out, &count, out, sizeof out), "decrypt");
        CHECK(memcmp(out, data, sizeof data) == 0, "another plaintext");
        CHECK(EVP_DecryptFinal_ex(context, out, &count), "final");
        _exit(0);
    }
    ended(child);
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(cipher);
}

/* Encrypts a record of a TLS 1.2 connection. */
static void record(EVP_CIPHER_CTX *context)
{
    unsigned char aad[TLS_AAD] = {0, 0, 0, 0, 0, 0, 0, 0, 23, 3, 3, 0, RECORD + 8};
    unsigned char data[8 + RECORD + 16] = {0};
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_TLS1_AAD, TLS_AAD, aad) == 16, "AAD");
    CHECK(EVP_Cipher(context, data, data, sizeof data) == (int)sizeof data, "record");
}

/* Goes on with a TLS 1.2 connection in a child, as a server does that forks for each. */
static void forked_connection(void)
{
    unsigned char key[16] = {1}, fixed[4] = {2};
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-128-GCM", OURS);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    CHECK(EVP_EncryptInit_ex(context, cipher, NULL, key, NULL), "init");
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed), "IV");
    record(context);
    pid_t child = fork();
    if (child == 0) {
        record(context);
        _exit(0);
    }
    ended(child);
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(cipher);
}

/* Uses more keys than there are slots in a child, whose parent had pinned some of them. */
static void forked_keys(void)
{
    unsigned char key[16] = {1}, iv[12] = {2}, data[16] = {3}, out[32];
    int count = 0;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-128-GCM", OURS);
    EVP_CIPHER_CTX *contexts[MANY];
    for (int i = 0; i < MANY; i++) {
        contexts[i] = EVP_CIPHER_CTX_new();
        key[0]++;
        CHECK(EVP_EncryptInit_ex(contexts[i], cipher, NULL, key, iv), "init");
    }
    for (int i = 0; i < OPEN; i++)
        CHECK(EVP_EncryptUpdate(contexts[i], out, &count, data, sizeof data), "open %d", i);
    pid_t child = fork();
    if (child == 0) {
        iv[0]++;
        for (int turn = 0; turn < 2; turn++)
            for (int i = 0; i < MANY; i++) {
                CHECK(EVP_EncryptInit_ex(contexts[i], NULL, NULL, NULL, iv), "init %d", i);
                CHECK(EVP_EncryptUpdate(contexts[i], out, &count, data, sizeof data), "key %d", i);
                CHECK(EVP_EncryptFinal_ex(contexts[i], out, &count), "final %d", i);
            }
        _exit(0);
    }
    ended(child);
    for (int i = 0; i < MANY; i++)
        EVP_CIPHER_CTX_free(contexts[i]);
    EVP_CIPHER_free(cipher);
}

int main(int count, char **arguments)
{
    CHECK(count == 2, "usage: evp_forks FOLDER");
    struct providers loaded = load_providers(arguments[1]);
    forked_message("AES-128-CCM", 0, 0);
    forked_message("AES-128-GCM", 0, 0);  /* its IV is set */
    forked_message("AES-256-GCM", 5, 0);  /* AAD is held */
    forked_message("AES-128-GCM", 16, 5); /* a block's keystream is held */
    forked_message("AES-128-GCM", 0, 16); /* the device has all of it */
    forked_gmac();
    decrypts_in_a_child("AES-128-GCM");
    decrypts_in_a_child("AES-128-CCM");
    forked_connection();
    forked_keys();
    unload_providers(&loaded);
    printf("forks end well\n");
    return 0;
}

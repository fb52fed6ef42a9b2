/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the OpenSSL provider with OpenSSL's own on random messages, in pieces of random lengths,
 * on copies of contexts, with more keys than the device has slots, in threads, ASYNC jobs and a
 * forked child; then the misuse that it must refuse.
 *
 *   evp_compare FOLDER-OF-THE-PROVIDER SEED
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/async.h>

#include "evp.h"

enum { MOST = 3000, ROUNDS = 12, MANY = 24, THREADS = 4, JOBS = 6 };

static const char *const names[] = {
    "AES-128-ECB", "AES-192-ECB", "AES-256-ECB", "AES-128-CBC", "AES-192-CBC", "AES-256-CBC",
    "AES-128-CTR", "AES-192-CTR", "AES-256-CTR", "AES-128-XTS", "AES-256-XTS", "AES-128-GCM",
    "AES-192-GCM", "AES-256-GCM", "AES-128-CCM", "AES-192-CCM", "AES-256-CCM",
};
enum { NAMES = sizeof names / sizeof names[0] };

struct random {
    uint64_t state;
};

/* Returns a random number below a limit (xorshift64*). */
static size_t below(struct random *random, size_t limit)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return (size_t)((random->state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % limit;
}

static void fill(struct random *random, unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)below(random, 256);
}

/* Holds a message to be processed, and its result. */
struct message {
    unsigned char key[64], iv[128], aad[200], in[MOST], out[MOST + 32], tag[16];
    size_t iv_bytes, aad_bytes, bytes, given;
    int enc, pads;
};

/* Draws a message for a cipher. */
static void draw(struct random *random, const EVP_CIPHER *cipher, struct message *message)
{
    int mode = EVP_CIPHER_get_mode(cipher);
    fill(random, message->key, sizeof message->key);
    fill(random, message->iv, sizeof message->iv);
    fill(random, message->aad, sizeof message->aad);
    message->bytes = below(random, MOST);
    fill(random, message->in, message->bytes);
    message->iv_bytes = (size_t)EVP_CIPHER_get_iv_length(cipher);
    if (mode == EVP_CIPH_GCM_MODE && below(random, 2))
        message->iv_bytes = 1 + below(random, 128);
    if (mode == EVP_CIPH_CCM_MODE)
        message->iv_bytes = 7 + below(random, 7);
    message->aad_bytes = below(random, 3) ? below(random, sizeof message->aad) : 0;
    message->pads = (int)below(random, 2);
    if (mode == EVP_CIPH_XTS_MODE && message->bytes < 16)
        message->bytes += 16;
    if ((mode == EVP_CIPH_ECB_MODE || mode == EVP_CIPH_CBC_MODE) && !message->pads)
        message->bytes &= ~(size_t)15;
}

/* Sets a context up for a message. */
static void set_up(EVP_CIPHER_CTX *context, const EVP_CIPHER *cipher, struct message *message)
{
    int mode = EVP_CIPHER_get_mode(cipher), enc = message->enc;
    CHECK(EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, enc), "init");
    if (mode == EVP_CIPH_GCM_MODE || mode == EVP_CIPH_CCM_MODE) {
        CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)message->iv_bytes, NULL),
              "ivlen");
        if (!enc || mode == EVP_CIPH_CCM_MODE)
            CHECK(
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, enc ? NULL : message->tag),
                "tag");
    }
    CHECK(EVP_CipherInit_ex(context, NULL, NULL, message->key, message->iv, enc), "key");
    CHECK(EVP_CIPHER_CTX_set_padding(context, message->pads), "padding");
}

/* Replaces a context by a copy of it, where the provider can copy it. */
static void swap_for_copy(EVP_CIPHER_CTX **context)
{
    EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new();
    ERR_set_mark();
    int copied = EVP_CIPHER_CTX_copy(copy, *context);
    ERR_pop_to_mark();
    EVP_CIPHER_CTX_free(copied ? *context : copy);
    if (copied)
        *context = copy;
}

/* Feeds octets in pieces; `random` NULL: in one. */
static int feed(struct random *random, EVP_CIPHER_CTX **context, unsigned char *out, size_t *given,
                const unsigned char *in, size_t bytes)
{
    size_t at = 0;
    do {
        size_t most = random ? (below(random, 2) ? 40 : bytes) : bytes;
        size_t piece = random && most > 0 ? below(random, most + 1) : bytes;
        int count = 0;
        if (piece > bytes - at)
            piece = bytes - at;
        if (!EVP_CipherUpdate(*context, out ? out + *given : NULL, &count, in + at, (int)piece))
            return 0;
        *given += out ? (size_t)count : 0;
        at += piece;
        if (random && below(random, 8) == 0)
            swap_for_copy(context);
    } while (at < bytes);
    return 1;
}

/* Takes a message through a cipher; returns 1, or 0 if its tag or padding is wrong. */
static int run(struct random *random, const EVP_CIPHER *cipher, struct message *message)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int mode = EVP_CIPHER_get_mode(cipher), last = 0, count;
    int aead = mode == EVP_CIPH_GCM_MODE || mode == EVP_CIPH_CCM_MODE;
    struct random *cuts = mode == EVP_CIPH_XTS_MODE || mode == EVP_CIPH_CCM_MODE ? NULL : random;
    size_t none = 0;
    message->given = 0;
    set_up(context, cipher, message);
    if (mode == EVP_CIPH_CCM_MODE)
        CHECK(EVP_CipherUpdate(context, NULL, &count, NULL, (int)message->bytes), "length");
    if (aead && message->aad_bytes > 0)
        CHECK(feed(cuts, &context, NULL, &none, message->aad, message->aad_bytes), "AAD");
    int done = feed(cuts, &context, message->out, &message->given, message->in, message->bytes) &&
               EVP_CipherFinal_ex(context, message->out + message->given, &last);
    message->given += (size_t)last;
    if (done && aead && message->enc)
        CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, message->tag), "tag");
    EVP_CIPHER_CTX_free(context);
    return done;
}

/* Compares a message's encryption and decryption with OpenSSL's. */
static void compare(struct random *random, const char *name)
{
    EVP_CIPHER *ours = EVP_CIPHER_fetch(NULL, name, OURS);
    EVP_CIPHER *theirs = EVP_CIPHER_fetch(NULL, name, THEIRS);
    ERR_clear_error();
    if (!ours) {
        EVP_CIPHER_free(theirs);
        return; /* the device has not got it */
    }
    struct message *all = calloc(3, sizeof *all); /* an ASYNC job's stack is small */
    struct message *message = &all[0], *expected = &all[1], *back = &all[2];
    message->enc = 1;
    draw(random, ours, message);
    *expected = *message;
    CHECK(run(random, ours, message) && run(NULL, theirs, expected), "%s", name);
    CHECK(message->given == expected->given &&
              memcmp(message->out, expected->out, message->given) == 0 &&
              memcmp(message->tag, expected->tag, 16) == 0,
          "%s of %zu bytes, IV %zu, AAD %zu", name, message->bytes, message->iv_bytes,
          message->aad_bytes);
    *back = *message;
    back->enc = 0;
    back->bytes = message->given;
    if (back->bytes <= MOST) {
        memcpy(back->in, message->out, back->bytes);
        CHECK(run(random, ours, back), "%s back", name);
        CHECK(back->given == message->bytes && memcmp(back->out, message->in, back->given) == 0,
              "%s back, %zu bytes", name, back->given);
    }
    int mode = EVP_CIPHER_get_mode(ours);
    if (mode == EVP_CIPH_GCM_MODE || mode == EVP_CIPH_CCM_MODE) {
        back->tag[below(random, 16)] ^= (unsigned char)(1 << below(random, 8));
        CHECK(!run(random, ours, back), "%s with a wrong tag", name);
        ERR_clear_error();
    }
    free(all);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

/* Compares a MAC, in pieces, on copies, with OpenSSL's. */
static void compare_mac(struct random *random, const char *name, const char *cipher)
{
    unsigned char key[32], iv[12], data[500], got[2][16];
    size_t bytes = below(random, sizeof data), key_bytes = (size_t)atoi(cipher + 4) / 8;
    fill(random, key, sizeof key);
    fill(random, iv, sizeof iv);
    fill(random, data, sizeof data);
    for (int which = 0; which < 2; which++) {
        EVP_MAC *mac = EVP_MAC_fetch(NULL, name, which ? THEIRS : OURS);
        OSSL_PARAM params[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)cipher, 0),
            OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
        ERR_clear_error();
        if (!mac)
            return;
        if (strcmp(name, "GMAC") == 0)
            params[1] = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, iv, sizeof iv);
        EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
        CHECK(EVP_MAC_init(context, key, key_bytes, params), "%s", name);
        size_t at = 0, written = 0;
        while (at < bytes) {
            size_t piece = which ? bytes : 1 + below(random, 50);
            if (piece > bytes - at)
                piece = bytes - at;
            CHECK(EVP_MAC_update(context, data + at, piece), "%s", name);
            at += piece;
            EVP_MAC_CTX *copy = which ? NULL : EVP_MAC_CTX_dup(context);
            if (copy) {
                EVP_MAC_CTX_free(context);
                context = copy;
            }
        }
        ERR_clear_error();
        CHECK(EVP_MAC_final(context, got[which], &written, 16) && written == 16, "%s", name);
        EVP_MAC_CTX_free(context);
        EVP_MAC_free(mac);
    }
    CHECK(memcmp(got[0], got[1], 16) == 0, "%s with %s, %zu bytes", name, cipher, bytes);
}

static void compare_all(struct random *random)
{
    for (size_t i = 0; i < NAMES; i++)
        compare(random, names[i]);
    const char *const blocks[] = {"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"};
    const char *const counters[] = {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"};
    for (int i = 0; i < 3; i++) {
        compare_mac(random, "CMAC", blocks[i]);
        compare_mac(random, "GMAC", counters[i]);
    }
}

/* Interleaves messages under more keys than the device has slots. */
static void many_keys(struct random *random)
{
    EVP_CIPHER *ours = EVP_CIPHER_fetch(NULL, "AES-128-CBC", OURS);
    EVP_CIPHER *theirs = EVP_CIPHER_fetch(NULL, "AES-128-CBC", THEIRS);
    EVP_CIPHER_CTX *contexts[2][MANY];
    unsigned char key[16], iv[16], in[48], out[2][64];
    for (int i = 0; i < MANY; i++) {
        fill(random, key, sizeof key);
        fill(random, iv, sizeof iv);
        for (int which = 0; which < 2; which++) {
            contexts[which][i] = EVP_CIPHER_CTX_new();
            CHECK(EVP_EncryptInit_ex(contexts[which][i], which ? theirs : ours, NULL, key, iv),
                  "key %d", i);
        }
    }
    for (int i = 0; i < 4 * MANY; i++) {
        size_t chosen = below(random, MANY);
        int count[2];
        fill(random, in, sizeof in);
        for (int which = 0; which < 2; which++)
            CHECK(EVP_EncryptUpdate(contexts[which][chosen], out[which], &count[which], in,
                                    sizeof in),
                  "key %zu", chosen);
        CHECK(count[0] == count[1] && memcmp(out[0], out[1], (size_t)count[0]) == 0, "key %zu",
              chosen);
    }
    for (int i = 0; i < MANY; i++)
        for (int which = 0; which < 2; which++)
            EVP_CIPHER_CTX_free(contexts[which][i]);
    EVP_CIPHER_free(ours);
    EVP_CIPHER_free(theirs);
}

static void *one_thread(void *seed)
{
    struct random random = {*(uint64_t *)seed};
    compare_all(&random);
    return NULL;
}

static void threads(uint64_t seed)
{
    pthread_t list[THREADS];
    uint64_t seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = seed * 1000 + (uint64_t)i + 1;
        CHECK(pthread_create(&list[i], NULL, one_thread, &seeds[i]) == 0, "thread");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(list[i], NULL);
}

/* Encrypts in an ASYNC job. */
static int one_job(void *seed)
{
    struct random random = {**(uint64_t **)seed};
    compare(&random, "AES-128-CTR");
    compare(&random, "AES-256-CBC");
    return 1;
}

/* Runs jobs by turns in one thread; where jobs of the device take time, each must have paused. */
static void jobs(uint64_t seed, int pauses_wanted)
{
    ASYNC_JOB *list[JOBS] = {NULL};
    ASYNC_WAIT_CTX *waits[JOBS];
    uint64_t seeds[JOBS], *at[JOBS];
    int left = JOBS, pauses = 0, over[JOBS] = {0};
    for (int i = 0; i < JOBS; i++) {
        waits[i] = ASYNC_WAIT_CTX_new();
        seeds[i] = seed * 7000 + (uint64_t)i + 1;
        at[i] = &seeds[i];
    }
    while (left > 0) {
        for (int i = 0; i < JOBS; i++) {
            int result = 0;
            if (over[i])
                continue;
            size_t fds = 0;
            switch (ASYNC_start_job(&list[i], waits[i], &result, one_job, &at[i], sizeof at[i])) {
            case ASYNC_PAUSE:
                pauses++;
                CHECK(ASYNC_WAIT_CTX_get_all_fds(waits[i], NULL, &fds) && fds == 1, "%zu fds", fds);
                break;
            case ASYNC_FINISH:
                CHECK(result == 1, "job %d", i);
                over[i] = 1;
                left--;
                break;
            default:
                CHECK(0, "job %d", i);
            }
        }
    }
    CHECK(!pauses_wanted || pauses >= JOBS, "%d pauses of %d jobs", pauses, JOBS);
    for (int i = 0; i < JOBS; i++)
        ASYNC_WAIT_CTX_free(waits[i]);
}

/* Returns the clocks that the provider's simulated device has run. */
static uint64_t clocks(OSSL_PROVIDER *provider)
{
    uint64_t value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_uint64("clocks", &value), OSSL_PARAM_END};
    CHECK(OSSL_PROVIDER_get_params(provider, params) && value > 0, "clocks");
    return value;
}

/* Encrypts in a forked child, which has a device of its own, and in its parent after it. */
static void forked(struct random *random, OSSL_PROVIDER *provider)
{
    uint64_t before = clocks(provider);
    pid_t child = fork();
    if (child == 0) {
        compare(random, "AES-128-CBC");
        CHECK(clocks(provider) < before, "the child uses its parent's device");
        compare_all(random);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child: %d", status);
    compare_all(random);
}

/* Tries what the provider must refuse. */
static void misuse(void)
{
    unsigned char key[64] = {1}, iv[16] = {2}, data[64] = {3}, out[96];
    int count = 0;
    unsigned version = 0x303;
    OSSL_PARAM tls[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
                        OSSL_PARAM_construct_end()};
    EVP_CIPHER *cbc = EVP_CIPHER_fetch(NULL, "AES-128-CBC", OURS);
    EVP_CIPHER *xts = EVP_CIPHER_fetch(NULL, "AES-128-XTS", OURS);
    EVP_CIPHER *gcm = EVP_CIPHER_fetch(NULL, "AES-128-GCM", OURS);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    CHECK(EVP_EncryptInit_ex(context, cbc, NULL, NULL, iv), "init");
    refused(EVP_EncryptUpdate(context, out, &count, data, 16), "no key is set");
    refused(EVP_CIPHER_CTX_set_params(context, tls), "TLS with CBC is not offered");
    CHECK(EVP_EncryptInit_ex(context, cbc, NULL, key, iv), "init");
    CHECK(EVP_CIPHER_CTX_set_padding(context, 0), "padding");
    CHECK(EVP_EncryptUpdate(context, out, &count, data, 17), "update");
    refused(EVP_EncryptFinal_ex(context, out, &count), "not whole blocks");
    CHECK(EVP_DecryptInit_ex(context, cbc, NULL, key, iv), "init");
    CHECK(EVP_CIPHER_CTX_set_padding(context, 1), "padding");
    CHECK(EVP_DecryptUpdate(context, out, &count, data, 32), "update");
    refused(EVP_DecryptFinal_ex(context, out, &count), "the padding is wrong");
    data[15] = 3; /* not all of the last three bytes are 3 */
    CHECK(EVP_EncryptInit_ex(context, cbc, NULL, key, iv), "init");
    CHECK(EVP_CIPHER_CTX_set_padding(context, 0), "padding");
    CHECK(EVP_EncryptUpdate(context, out, &count, data, 16), "update");
    CHECK(EVP_DecryptInit_ex(context, cbc, NULL, key, iv), "init");
    CHECK(EVP_CIPHER_CTX_set_padding(context, 1), "padding");
    CHECK(EVP_DecryptUpdate(context, data, &count, out, 16), "update");
    refused(EVP_DecryptFinal_ex(context, out, &count), "the padding is wrong");
    memcpy(key + 16, key, 16);
    refused(EVP_EncryptInit_ex(context, xts, NULL, key, iv), "two keys of XTS are equal");
    CHECK(EVP_DecryptInit_ex(context, xts, NULL, key, iv), "init");
    refused(EVP_EncryptInit_ex(context, NULL, NULL, NULL, iv), "two keys of XTS are equal");
    EVP_CIPHER_CTX_reset(context);
    CHECK(EVP_EncryptInit_ex(context, xts, NULL, NULL, iv), "init");
    refused(EVP_EncryptInit_ex(context, NULL, NULL, key, NULL), "two keys of XTS are equal");
    refused(EVP_EncryptUpdate(context, out, &count, data, 32), "no key is set");
    key[20] ^= 1;
    CHECK(EVP_EncryptInit_ex(context, xts, NULL, key, iv), "init");
    refused(EVP_EncryptUpdate(context, out, &count, data, 15), "16 bytes at least");
    if (gcm) {
        CHECK(EVP_EncryptInit_ex(context, gcm, NULL, key, NULL), "init");
        refused(EVP_EncryptUpdate(context, out, &count, data, 16), "no IV is set");
        CHECK(EVP_EncryptInit_ex(context, NULL, NULL, NULL, iv), "init");
        CHECK(EVP_EncryptUpdate(context, out, &count, data, 20), "update");
        refused(EVP_EncryptUpdate(context, NULL, &count, data, 16), "AAD comes before the data");
        EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new();
        refused(EVP_CIPHER_CTX_copy(copy, context), "has begun is not copied");
        EVP_CIPHER_CTX_free(copy);
        CHECK(EVP_EncryptFinal_ex(context, out, &count), "final");
        refused(EVP_EncryptUpdate(context, out, &count, data, 16), "has been used");
        CHECK(EVP_DecryptInit_ex(context, NULL, NULL, NULL, iv), "init");
        CHECK(EVP_DecryptUpdate(context, out, &count, data, 20), "update");
        refused(EVP_DecryptFinal_ex(context, out, &count), "needs the tag");
    }
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(cbc);
    EVP_CIPHER_free(xts);
    EVP_CIPHER_free(gcm);
}

int main(int count, char **arguments)
{
    CHECK(count == 4, "usage: evp_compare FOLDER SEED PAUSES-WANTED");
    uint64_t seed = strtoull(arguments[2], NULL, 0);
    struct random random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    struct providers loaded = load_providers(arguments[1]);
    for (int i = 0; i < ROUNDS; i++)
        compare_all(&random);
    many_keys(&random);
    threads(seed);
    jobs(seed, atoi(arguments[3]));
    forked(&random, loaded.ours);
    misuse();
    unload_providers(&loaded);
    printf("the provider's results equal OpenSSL's\n");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the ciphers and MACs of test files of OpenSSL's evp_test through the provider.
 *
 *   evp_vectors FOLDER-OF-THE-PROVIDER FILE...
 *
 * Each is run in the steps of evp_test.c: whole and in fragments, in place and apart, and on a copy
 * of the context. It must fail where the file says it fails. Algorithms that the provider does not
 * offer are counted as left out.
 */
#include <ctype.h>

#include "evp.h"

enum { FIELDS = 24, LINE = 1 << 20 };

struct text {
    char name[24];
    char *value;
};

/* Holds a test of a file: its lines, and the number of the first. */
struct test {
    struct text fields[FIELDS];
    size_t count;
    int line;
    const char *file;
};

struct octets {
    unsigned char *data;
    size_t bytes;
    int there;
};

static unsigned passed, left_out, runs;

/* Returns the value of a test's field, or NULL. */
static const char *value(const struct test *test, const char *name)
{
    for (size_t i = 0; i < test->count; i++)
        if (strcmp(test->fields[i].name, name) == 0)
            return test->fields[i].value;
    return NULL;
}

/* Returns a field as octets: hexadecimal digits, or text in quotation marks. */
static struct octets octets(const struct test *test, const char *name)
{
    const char *text = value(test, name);
    struct octets found = {.data = malloc(1), .there = text != NULL};
    long bytes = 0;
    if (!text || !*text)
        return found;
    free(found.data);
    if (*text == '"') {
        found.bytes = strlen(text) - 2;
        found.data = malloc(found.bytes + 1);
        memcpy(found.data, text + 1, found.bytes);
        return found;
    }
    unsigned char *data = OPENSSL_hexstr2buf(text, &bytes);
    CHECK(data, "%s:%d: %s", test->file, test->line, name);
    found.bytes = (size_t)bytes;
    found.data = malloc(found.bytes + 1);
    memcpy(found.data, data, found.bytes);
    OPENSSL_free(data);
    return found;
}

struct cipher_test {
    const EVP_CIPHER *cipher;
    struct octets key, iv, aad, tag, plain, secret, next_iv;
    int aead, mode, tag_late;
};

/* Feeds octets to a context in one update, or in three: a byte, all but the last, the last. */
static int feed(EVP_CIPHER_CTX *context, unsigned char *out, size_t *given, const unsigned char *in,
                size_t bytes, int fragments)
{
    size_t cuts[4] = {0, bytes, bytes, bytes};
    if (fragments && bytes > 0) {
        cuts[1] = 1;
        cuts[2] = bytes > 1 ? bytes - 1 : 1;
    }
    for (int i = 0; i < 3; i++) {
        int count = 0;
        if (cuts[i + 1] == cuts[i] && (i > 0 || bytes > 0))
            continue;
        if (!EVP_CipherUpdate(context, out ? out + *given : NULL, &count, in + cuts[i],
                              (int)(cuts[i + 1] - cuts[i])))
            return 0;
        if (out)
            *given += (size_t)count;
    }
    return 1;
}

/* Sets up a context up to its key; returns NULL, or the name of the step that failed. */
static const char *set_up(EVP_CIPHER_CTX *context, const struct cipher_test *test, int enc)
{
    if (!EVP_CipherInit_ex(context, test->cipher, NULL, NULL, NULL, enc))
        return "CIPHERINIT_ERROR";
    if (test->iv.there && test->aead &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)test->iv.bytes, NULL) <= 0)
        return "INVALID_IV_LENGTH";
    if (test->iv.there && !test->aead &&
        test->iv.bytes != (size_t)EVP_CIPHER_CTX_get_iv_length(context))
        return "INVALID_IV_LENGTH";
    if (test->aead) {
        unsigned char *tag = enc || test->tag_late ? NULL : test->tag.data;
        if ((tag || test->mode != EVP_CIPH_GCM_MODE) &&
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, (int)test->tag.bytes, tag) <= 0)
            return tag ? "TAG_SET_ERROR" : "TAG_LENGTH_SET_ERROR";
    }
    if (!EVP_CIPHER_CTX_set_key_length(context, (int)test->key.bytes))
        return "INVALID_KEY_LENGTH";
    if (!EVP_CipherInit_ex(context, NULL, NULL, test->key.data,
                           test->iv.there ? test->iv.data : NULL, -1))
        return "KEY_SET_ERROR";
    return NULL;
}

/* Compares the IV that a context has now; returns NULL or an error. */
static const char *check_iv(EVP_CIPHER_CTX *context, const struct octets *expected,
                            const char *what)
{
    unsigned char iv[128];
    int custom = EVP_CIPHER_get_flags(EVP_CIPHER_CTX_get0_cipher(context)) & EVP_CIPH_CUSTOM_IV;
    if (!expected->there)
        return NULL;
    if (!EVP_CIPHER_CTX_get_updated_iv(context, iv, sizeof iv) ||
        (!custom && memcmp(iv, expected->data, expected->bytes) != 0))
        return what;
    return NULL;
}

/* Takes a message through a context that is set up; returns NULL or the step that failed. */
static const char *run_message(EVP_CIPHER_CTX *context, const struct cipher_test *test, int enc,
                               int in_place, int fragments)
{
    const struct octets *from = enc ? &test->plain : &test->secret;
    const struct octets *to = enc ? &test->secret : &test->plain;
    unsigned char *out = malloc(from->bytes + 32), rest[32], tag[16];
    size_t given = 0;
    int last = 0, count = 0;
    const char *wrong = NULL;
    memcpy(out, from->data, from->bytes);
    const unsigned char *in = in_place ? out : from->data;
    if (test->mode == EVP_CIPH_CCM_MODE &&
        !EVP_CipherUpdate(context, NULL, &count, NULL, (int)to->bytes))
        wrong = "CCM_PLAINTEXT_LENGTH_SET_ERROR";
    if (!wrong && test->aad.there &&
        !feed(context, NULL, &given, test->aad.data, test->aad.bytes,
              fragments && test->mode != EVP_CIPH_CCM_MODE))
        wrong = "AAD_SET_ERROR";
    if (!wrong && !enc && test->tag_late &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, (int)test->tag.bytes, test->tag.data) <=
            0)
        wrong = "TAG_SET_ERROR";
    EVP_CIPHER_CTX_set_padding(context, 0);
    if (!wrong && !feed(context, out, &given, in, from->bytes, fragments))
        wrong = "CIPHERUPDATE_ERROR";
    if (!wrong && !EVP_CipherFinal_ex(context, rest, &last))
        wrong = "CIPHERFINAL_ERROR";
    if (!wrong && (last != 0 || given != to->bytes || memcmp(out, to->data, given) != 0))
        wrong = "VALUE_MISMATCH";
    if (!wrong && enc && test->aead) {
        if (EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, (int)test->tag.bytes, tag) <= 0)
            wrong = "TAG_RETRIEVE_ERROR";
        else if (memcmp(tag, test->tag.data, test->tag.bytes) != 0)
            wrong = "TAG_VALUE_MISMATCH";
    }
    free(out);
    return wrong ? wrong : check_iv(context, &test->next_iv, "INVALID_NEXT_IV");
}

/* Runs a cipher's test once, on a copy of its context; returns NULL or the step that failed. */
static const char *run_once(const struct cipher_test *test, int enc, int in_place, int fragments)
{
    EVP_CIPHER_CTX *first = EVP_CIPHER_CTX_new(), *copy = EVP_CIPHER_CTX_new();
    runs++;
    const char *wrong = set_up(first, test, enc);
    if (!wrong)
        wrong = check_iv(first, &test->iv, "INVALID_IV");
    if (!wrong && !EVP_CIPHER_CTX_copy(copy, first))
        wrong = "COPY_ERROR";
    EVP_CIPHER_CTX_free(first);
    if (!wrong)
        wrong = run_message(copy, test, enc, in_place, fragments);
    EVP_CIPHER_CTX_free(copy);
    ERR_clear_error();
    return wrong;
}

/* Fails the program unless a test's outcome is the one that its file tells. */
static void judge(const struct test *test, const char *wrong, const char *how)
{
    const char *expected = value(test, "Result");
    int same = wrong && expected ? strcmp(wrong, expected) == 0 : wrong == expected;
    CHECK(same, "%s:%d: %s: %s instead of %s", test->file, test->line, how,
          wrong ? wrong : "passed", expected ? expected : "passed");
}

/* Runs a test of a cipher in all its ways. */
static void run_cipher(const struct test *test, EVP_CIPHER *cipher)
{
    const char *operation = value(test, "Operation");
    struct cipher_test it = {.cipher = cipher,
                             .key = octets(test, "Key"),
                             .iv = octets(test, "IV"),
                             .aad = octets(test, "AAD"),
                             .tag = octets(test, "Tag"),
                             .plain = octets(test, "Plaintext"),
                             .secret = octets(test, "Ciphertext"),
                             .next_iv = octets(test, "NextIV"),
                             .mode = EVP_CIPHER_get_mode(cipher),
                             .tag_late = value(test, "SetTagLate") != NULL};
    it.aead = it.mode == EVP_CIPH_GCM_MODE || it.mode == EVP_CIPH_CCM_MODE;
    int whole = it.mode == EVP_CIPH_CCM_MODE || it.mode == EVP_CIPH_XTS_MODE;
    for (int enc = 1; enc >= 0; enc--) {
        if (operation && strcmp(operation, enc ? "DECRYPT" : "ENCRYPT") == 0)
            continue;
        for (int way = 0; way < (whole ? 2 : 4); way++) {
            char how[64];
            snprintf(how, sizeof how, "%s%s%s", enc ? "encryption" : "decryption",
                     way & 1 ? ", in place" : "", way & 2 ? ", in fragments" : "");
            judge(test, run_once(&it, enc, way & 1, way >> 1), how);
        }
    }
    struct octets *all[] = {&it.key, &it.iv, &it.aad, &it.tag, &it.plain, &it.secret, &it.next_iv};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]->data);
    passed++;
}

/* Computes a MAC in one update or in three, twice; returns NULL or the step that failed. */
static const char *mac_once(EVP_MAC *mac, const char *algorithm, const struct octets *key,
                            struct octets *iv, const struct octets *input,
                            const struct octets *output, int fragments)
{
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    OSSL_PARAM params[3], *next = params;
    unsigned char got[64];
    size_t bytes = 0, cut = fragments && input->bytes > 0 ? 1 : 0;
    const char *wrong = NULL;
    runs++;
    *next++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)algorithm, 0);
    if (iv->there)
        *next++ = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, iv->data, iv->bytes);
    *next = OSSL_PARAM_construct_end();
    for (int turn = 0; turn < 2 && !wrong; turn++) {
        if (!EVP_MAC_init(context, turn ? NULL : key->data, turn ? 0 : key->bytes,
                          turn ? &params[1] : params))
            wrong = turn ? "MAC_REINIT_ERROR" : "MAC_INIT_ERROR";
        else if (!EVP_MAC_update(context, input->data, cut) ||
                 !EVP_MAC_update(context, input->data + cut, input->bytes - cut))
            wrong = "MAC_UPDATE_ERROR";
        else if (!EVP_MAC_final(context, got, &bytes, sizeof got) || bytes != output->bytes ||
                 memcmp(got, output->data, bytes) != 0)
            wrong = "TEST_MAC_ERR";
    }
    EVP_MAC_CTX_free(context);
    ERR_clear_error();
    return wrong;
}

/* Runs a test of a MAC. */
static void run_mac(const struct test *test, EVP_MAC *mac)
{
    struct octets key = octets(test, "Key"), iv = octets(test, "IV"), in = octets(test, "Input"),
                  out = octets(test, "Output");
    const char *algorithm = value(test, "Algorithm");
    for (int fragments = 0; fragments < 2; fragments++)
        judge(test, mac_once(mac, algorithm, &key, &iv, &in, &out, fragments),
              fragments ? "in fragments" : "whole");
    free(key.data);
    free(iv.data);
    free(in.data);
    free(out.data);
    passed++;
}

/* Runs a test of a file, if the provider offers its algorithm. */
static void run_test(const struct test *test)
{
    const char *place = value(test, "Availablein"), *name = value(test, "Cipher");
    const char *mac_name = value(test, "MAC"), *algorithm = value(test, "Algorithm");
    if ((!name && !mac_name) || (place && !strstr(place, "default")))
        return;
    EVP_CIPHER *cipher = name ? EVP_CIPHER_fetch(NULL, name, OURS) : NULL;
    EVP_MAC *mac = mac_name ? EVP_MAC_fetch(NULL, mac_name, OURS) : NULL;
    EVP_CIPHER *under = mac && algorithm ? EVP_CIPHER_fetch(NULL, algorithm, OURS) : NULL;
    ERR_clear_error();
    if (cipher)
        run_cipher(test, cipher);
    else if (mac && under)
        run_mac(test, mac);
    else
        left_out++;
    EVP_CIPHER_free(cipher);
    EVP_CIPHER_free(under);
    EVP_MAC_free(mac);
}

/* Runs the tests of a file: fields, a line each, up to an empty line. */
static void run_file(const char *name)
{
    static char line[LINE];
    FILE *file = fopen(name, "r");
    struct test test = {.file = name};
    CHECK(file, "%s", name);
    for (int number = 1;; number++) {
        char *got = fgets(line, sizeof line, file);
        char *end = got ? line + strlen(line) : line;
        while (end > line && isspace((unsigned char)end[-1]))
            *--end = '\0';
        char *equals = got ? strchr(line, '=') : NULL;
        if (got && (*line == '#' || (*line && !equals)))
            continue;
        if (!got || !*line) {
            run_test(&test);
            for (size_t i = 0; i < test.count; i++)
                free(test.fields[i].value);
            test.count = 0;
            if (!got)
                break;
            continue;
        }
        size_t length = strcspn(line, " =");
        CHECK(test.count < FIELDS && length < sizeof test.fields[0].name, "%s:%d", name, number);
        if (test.count == 0)
            test.line = number;
        struct text *field = &test.fields[test.count++];
        memcpy(field->name, line, length);
        field->name[length] = '\0';
        field->value = strdup(equals + 1 + strspn(equals + 1, " "));
    }
    fclose(file);
}

int main(int count, char **arguments)
{
    CHECK(count > 2, "usage: evp_vectors FOLDER FILE...");
    struct providers loaded = load_providers(arguments[1]);
    for (int i = 2; i < count; i++)
        run_file(arguments[i]);
    unload_providers(&loaded);
    printf("%u tests passed in %u runs, %u left out\n", passed, runs, left_out);
    return passed == 0;
}

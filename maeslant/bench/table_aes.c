// SPDX-License-Identifier: Apache-2.0
//
// Encrypts by AES-128 in plain C with a table for the S-box (FIPS 197), to measure its speed. The
// field multiplication is a shift and a conditional XOR. It is the kind of software that Kumar et
// al. profiles and compares with; nobody should use it for anything else (it is not constant-time).
//
// usage: table_aes steps MEGABYTES       -> nanoseconds a block of each step
//        table_aes crypt SIZE SECONDS    -> bytes a second of ECB over SIZE bytes
//        table_aes check KEYHEX < blocks -> the encrypted blocks, for the test against OpenSSL

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NB = 16, ROUNDS = 10, KEYS = NB * (ROUNDS + 1) };

typedef uint8_t state_t[NB]; // column by column: byte r + 4c is row r, column c

static uint8_t sbox[256];

static uint8_t xtime(uint8_t x)
{
    return (uint8_t)((x << 1) ^ ((x >> 7) * 0x1b));
}

// Computes the AES S-box (FIPS 197 §5.1.1) from powers of the generator 3. Every non-zero byte is a
// power of it.
static void make_sbox(void)
{
    uint8_t p = 1, q = 1; // q is always the inverse of p
    do {
        p = (uint8_t)(p ^ xtime(p));
        q ^= (uint8_t)(q << 1);
        q ^= (uint8_t)(q << 2);
        q ^= (uint8_t)(q << 4);
        if (q & 0x80)
            q ^= 0x09;
        uint8_t x = q;
        for (int i = 1; i < 5; i++)
            x ^= (uint8_t)((q << i) | (q >> (8 - i)));
        sbox[p] = x ^ 0x63;
    } while (p != 1);
    sbox[0] = 0x63;
}

// Expands an AES-128 key into round keys (FIPS 197 §5.2).
static void key_expansion(uint8_t keys[KEYS], const uint8_t key[16])
{
    uint8_t rcon = 1;
    memcpy(keys, key, 16);
    for (int i = 16; i < KEYS; i += 4) {
        uint8_t t[4];
        memcpy(t, keys + i - 4, 4);
        if (i % 16 == 0) {
            uint8_t first = t[0];
            t[0] = sbox[t[1]] ^ rcon;
            t[1] = sbox[t[2]];
            t[2] = sbox[t[3]];
            t[3] = sbox[first];
            rcon = xtime(rcon);
        }
        for (int j = 0; j < 4; j++)
            keys[i + j] = keys[i + j - 16] ^ t[j];
    }
}

static void add_round_key(state_t s, const uint8_t *round_key)
{
    for (int i = 0; i < NB; i++)
        s[i] ^= round_key[i];
}

static void sub_and_shift(state_t s)
{
    uint8_t t[NB];
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 4; r++)
            t[r + 4 * c] = sbox[s[r + 4 * ((c + r) % 4)]];
    memcpy(s, t, NB);
}

static void mix_columns(state_t s)
{
    for (int c = 0; c < 4; c++) {
        uint8_t *a = s + 4 * c, first = a[0], all = a[0] ^ a[1] ^ a[2] ^ a[3];
        for (int r = 0; r < 4; r++)
            a[r] ^= all ^ xtime((uint8_t)(a[r] ^ (r < 3 ? a[r + 1] : first)));
    }
}

static void encrypt_block(state_t s, const uint8_t keys[KEYS])
{
    add_round_key(s, keys);
    for (int round = 1; round < ROUNDS; round++) {
        sub_and_shift(s);
        mix_columns(s);
        add_round_key(s, keys + NB * round);
    }
    sub_and_shift(s);
    add_round_key(s, keys + NB * ROUNDS);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile uint8_t sink; // keeps the compiler from dropping the timed work

// Measures each step of AES on the same blocks, for Kumar's Figure 6. They are the steps of a whole
// encryption, so ten or eleven applications a block.
static void time_steps(size_t megabytes)
{
    const size_t blocks = megabytes * 1000000 / NB;
    uint8_t keys[KEYS], key[16] = {1, 2, 3};
    state_t s = {0};
    static const char *const names[] = {"KeyExpansion", "AddRoundKey", "MixColumns", "SubAndShift"};
    key_expansion(keys, key);
    for (int step = 0; step < 4; step++) {
        double start = now();
        for (size_t i = 0; i < blocks; i++) {
            s[0] ^= (uint8_t)i;
            switch (step) {
            case 0:
                key[0] ^= s[0];
                key_expansion(keys, key);
                break;
            case 1:
                for (int r = 0; r <= ROUNDS; r++)
                    add_round_key(s, keys + NB * r);
                break;
            case 2:
                for (int r = 1; r < ROUNDS; r++)
                    mix_columns(s);
                break;
            default:
                for (int r = 1; r <= ROUNDS; r++)
                    sub_and_shift(s);
            }
        }
        sink = s[0] ^ keys[KEYS - 1];
        printf("%s %.3f\n", names[step], (now() - start) * 1e9 / (double)blocks);
    }
}

static int time_crypt(size_t size, double seconds)
{
    uint8_t keys[KEYS], *data = calloc(1, size);
    const uint8_t key[16] = {1, 2, 3};
    if (!data)
        return 1;
    double start = now(), passed;
    size_t done = 0;
    do {
        key_expansion(keys, key);
        for (size_t i = 0; i + NB <= size; i += NB)
            encrypt_block(data + i, keys);
        done += size;
    } while ((passed = now() - start) < seconds);
    sink = data[0];
    free(data);
    printf("%.1f\n", (double)done / passed);
    return 0;
}

static int check(const char *hex)
{
    uint8_t keys[KEYS], key[16];
    state_t s;
    for (int i = 0; i < 16; i++)
        if (sscanf(hex + 2 * i, "%2hhx", &key[i]) != 1)
            return 2;
    key_expansion(keys, key);
    while (fread(s, 1, NB, stdin) == NB) {
        encrypt_block(s, keys);
        if (fwrite(s, 1, NB, stdout) != NB)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    make_sbox();
    if (argc == 3 && !strcmp(argv[1], "steps")) {
        time_steps(strtoul(argv[2], NULL, 10));
        return 0;
    }
    if (argc == 4 && !strcmp(argv[1], "crypt"))
        return time_crypt(strtoul(argv[2], NULL, 10), strtod(argv[3], NULL));
    if (argc == 3 && !strcmp(argv[1], "check") && strlen(argv[2]) == 32)
        return check(argv[2]);
    fprintf(stderr, "usage: table_aes steps MEGABYTES | crypt SIZE SECONDS | check KEYHEX\n");
    return 2;
}

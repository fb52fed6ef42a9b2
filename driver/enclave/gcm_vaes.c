/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES-256-GCM with the 256-bit forms of the AES and carry-less multiplication instructions (VAES,
 * VPCLMULQDQ on AVX2): twice as fast as ipsec-mb 1.3 and OpenSSL 3.0 where there is no AVX-512.
 * Sixteen blocks at a time: their counters are enciphered side by side while the products of sixteen
 * others with powers of H are added up, to be reduced once. No branch and no address depends on key
 * or data.
 *
 * Blocks are hashed byte-reversed; then the powers of H are kept times x, and the reduction is by
 * x^128 + x^127 + x^126 + x^121 + 1 (Gueron and Kounavis, Intel's white paper on GCM, 2010).
 */
#include "gcm.h"

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#define VAES __attribute__((target("avx2,aes,pclmul,vaes,vpclmulqdq")))
#define INLINE VAES static inline __attribute__((always_inline))
/* Unrolled whatever the optimization: the eight pairs of blocks stay in registers. */
#define EACH(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

enum { ROUNDS = 14, WIDE = 16, PAIRS = WIDE / 2 };

struct gcm {
    __m128i keys[ROUNDS + 1];
    __m128i powers[WIDE]; /* H^16 first, H last */
    __m128i folded[WIDE]; /* the sum of the halves of each, twice */
    __m128i counter;      /* of the next block; byte-reversed */
    __m128i first;        /* what the hash is added to for the tag */
    __m128i hash;         /* byte-reversed */
    uint64_t aad_bytes, bytes;
    bool seals;
};

struct product {
    __m256i low, middle, high;
};

INLINE __m128i reversed(__m128i block)
{
    return _mm_shuffle_epi8(block,
                            _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

INLINE __m256i reversed_pair(__m256i blocks)
{
    return _mm256_shuffle_epi8(blocks, _mm256_broadcastsi128_si256(_mm_set_epi8(
                                           0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
}

/* Adds the products of two blocks with two powers. */
INLINE void add_product(struct product *sum, __m256i blocks, __m256i powers)
{
    sum->low = _mm256_xor_si256(sum->low, _mm256_clmulepi64_epi128(blocks, powers, 0x00));
    sum->high = _mm256_xor_si256(sum->high, _mm256_clmulepi64_epi128(blocks, powers, 0x11));
    sum->middle = _mm256_xor_si256(
        sum->middle, _mm256_xor_si256(_mm256_clmulepi64_epi128(blocks, powers, 0x01),
                                      _mm256_clmulepi64_epi128(blocks, powers, 0x10)));
}

INLINE __m128i fold(__m256i halves)
{
    return _mm_xor_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
}

INLINE __m128i reduce(const struct product *sum)
{
    const __m128i polynomial = _mm_set_epi64x((int64_t)UINT64_C(0xc200000000000000), 1);
    __m128i middle = fold(sum->middle);
    __m128i low = _mm_xor_si128(fold(sum->low), _mm_slli_si128(middle, 8));
    __m128i high = _mm_xor_si128(fold(sum->high), _mm_srli_si128(middle, 8));
    for (int i = 0; i < 2; i++)
        low = _mm_xor_si128(_mm_shuffle_epi32(low, 0x4e),
                            _mm_clmulepi64_si128(low, polynomial, 0x10));
    return _mm_xor_si128(high, low);
}

VAES static __m128i multiply(__m128i a, __m128i b)
{
    struct product sum = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    add_product(&sum, _mm256_zextsi128_si256(a), _mm256_zextsi128_si256(b));
    return reduce(&sum);
}

/* Hashes `count` blocks, at most sixteen. */
VAES static void hash_blocks(struct gcm *gcm, const uint8_t *bytes, size_t count)
{
    struct product sum = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    const __m128i *powers = gcm->powers + (WIDE - count);
    __m256i hash = _mm256_zextsi128_si256(gcm->hash);
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        __m256i blocks =
            reversed_pair(_mm256_loadu_si256((const __m256i *)(const void *)(bytes + 16 * i)));
        blocks = _mm256_xor_si256(blocks, hash);
        hash = _mm256_setzero_si256();
        add_product(&sum, blocks, _mm256_loadu_si256((const __m256i *)(const void *)(powers + i)));
    }
    if (i < count) {
        __m128i block = reversed(_mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i)));
        add_product(&sum, _mm256_xor_si256(_mm256_zextsi128_si256(block), hash),
                    _mm256_zextsi128_si256(powers[i]));
    }
    gcm->hash = reduce(&sum);
}

/* Whole blocks, then the last one filled with zeros. */
VAES static void hash_bytes(struct gcm *gcm, const uint8_t *bytes, size_t size)
{
    while (size >= 16) {
        size_t count = size / 16 < WIDE ? size / 16 : WIDE;
        hash_blocks(gcm, bytes, count);
        bytes += 16 * count;
        size -= 16 * count;
    }
    if (size) {
        uint8_t last[16] = {0};
        memcpy(last, bytes, size);
        hash_blocks(gcm, last, 1);
        gcm_wipe(last, sizeof last);
    }
}

/* The next sixteen counters, whitened. */
INLINE void counters(const struct gcm *gcm, __m256i blocks[PAIRS])
{
    const __m256i two = _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2);
    const __m256i key = _mm256_broadcastsi128_si256(gcm->keys[0]);
    __m256i counter = _mm256_add_epi32(_mm256_broadcastsi128_si256(gcm->counter),
                                       _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0));
#define STEP(i) \
    blocks[i] = _mm256_xor_si256(reversed_pair(counter), key); \
    counter = _mm256_add_epi32(counter, two);
    EACH(STEP)
#undef STEP
}

INLINE void cipher_round(__m256i blocks[PAIRS], __m128i round_key)
{
    const __m256i key = _mm256_broadcastsi128_si256(round_key);
#define STEP(i) blocks[i] = _mm256_aesenc_epi128(blocks[i], key);
    EACH(STEP)
#undef STEP
}

INLINE void last_round(const __m256i blocks[PAIRS], __m256i stream[PAIRS], __m128i round_key)
{
    const __m256i key = _mm256_broadcastsi128_si256(round_key);
#define STEP(i) stream[i] = _mm256_aesenclast_epi128(blocks[i], key);
    EACH(STEP)
#undef STEP
}

/* The keystream of the next sixteen blocks. */
INLINE void keystream(const struct gcm *gcm, __m256i stream[PAIRS])
{
    __m256i s[PAIRS];
    counters(gcm, s);
    for (int round = 1; round < ROUNDS; round++)
        cipher_round(s, gcm->keys[round]);
    last_round(s, stream, gcm->keys[ROUNDS]);
}

/* The same while sixteen blocks of ciphertext are hashed: neither waits for the other. */
INLINE void keystream_and_hash(struct gcm *gcm, __m256i stream[PAIRS], const uint8_t *bytes)
{
    __m256i s[PAIRS], low = _mm256_setzero_si256(), high = low, both = low;
    __m256i hash = _mm256_zextsi128_si256(gcm->hash);
    counters(gcm, s);
    cipher_round(s, gcm->keys[1]);
    for (int i = 0; i < PAIRS; i++) {
        cipher_round(s, gcm->keys[2 + i]);
        __m256i power = _mm256_loadu_si256((const __m256i *)(const void *)(gcm->powers + 2 * i));
        __m256i folded = _mm256_loadu_si256((const __m256i *)(const void *)(gcm->folded + 2 * i));
        __m256i blocks =
            reversed_pair(_mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32 * i)));
        blocks = _mm256_xor_si256(blocks, hash);
        hash = _mm256_setzero_si256();
        low = _mm256_xor_si256(low, _mm256_clmulepi64_epi128(blocks, power, 0x00));
        high = _mm256_xor_si256(high, _mm256_clmulepi64_epi128(blocks, power, 0x11));
        blocks = _mm256_xor_si256(blocks, _mm256_shuffle_epi32(blocks, 0x4e));
        both = _mm256_xor_si256(both, _mm256_clmulepi64_epi128(blocks, folded, 0x00));
    }
    for (int round = 2 + PAIRS; round < ROUNDS; round++)
        cipher_round(s, gcm->keys[round]);
    last_round(s, stream, gcm->keys[ROUNDS]);
    /* Karatsuba: (a + b)(c + d) - ac - bd. */
    struct product sum = {low, _mm256_xor_si256(both, _mm256_xor_si256(low, high)), high};
    gcm->hash = reduce(&sum);
}

VAES static __m128i encipher(const struct gcm *gcm, __m128i block)
{
    block = _mm_xor_si128(block, gcm->keys[0]);
    for (int round = 1; round < ROUNDS; round++)
        block = _mm_aesenc_si128(block, gcm->keys[round]);
    return _mm_aesenclast_si128(block, gcm->keys[ROUNDS]);
}

VAES static void advance(struct gcm *gcm, size_t blocks)
{
    gcm->counter = _mm_add_epi32(gcm->counter, _mm_set_epi32(0, 0, 0, (int)blocks));
}

/* A step of the key schedule: `made` is what the instruction makes of the four bytes before. */
VAES static __m128i next_key(__m128i before, __m128i made)
{
    before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
    before = _mm_xor_si128(before, _mm_slli_si128(before, 8));
    return _mm_xor_si128(before, made);
}

VAES static void expand(struct gcm *gcm, const uint8_t key[WIRE_KEY])
{
    __m128i *k = gcm->keys;
    k[0] = _mm_loadu_si128((const __m128i *)(const void *)key);
    k[1] = _mm_loadu_si128((const __m128i *)(const void *)(key + 16));
#define EVEN(i, constant) \
    k[i] = next_key(k[(i) - 2], \
                    _mm_shuffle_epi32(_mm_aeskeygenassist_si128(k[(i) - 1], constant), 0xff))
#define ODD(i) \
    k[i] = next_key(k[(i) - 2], _mm_shuffle_epi32(_mm_aeskeygenassist_si128(k[(i) - 1], 0), 0xaa))
    EVEN(2, 0x01);
    ODD(3);
    EVEN(4, 0x02);
    ODD(5);
    EVEN(6, 0x04);
    ODD(7);
    EVEN(8, 0x08);
    ODD(9);
    EVEN(10, 0x10);
    ODD(11);
    EVEN(12, 0x20);
    ODD(13);
    EVEN(14, 0x40);
#undef EVEN
#undef ODD
}

VAES static void make_powers(struct gcm *gcm)
{
    __m128i h = reversed(encipher(gcm, _mm_setzero_si128()));
    /* Times x: shift by one; what falls out comes back as the polynomial. */
    __m128i carry = _mm_srli_epi64(h, 63);
    __m128i out = _mm_shuffle_epi32(_mm_srai_epi32(h, 31), 0xff);
    h = _mm_or_si128(_mm_slli_epi64(h, 1), _mm_slli_si128(carry, 8));
    h = _mm_xor_si128(h,
                      _mm_and_si128(out, _mm_set_epi64x((int64_t)UINT64_C(0xc200000000000000), 1)));
    gcm->powers[WIDE - 1] = h;
    for (int i = WIDE - 2; i >= 0; i--)
        gcm->powers[i] = multiply(gcm->powers[i + 1], h);
    for (int i = 0; i < WIDE; i++)
        gcm->folded[i] = _mm_xor_si128(gcm->powers[i], _mm_shuffle_epi32(gcm->powers[i], 0x4e));
}

struct gcm *gcm_new(const uint8_t key[WIRE_KEY], bool seals)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("vpclmulqdq"))
        return NULL;
    struct gcm *gcm = aligned_alloc(64, (sizeof *gcm + 63) / 64 * 64);
    if (!gcm)
        return NULL;
    memset(gcm, 0, sizeof *gcm);
    gcm->seals = seals;
    expand(gcm, key);
    make_powers(gcm);
    return gcm;
}

void gcm_free(struct gcm *gcm)
{
    if (!gcm)
        return;
    gcm_wipe(gcm, sizeof *gcm);
    free(gcm);
}

VAES bool gcm_begin(struct gcm *gcm, const uint8_t iv[WIRE_MASK], const uint8_t *aad,
                    size_t aad_bytes)
{
    uint8_t block[16] = {0};
    memcpy(block, iv, WIRE_MASK);
    block[15] = 1;
    gcm->counter = reversed(_mm_loadu_si128((const __m128i *)(const void *)block));
    gcm->first = encipher(gcm, _mm_loadu_si128((const __m128i *)(const void *)block));
    advance(gcm, 1);
    gcm->hash = _mm_setzero_si128();
    gcm->aad_bytes = aad_bytes;
    gcm->bytes = 0;
    hash_bytes(gcm, aad, aad_bytes);
    return true;
}

VAES bool gcm_update(struct gcm *gcm, uint8_t *to, const uint8_t *from, size_t size)
{
    __m256i stream[PAIRS];
    gcm->bytes += size;
    const uint8_t *late = NULL; /* sealed, not yet hashed */
    for (; size >= 16 * WIDE; size -= 16 * WIDE, from += 16 * WIDE, to += 16 * WIDE) {
        if (!gcm->seals)
            keystream_and_hash(gcm, stream, from);
        else if (late)
            keystream_and_hash(gcm, stream, late);
        else
            keystream(gcm, stream);
        for (int i = 0; i < PAIRS; i++) {
            __m256i text = _mm256_loadu_si256((const __m256i *)(const void *)(from + 32 * i));
            _mm256_storeu_si256((__m256i *)(void *)(to + 32 * i),
                                _mm256_xor_si256(text, stream[i]));
        }
        late = to;
        advance(gcm, WIDE);
    }
    if (gcm->seals && late)
        hash_blocks(gcm, late, WIDE);
    if (size) {
        keystream(gcm, stream);
        if (!gcm->seals)
            hash_bytes(gcm, from, size);
        const uint8_t *bytes = (const uint8_t *)stream;
        for (size_t i = 0; i < size; i++)
            to[i] = from[i] ^ bytes[i];
        if (gcm->seals)
            hash_bytes(gcm, to, size);
        advance(gcm, (size + 15) / 16);
    }
    gcm_wipe(stream, sizeof stream);
    return true;
}

VAES bool gcm_tag(struct gcm *gcm, uint8_t tag[WIRE_TAG])
{
    uint8_t lengths[16];
    wire_put(lengths, 8 * gcm->aad_bytes, 8);
    wire_put(lengths + 8, 8 * gcm->bytes, 8);
    hash_blocks(gcm, lengths, 1);
    __m128i sum = _mm_xor_si128(reversed(gcm->hash), gcm->first);
    _mm_storeu_si128((__m128i *)(void *)tag, sum);
    return true;
}

bool gcm_check(struct gcm *gcm, const uint8_t tag[WIRE_TAG])
{
    uint8_t made[WIRE_TAG];
    bool right = gcm_tag(gcm, made) && gcm_equal(made, tag, WIRE_TAG);
    gcm_wipe(made, sizeof made); /* the right tag of a wrong message is not shown */
    return right;
}

const char *gcm_library(void)
{
    return "VAES";
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a block card: plain and encrypted requests against OpenSSL's AES-256-XTS, keys, a fault of
 * the IOMMU, a reset with requests in flight.
 *
 *   block_check DEVICE KEY DATA          DEVICE as in vfio:0000:00:01.0; KEY: a file of 64 bytes,
 *                                        DATA: one of 131,072
 *   block_check DEVICE KEY DATA writes   writes and flushes for ever, a data unit after the other;
 *                                        prints "flushed N" for each
 *
 * The media then holds DATA at sector 0 in plain, and encrypted at the sectors of `places`.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block_host.h"
#include "generated/mae_block_card_regs.h"

enum {
    BYTES = BLOCK_BUFFER_BYTES,
    SECTORS = BYTES / BLOCK_SECTOR,
    SLOT = 1,
    STATE_SECONDS = 2, /* in which the card's server writes its state */
    LOAD_SECTOR = 4 * SECTORS,
    PARTS = 32 /* of a buffer, each a request of the load */
};

#define LOAD MAE_BLOCK_CARD__LOCK_CTRL__CMD__LOAD
#define UNLOAD MAE_BLOCK_CARD__LOCK_CTRL__CMD__UNLOAD

/* Encrypted copies of the data. The numbers of the first pass 2^64 into the upper half. */
static const struct place {
    uint64_t sector;
    struct block_key key;
} places[] = {
    {SECTORS, {SLOT, 12, UINT64_MAX - 1}},
    {2 * SECTORS, {SLOT, 9, 7}},
};
enum { PLACES = sizeof places / sizeof places[0] };

static uint8_t key[64], data[BYTES], expected[BYTES];

static void need(int good, const char *what)
{
    printf("%-9s %s\n", good ? "good" : "WRONG", what);
    fflush(stdout);
    if (!good)
        exit(1);
}

static void read_file(const char *name, uint8_t *to, size_t bytes)
{
    FILE *file = fopen(name, "rb");
    if (!file || fread(to, 1, bytes, file) != bytes) {
        fprintf(stderr, "%s: %zu bytes are needed\n", name, bytes);
        exit(2);
    }
    fclose(file);
}

/* Encrypts data units by OpenSSL. */
static void by_openssl(const struct block_key *how, uint8_t *to)
{
    const size_t unit_bytes = (size_t)1 << how->unit_log2;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int good = context != NULL, count;
    for (size_t n = 0; good && n < BYTES / unit_bytes; n++) {
        unsigned __int128 unit = (unsigned __int128)how->unit + n;
        good = EVP_EncryptInit_ex(context, EVP_aes_256_xts(), NULL, key, (uint8_t *)&unit) == 1 &&
               EVP_EncryptUpdate(context, to + n * unit_bytes, &count, data + n * unit_bytes,
                                 (int)unit_bytes) == 1;
    }
    EVP_CIPHER_CTX_free(context);
    need(good, "OpenSSL has AES-256-XTS");
}

/* Makes a request of all data, of a buffer. */
static struct block_request all(const struct block_card *card, enum block_op op, unsigned buffer,
                                uint64_t sector, const struct block_key *how)
{
    return (struct block_request){.op = op,
                                  .sector = sector,
                                  .sectors = SECTORS,
                                  .address = block_address(card, block_buffer(card, buffer)),
                                  .key = how};
}

static uint32_t do_all(struct block_card *card, enum block_op op, unsigned buffer, uint64_t sector,
                       const struct block_key *how)
{
    struct block_request request = all(card, op, buffer, sector, how);
    return block_do(card, 0, &request);
}

static uint32_t flush(struct block_card *card)
{
    return block_do(card, 0, &(struct block_request){.op = BLOCK_FLUSH});
}

static void load(struct block_card *card)
{
    need(block_key_command(card, LOAD, SLOT, key) == 0 && block_keys(card) == 1u << SLOT,
         "the key is loaded");
}

/* Writes the data in plain and encrypted at the same time, and reads them back. */
static void write_and_read(struct block_card *card)
{
    struct block_request plain = all(card, BLOCK_WRITE, 0, 0, NULL);
    memcpy(block_buffer(card, 0), data, BYTES);
    block_submit(card, 1, &plain);
    for (size_t i = 0; i < PLACES; i++)
        need(do_all(card, BLOCK_WRITE, 0, places[i].sector, &places[i].key) == BLOCK_OK,
             "an encrypted write");
    need(block_take(card, 1) == BLOCK_OK, "a plain write beside them");
    need(flush(card) == BLOCK_OK, "a flush");
    for (size_t i = 0; i < PLACES; i++) {
        need(do_all(card, BLOCK_READ, 1, places[i].sector, &places[i].key) == BLOCK_OK &&
                 memcmp(block_buffer(card, 1), data, BYTES) == 0,
             "the data come back");
        by_openssl(&places[i].key, expected);
        need(do_all(card, BLOCK_READ, 1, places[i].sector, NULL) == BLOCK_OK &&
                 memcmp(block_buffer(card, 1), expected, BYTES) == 0,
             "the media equals OpenSSL's");
    }
    need(do_all(card, BLOCK_READ, 1, 0, NULL) == BLOCK_OK &&
             memcmp(block_buffer(card, 1), data, BYTES) == 0,
         "plain data come back");
}

/* Uses addresses that the IOMMU does not map, and the card afterwards. */
static void fault(struct block_card *card)
{
    struct block_request request = all(card, BLOCK_WRITE, 0, LOAD_SECTOR, NULL);
    request.address = 1ull << 38;
    need(block_do(card, 1, &request) == BLOCK_READ_DECERR, "a write from unmapped memory fails");
    request.op = BLOCK_READ;
    need(block_do(card, 1, &request) == BLOCK_WRITE_DECERR, "a read to unmapped memory fails");
    need(do_all(card, BLOCK_READ, 1, 0, NULL) == BLOCK_OK, "the next request does not");
}

/* Has the card's server write its state, if there is one, while the card stands still. */
static void show_state(const struct block_card *card)
{
    if (card->ops->simulated)
        return;
    puts("maeslant-state");
    fflush(stdout);
    sleep(STATE_SECONDS);
}

/* Unloads the key: requests with it move nothing. */
static void unload(struct block_card *card)
{
    need(block_key_command(card, UNLOAD, SLOT, NULL) == 0 && block_keys(card) == 0,
         "the key is unloaded");
    memset(block_buffer(card, 1), 0x5a, BYTES);
    memcpy(expected, block_buffer(card, 1), BYTES);
    need(do_all(card, BLOCK_READ, 1, places[0].sector, &places[0].key) == BLOCK_BAD_KEY &&
             memcmp(block_buffer(card, 1), expected, BYTES) == 0,
         "a read with it fails");
    need(do_all(card, BLOCK_WRITE, 1, places[0].sector, &places[0].key) == BLOCK_BAD_KEY,
         "a write with it fails");
}

/* Closes the card with requests in flight, which resets it, and opens it again. */
static void reset(struct block_card *card, const char *uri)
{
    const struct block_key how = {SLOT, 12, 1000};
    unsigned done = 0, left = 0;
    load(card);
    memcpy(block_buffer(card, 2), data, BYTES);
    for (unsigned i = 0; i < 2 * PARTS; i++) {
        struct block_request request =
            all(card, i % 2 ? BLOCK_READ : BLOCK_WRITE, 2 + i % 2, LOAD_SECTOR, &how);
        block_submit(card, i / PARTS, &request);
    }
    (void)block_take(card, 0);
    for (unsigned queue = 0; queue < BLOCK_QUEUES; queue++) {
        for (; card->taken[queue] < card->sent[queue] && block_completed(card, queue); done++)
            (void)block_take(card, queue);
        left += card->sent[queue] - card->taken[queue];
    }
    block_close(card);
    printf("reset with %u of %u requests in flight\n", left, 2 * PARTS);
    need(left > 0, "the card was busy");
    block_open(card, uri);
    need(block_keys(card) == 0, "the reset erased the key");
    need(do_all(card, BLOCK_READ, 1, places[0].sector, &places[0].key) == BLOCK_BAD_KEY,
         "a read with it fails");
    load(card);
    for (size_t i = 0; i < PLACES; i++)
        need(do_all(card, BLOCK_READ, 1, places[i].sector, &places[i].key) == BLOCK_OK &&
                 memcmp(block_buffer(card, 1), data, BYTES) == 0,
             "what was flushed is there");
}

/* Writes one data unit after the other, with a flush after each. */
static void write_for_ever(struct block_card *card)
{
    struct block_key how = {SLOT, 12, 0};
    const unsigned unit_sectors = (1u << how.unit_log2) / BLOCK_SECTOR;
    load(card);
    memcpy(block_buffer(card, 0), data, BYTES);
    for (unsigned n = 0;; n++) {
        unsigned at = n % (SECTORS / unit_sectors);
        how.unit = at;
        struct block_request request = {
            .op = BLOCK_WRITE,
            .sector = places[0].sector + (uint64_t)at * unit_sectors,
            .sectors = unit_sectors,
            .address = block_address(card, block_buffer(card, 0) + (size_t)at * 4096),
            .key = &how};
        if (block_do(card, 0, &request) != BLOCK_OK || flush(card) != BLOCK_OK)
            need(0, "a write");
        printf("flushed %u\n", n + 1);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    struct block_card card;
    if (argc != 4 && !(argc == 5 && strcmp(argv[4], "writes") == 0)) {
        fprintf(stderr, "usage: block_check DEVICE KEY DATA [writes]\n");
        return 2;
    }
    read_file(argv[2], key, sizeof key);
    read_file(argv[3], data, sizeof data);
    block_open(&card, argv[1]);
    printf("block card: %u lanes, %u key slots, %llu sectors\n", card.lanes, card.key_slots,
           (unsigned long long)card.sectors);
    need(card.key_slots > SLOT && card.sectors >= LOAD_SECTOR + SECTORS, "it is large enough");
    if (argc == 5)
        write_for_ever(&card);
    load(&card);
    write_and_read(&card);
    fault(&card);
    show_state(&card);
    unload(&card);
    show_state(&card);
    reset(&card, argv[1]);
    block_close(&card);
    puts("the block card is good");
    return 0;
}

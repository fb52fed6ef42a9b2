/* SPDX-License-Identifier: Apache-2.0 */
/* Tests AEAD streams of the driver: right bytes, and no plaintext before the tag is verified. */
#include "mock/aead_case.h"

static mae_error_t begin(mae_dev_t *dev, mae_direction_t direction, bool unverified,
                         mae_aead_t **aead)
{
    if (direction == MAE_ENCRYPT)
        return mae_aead_seal_with_chosen_nonce(dev, &test.message, aead);
    return unverified ? mae_aead_unseal_unverified(dev, &test.message, aead)
                      : mae_aead_unseal(dev, &test.message, aead);
}

/* Feeds AAD and data to an AEAD stream in random pieces and collects the stream's output. */
static void feed(mae_aead_t *aead, const uint8_t *data, size_t largest, bool withheld, size_t *got)
{
    size_t length = test.message.length, taken, given;
    for (size_t at = 0; at < test.message.aad_bytes;) {
        size_t piece = random_below(largest);
        if (piece > test.message.aad_bytes - at)
            piece = test.message.aad_bytes - at;
        CHECK_OK(mae_aead_aad(aead, test.aad + at, piece));
        at += piece;
    }
    for (size_t in = 0; in < length; in += taken, *got += given) {
        size_t piece = random_below(largest), room = random_below(largest);
        if (piece > length - in)
            piece = length - in;
        if (room > length - *got)
            room = length - *got;
        CHECK_OK(mae_aead_update(aead, data + in, piece, &taken, test.out + *got, room, &given));
        CHECK(taken <= piece && given <= room && (!withheld || given == 0));
        CHECK(taken > 0 || given > 0 || piece == 0 || room == 0);
    }
}

static void drain(mae_aead_t *aead, size_t largest, size_t *got)
{
    size_t given;
    do {
        size_t room = 1 + random_below(largest);
        if (room > test.message.length - *got)
            room = test.message.length - *got;
        CHECK_OK(mae_aead_read(aead, test.out + *got, room, &given));
        *got += given;
    } while (given > 0);
}

static void one_stream(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction, size_t limit)
{
    mae_aead_t *aead;
    bool unverified = random_below(3) == 0, withheld = direction == MAE_DECRYPT && !unverified;
    size_t length = pick_length(limit), largest = random_below(2) ? 100000 : 3000, got = 0;
    new_case(mode, length, random_below(200));
    const uint8_t *data = direction == MAE_ENCRYPT ? test.plain : test.sealed;
    const uint8_t *want = direction == MAE_ENCRYPT ? test.sealed : test.plain;
    CHECK_OK(begin(dev, direction, unverified, &aead));
    feed(aead, data, largest, withheld, &got);
    if (direction == MAE_DECRYPT)
        memcpy(test.got_tag, test.tag, 16);
    CHECK_OK(mae_aead_finish(aead, test.got_tag));
    drain(aead, largest, &got);
    CHECK(got == length && memcmp(test.out, want, length) == 0);
    CHECK(memcmp(test.got_tag, test.tag, test.message.tag_bytes) == 0);
    CHECK_ERROR(mae_aead_finish(aead, test.got_tag), MAE_E_STATE);
    CHECK_ERROR(mae_aead_update(aead, data, 1, &got, test.out, 1, &got), MAE_E_STATE);
    CHECK_ERROR(mae_aead_aad(aead, data, 1), MAE_E_STATE);
    mae_aead_free(aead);
    check_idle(dev);
}

static void streams(mae_kind_t kind, uint32_t modes, size_t limit, uint32_t depth)
{
    struct mock *mock = mock_new(kind);
    mae_dev_t *dev;
    mock->modes = unauthenticated_modes() | modes;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_set_queue_depth(dev, depth));
    for (int round = 0; round < 60; round++)
        one_stream(dev, round % 2 ? MAE_CCM : MAE_GCM, round / 2 % 2 ? MAE_DECRYPT : MAE_ENCRYPT,
                   limit);
    mae_close(dev);
}

static void streams_on_a_card(void)
{
    streams(MAE_KIND_STREAM, 0x100, CASE_LARGEST, 256);
}

static void streams_with_a_short_queue(void)
{
    streams(MAE_KIND_STREAM, 0x100, CASE_LARGEST, 1);
}

static void streams_on_a_peripheral(void)
{
    streams(MAE_KIND_PERIPHERAL, 0x700, 2000, 256);
}

/* Tests that an AEAD stream rejects a tampered message, with no plaintext unless unverified. */
static void tampered(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mae_aead_t *aead;
    CHECK_OK(mock_open(mock, &dev));
    for (int round = 0; round < 24; round++) {
        bool unverified = round % 2;
        size_t got = 0, given;
        new_case(round / 2 % 2 ? MAE_CCM : MAE_GCM, 1 + pick_length(CASE_LARGEST - 1), 30);
        CHECK_OK(begin(dev, MAE_DECRYPT, unverified, &aead));
        test.sealed[random_below(test.message.length)] ^= 1;
        feed(aead, test.sealed, 100000, !unverified, &got);
        CHECK_ERROR(mae_aead_read(aead, test.out, 10, &given), MAE_E_STATE);
        memcpy(test.got_tag, test.tag, 16);
        CHECK_ERROR(mae_aead_finish(aead, test.got_tag), MAE_E_AUTH);
        CHECK_ERROR(mae_aead_read(aead, test.out, CASE_LARGEST, &given), MAE_E_AUTH);
        CHECK(given == 0);
        if (!unverified)
            CHECK(test.out[0] == 0xee && memcmp(test.out, test.out + 1, CASE_LARGEST - 1) == 0);
        mae_aead_free(aead);
        check_idle(dev);
    }
    mae_close(dev);
}

/* Tests five AEAD streams in turns on a mock peripheral, whose registers hold one state only. */
static void turns_on_a_peripheral(void)
{
    enum { STREAMS = 5, LENGTH = 300 };
    static uint8_t plain[LENGTH], out[STREAMS][LENGTH], want[LENGTH], tag[16], key[16], nonce[20];
    struct mock *mock = mock_new(MAE_KIND_PERIPHERAL);
    mae_dev_t *dev;
    mae_aead_t *list[STREAMS];
    uint32_t slot;
    struct mae_message message = {.nonce = nonce, .nonce_bytes = 12};
    random_bytes(plain, LENGTH);
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_key_alloc(dev, key, 16, &slot));
    message.key_slot = slot;
    message.aad_bytes = 40;
    message.length = LENGTH;
    for (uint32_t i = 0; i < STREAMS; i++) {
        message.mode = i % 2 ? MAE_CCM : MAE_GCM;
        nonce[0] = (uint8_t)i;
        message.nonce_bytes = i == 4 ? 20 : 12;
        CHECK_OK(mae_aead_seal_with_chosen_nonce(dev, &message, &list[i]));
    }
    /* A buffer is large: jobs of a block come only from below, so these turns are jobs' own. */
    size_t taken, given;
    for (int round = 0; round < 4; round++)
        for (uint32_t i = 0; i < STREAMS; i++)
            CHECK_OK(mae_aead_aad(list[i], plain + 10 * round, 10));
    for (size_t at = 0; at < LENGTH; at += 20)
        for (uint32_t i = 0; i < STREAMS; i++)
            CHECK_OK(mae_aead_update(list[i], plain + at, 20, &taken, out[i], 0, &given));
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint8_t got_tag[16], iv[16] = {9}, scratch[40];
        struct toy_message toy = {.mode = i % 2 ? MAE_CCM : MAE_GCM,
                                  .key = mock_key(key, 16),
                                  .nonce = nonce,
                                  .nonce_bytes = i == 4 ? 20 : 12,
                                  .aad = plain,
                                  .aad_bytes = 40,
                                  .tag_bytes = 16};
        CHECK_OK(mae_crypt_slot(dev, MAE_CTR, MAE_ENCRYPT, slot, 0, iv, plain, scratch, 40));
        CHECK_OK(mae_aead_finish(list[i], got_tag));
        CHECK_OK(mae_aead_read(list[i], out[i], LENGTH, &given));
        CHECK(given == LENGTH);
        nonce[0] = (uint8_t)i;
        if (i % 2)
            toy_ccm(&toy, plain, want, LENGTH, tag);
        else
            toy_gcm(&toy, plain, want, LENGTH, tag);
        CHECK(memcmp(out[i], want, LENGTH) == 0 && memcmp(got_tag, tag, 16) == 0);
        mae_aead_free(list[i]);
    }
    mae_close(dev);
}

static void macs_in_pieces(void)
{
    static const size_t lengths[] = {0, 1, 16, 17, 100, MAE_CHUNK, MAE_CHUNK + 16, 150000};
    for (int kind = MAE_KIND_PERIPHERAL; kind <= MAE_KIND_STREAM; kind++) {
        struct mock *mock = mock_new(kind);
        mae_dev_t *dev;
        mae_aead_t *aead;
        CHECK_OK(mock_open(mock, &dev));
        for (int i = 0; i < (kind == MAE_KIND_STREAM ? 8 : 5); i++) {
            uint8_t tag[16], want[16];
            size_t taken, given;
            new_case(MAE_GCM, lengths[i], 0);
            struct mae_message message = {
                .mode = MAE_CMAC, .key = test.key, .key_bytes = test.key_bytes};
            toy_cmac(mock_key(test.key, test.key_bytes), test.plain, lengths[i], want);
            CHECK_OK(mae_aead_mac(dev, &message, &aead));
            for (size_t at = 0, piece; at < lengths[i]; at += piece) {
                piece = 1 + random_below(40000);
                if (piece > lengths[i] - at)
                    piece = lengths[i] - at;
                CHECK_OK(mae_aead_aad(aead, test.plain + at, piece));
            }
            CHECK_ERROR(mae_aead_update(aead, test.plain, 1, &taken, test.out, 1, &given),
                        MAE_E_STATE);
            CHECK_OK(mae_aead_finish(aead, tag));
            CHECK(memcmp(tag, want, 16) == 0);
            mae_aead_free(aead);
            check_idle(dev);
        }
        mae_close(dev);
    }
}

static void refused_pieces(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mae_aead_t *aead;
    size_t taken, given;
    uint8_t tag[16];
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, 100, 20);
    CHECK_OK(mae_aead_seal_with_chosen_nonce(dev, &test.message, &aead));
    CHECK_OK(mae_aead_update(aead, test.plain, 100, &taken, test.out, 100, &given));
    CHECK_ERROR(mae_aead_aad(aead, test.aad, 20), MAE_E_STATE); /* AAD comes first */
    CHECK_ERROR(mae_aead_finish(aead, NULL), MAE_E_ARGUMENT);
    CHECK_OK(mae_aead_finish(aead, tag));
    mae_aead_free(aead);
    new_case(MAE_CCM, 100, 20); /* CCM holds to what was said */
    CHECK_OK(mae_aead_seal_with_chosen_nonce(dev, &test.message, &aead));
    CHECK_ERROR(mae_aead_aad(aead, test.aad, 21), MAE_E_LENGTH);
    CHECK_OK(mae_aead_aad(aead, test.aad, 19));
    CHECK_ERROR(mae_aead_update(aead, test.plain, 1, &taken, test.out, 1, &given), MAE_E_LENGTH);
    CHECK_OK(mae_aead_aad(aead, test.aad, 1));
    CHECK_ERROR(mae_aead_update(aead, test.plain, 101, &taken, test.out, 1, &given), MAE_E_LENGTH);
    CHECK_OK(mae_aead_update(aead, test.plain, 99, &taken, test.out, 1, &given));
    CHECK_ERROR(mae_aead_finish(aead, tag), MAE_E_LENGTH);
    CHECK_ERROR(mae_aead_read(aead, test.out, 1, &given), MAE_E_LENGTH);
    mae_aead_free(aead);
    mae_aead_free(NULL);
    CHECK_ERROR(mae_aead_seal(dev, &test.message, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_aead_seal(dev, NULL, &aead), MAE_E_ARGUMENT);
    test.message.mode = MAE_CMAC;
    CHECK_ERROR(mae_aead_seal(dev, &test.message, &aead), MAE_E_MODE);
    test.message.mode = MAE_GCM;
    CHECK_ERROR(mae_aead_mac(dev, &test.message, &aead), MAE_E_MODE);
    CHECK(aead == NULL);
    check_idle(dev);
    mae_close(dev);
}

static void drawn_and_counted(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    struct mae_nonce_counter counter = {{7}, 5};
    mae_dev_t *dev;
    mae_aead_t *aead;
    uint8_t first[12];
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, 0, 0);
    test.message.nonce_bytes = 12;
    for (int i = 0; i < 2; i++) {
        memcpy(first, test.nonce, 12);
        CHECK_OK(mae_aead_seal(dev, &test.message, &aead));
        CHECK(memcmp(first, test.nonce, 12) != 0);
        mae_aead_free(aead);
    }
    CHECK_OK(mae_aead_seal_counted(dev, &test.message, &counter, &aead));
    CHECK(test.nonce[0] == 7 && test.nonce[11] == 5 && counter.next == 6);
    mae_aead_free(aead);
    mae_close(dev);
}

static void a_failure_in_the_middle(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mae_aead_t *aead;
    size_t taken, given;
    uint8_t tag[16];
    mae_error_t error = MAE_OK;
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, CASE_LARGEST, 0);
    CHECK_OK(mae_aead_unseal(dev, &test.message, &aead));
    mock->status_of_next = MAE_STATUS_READ_SLVERR;
    for (int i = 0; i < 1000 && error == MAE_OK; i++)
        error = mae_aead_update(aead, test.sealed, MAE_CHUNK, &taken, test.out, 10, &given);
    CHECK_ERROR(error, MAE_E_BUS_READ);
    CHECK_ERROR(mae_aead_finish(aead, tag), MAE_E_BUS_READ);
    CHECK_ERROR(mae_aead_read(aead, test.out, 1, &given), MAE_E_BUS_READ);
    mae_aead_free(aead);
    check_idle(dev);
    CHECK_OK(
        mae_aead_seal(dev,
                      &(struct mae_message){
                          .mode = MAE_GCM, .key = test.key, .key_bytes = 16, .nonce = test.nonce},
                      &aead));
    CHECK_OK(mae_aead_update(aead, test.plain, CASE_LARGEST, &taken, test.out, 0, &given));
    mae_aead_free(aead); /* in the middle: waits for what is in flight */
    check_idle(dev);
    mae_close(dev);
}

int main(void)
{
    RUN(streams_on_a_card);
    RUN(streams_with_a_short_queue);
    RUN(streams_on_a_peripheral);
    RUN(tampered);
    RUN(turns_on_a_peripheral);
    RUN(macs_in_pieces);
    RUN(refused_pieces);
    RUN(drawn_and_counted);
    RUN(a_failure_in_the_middle);
    return 0;
}

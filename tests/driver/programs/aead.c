/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the driver's one-call AEAD functions on mock devices: tampering, refusals, failures. */
#include "mock/aead_case.h"

static const mae_mode_t modes[] = {MAE_GCM, MAE_CCM};

/* Makes a mock device with the given AEAD modes; the driver makes the others from CBC and CTR. */
static struct mock *mock_with(mae_kind_t kind, uint32_t aead_modes)
{
    struct mock *mock = mock_new(kind);
    mock->modes = unauthenticated_modes() | aead_modes;
    return mock;
}

static void tamper(struct mae_message *message)
{
    uint64_t places = 2 + (message->aad_bytes > 0) + (message->length > 0);
    switch (random_below(places)) {
    case 0:
        message->tag[random_below(message->tag_bytes)] ^= 1u << random_below(8);
        break;
    case 1:
        test.nonce[random_below(message->nonce_bytes)] ^= 1u << random_below(8);
        break;
    case 2:
        if (message->aad_bytes > 0)
            test.aad[random_below(message->aad_bytes)] ^= 1u << random_below(8);
        else
            test.sealed[random_below(message->length)] ^= 1u << random_below(8);
        break;
    default:
        test.sealed[random_below(message->length)] ^= 1u << random_below(8);
    }
}

static void both_ways(mae_dev_t *dev, mae_mode_t mode, size_t limit)
{
    size_t length = pick_length(limit);
    size_t aad_bytes = random_below(20) ? random_below(100) : random_below(CASE_AAD);
    new_case(mode, length, aad_bytes < limit ? aad_bytes : limit);
    struct mae_message message = test.message;
    bool in_place = random_below(2);
    if (in_place) {
        memcpy(test.out, test.plain, length);
        message.src = test.out;
    }
    CHECK_OK(mae_seal_with_chosen_nonce(dev, &message));
    CHECK(memcmp(test.out, test.sealed, length) == 0 && test.out[length] == 0xee);
    CHECK(memcmp(test.got_tag, test.tag, message.tag_bytes) == 0);
    CHECK(message.tag_bytes == 16 || test.got_tag[message.tag_bytes] == 0xee);
    message.src = in_place ? test.out : test.sealed;
    CHECK_OK(mae_unseal(dev, &message));
    CHECK(memcmp(test.out, test.plain, length) == 0);
    tamper(&message);
    memcpy(test.out, in_place ? test.sealed : test.plain, length);
    CHECK_ERROR(mae_unseal(dev, &message), MAE_E_AUTH);
    CHECK(all_zero(test.out, length) && test.out[length] == 0xee);
}

static void messages(mae_kind_t kind, uint32_t aead_modes, size_t limit, bool map_fails)
{
    struct mock *mock = mock_with(kind, aead_modes);
    mae_dev_t *dev;
    mock->mapping_overlaps = map_fails;
    CHECK_OK(mock_open(mock, &dev));
    for (int round = 0; round < 60; round++) {
        both_ways(dev, modes[round % 2], limit);
        check_idle(dev);
    }
    mae_close(dev);
}

static void messages_on_a_card(void)
{
    messages(MAE_KIND_STREAM, 0x100, CASE_LARGEST, false);
}

static void messages_where_memory_cannot_be_mapped(void)
{
    messages(MAE_KIND_STREAM, 0x100, CASE_LARGEST, true);
}

static void messages_on_a_peripheral(void)
{
    messages(MAE_KIND_PERIPHERAL, 0x700, 2000, false);
}

static void messages_on_a_peripheral_with_gcm_only(void)
{
    messages(MAE_KIND_PERIPHERAL, 0x100, 2000, false);
}

static void messages_in_mapped_memory(void)
{
    struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
    mae_dev_t *dev;
    void *memory;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_mem_alloc(dev, CASE_LARGEST, &memory));
    for (int i = 0; i < 2; i++) {
        new_case(modes[i], CASE_LARGEST - 5, 33);
        memcpy(memory, test.plain, CASE_LARGEST - 5);
        test.message.src = test.message.dst = memory;
        CHECK_OK(mae_seal_with_chosen_nonce(dev, &test.message));
        CHECK(memcmp(memory, test.sealed, CASE_LARGEST - 5) == 0);
        CHECK_OK(mae_unseal(dev, &test.message));
        CHECK(memcmp(memory, test.plain, CASE_LARGEST - 5) == 0);
    }
    mae_close(dev);
}

/* Tests AAD longer than one job, and AAD lengths at which CCM's encoding of the length changes. */
static void long_aad(void)
{
    static const size_t lengths[] = {0xfeff, 0xff00, MAE_CHUNK - 22, MAE_CHUNK, CASE_AAD};
    struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    for (int i = 0; i < 10; i++) {
        new_case(modes[i % 2], 20, lengths[i / 2]);
        CHECK_OK(mae_seal_with_chosen_nonce(dev, &test.message));
        CHECK(memcmp(test.out, test.sealed, 20) == 0);
        CHECK(memcmp(test.got_tag, test.tag, test.message.tag_bytes) == 0);
        check_idle(dev);
    }
    mae_close(dev);
}

static void macs(mae_kind_t kind, uint32_t aead_modes)
{
    struct mock *mock = mock_with(kind, aead_modes);
    mae_dev_t *dev;
    uint8_t tag[16], want[16];
    CHECK_OK(mock_open(mock, &dev));
    for (int round = 0; round < 60; round++) {
        size_t length =
            round < 34 ? (size_t)round : pick_length(kind == MAE_KIND_STREAM ? 200000 : 2000);
        new_case(MAE_GCM, length, 0);
        struct mae_message message = {.mode = MAE_CMAC,
                                      .key = test.key,
                                      .key_bytes = test.key_bytes,
                                      .src = test.plain,
                                      .length = length,
                                      .tag = tag,
                                      .tag_bytes = 4 + random_below(13)};
        toy_cmac(mock_key(test.key, test.key_bytes), test.plain, length, want);
        CHECK_OK(mae_mac(dev, &message));
        CHECK(memcmp(tag, want, message.tag_bytes) == 0);
        CHECK_OK(mae_mac_verify(dev, &message));
        tag[random_below(message.tag_bytes)] ^= 0x10;
        CHECK_ERROR(mae_mac_verify(dev, &message), MAE_E_AUTH);
        check_idle(dev);
    }
    mae_close(dev);
}

static void macs_everywhere(void)
{
    macs(MAE_KIND_STREAM, 0x100);
    macs(MAE_KIND_PERIPHERAL, 0x700);
    macs(MAE_KIND_PERIPHERAL, 0);
}

static void equal_tags(void)
{
    uint8_t left[16] = {1}, right[16] = {1};
    CHECK(mae_tags_equal(left, right, 16) && mae_tags_equal(left, right, 0));
    for (int i = 0; i < 16; i++) {
        right[i] ^= 0x80;
        CHECK(!mae_tags_equal(left, right, 16) && mae_tags_equal(left, right, (size_t)i));
        right[i] ^= 0x80;
    }
}

/* ---- nonces ---- */

static void drawn_nonces(void)
{
    struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
    mae_dev_t *dev;
    uint8_t seen[50][12];
    CHECK_OK(mock_open(mock, &dev));
    for (int i = 0; i < 50; i++) {
        new_case(modes[i % 2], 40, 10);
        test.message.nonce_bytes = test.message.tag_bytes = 0; /* the defaults */
        CHECK_OK(mae_seal(dev, &test.message));
        memcpy(seen[i], test.nonce, 12);
        for (int j = 0; j < i; j++)
            CHECK(memcmp(seen[i], seen[j], 12) != 0);
        test.message.src = test.out;
        CHECK_ERROR(mae_unseal(dev, &test.message),
                    MAE_E_ARGUMENT); /* which no reader may leave out */
        test.message.tag_bytes = 16;
        CHECK_ERROR(mae_unseal(dev, &test.message), MAE_E_ARGUMENT);
        CHECK_ERROR(mae_seal_with_chosen_nonce(dev, &test.message), MAE_E_ARGUMENT);
        test.message.nonce_bytes = 12;
        CHECK_OK(mae_unseal(dev, &test.message)); /* with the nonce that was drawn */
        CHECK(memcmp(test.out, test.plain, 40) == 0);
    }
    mae_close(dev);
}

static void counted_nonces(void)
{
    struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
    struct mae_nonce_counter counter = {{1, 2, 3, 4, 5, 6, 7, 8}, 0x0102030405060708};
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    for (size_t bytes = 8; bytes <= 13; bytes++) {
        new_case(MAE_CCM, 40, 10);
        test.message.nonce_bytes = bytes;
        CHECK_OK(mae_seal_counted(dev, &test.message, &counter));
        CHECK(memcmp(test.nonce, counter.fixed, bytes - 8) == 0);
        for (size_t i = 0; i < 7; i++)
            CHECK(test.nonce[bytes - 8 + i] == i + 1);
        CHECK(test.nonce[bytes - 1] == bytes && counter.next == 0x0102030405060708 + bytes - 7);
    }
    new_case(MAE_GCM, 40, 10);
    test.message.nonce_bytes = 12;
    mock->status_of_next = MAE_STATUS_READ_SLVERR;
    CHECK_ERROR(mae_seal_counted(dev, &test.message, &counter), MAE_E_BUS_READ);
    CHECK(counter.next == 0x010203040506070f); /* not used again */
    counter.next = UINT64_MAX;
    CHECK_ERROR(mae_seal_counted(dev, &test.message, &counter), MAE_E_LIMIT);
    CHECK_ERROR(mae_seal_counted(dev, &test.message, NULL), MAE_E_ARGUMENT);
    counter.next = 0;
    test.message.nonce_bytes = 7;
    CHECK_ERROR(mae_seal_counted(dev, &test.message, &counter), MAE_E_ARGUMENT);
    test.message.nonce_bytes = 17;
    CHECK_ERROR(mae_seal_counted(dev, &test.message, &counter), MAE_E_ARGUMENT);
    CHECK(counter.next == 0);
    mae_close(dev);
}

/* Tests that the driver refuses a key after 2^32 messages, unless it counts all nonces itself. */
static void a_key_wears_out(void)
{
    const uint64_t most = (uint64_t)1 << 32;
    struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
    struct mae_nonce_counter counter = {{0}, 0};
    mae_dev_t *dev;
    uint32_t slot;
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, 40, 10);
    test.message.nonce_bytes = 12;
    CHECK_OK(mae_key_alloc(dev, test.key, 16, &slot));
    test.message.key = NULL;
    test.message.key_slot = slot;
    for (int i = 0; i < 3; i++)
        CHECK_OK(mae_seal_counted(dev, &test.message, &counter));
    CHECK(dev->slots[slot].seals.messages == 3 && !dev->slots[slot].seals.drawn);
    dev->slots[slot].seals.messages = most;
    CHECK_OK(mae_seal_counted(dev, &test.message, &counter)); /* no such limit */
    CHECK_ERROR(mae_seal(dev, &test.message), MAE_E_LIMIT);
    CHECK_ERROR(mae_seal_with_chosen_nonce(dev, &test.message), MAE_E_LIMIT);
    dev->slots[slot].seals.messages = most - 1;
    uint32_t head = mock->sub_head;
    CHECK_OK(mae_seal(dev, &test.message)); /* the last one */
    CHECK(mock->sub_head > head);
    head = mock->sub_head;
    CHECK_ERROR(mae_seal(dev, &test.message), MAE_E_LIMIT);
    CHECK_ERROR(mae_seal_counted(dev, &test.message, &counter), MAE_E_LIMIT); /* mixed now */
    CHECK(mock->sub_head == head);
    CHECK_OK(mae_key_load(dev, slot, test.key, 16));
    CHECK_OK(mae_seal(dev, &test.message));
    CHECK_OK(mae_key_erase(dev, slot));
    test.message.key = test.key; /* keys that come with their messages are counted together */
    CHECK_OK(mae_seal(dev, &test.message));
    CHECK(dev->seals.messages == 1);
    dev->seals.messages = most;
    CHECK_ERROR(mae_seal(dev, &test.message), MAE_E_LIMIT);
    check_idle(dev); /* also the key's slot */
    mae_close(dev);
}

/* ---- refused ---- */

static void refused(void)
{
    struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    uint32_t head = mock->sub_head;
    for (int i = 0; i < 2; i++) {
        mae_mode_t mode = modes[i];
        new_case(mode, 40, 10);
        const struct mae_message good = test.message;
        struct mae_message bad;
#define REFUSED(change, expected) \
    do { \
        bad = good; \
        change; \
        CHECK_ERROR(mae_seal_with_chosen_nonce(dev, &bad), expected); \
        memset(test.out, 0x77, 40); \
        CHECK_ERROR(mae_unseal(dev, &bad), expected); \
        CHECK(test.out[0] == 0x77); /* nothing had begun */ \
    } while (0)
        for (size_t bytes = 1; bytes < 30; bytes++) { /* and 0: see drawn_nonces */
            bool allowed = bytes >= 4 && bytes <= 16 &&
                           (mode == MAE_CCM ? bytes % 2 == 0 : bytes % 4 == 0 || bytes > 12);
            if (!allowed)
                REFUSED(bad.tag_bytes = bytes, MAE_E_ARGUMENT);
        }
        REFUSED(bad.nonce_bytes = mode == MAE_CCM ? 6 : 65537, MAE_E_ARGUMENT);
        if (mode == MAE_CCM)
            REFUSED(bad.nonce_bytes = 14, MAE_E_ARGUMENT);
        REFUSED(bad.nonce = NULL, MAE_E_ARGUMENT);
        REFUSED(bad.tag = NULL, MAE_E_ARGUMENT);
        REFUSED(bad.aad = NULL, MAE_E_ARGUMENT);
        REFUSED(bad.src = NULL, MAE_E_ARGUMENT);
        REFUSED(bad.dst = NULL, MAE_E_ARGUMENT);
        REFUSED(bad.dst = test.plain + 1, MAE_E_ARGUMENT);
        REFUSED(bad.mode = MAE_CTR, MAE_E_MODE);
        REFUSED(bad.mode = MAE_CMAC, MAE_E_MODE);
        REFUSED(bad.mode = 31, MAE_E_MODE);
        REFUSED(bad.key_bytes = 17, MAE_E_KEY);
        REFUSED(bad.key = NULL, MAE_E_KEY);
        REFUSED((bad.key = NULL, bad.key_slot = 8), MAE_E_SLOT);
        REFUSED((bad.key = NULL, bad.key_slot = UINT32_MAX), MAE_E_SLOT);
        if (mode == MAE_GCM) {
            REFUSED(bad.length = ((uint64_t)1 << 36) - 31, MAE_E_LENGTH);
            REFUSED(bad.aad_bytes = (uint64_t)1 << 61, MAE_E_LENGTH);
        } else {
            for (size_t bytes = 8; bytes <= 13; bytes++)
                REFUSED((bad.nonce_bytes = bytes, bad.length = (uint64_t)1 << (8 * (15 - bytes))),
                        MAE_E_LENGTH);
        }
        CHECK_ERROR(mae_seal(dev, &(struct mae_message){.mode = mode}), MAE_E_ARGUMENT);
        bad = good;
        bad.nonce_bytes = 11;
        CHECK_ERROR(mae_seal(dev, &bad), MAE_E_ARGUMENT); /* too short to be drawn */
        bad.nonce_bytes = 13;
        CHECK_ERROR(mae_seal(dev, &bad), mode == MAE_GCM ? MAE_E_ARGUMENT : MAE_OK);
    }
    struct mae_message mac = {.mode = MAE_CMAC,
                              .key = test.key,
                              .key_bytes = 16,
                              .src = test.plain,
                              .length = 5,
                              .tag = test.got_tag};
    CHECK_OK(mae_mac(dev, &mac));
    mac.tag_bytes = 3;
    CHECK_ERROR(mae_mac(dev, &mac), MAE_E_ARGUMENT);
    mac.tag_bytes = 17;
    CHECK_ERROR(mae_mac_verify(dev, &mac), MAE_E_ARGUMENT);
    mac.tag_bytes = 16;
    mac.mode = MAE_GCM;
    CHECK_ERROR(mae_mac(dev, &mac), MAE_E_MODE);
    CHECK_ERROR(mae_seal(dev, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_unseal(dev, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_mac(dev, NULL), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_seal(NULL, &mac), MAE_E_ARGUMENT);
    CHECK(mock->sub_head > head); /* by those that were allowed */
    check_idle(dev);
    mae_close(dev);
    mock = mock_new(MAE_KIND_STREAM);
    mock->modes = 0x0f; /* no counter: no CCM either */
    CHECK_OK(mock_open(mock, &dev));
    new_case(MAE_GCM, 40, 10);
    CHECK_ERROR(mae_seal(dev, &test.message), MAE_E_MODE);
    new_case(MAE_CCM, 40, 10);
    CHECK_ERROR(mae_seal(dev, &test.message), MAE_E_MODE);
    mae_close(dev);
}

/* ---- what goes wrong ---- */

/* Tests that the driver erases plaintext with a wrong tag, even if the device does not. */
static void a_device_that_keeps_plaintext(void)
{
    static const size_t lengths[] = {1, 100, MAE_CHUNK + 1, CASE_LARGEST};
    for (int map_fails = 0; map_fails < 2; map_fails++) {
        struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
        mae_dev_t *dev;
        mock->bad_tag = mock->keeps_plaintext = true;
        mock->mapping_overlaps = map_fails;
        CHECK_OK(mock_open(mock, &dev));
        for (int i = 0; i < 4; i++) {
            new_case(MAE_GCM, lengths[i], 20);
            memcpy(test.got_tag, test.tag, 16);
            test.message.src = test.sealed;
            CHECK_ERROR(mae_unseal(dev, &test.message), MAE_E_AUTH);
            if (lengths[i] > MAE_CHUNK)
                CHECK(all_zero(test.out, lengths[i]));
            else /* it never left the library */
                CHECK(test.out[0] == 0 || test.out[0] == 0xee);
            check_idle(dev);
        }
        mae_close(dev);
    }
}

static void errors_in_the_middle(void)
{
    for (int i = 0; i < 2; i++) {
        struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
        mae_dev_t *dev;
        CHECK_OK(mock_open(mock, &dev));
        new_case(modes[i], CASE_LARGEST, 20);
        memcpy(test.got_tag, test.tag, 16);
        test.message.src = test.sealed;
        mock->status_of_next = MAE_STATUS_WRITE_SLVERR;
        CHECK_ERROR(mae_unseal(dev, &test.message), MAE_E_BUS_WRITE);
        check_idle(dev);
        CHECK_OK(mae_unseal(dev, &test.message)); /* the next one is right */
        CHECK(memcmp(test.out, test.plain, CASE_LARGEST) == 0);
        mock->hang = true;
        CHECK_OK(mae_set_stall_timeout(dev, 1000));
        CHECK_ERROR(mae_unseal(dev, &test.message), MAE_E_TIMEOUT);
        CHECK_ERROR(mae_seal(dev, &test.message), MAE_E_DEAD);
        mae_close(dev);
    }
}

/* Tests that a call which fails before its first write leaves the message's buffer unchanged. */
static void no_room_in_the_device(void)
{
    struct mock *mock = mock_with(MAE_KIND_STREAM, 0x100);
    mae_dev_t *dev;
    uint32_t context;
    mock->contexts = 1;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_context_alloc(dev, &context));
    for (int i = 0; i < 2; i++) {
        new_case(modes[i], 100, 20);
        memcpy(test.out, test.sealed, 100);
        memcpy(test.got_tag, test.tag, 16);
        test.message.src = test.out;
        CHECK_ERROR(mae_unseal(dev, &test.message), MAE_E_CONTEXT);
        CHECK(memcmp(test.out, test.sealed, 100) == 0);
        CHECK_OK(mae_context_free(dev, context));
        CHECK_OK(mae_unseal(dev, &test.message));
        CHECK(memcmp(test.out, test.plain, 100) == 0);
        CHECK_OK(mae_context_alloc(dev, &context));
    }
    mae_close(dev);
}

/* Tests that the AEAD calls return an error and leak nothing if any register access fails. */
static void every_access_may_fail(void)
{
    for (int kind = MAE_KIND_PERIPHERAL; kind <= MAE_KIND_STREAM; kind++) {
        int64_t clean = 0;
        for (int64_t number = -1; number < clean || clean == 0; number++) {
            struct mock *mock = mock_new(kind);
            mae_dev_t *dev = NULL;
            mock->fail_access = number;
            random_state = 5;
            new_case(MAE_GCM, 50, 20);
            test.message.nonce_bytes = 20;
            mae_error_t error = mock_open(mock, &dev);
            if (error == MAE_OK)
                error = mae_seal_with_chosen_nonce(dev, &test.message);
            if (error == MAE_OK) {
                test.message.src = test.out;
                error = mae_unseal(dev, &test.message);
            }
            if (number < 0) {
                CHECK_OK(error);
                clean = mock->accesses;
            } else {
                CHECK(error == MAE_OK || error == MAE_E_BUS || error == MAE_E_DEAD ||
                      error == MAE_E_KEY);
            }
            mae_close(dev);
            CHECK(mock->closed == 1);
        }
        CHECK(clean > 30);
    }
}

int main(void)
{
    RUN(messages_on_a_card);
    RUN(messages_where_memory_cannot_be_mapped);
    RUN(messages_on_a_peripheral);
    RUN(messages_on_a_peripheral_with_gcm_only);
    RUN(messages_in_mapped_memory);
    RUN(long_aad);
    RUN(macs_everywhere);
    RUN(equal_tags);
    RUN(drawn_nonces);
    RUN(counted_nonces);
    RUN(a_key_wears_out);
    RUN(refused);
    RUN(a_device_that_keeps_plaintext);
    RUN(errors_in_the_middle);
    RUN(no_room_in_the_device);
    RUN(every_access_may_fail);
    return 0;
}

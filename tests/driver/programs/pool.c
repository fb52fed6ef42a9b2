/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a pool of mock cards, some of which fail, against a single card. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mock/mock.h"
#include "plan.h"
#include "pool.h"

enum { MOST = 8, LARGEST = 4 * MAE_CHUNK + 100 };

static uint8_t key[64], iv[16], plain[LARGEST], kept[LARGEST], want[LARGEST], out[LARGEST];
static struct mock *mocks[MOST];

/* Creates the pool's mock cards, in which the caller can plant faults before opening them. */
static void make(size_t count)
{
    for (size_t i = 0; i < MOST; i++) {
        free(mocks[i]);
        mocks[i] = i < count ? mock_make(MAE_KIND_STREAM) : NULL;
    }
}

static mae_pool_t *open_pool(size_t count)
{
    static const char *const names[MOST] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    mae_dev_t *devs[MOST];
    mae_pool_t *pool;
    for (size_t i = 0; i < count; i++)
        CHECK_OK(mock_open(mocks[i], &devs[i]));
    CHECK_OK(mae_pool_of(devs, names, count, &pool));
    return pool;
}

static size_t count_failed(mae_pool_t *pool, mae_error_t error)
{
    struct mae_pool_card list[MOST];
    size_t count, failed = 0;
    CHECK_OK(mae_pool_cards(pool, list, MOST, &count));
    for (size_t i = 0; i < count; i++) {
        CHECK(list[i].error == MAE_OK || (error == list[i].error && list[i].why[0]));
        failed += list[i].error != MAE_OK;
    }
    return failed;
}

static void fresh(size_t length)
{
    random_bytes(key, sizeof key);
    random_bytes(iv, sizeof iv);
    if (random_below(2) == 0)
        memset(iv + 1, 0xff, 14); /* the counter carries from part to part */
    random_bytes(plain, length);
    memcpy(kept, plain, length);
}

static mae_error_t run_message(mae_pool_t *pool, int operation, size_t length, bool in_place)
{
    mae_mode_t mode = operation_mode(operation);
    mae_direction_t direction = operation_direction(operation);
    size_t key_bytes = mode == MAE_XTS ? 32 : 16;
    uint8_t *dst = in_place ? plain : out;
    fresh(length);
    mock_reference(mode, direction, key, key_bytes, iv, plain, want, length);
    mae_error_t error =
        mae_pool_crypt(pool, mode, direction, key, key_bytes, iv, plain, dst, length);
    if (error == MAE_OK)
        CHECK(memcmp(dst, want, length) == 0);
    if (!in_place)
        CHECK(memcmp(plain, kept, length) == 0);
    return error;
}

static size_t fit(int operation, size_t length)
{
    return takes_any_length(operation_mode(operation)) ? length : length / 16 * 16;
}

static void every_mode_and_length(void)
{
    static const size_t near[] = {16, MAE_CHUNK, 2 * MAE_CHUNK, LARGEST - 64};
    for (size_t count = 1; count <= MOST; count += 3) {
        make(count);
        mae_pool_t *pool = open_pool(count);
        for (int operation = 0; operation < OPERATIONS; operation++) {
            for (int i = 0; i < 4; i++) {
                size_t length = fit(operation, near[i] + random_below(64));
                CHECK_OK(run_message(pool, operation, length, random_below(2)));
            }
        }
        CHECK(count_failed(pool, MAE_OK) == 0);
        mae_pool_close(pool);
    }
}

static void all_cards_work(void)
{
    struct mae_pool_card list[MOST];
    size_t cards;
    make(4);
    for (int i = 0; i < 4; i++)
        mocks[i]->job_ns = 20000;
    mae_pool_t *pool = open_pool(4);
    CHECK_OK(run_message(pool, 10, LARGEST, false));
    CHECK_OK(mae_pool_cards(pool, list, MOST, &cards));
    CHECK(cards == 4);
    for (int i = 0; i < 4; i++)
        CHECK(list[i].loans >= 1 && mocks[i]->jobs > 0 && list[i].clocks > 0 &&
              list[i].clocks <= list[i].pool_clock);
    CHECK_OK(mae_pool_cards(pool, list, 1, &cards));
    CHECK(cards == 4);
    mae_pool_close(pool);
}

/* Tests that a pool's messages end right if one card hangs, is removed or reports errors. */
static void a_card_fails(void)
{
    static const struct {
        bool hang, wrong_cookie, ring_error, removed;
        uint32_t status;
        mae_error_t error;
    } faults[] = {
        {.hang = true, .error = MAE_E_TIMEOUT},
        {.wrong_cookie = true, .error = MAE_E_DEVICE},
        {.ring_error = true, .error = MAE_E_BUS},
        {.removed = true, .error = MAE_E_BUS},
        {.status = MAE_STATUS_READ_SLVERR, .error = MAE_E_BUS_READ},
        {.status = MAE_STATUS_WRITE_DECERR, .error = MAE_E_BUS_WRITE},
        {.status = MAE_STATUS_LIST_FETCH, .error = MAE_E_BUS_LIST},
    };
    for (size_t i = 0; i < 2 * sizeof faults / sizeof faults[0]; i++) {
        size_t fault = i % (sizeof faults / sizeof faults[0]);
        int operation = (int)random_below(OPERATIONS);
        make(3);
        mae_pool_t *pool = open_pool(3);
        struct mock *bad = mocks[random_below(3)];
        bad->hang = faults[fault].hang;
        bad->wrong_cookie = faults[fault].wrong_cookie;
        bad->ring_error = faults[fault].ring_error;
        bad->status_of_next = faults[fault].status;
        if (faults[fault].removed)
            bad->removed_at = bad->accesses + (int64_t)random_below(60);
        /* Until it has had some work. */
        for (int round = 0; round < 20 && count_failed(pool, faults[fault].error) == 0; round++)
            CHECK_OK(run_message(pool, operation, fit(operation, LARGEST), random_below(2)));
        CHECK(count_failed(pool, faults[fault].error) == 1);
        CHECK(bad->closed == 1 && bad->stopped >= 1);
        for (operation = (int)i % 4; operation < OPERATIONS; operation += 4)
            CHECK_OK(run_message(pool, operation, fit(operation, 2 * MAE_CHUNK + 77), false));
        mae_pool_close(pool);
        for (int card = 0; card < 3; card++)
            CHECK(mocks[card]->closed == 1);
    }
}

static void keys_go_with_a_failed_card(void)
{
    make(2);
    mae_pool_t *pool = open_pool(2);
    mocks[0]->status_of_next = mocks[1]->status_of_next = MAE_STATUS_READ_SLVERR;
    CHECK_ERROR(run_message(pool, 10, 100000, false), MAE_E_NO_DEVICE);
    for (int i = 0; i < 2; i++)
        for (int slot = 0; slot < 64; slot++)
            CHECK(!mocks[i]->key_valid[slot] && mocks[i]->keys[slot] == 0);
    mae_pool_close(pool);
}

static void all_fail(void)
{
    mae_dev_t *card;
    make(3);
    mae_pool_t *pool = open_pool(3);
    for (int i = 0; i < 3; i++)
        mocks[i]->hang = true;
    CHECK_ERROR(run_message(pool, 10, LARGEST, false), MAE_E_NO_DEVICE);
    CHECK(strstr(mae_error_detail(), "all 3 cards of the pool have failed"));
    CHECK(strstr(mae_error_detail(), "timed out"));
    CHECK(count_failed(pool, MAE_E_TIMEOUT) == 3);
    CHECK_ERROR(run_message(pool, 10, 16, false), MAE_E_NO_DEVICE);
    CHECK_ERROR(mae_pool_lend(pool, &card), MAE_E_NO_DEVICE);
    CHECK(!card && !mae_pool_give(pool, card, MAE_E_NO_DEVICE));
    mae_pool_close(pool);
}

/* Tests that an illegal argument makes the pool's call fail but takes no card out of the pool. */
static void mistakes(void)
{
    make(2);
    mae_pool_t *pool = open_pool(2);
    uint64_t far = 4 * MAE_CHUNK;
    fresh(LARGEST);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_CBC, 0, key, 16, iv, plain, out, 17), MAE_E_LENGTH);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_XTS, 0, key, 32, iv, plain, out, 15), MAE_E_LENGTH);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_CTR, 0, key, 17, iv, plain, out, far), MAE_E_KEY);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_XTS, 0, key, 33, iv, plain, out, far), MAE_E_KEY);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_CTR, 0, key, 16, NULL, plain, out, far), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_CTR, 0, NULL, 16, iv, plain, out, far), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_CTR, 0, key, 16, iv, NULL, out, far), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_GCM, 0, key, 16, iv, plain, out, far), MAE_E_MODE);
    CHECK_ERROR(mae_pool_crypt(pool, MAE_CTR, 0, key, 16, iv, out, out + 1, far), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_pool_crypt(NULL, MAE_CTR, 0, key, 16, iv, out, out, 16), MAE_E_ARGUMENT);
    CHECK_OK(mae_pool_crypt(pool, MAE_CTR, 0, key, 16, iv, NULL, NULL, 0));
    CHECK(count_failed(pool, MAE_OK) == 0);
    CHECK_OK(run_message(pool, 10, far, false));
    mae_pool_close(pool);
}

static void parts_of_a_message(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    for (int operation = 0; operation < OPERATIONS; operation++) {
        mae_mode_t mode = operation_mode(operation);
        mae_direction_t direction = operation_direction(operation);
        size_t length = fit(operation, 1000), bytes = mode == MAE_XTS ? 32 : 16;
        uint64_t at = 16 * (1 + random_below(30));
        fresh(length);
        mock_reference(mode, direction, key, bytes, iv, plain, want, length);
        CHECK_OK(mae_crypt_part(dev, mode, direction, key, bytes, iv, 0, NULL, plain, out, at));
        CHECK(memcmp(out, want, at) == 0);
        mae_error_t error = mae_crypt_part(dev, mode, direction, key, bytes, iv, at,
                                           plain + at - 16, plain + at, out + at, length - at);
        if (mae_mode_divides(mode, direction))
            CHECK(error == MAE_OK && memcmp(out, want, length) == 0);
        else
            CHECK(error == MAE_E_MODE);
    }
    CHECK_ERROR(mae_crypt_part(dev, MAE_CTR, 0, key, 16, iv, 8, NULL, plain, out, 16),
                MAE_E_ARGUMENT);
    CHECK_ERROR(mae_crypt_part(dev, MAE_CBC, 1, key, 16, iv, 16, NULL, plain, out, 16),
                MAE_E_ARGUMENT);
    CHECK_ERROR(mae_crypt_part(NULL, MAE_CTR, 0, key, 16, iv, 0, NULL, plain, out, 16),
                MAE_E_ARGUMENT);
    mae_close(dev);
}

struct borrower {
    mae_pool_t *pool;
    uint8_t data[5000], sealed[5000], back[5000], nonce[12], tag[16];
};

/* Encrypts messages on cards borrowed from the pool; runs as a thread of the test. */
static void *borrow(void *arg)
{
    struct borrower *own = arg;
    random_bytes(own->data, sizeof own->data);
    for (int round = 0; round < 12; round++) {
        static const uint8_t secret[16] = {7};
        struct mae_message message = {.mode = MAE_GCM,
                                      .key = secret,
                                      .key_bytes = 16,
                                      .nonce = own->nonce,
                                      .src = own->data,
                                      .dst = own->sealed,
                                      .length = sizeof own->data,
                                      .tag = own->tag};
        mae_dev_t *card;
        mae_error_t error;
        do {
            if ((error = mae_pool_lend(own->pool, &card)) == MAE_OK)
                error = mae_seal(card, &message);
        } while (mae_pool_give(own->pool, card, error));
        CHECK_OK(error);
        message.src = own->sealed;
        message.dst = own->back;
        message.nonce_bytes = 12;
        message.tag_bytes = 16;
        do {
            if ((error = mae_pool_lend(own->pool, &card)) == MAE_OK)
                error = mae_unseal(card, &message);
        } while (mae_pool_give(own->pool, card, error));
        CHECK_OK(error);
        CHECK(memcmp(own->data, own->back, sizeof own->data) == 0);
    }
    return NULL;
}

static void many_messages_at_once(void)
{
    static struct borrower borrowers[6];
    pthread_t threads[6];
    make(3);
    mae_pool_t *pool = open_pool(3);
    mocks[1]->removed_at = mocks[1]->accesses + 200;
    for (int i = 0; i < 6; i++) {
        borrowers[i].pool = pool;
        CHECK(pthread_create(&threads[i], NULL, borrow, &borrowers[i]) == 0);
    }
    for (int i = 0; i < 6; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(count_failed(pool, MAE_E_BUS) == 1);
    mae_pool_close(pool);
}

/* Tests that a pool shares work by its cards' simulated time, not by the threads' schedule. */
static void simulated_cards_keep_pace(void)
{
    struct mae_pool_card list[MOST];
    size_t count;
    uint64_t least = UINT64_MAX, most = 0;
    make(4);
    for (int i = 0; i < 4; i++)
        mocks[i]->job_ns = 20000;
    mocks[2]->delay_us = 2000;
    mae_pool_t *pool = open_pool(4);
    for (int round = 0; round < 8; round++)
        CHECK_OK(run_message(pool, 10, LARGEST, false));
    CHECK_OK(mae_pool_cards(pool, list, MOST, &count));
    for (size_t i = 0; i < count; i++) {
        least = list[i].clocks < least ? list[i].clocks : least;
        most = list[i].clocks > most ? list[i].clocks : most;
    }
    printf("  %llu to %llu clocks\n", (unsigned long long)least, (unsigned long long)most);
    CHECK(10 * least >= 7 * most);
    mae_pool_close(pool);
}

static void mixed_cards(void)
{
    struct mae_caps caps;
    make(3);
    free(mocks[1]);
    mocks[1] = mock_make(MAE_KIND_PERIPHERAL);
    mocks[2]->modes &= ~(1u << MAE_XTS);
    mae_pool_t *pool = open_pool(3);
    CHECK_OK(mae_pool_get_caps(pool, &caps));
    CHECK(strcmp(caps.backend, "pool") == 0 && strcmp(caps.name, "3 cards") == 0);
    CHECK(!(caps.modes >> MAE_XTS & 1) && (caps.modes >> MAE_CTR & 1) && caps.contexts == 129);
    for (int operation = 0; operation < 12; operation++)
        CHECK_OK(run_message(pool, operation, fit(operation, 4000), random_below(2)));
    mae_pool_close(pool);
}

static void names(void)
{
    static const char *const wrong[] = {
        "",
        "null:",
        "pool:",
        "pool:,",
        "pool:0*null:",
        "pool:65*null:",
        "pool:2*",
        "pool:null:,",
        "pool:pool:null:",
        "pool:nonsense",
    };
    static const char *const names_of[] = {"a", "null:"};
    struct mae_pool_card list[MOST];
    mae_dev_t *mixed[2];
    mae_pool_t *pool;
    size_t count;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_ERROR(mae_pool_open(wrong[i], &pool), MAE_E_URI);
    CHECK_ERROR(mae_pool_open("pool:null:,sim:nosuch", &pool), MAE_E_NO_DEVICE);
    make(1);
    CHECK_OK(mock_open(mocks[0], &mixed[0]));
    CHECK_OK(mae_open("null:", &mixed[1]));
    CHECK_ERROR(mae_pool_of(mixed, names_of, 2, &pool), MAE_E_URI);
    CHECK(!pool);
    CHECK_ERROR(mae_pool_open(NULL, &pool), MAE_E_ARGUMENT);
    CHECK_OK(mae_pool_open("pool:null:,3*null:", &pool));
    CHECK_OK(mae_pool_cards(pool, list, MOST, &count));
    CHECK(count == 4 && strcmp(list[3].uri, "null:") == 0 && list[3].clocks == 0);
    fresh(LARGEST);
    CHECK_OK(mae_pool_crypt(pool, MAE_CTR, 0, key, 16, iv, plain, plain, LARGEST));
    CHECK(memcmp(plain, kept, LARGEST) == 0); /* it touches nothing */
    mae_pool_close(pool);
    mae_pool_close(NULL);
}

/* Tests that a forked child waits for nothing that threads of its parent hold in a pool. */
static void a_forked_child(void)
{
    struct mae_pool_card list[MOST];
    mae_dev_t *lent, *none;
    size_t count;
    int status;
    make(1);
    mae_pool_t *pool = open_pool(1);
    CHECK_OK(mae_pool_lend(pool, &lent));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_ERROR(mae_pool_lend(pool, &none), MAE_E_STATE);
        CHECK_ERROR(mae_pool_cards(pool, list, MOST, &count), MAE_E_STATE);
        mae_pool_close(pool);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(!mae_pool_give(pool, lent, MAE_OK));
    mae_pool_close(pool);
}

int main(void)
{
    RUN(every_mode_and_length);
    RUN(all_cards_work);
    RUN(a_card_fails);
    RUN(keys_go_with_a_failed_card);
    RUN(all_fail);
    RUN(mistakes);
    RUN(parts_of_a_message);
    RUN(many_messages_at_once);
    RUN(simulated_cards_keep_pace);
    RUN(mixed_cards);
    RUN(names);
    RUN(a_forked_child);
    make(0);
    return 0;
}

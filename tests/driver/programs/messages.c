/* SPDX-License-Identifier: Apache-2.0 */
/* Tests messages and streams, cut in any way on any mock device, against the toy cipher. */
#include "mock/mock.h"

enum { LARGEST = 5 * MAE_CHUNK + 100 };

static uint8_t key[64], iv[16], plain[LARGEST], want[LARGEST], out[LARGEST + 8];

static size_t key_bytes_of(mae_mode_t mode, int size)
{
    return (mode == MAE_XTS ? 2 : 1) * (16 + 8 * (size_t)(size % 3));
}

/* Returns a random message length that is legal in the mode and near a limit of the driver. */
static size_t some_length(mae_mode_t mode, int round, size_t limit)
{
    static const size_t near[] = {
        16, 32, 4096, 16 * 4096, MAE_CHUNK, 2 * MAE_CHUNK, 5 * MAE_CHUNK, 100000};
    size_t length = near[round % 8];
    if (round % 3)
        length += random_below(64);
    if (length > limit)
        length = limit - random_below(100);
    if (!takes_any_length(mode))
        length = length / 16 * 16;
    return length;
}

static void fresh(size_t length)
{
    random_bytes(key, sizeof key);
    random_bytes(iv, sizeof iv);
    if (random_below(4) == 0)
        memset(iv + 1, 0xff, 15); /* the counter carries all the way */
    random_bytes(plain, length);
}

static void check_idle(mae_dev_t *dev)
{
    uint32_t slot, context, other;
    CHECK(mae_in_flight(dev) == 0);
    CHECK_OK(mae_key_alloc(dev, key, 16, &slot)); /* the message's slot is free again */
    CHECK(slot == 0);
    CHECK_OK(mae_key_erase(dev, slot));
    CHECK_OK(mae_context_alloc(dev, &context)); /* and its contexts */
    CHECK(context == 0);
    CHECK_OK(mae_context_free(dev, context));
    (void)other;
}

static void messages(mae_kind_t kind, size_t limit, bool map_fails, uint32_t contexts)
{
    struct mock *mock = mock_new(kind);
    mae_dev_t *dev;
    if (contexts)
        mock->contexts = contexts;
    mock->mapping_overlaps = map_fails;
    CHECK_OK(mock_open(mock, &dev));
    for (int round = 0; round < 24 * OPERATIONS; round++) {
        mae_mode_t mode = operation_mode(round % OPERATIONS);
        mae_direction_t direction = operation_direction(round % OPERATIONS);
        size_t length = some_length(mode, round / OPERATIONS, limit);
        size_t key_bytes = key_bytes_of(mode, round);
        bool in_place = random_below(2);
        uint8_t *dst = in_place ? out : out + random_below(8), *src = plain;
        fresh(length);
        mock_reference(mode, direction, key, key_bytes, iv, plain, want, length);
        if (in_place) {
            memcpy(out, plain, length);
            src = out;
        }
        mae_error_t error = mae_crypt(dev, mode, direction, key, key_bytes,
                                      mode == MAE_ECB ? NULL : iv, src, dst, length);
        if (error != MAE_OK || memcmp(dst, want, length) != 0) {
            printf("mode %d direction %d length %zu in place %d: %s (%s)\n", mode, direction,
                   length, in_place, mae_strerror(error), mae_error_detail());
            exit(1);
        }
    }
    check_idle(dev);
    mae_close(dev);
}

static void messages_on_a_card(void)
{
    messages(MAE_KIND_STREAM, LARGEST, false, 0);
}

static void messages_where_memory_cannot_be_mapped(void)
{
    messages(MAE_KIND_STREAM, LARGEST, true, 0);
}

static void messages_with_few_contexts(void)
{
    messages(MAE_KIND_STREAM, LARGEST, false, 1);
    messages(MAE_KIND_STREAM, LARGEST, false, 2);
    messages(MAE_KIND_STREAM, LARGEST, false, 3);
}

static void messages_on_a_peripheral(void)
{
    messages(MAE_KIND_PERIPHERAL, 2000, false, 0);
}

static void messages_in_mapped_memory(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    void *memory;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_mem_alloc(dev, LARGEST, &memory));
    for (int i = 0; i < OPERATIONS; i++) {
        mae_mode_t mode = operation_mode(i);
        size_t length = takes_any_length(mode) ? LARGEST - 1 : 5 * MAE_CHUNK,
               n = key_bytes_of(mode, i);
        fresh(length);
        memcpy(memory, plain, length);
        mock->jobs = 0;
        mock->fail_map = mode == MAE_XTS ? 1 : 0; /* nothing is copied or mapped but tweaks */
        CHECK_OK(mae_crypt(dev, mode, operation_direction(i), key, n, iv, memory, memory, length));
        mock_reference(mode, operation_direction(i), key, n, iv, plain, want, length);
        CHECK(memcmp(memory, want, length) == 0);
    }
    mae_close(dev);
}

/* Tests how many jobs of a message the driver runs at once: many if independent, two if chained. */
static void how_many_at_once(void)
{
    for (int i = 0; i < OPERATIONS; i++) {
        mae_mode_t mode = operation_mode(i);
        bool alone = operation_chains(i);
        struct mock *mock = mock_new(MAE_KIND_STREAM);
        mae_dev_t *dev;
        CHECK_OK(mock_open(mock, &dev));
        fresh(5 * MAE_CHUNK);
        CHECK_OK(mae_crypt(dev, mode, operation_direction(i), key, key_bytes_of(mode, 0), iv, plain,
                           out, 5 * MAE_CHUNK));
        CHECK(mock->most_in_flight >= (alone ? 1 : 26) && mock->most_in_flight <= (alone ? 2 : 32));
        mae_close(dev);
    }
}

static void streams(mae_kind_t kind, size_t limit, uint32_t contexts, uint32_t depth)
{
    struct mock *mock = mock_new(kind);
    mae_dev_t *dev;
    if (contexts)
        mock->contexts = contexts;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_set_queue_depth(dev, depth));
    for (int round = 0; round < 16 * OPERATIONS; round++) {
        mae_mode_t mode = operation_mode(round % OPERATIONS);
        mae_direction_t direction = operation_direction(round % OPERATIONS);
        size_t length = some_length(mode, round / OPERATIONS, limit);
        size_t key_bytes = key_bytes_of(mode, round), in = 0, got = 0, taken, given;
        size_t largest = random_below(2) ? 100000 : 3000; /* of a piece */
        mae_stream_t *stream;
        fresh(length);
        memset(out, 0, sizeof out);
        mock_reference(mode, direction, key, key_bytes, iv, plain, want, length);
        CHECK_OK(mae_stream_begin(dev, mode, direction, key, key_bytes, mode == MAE_ECB ? NULL : iv,
                                  &stream));
        while (in < length) {
            size_t piece = random_below(largest), room = random_below(largest);
            if (piece > length - in)
                piece = length - in;
            if (room > length - got)
                room = length - got;
            CHECK_OK(mae_stream_update(stream, plain + in, piece, &taken, out + got, room, &given));
            CHECK(taken <= piece && given <= room);
            CHECK(taken > 0 || given > 0 || piece == 0 || room == 0);
            in += taken;
            got += given;
            CHECK(got <= in);
        }
        do {
            size_t room = 1 + random_below(largest);
            if (room > length - got)
                room = length - got;
            CHECK_OK(mae_stream_finish(stream, out + got, room, &given));
            got += given;
        } while (given > 0);
        if (got != length || memcmp(out, want, length) != 0) {
            printf("mode %d direction %d length %zu: wrong\n", mode, direction, length);
            exit(1);
        }
        CHECK_ERROR(mae_stream_update(stream, plain, 1, &taken, out, 1, &given), MAE_E_STATE);
        mae_stream_free(stream);
    }
    check_idle(dev);
    mae_close(dev);
}

static void streams_on_a_card(void)
{
    streams(MAE_KIND_STREAM, LARGEST, 0, 256);
}

static void streams_with_little(void)
{
    streams(MAE_KIND_STREAM, LARGEST, 1, 256);
    streams(MAE_KIND_STREAM, LARGEST, 3, 2);
    streams(MAE_KIND_STREAM, LARGEST, 64, 3);
}

static void streams_on_a_peripheral(void)
{
    streams(MAE_KIND_PERIPHERAL, 2000, 0, 256);
}

static void a_stream_keeps_the_device_full(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mae_stream_t *stream;
    size_t taken, given;
    static uint8_t piece[4 << 20];
    CHECK_OK(mock_open(mock, &dev));
    mock->hang = true; /* so that nothing completes meanwhile */
    CHECK_OK(mae_stream_begin(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, &stream));
    CHECK_OK(mae_stream_update(stream, piece, sizeof piece, &taken, out, sizeof out, &given));
    CHECK(taken == 32 * MAE_CHUNK && given == 0 && mock->queued == 32);
    mock->hang = false;
    mae_stream_free(stream); /* in the middle: waits for what is in flight */
    check_idle(dev);
    mae_close(dev);
}

static void several_streams_and_jobs_at_once(void)
{
    enum { STREAMS = 4, LENGTH = 3 * MAE_CHUNK + 48 };
    static uint8_t results[STREAMS][LENGTH];
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mae_stream_t *list[STREAMS];
    size_t in[STREAMS] = {0}, got[STREAMS] = {0}, taken, given, count;
    struct mae_completion done;
    struct mae_job job = {.mode = MAE_OFB, .init = 1, .length = 16};
    void *memory;
    CHECK_OK(mock_open(mock, &dev));
    fresh(LENGTH);
    CHECK_OK(mae_mem_alloc(dev, 16, &memory));
    CHECK_OK(mae_key_alloc(dev, key, 16, &job.key_slot));
    CHECK_OK(mae_context_alloc(dev, &job.context));
    job.src = job.dst = memory;
    for (int i = 0; i < STREAMS; i++)
        CHECK_OK(
            mae_stream_begin(dev, i % 2 ? MAE_CBC : MAE_CTR, MAE_ENCRYPT, key, 16, iv, &list[i]));
    CHECK_OK(mae_submit(dev, &job));
    for (bool busy = true; busy;) {
        busy = false;
        for (int i = 0; i < STREAMS; i++) {
            size_t piece = random_below(50000);
            if (piece > LENGTH - in[i])
                piece = LENGTH - in[i];
            CHECK_OK(mae_stream_update(list[i], plain + in[i], piece, &taken, results[i] + got[i],
                                       LENGTH - got[i], &given));
            in[i] += taken;
            got[i] += given;
            busy = busy || in[i] < LENGTH;
        }
    }
    for (int i = 0; i < STREAMS; i++) {
        do {
            CHECK_OK(mae_stream_finish(list[i], results[i] + got[i], LENGTH - got[i], &given));
            got[i] += given;
        } while (given > 0);
        CHECK(got[i] == LENGTH);
        mock_reference(i % 2 ? MAE_CBC : MAE_CTR, MAE_ENCRYPT, key, 16, iv, plain, want, LENGTH);
        CHECK(memcmp(results[i], want, LENGTH) == 0);
        mae_stream_free(list[i]);
    }
    CHECK_OK(mae_wait(dev, &done, 1, &count, 1000)); /* the caller's own job came through */
    CHECK(count == 1 && done.error == MAE_OK);
    mae_close(dev);
}

static void refused_messages(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mae_stream_t *stream;
    size_t taken, given;
    CHECK_OK(mock_open(mock, &dev));
    size_t jobs = mock->sub_head;
#define CRYPT(mode, bytes, iv, length) \
    mae_crypt(dev, mode, MAE_ENCRYPT, key, bytes, iv, plain, out, length)
    CHECK_ERROR(CRYPT(MAE_CBC, 16, iv, 17), MAE_E_LENGTH);
    CHECK_ERROR(CRYPT(MAE_ECB, 16, NULL, 15), MAE_E_LENGTH);
    CHECK_ERROR(CRYPT(MAE_XTS, 32, iv, 15), MAE_E_LENGTH);
    CHECK_ERROR(CRYPT(MAE_XTS, 32, iv, 0), MAE_E_LENGTH);
    CHECK_OK(CRYPT(MAE_CTR, 16, iv, 0));
    CHECK_ERROR(CRYPT(MAE_CTR, 16, NULL, 16), MAE_E_ARGUMENT);
    CHECK_ERROR(CRYPT(MAE_CTR, 17, iv, 16), MAE_E_KEY);
    CHECK_ERROR(CRYPT(MAE_XTS, 16, iv, 16), MAE_E_KEY);
    CHECK_ERROR(CRYPT(7, 16, iv, 16), MAE_E_MODE);
    CHECK_ERROR(CRYPT(99, 16, iv, 16), MAE_E_MODE);
    CHECK_ERROR(CRYPT(MAE_GCM, 16, iv, 16), MAE_E_MODE); /* mae_seal's */
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, 2, key, 16, iv, plain, out, 16), MAE_E_MODE);
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, NULL, 16, iv, plain, out, 16), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, NULL, out, 16), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, plain, NULL, 16), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, out, out + 8, 16),
                MAE_E_ARGUMENT);
    CHECK_ERROR(mae_crypt_slot(dev, MAE_CTR, MAE_ENCRYPT, 5, 0, iv, plain, out, 16), MAE_E_KEY);
    CHECK_ERROR(mae_crypt_slot(dev, MAE_CTR, MAE_ENCRYPT, 8, 0, iv, plain, out, 16), MAE_E_SLOT);
    CHECK_ERROR(mae_stream_begin(dev, MAE_CTR, MAE_ENCRYPT, key, 16, NULL, &stream),
                MAE_E_ARGUMENT);
    CHECK(stream == NULL);
    CHECK_ERROR(mae_stream_begin(dev, 9, MAE_ENCRYPT, key, 16, iv, &stream), MAE_E_MODE);
    CHECK_ERROR(mae_stream_begin(dev, MAE_CTR, MAE_ENCRYPT, key, 5, iv, &stream), MAE_E_KEY);
    CHECK(mock->sub_head == jobs);
    static const struct {
        mae_mode_t mode;
        size_t length;
        mae_error_t error;
    } ends[] = {{MAE_CBC, 17, MAE_E_LENGTH}, {MAE_ECB, MAE_CHUNK + 1, MAE_E_LENGTH},
                {MAE_XTS, 15, MAE_E_LENGTH}, {MAE_XTS, 0, MAE_E_LENGTH},
                {MAE_CTR, 0, MAE_OK},        {MAE_PCBC, 0, MAE_OK}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        CHECK_OK(mae_stream_begin(dev, ends[i].mode, MAE_ENCRYPT, key,
                                  key_bytes_of(ends[i].mode, 0), iv, &stream));
        CHECK_ERROR(mae_stream_update(stream, NULL, 1, &taken, out, 1, &given), MAE_E_ARGUMENT);
        CHECK_OK(mae_stream_update(stream, plain, ends[i].length, &taken, out, 1, &given));
        CHECK(taken == ends[i].length);
        CHECK_ERROR(mae_stream_finish(stream, out, sizeof out, &given), ends[i].error);
        CHECK_ERROR(mae_stream_finish(stream, out, sizeof out, &given), ends[i].error);
        CHECK(given == 0);
        mae_stream_free(stream);
    }
    mae_stream_free(NULL);
    check_idle(dev);
    mae_close(dev);
    mae_close(NULL);
}

static void errors_in_the_middle(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    for (int i = 0; i < OPERATIONS; i++) {
        mae_mode_t mode = operation_mode(i);
        mae_stream_t *stream;
        size_t n = key_bytes_of(mode, 0), taken, given, total = 0;
        mae_error_t error = MAE_OK;
        mock->status_of_next = MAE_STATUS_READ_SLVERR;
        CHECK_ERROR(
            mae_crypt(dev, mode, operation_direction(i), key, n, iv, plain, out, 5 * MAE_CHUNK),
            MAE_E_BUS_READ);
        CHECK_OK(mae_stream_begin(dev, mode, operation_direction(i), key, n, iv, &stream));
        mock->status_of_next = MAE_STATUS_WRITE_SLVERR;
        for (int calls = 0; calls < 1000 && error == MAE_OK; calls++)
            error = mae_stream_update(stream, plain, MAE_CHUNK, &taken, out, sizeof out, &given);
        CHECK_ERROR(error, MAE_E_BUS_WRITE);
        CHECK_ERROR(mae_stream_update(stream, plain, 1, &taken, out, 1, &given), MAE_E_BUS_WRITE);
        CHECK_ERROR(mae_stream_finish(stream, out, 1, &given), MAE_E_BUS_WRITE);
        mae_stream_free(stream);
        (void)total;
        check_idle(dev);
    }
    mae_close(dev);
}

static void a_queue_full_of_others(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    void *memory;
    struct mae_job job = {.mode = MAE_ECB, .init = 1, .length = 16};
    struct mae_completion list[4];
    size_t count, total = 0;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_set_queue_depth(dev, 4));
    CHECK_OK(mae_mem_alloc(dev, 16, &memory));
    CHECK_OK(mae_key_alloc(dev, key, 16, &job.key_slot));
    CHECK_OK(mae_context_alloc(dev, &job.context));
    job.src = job.dst = memory;
    for (int i = 0; i < 4; i++)
        CHECK_OK(mae_submit(dev, &job));
    CHECK_ERROR(mae_crypt(dev, MAE_XTS, MAE_ENCRYPT, key, 32, iv, plain, out, 100000), MAE_E_FULL);
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, plain, out, 16), MAE_E_FULL);
    CHECK_OK(mae_wait(dev, list, 1, &total, 1000));
    /* One place is enough for a message, and the caller's completions wait meanwhile. */
    CHECK_OK(mae_crypt(dev, MAE_XTS, MAE_ENCRYPT, key, 32, iv, plain, out, 100000));
    mock_reference(MAE_XTS, MAE_ENCRYPT, key, 32, iv, plain, want, 100000);
    CHECK(memcmp(out, want, 100000) == 0);
    for (; total < 4; total += count)
        CHECK_OK(mae_wait(dev, list, 4, &count, 1000));
    mae_close(dev);
}

static void one_direction_only(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mock->directions = 1;
    CHECK_OK(mock_open(mock, &dev));
    fresh(200000);
    for (int i = 0; i < OPERATIONS; i++) {
        mae_mode_t mode = operation_mode(i);
        bool possible = !operation_inverts(i);
        CHECK_ERROR(mae_crypt(dev, mode, operation_direction(i), key, key_bytes_of(mode, 0), iv,
                              plain, out, 200000),
                    possible ? MAE_OK : MAE_E_MODE);
        mock_reference(mode, operation_direction(i), key, key_bytes_of(mode, 0), iv, plain, want,
                       200000);
        CHECK(!possible || memcmp(out, want, 200000) == 0); /* XTS too: chained then */
    }
    mae_close(dev);
}

static void nothing_stays_in_the_bounce_buffer(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    CHECK_OK(mock_open(mock, &dev));
    fresh(5000);
    CHECK_OK(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, plain, out, 5000));
    mock->status_of_next = MAE_STATUS_WRITE_DECERR; /* the plaintext stays where it was */
    CHECK_ERROR(mae_crypt(dev, MAE_CBC, MAE_ENCRYPT, key, 16, iv, plain, out, 4000),
                MAE_E_BUS_WRITE);
    for (size_t i = 0; i < MAE_CHUNK; i++)
        CHECK(((const uint8_t *)dev->bounce)[i] == 0);
    mae_close(dev);
}

int main(void)
{
    RUN(messages_on_a_card);
    RUN(messages_where_memory_cannot_be_mapped);
    RUN(messages_with_few_contexts);
    RUN(messages_on_a_peripheral);
    RUN(messages_in_mapped_memory);
    RUN(how_many_at_once);
    RUN(streams_on_a_card);
    RUN(streams_with_little);
    RUN(streams_on_a_peripheral);
    RUN(a_stream_keeps_the_device_full);
    RUN(several_streams_and_jobs_at_once);
    RUN(refused_messages);
    RUN(errors_in_the_middle);
    RUN(a_queue_full_of_others);
    RUN(one_direction_only);
    RUN(nothing_stays_in_the_bounce_buffer);
    return 0;
}

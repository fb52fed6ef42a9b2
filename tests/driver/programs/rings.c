/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the driver's job rings: wrap-around, order, errors, timeouts, scatter-gather lists. */
#include "mock/card.h"

static void wrap_around_in_any_order(void)
{
    enum { JOBS = 3000, SLICE = 64 };
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory, before[256 * SLICE];
    bool out[256] = {false};
    mae_dev_t *dev = open_card(mock, 256 * SLICE, &memory);
    uint32_t submitted = 0, done = 0;
    random_bytes(memory, sizeof before);
    while (done < JOBS) {
        uint64_t some = 1 + random_below(100);
        for (uint64_t i = 0; i < some && submitted < JOBS; i++) {
            uint32_t place = (uint32_t)random_below(256);
            if (out[place])
                continue;
            struct mae_job job = simple_job(memory + place * SLICE, 1 + random_below(SLICE));
            job.context = (uint32_t)random_below(64);
            random_bytes(job.iv, 16);
            job.user = memory + place * SLICE;
            CHECK_OK(mae_submit(dev, &job));
            mock_reference(MAE_CTR, MAE_ENCRYPT, key, 16, job.iv, memory + place * SLICE,
                           before + place * SLICE, job.length);
            out[place] = true;
            submitted++;
        }
        struct mae_completion list[16];
        size_t count;
        CHECK_OK(random_below(2) ? mae_poll(dev, list, 16, &count)
                                 : (mae_in_flight(dev) ? mae_wait(dev, list, 16, &count, 1000000)
                                                       : mae_poll(dev, list, 16, &count)));
        for (size_t i = 0; i < count; i++) {
            size_t place = (size_t)((uint8_t *)list[i].user - memory) / SLICE;
            CHECK_OK(list[i].error);
            CHECK(out[place]);
            CHECK(memcmp(memory + place * SLICE, before + place * SLICE, list[i].bytes) == 0);
            out[place] = false;
            done++;
        }
    }
    CHECK(mae_in_flight(dev) == 0 && mock->jobs == JOBS && mock->most_in_flight > 100);
    mae_close(dev);
}

/* Tests 70,000 jobs on a job ring, which is more than its 16-bit counters can count. */
static void counters_overflow(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_completion list[64];
    size_t count;
    for (uint32_t jobs = 0; jobs < 70000; jobs += 64) {
        for (uint32_t i = 0; i < 64; i++) {
            struct mae_job job = simple_job(memory + 16 * i, 16);
            job.context = i;
            CHECK_OK(mae_submit(dev, &job));
        }
        for (size_t done = 0; done < 64; done += count)
            CHECK_OK(mae_wait(dev, list, 64, &count, 1000000));
    }
    mae_close(dev);
}

static void a_full_queue(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_job job = simple_job(memory, 16);
    struct mae_completion list[256];
    size_t count, total = 0;
    mock->hang = true;
    CHECK_ERROR(mae_set_queue_depth(dev, 0), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_set_queue_depth(dev, 257), MAE_E_ARGUMENT);
    for (uint32_t depth = 1; depth <= 256; depth *= 4) {
        CHECK_OK(mae_set_queue_depth(dev, depth));
        mock->hang = true;
        for (uint32_t i = 0; i < depth; i++)
            CHECK_OK(mae_submit(dev, &job));
        CHECK_ERROR(mae_submit(dev, &job), MAE_E_FULL);
        CHECK(mae_in_flight(dev) == depth);
        CHECK_OK(mae_poll(dev, list, 256, &count));
        CHECK(count == 0);
        mock->hang = false;
        for (total = 0; total < depth; total += count)
            CHECK_OK(mae_wait(dev, list, 3, &count, 1000000));
        CHECK(total == depth && mae_in_flight(dev) == 0);
    }
    mae_close(dev);
}

static void jobs_of_a_context_stay_in_order(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory, message[16 * 200], want[16 * 200], iv[16];
    mae_dev_t *dev = open_card(mock, sizeof message, &memory);
    size_t count;
    random_bytes(message, sizeof message);
    random_bytes(iv, 16);
    memcpy(memory, message, sizeof message);
    mock_reference(MAE_CBC, MAE_ENCRYPT, key, 16, iv, message, want, sizeof message);
    for (uint32_t i = 0; i < 200; i++) {
        struct mae_job job = simple_job(memory + 16 * i, 16);
        job.mode = MAE_CBC;
        job.init = i == 0;
        job.context = 5;
        memcpy(job.iv, iv, 16);
        CHECK_OK(mae_submit(dev, &job));
    }
    struct mae_completion list[256];
    for (size_t total = 0; total < 200; total += count)
        CHECK_OK(mae_wait(dev, list, 256, &count, 1000000));
    CHECK(memcmp(memory, want, sizeof want) == 0);
    mae_close(dev);
}

static void every_status_is_an_error_of_ours(void)
{
    static const mae_error_t errors[] = {
        MAE_OK,          MAE_E_BUS_LIST, MAE_E_MODE,     MAE_E_CONTEXT,  MAE_E_LENGTH,
        MAE_E_KEY,       MAE_E_BUS_LIST, MAE_E_BUS_READ, MAE_E_BUS_READ, MAE_E_BUS_WRITE,
        MAE_E_BUS_WRITE, MAE_E_ABORTED,  MAE_E_AUTH,     MAE_E_KEY,      MAE_E_DEVICE,
    };
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    for (uint32_t status = 0; status < sizeof errors / sizeof errors[0]; status++) {
        struct mae_completion list[4];
        size_t count, total;
        bool seen = false;
        for (uint32_t i = 0; i < 3; i++) { /* others are in flight: it must hit the right one */
            struct mae_job job = simple_job(memory, 16);
            job.context = i;
            job.user = memory + i;
            CHECK_OK(mae_submit(dev, &job));
        }
        mock->status_of_next = status;
        for (total = 0; total < 3; total += count) {
            CHECK_OK(mae_wait(dev, list, 4, &count, 1000000));
            for (size_t i = 0; i < count; i++) {
                CHECK(list[i].context == (uint32_t)((uint8_t *)list[i].user - memory));
                if (list[i].device_status == status && (status || list[i].error == MAE_OK)) {
                    CHECK_ERROR(list[i].error, errors[status]);
                    seen = true;
                } else {
                    CHECK_OK(list[i].error);
                }
            }
        }
        CHECK(seen);
    }
    mae_close(dev);
}

/* Returns the number of doorbell writes in the mock's log from entry `from` on. */
static unsigned rings_of(const struct mock *mock, size_t from)
{
    unsigned found = 0;
    for (size_t i = from; i < mock->log_count; i++)
        found += mock->log[i].write && mock->log[i].offset == offsetof(mae_stream_card_t, sub_tail);
    return found;
}

static void many_jobs_with_one_doorbell(void)
{
    enum { JOBS = 100, SLICE = 16 };
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory, before[JOBS * SLICE];
    mae_dev_t *dev = open_card(mock, sizeof before, &memory);
    struct mae_job jobs[JOBS];
    struct mae_completion list[JOBS];
    size_t count, taken;
    random_bytes(memory, sizeof before);
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i] = simple_job(memory + i * SLICE, SLICE);
        jobs[i].context = i % 64;
        mock_reference(MAE_CTR, MAE_ENCRYPT, key, 16, jobs[i].iv, memory + i * SLICE,
                       before + i * SLICE, SLICE);
    }
    size_t from = mock->log_count;
    CHECK_OK(mae_submit_many(dev, jobs, JOBS, &taken));
    CHECK(taken == JOBS && mae_in_flight(dev) == JOBS && rings_of(mock, from) == 1);
    for (size_t total = 0; total < JOBS; total += count)
        CHECK_OK(mae_wait(dev, list, JOBS, &count, 1000000));
    CHECK(memcmp(memory, before, sizeof before) == 0);

    CHECK_OK(mae_submit_many(dev, jobs, 0, &taken)); /* nothing to tell */
    CHECK(taken == 0 && rings_of(mock, from) == 1);
    jobs[7].length = 15;
    jobs[7].mode = MAE_ECB; /* whole blocks only: the seven before are accepted */
    CHECK_ERROR(mae_submit_many(dev, jobs, JOBS, &taken), MAE_E_LENGTH);
    CHECK(taken == 7 && mae_in_flight(dev) == 7 && rings_of(mock, from) == 2);
    for (size_t total = 0; total < 7; total += count)
        CHECK_OK(mae_wait(dev, list, JOBS, &count, 1000000));
    CHECK_OK(mae_set_queue_depth(dev, 5));
    CHECK_ERROR(mae_submit_many(dev, jobs, 7, &taken), MAE_E_FULL);
    CHECK(taken == 5);
    for (size_t total = 0; total < 5; total += count)
        CHECK_OK(mae_wait(dev, list, JOBS, &count, 1000000));

    mock->fail_access = (int64_t)mock->accesses; /* the doorbell: accepted jobs stay in flight */
    CHECK_ERROR(mae_submit_many(dev, jobs, 3, &taken), MAE_E_BUS);
    CHECK(taken == 3 && mae_in_flight(dev) == 3);
    CHECK_OK(mae_submit(dev, &jobs[3])); /* rings for all four */
    for (size_t total = 0; total < 4; total += count)
        CHECK_OK(mae_wait(dev, list, JOBS, &count, 1000000));
    mae_close(dev);
}

static void a_device_that_stops_answering(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_job job = simple_job(memory, 16);
    struct mae_completion done;
    size_t count;
    uint32_t slot;
    void *more;
    CHECK_ERROR(mae_wait(dev, &done, 1, &count, 1000), MAE_E_TIMEOUT); /* nothing in flight */
    mock->hang = true;
    CHECK_OK(mae_set_stall_timeout(dev, 1000));
    CHECK_OK(mae_submit(dev, &job));
    uint64_t start = mock->now_ns;
    CHECK_ERROR(mae_wait(dev, &done, 1, &count, 100), MAE_E_TIMEOUT); /* the caller's patience */
    CHECK(count == 0 && mock->now_ns - start == 100000 && mock->stopped == 0);
    CHECK_OK(mae_poll(dev, &done, 1, &count));
    CHECK(count == 0);
    CHECK_ERROR(mae_wait(dev, &done, 1, &count, UINT64_MAX), MAE_E_TIMEOUT); /* the device's end */
    CHECK(count == 0 && mock->stopped == 1);
    CHECK(mock->now_ns - start >= 1000000 && mock->now_ns - start < 1100000);
    CHECK_ERROR(mae_submit(dev, &job), MAE_E_DEAD);
    CHECK_ERROR(mae_key_alloc(dev, key, 16, &slot), MAE_E_DEAD);
    CHECK_ERROR(mae_mem_alloc(dev, 10, &more), MAE_E_DEAD);
    CHECK_ERROR(mae_crypt(dev, MAE_ECB, MAE_ENCRYPT, key, 16, NULL, memory, memory, 16),
                MAE_E_DEAD);
    CHECK_OK(mae_wait(dev, &done, 1, &count, 1000)); /* the job still comes back, once */
    CHECK(count == 1 && done.error == MAE_E_DEAD);
    CHECK_ERROR(mae_wait(dev, &done, 1, &count, 1000), MAE_E_DEAD);
    CHECK_ERROR(mae_poll(dev, &done, 1, &count), MAE_E_DEAD);
    CHECK_OK(mae_mem_free(dev, memory));
    mae_close(dev);
    CHECK(mock->closed == 1);
}

static void a_synchronous_call_on_a_dead_device(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    static uint8_t data[1 << 20], iv[16];
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_set_stall_timeout(dev, 1000));
    mock->hang = true;
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, data, data, sizeof data),
                MAE_E_TIMEOUT);
    CHECK(strstr(mae_error_detail(), "too long"));
    CHECK_ERROR(mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, data, data, 16), MAE_E_DEAD);
    mae_close(dev);
}

static void a_poll_alone_finds_a_dead_device(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_job job = simple_job(memory, 16);
    struct mae_completion done;
    mae_error_t error = MAE_OK;
    size_t count, polls = 0;
    mock->hang = true;
    CHECK_OK(mae_set_stall_timeout(dev, 100));
    CHECK_OK(mae_submit(dev, &job));
    while (error == MAE_OK && polls++ < 1000)
        error = mae_poll(dev, &done, 1, &count);
    CHECK_ERROR(error, MAE_E_TIMEOUT);
    mae_close(dev);
}

static void without_interrupts(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_completion done;
    size_t count;
    mock->no_interrupt = true; /* completions are found all the same */
    for (int i = 0; i < 10; i++) {
        struct mae_job job = simple_job(memory, 16);
        CHECK_OK(mae_submit(dev, &job));
        CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
        CHECK(count == 1 && done.error == MAE_OK);
    }
    mae_close(dev);
}

/* An acknowledgement that arrives after a further completion must not clear its interrupt. */
static void acknowledgements_that_arrive_late(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_completion done[2];
    size_t count;
    mock->posts = mock_ops.posted = true;
    for (int i = 0; i < 100; i++) {
        struct mae_job job = simple_job(memory, 64);
        CHECK_OK(mae_submit(dev, &job));
        job.context = 1;
        CHECK_OK(mae_submit(dev, &job));
        for (size_t left = 2; left > 0; left -= count)
            CHECK_OK(mae_wait(dev, done, 2, &count, 1000000));
    }
    CHECK(mock->jobs == 200 && mock->unreported == 0);
    mock_ops.posted = false;
    mae_close(dev);
}

static void a_device_that_makes_no_sense(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_job job = simple_job(memory, 16);
    struct mae_completion done;
    size_t count;
    mock->wrong_cookie = true;
    CHECK_OK(mae_submit(dev, &job));
    CHECK_ERROR(mae_wait(dev, &done, 1, &count, 1000), MAE_E_DEVICE);
    CHECK_OK(mae_poll(dev, &done, 1, &count));
    CHECK(count == 1 && done.error == MAE_E_DEAD);
    CHECK_ERROR(mae_submit(dev, &job), MAE_E_DEAD);
    mae_close(dev);
}

static void completions_that_cannot_be_written(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 4096, &memory);
    struct mae_job job = simple_job(memory, 16);
    struct mae_completion done;
    size_t count;
    mock->ring_error = true;
    CHECK_OK(mae_submit(dev, &job));
    CHECK_ERROR(mae_wait(dev, &done, 1, &count, UINT64_MAX), MAE_E_BUS);
    CHECK(strstr(mae_error_detail(), "could not write a completion") && mock->now_ns < 100000);
    CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
    CHECK(count == 1 && done.error == MAE_E_DEAD);
    mae_close(dev);
}

/* Cuts a buffer at random into scatter-gather entries, some empty, at separate addresses. */
static uint32_t cut(struct mae_segment *list, uint8_t *memory, uint64_t length)
{
    uint32_t entries = 0;
    for (uint64_t at = 0; at < length;) {
        uint64_t piece = random_below(4) ? 1 + random_below(40) : 0;
        if (piece > length - at)
            piece = length - at;
        list[entries++] = (struct mae_segment){piece ? memory : NULL, piece};
        memory += piece + random_below(8);
        at += piece;
    }
    return entries;
}

static void scatter_and_gather(mae_kind_t kind)
{
    struct mock *mock = mock_new(kind);
    uint8_t *memory;
    mae_dev_t *dev = open_card(mock, 1 << 20, &memory);
    static struct mae_segment src[4096], dst[4096];
    uint8_t plain[2000], want[2000];
    for (int round = 0; round < 200; round++) {
        uint64_t length = 1 + random_below(2000);
        struct mae_job job = simple_job(memory, length);
        struct mae_completion done;
        size_t count, sum = 0;
        random_bytes(job.iv, 16);
        random_bytes(plain, length);
        job.context = kind == MAE_KIND_PERIPHERAL ? 0 : (uint32_t)random_below(64);
        if (random_below(4)) {
            job.src_list = src;
            job.src_entries = cut(src, memory, length);
            for (uint32_t i = 0; i < job.src_entries; sum += src[i++].bytes)
                if (src[i].bytes)
                    memcpy(src[i].data, plain + sum, src[i].bytes);
        } else {
            memcpy(memory, plain, length);
        }
        job.dst = memory + (1 << 19);
        if (random_below(4)) {
            job.dst_list = dst;
            job.dst_entries = cut(dst, job.dst, length);
        }
        CHECK_OK(mae_submit(dev, &job));
        CHECK_OK(mae_wait(dev, &done, 1, &count, 1000));
        CHECK_OK(done.error);
        mock_reference(MAE_CTR, MAE_ENCRYPT, key, 16, job.iv, plain, want, length);
        if (job.dst_list) {
            sum = 0;
            for (uint32_t i = 0; i < job.dst_entries; sum += dst[i++].bytes)
                CHECK(!dst[i].bytes || memcmp(dst[i].data, want + sum, dst[i].bytes) == 0);
        } else {
            CHECK(memcmp(job.dst, want, length) == 0);
        }
    }
    mae_close(dev);
}

static void scatter_and_gather_on_a_card(void)
{
    scatter_and_gather(MAE_KIND_STREAM);
}

static void scatter_and_gather_on_a_peripheral(void)
{
    scatter_and_gather(MAE_KIND_PERIPHERAL);
}

/* Tests that a card which an earlier user left running gets the new ring's memory only stopped. */
static void a_card_that_was_left_running(void)
{
    struct mock *mock = mock_new(MAE_KIND_STREAM);
    mae_dev_t *dev;
    mock->words[CARD(ctrl) / 4] = MAE_STREAM_CARD__CTRL__ENABLE_bm;
    CHECK_OK(mock_open(mock, &dev));
    CHECK(!mock->mapped_running && mock->words[CARD(ctrl) / 4]);
    mae_close(dev);
}

int main(void)
{
    RUN(wrap_around_in_any_order);
    RUN(counters_overflow);
    RUN(a_full_queue);
    RUN(jobs_of_a_context_stay_in_order);
    RUN(every_status_is_an_error_of_ours);
    RUN(many_jobs_with_one_doorbell);
    RUN(a_device_that_stops_answering);
    RUN(a_synchronous_call_on_a_dead_device);
    RUN(a_poll_alone_finds_a_dead_device);
    RUN(without_interrupts);
    RUN(acknowledgements_that_arrive_late);
    RUN(a_device_that_makes_no_sense);
    RUN(completions_that_cannot_be_written);
    RUN(a_card_that_was_left_running);
    RUN(scatter_and_gather_on_a_card);
    RUN(scatter_and_gather_on_a_peripheral);
    return 0;
}

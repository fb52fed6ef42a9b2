/* SPDX-License-Identifier: Apache-2.0 */
/* Tests two jobs at once on a peripheral: results, refusals, and a bus that fails at any access. */
#include "mock/mock.h"

#include "maeslant_peripheral.h"

enum { SECOND = 0x100, MOST = 200 };

/* Imitates a peripheral of two jobs by two of one job that have the same key. */
struct pair {
    struct mock *job[2];
    int64_t accesses, fail_access; /* < 0: none */
};

static bool fails(struct pair *pair)
{
    return pair->accesses++ == pair->fail_access;
}

static mae_error_t pair_read(void *bus, uint32_t offset, uint32_t *value)
{
    struct pair *pair = bus;
    if (fails(pair))
        return MAE_E_BUS;
    return mock_read32(pair->job[offset >= SECOND], offset % SECOND, value);
}

static mae_error_t pair_write(void *bus, uint32_t offset, uint32_t value)
{
    struct pair *pair = bus;
    if (fails(pair))
        return MAE_E_BUS;
    if (offset >= PERIPH(key) && offset <= PERIPH(key_cmd))
        CHECK_OK(mock_write32(pair->job[1], offset, value));
    return mock_write32(pair->job[offset >= SECOND], offset % SECOND, value);
}

/* Holds a random job, its data and what the toy cipher makes of them. */
struct trial {
    struct mae_pio_job job;
    struct mae_pio_side side;
    uint8_t iv[16], in[MOST + 1], out[MOST + 1], expected[MOST];
};

static uint8_t key[32];

static void choose(struct trial *trial)
{
    static const mae_mode_t modes[] = {MAE_ECB, MAE_CBC, MAE_CTR};
    mae_mode_t mode = modes[random_below(3)];
    uint32_t length = 16 * (1 + (uint32_t)random_below(MOST / 16));
    if (mode == MAE_CTR)
        length -= (uint32_t)random_below(16);
    random_bytes(trial->iv, 16);
    random_bytes(trial->in, sizeof trial->in);
    memset(trial->out, 0xee, sizeof trial->out);
    trial->job = (struct mae_pio_job){.mode = mode,
                                      .direction = (mae_direction_t)random_below(2),
                                      .init = 1,
                                      .iv = mode == MAE_ECB ? NULL : trial->iv,
                                      .length = length};
    size_t odd = random_below(2);
    bool in_place = random_below(2);
    uint8_t *src = trial->in + odd;
    trial->side = (struct mae_pio_side){&trial->job, src, in_place ? src : trial->out};
    mock_reference(mode, trial->job.direction, key, 16, trial->job.iv, src, trial->expected,
                   length);
}

static void check_done(const struct trial *trial)
{
    CHECK(memcmp(trial->side.dst, trial->expected, trial->job.length) == 0);
    if (trial->side.dst == trial->out)
        CHECK(trial->out[trial->job.length] == 0xee);
}

static struct pair pair;
static const struct mae_pio_bus bus = {pair_read, pair_write, &pair};

static void begin(void)
{
    for (int i = 0; i < 2; i++) {
        free(pair.job[i]);
        pair.job[i] = mock_make(MAE_KIND_PERIPHERAL);
    }
    pair.fail_access = -1;
    random_bytes(key, 16);
    CHECK_OK(mae_pio_key_load(&bus, 0, key, 16));
}

static void both_are_right(void)
{
    static struct trial trials[2];
    begin();
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 2; i++)
            choose(&trials[i]);
        CHECK_OK(mae_pio_run_both(&bus, &trials[0].side, &trials[1].side));
        for (int i = 0; i < 2; i++)
            check_done(&trials[i]);
    }
}

static void one_at_a_time_on_either_bus(void)
{
    static struct trial trial;
    struct mae_pio_bus second;
    begin();
    mae_pio_second(&bus, &second);
    for (int round = 0; round < 50; round++) {
        choose(&trial);
        CHECK_OK(
            mae_pio_run(round % 2 ? &second : &bus, &trial.job, trial.side.src, trial.side.dst));
        check_done(&trial);
    }
}

static void a_failing_bus_is_reported_at_once(void)
{
    static struct trial trials[2];
    begin();
    for (int64_t at = 0;; at++) {
        for (int i = 0; i < 2; i++)
            choose(&trials[i]);
        pair.accesses = 0;
        pair.fail_access = at < 60 ? at : 60 + (int64_t)random_below(60);
        mae_error_t error = mae_pio_run_both(&bus, &trials[0].side, &trials[1].side);
        bool reached = pair.accesses > pair.fail_access;
        CHECK(error == (reached ? MAE_E_BUS : MAE_OK));
        if (reached)
            CHECK(pair.accesses == pair.fail_access + 1); /* no access after it */
        if (at == 200)
            break;
        pair.fail_access = -1; /* what a program does then */
        CHECK_OK(mae_pio_wipe(&bus));
        CHECK_OK(mae_pio_key_load(&bus, 0, key, 16));
        for (int i = 0; i < 2; i++)
            choose(&trials[i]);
        CHECK_OK(mae_pio_run_both(&bus, &trials[0].side, &trials[1].side));
        for (int i = 0; i < 2; i++)
            check_done(&trials[i]);
    }
}

static void refusals(void)
{
    static struct trial trials[2];
    begin();
    for (int i = 0; i < 2; i++)
        choose(&trials[i]);
    trials[1].job.key_slot = 3; /* no key is there */
    CHECK_ERROR(mae_pio_run_both(&bus, &trials[0].side, &trials[1].side), MAE_E_KEY);
    check_done(&trials[0]);
    for (int i = 0; i < 2; i++)
        choose(&trials[i]);
    trials[0].job.key_slot = 3;
    uint32_t started = pair.job[1]->length;
    trials[1].job.length = trials[1].job.mode == MAE_CTR ? 7 : 16;
    pair.job[1]->length = 12345;
    CHECK_ERROR(mae_pio_run_both(&bus, &trials[0].side, &trials[1].side), MAE_E_KEY);
    CHECK(pair.job[1]->length == 12345); /* the second one was not started */
    pair.job[1]->length = started;
    trials[0].job.mode = MAE_GCM;
    CHECK_ERROR(mae_pio_run_both(&bus, &trials[0].side, &trials[1].side), MAE_E_MODE);
    CHECK_ERROR(mae_pio_run_both(&bus, &trials[1].side, &trials[0].side), MAE_E_MODE);
}

int main(void)
{
    RUN(both_are_right);
    RUN(one_at_a_time_on_either_bus);
    RUN(a_failing_bus_is_reported_at_once);
    RUN(refusals);
    for (int i = 0; i < 2; i++)
        free(pair.job[i]);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lends the AES cards of a pool to threads and closes cards that fail.
 *
 * Real cards share one time. A simulated card's passes only while it works, as fast as its thread
 * happens to be scheduled, so that work would go to the card that this processor favoured. The pool
 * therefore keeps a clock: a card that comes to work has waited until the pool's present, and one
 * that is ahead of a working one by more than AHEAD_NS is not lent before the other has caught up.
 */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    AHEAD_NS = 20000, /* 4000 clocks of a simulated card */
    POLL_NS = 1000000 /* how often one that is ahead polls */
};

static const uint64_t idle_ns = 5000000000; /* a lent card whose time stands still is not at work */

struct card {
    struct mae_pool_card state;
    mae_dev_t *dev; /* NULL: closed */
    bool lent, simulated;
    uint32_t ns_per_clock;
    uint64_t opened_ns; /* of its time, when the pool was made */
    uint64_t now_ns;    /* its time since then, when last given back */
    uint64_t idle_ns;   /* from there to the pool's clock */
    uint64_t seen_ns;   /* of a lent card, at the last look */
    uint64_t moved_ns;  /* when that last changed, by this machine's clock */
};

struct mae_pool {
    pthread_mutex_t lock;
    pthread_cond_t given;
    struct mae_caps caps;
    uint32_t process; /* that made it */
    uint32_t count;
    struct card cards[MAE_POOL_MOST];
};

/* Returns MAE_E_STATE in a forked child: its parent's threads hold what it would wait for. */
static mae_error_t check_process(const struct mae_pool *pool)
{
    if (mae_process() == pool->process)
        return MAE_OK;
    return mae_detail(MAE_E_STATE, "a forked child makes a pool of its own");
}

/* ---- the pool's clock ---- */

/* Returns the clock count of a lent card, as its borrower has last published it. */
static uint64_t clock_of(const struct card *card)
{
    uint64_t now = card->now_ns;
    if (card->lent) {
        uint64_t seen = atomic_load_explicit(&card->dev->seen_ns, memory_order_relaxed);
        if (seen > card->opened_ns + now)
            now = seen - card->opened_ns;
    }
    return now + card->idle_ns;
}

/* Returns the host's monotonic time in ns. */
static uint64_t machine_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns the simulated time of a pool: that of its slowest card at work, else of the last end. */
static uint64_t present(struct mae_pool *pool)
{
    uint64_t least = UINT64_MAX, most = 0, machine = machine_ns();
    for (uint32_t i = 0; i < pool->count; i++) {
        struct card *card = &pool->cards[i];
        if (!card->simulated)
            continue;
        uint64_t clock = clock_of(card);
        if (!card->lent) {
            most = clock > most ? clock : most;
            continue;
        }
        if (clock != card->seen_ns)
            card->moved_ns = machine;
        card->seen_ns = clock;
        if (machine - card->moved_ns < idle_ns)
            least = clock < least ? clock : least;
    }
    return least == UINT64_MAX ? most : least;
}

/* ---- lending ---- */

/* Returns the pool's free card that has worked least, by its clock or number of loans. */
static struct card *least_used(struct mae_pool *pool)
{
    struct card *best = NULL;
    for (uint32_t i = 0; i < pool->count; i++) {
        struct card *card = &pool->cards[i];
        if (!card->dev || card->lent)
            continue;
        if (!best || clock_of(card) < clock_of(best) ||
            (clock_of(card) == clock_of(best) && card->state.loans < best->state.loans))
            best = card;
    }
    return best;
}

/* Returns an error if all cards of the pool have failed. */
static mae_error_t all_failed(const struct mae_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->cards[i].dev)
            return MAE_OK;
    const struct mae_pool_card *last = &pool->cards[pool->count - 1].state;
    return mae_detail(MAE_E_NO_DEVICE, "all %u cards of the pool have failed; %s: %s", pool->count,
                      last->uri, last->why);
}

/* Waits until a thread returns a card to the pool, or briefly if a card's clock is ahead. */
static void wait_given(struct mae_pool *pool, bool ahead)
{
    struct timespec until;
    if (!ahead) {
        pthread_cond_wait(&pool->given, &pool->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&pool->given, &pool->lock, &until);
}

mae_error_t mae_pool_lend(mae_pool_t *pool, mae_dev_t **out)
{
    if (!out)
        return MAE_E_ARGUMENT;
    *out = NULL;
    mae_detail_clear();
    if (!pool)
        return MAE_E_ARGUMENT;
    MAE_TRY(check_process(pool));
    pthread_mutex_lock(&pool->lock);
    mae_error_t error;
    while ((error = all_failed(pool)) == MAE_OK) {
        struct card *card = least_used(pool);
        uint64_t now = present(pool);
        bool ahead = card && card->simulated && clock_of(card) > now + AHEAD_NS;
        if (!card || ahead) {
            wait_given(pool, ahead);
            continue;
        }
        if (card->simulated && clock_of(card) < now)
            card->idle_ns = now - card->now_ns;
        card->lent = true;
        card->moved_ns = machine_ns();
        card->state.loans++;
        *out = card->dev;
        break;
    }
    pthread_mutex_unlock(&pool->lock);
    return error;
}

/* Returns true if an error shows that the card has failed, and not the caller. */
static bool is_cards_fault(const struct mae_dev *dev, mae_error_t error)
{
    switch (error) {
    case MAE_E_BUS:
    case MAE_E_BUS_READ:
    case MAE_E_BUS_WRITE:
    case MAE_E_BUS_LIST:
    case MAE_E_ABORTED:
    case MAE_E_DEVICE:
    case MAE_E_DEAD:
        return true;
    default:
        return dev->dead;
    }
}

bool mae_pool_give(mae_pool_t *pool, mae_dev_t *dev, mae_error_t error)
{
    bool failed = false;
    if (!pool || !dev)
        return false;
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < pool->count; i++) {
        struct card *card = &pool->cards[i];
        if (card->dev != dev || !card->lent)
            continue;
        card->now_ns = dev->ops->now_ns(dev->backend) - card->opened_ns;
        card->lent = false;
        failed = is_cards_fault(dev, error);
        if (!failed)
            break;
        card->dev = NULL;
        card->state.error = error == MAE_OK ? MAE_E_DEAD : error;
        const char *detail = mae_error_detail();
        snprintf(card->state.why, sizeof card->state.why, "%s%s%.100s",
                 mae_strerror(card->state.error), *detail ? ": " : "", detail);
        break;
    }
    pthread_cond_broadcast(&pool->given);
    pthread_mutex_unlock(&pool->lock);
    if (failed) {
        mae_detail_hold(true);
        mae_close(dev); /* what it can still do: erase its keys, stop, leave memory alone */
        mae_detail_hold(false);
    }
    return failed;
}

/* ---- opening, closing, asking ---- */

/* Merges a card's capabilities into those that all cards of the pool share. */
static void add_caps(struct mae_caps *all, const struct mae_caps *one)
{
    all->modes &= one->modes;
    all->directions &= one->directions;
    all->lanes += one->lanes;
    all->contexts += one->contexts;
    all->aead_contexts += one->aead_contexts;
#define LEAST(field) all->field = one->field < all->field ? one->field : all->field
    LEAST(kind);
    LEAST(version);
    LEAST(key_slots);
    LEAST(key_banks);
    LEAST(max_key_bytes);
    LEAST(data_width_bits);
    LEAST(max_queue_depth);
    LEAST(max_list_entries);
    LEAST(max_job_bytes);
    LEAST(simulated);
#undef LEAST
}

/*
 * Returns true if a pool mixes "null:" cards, which process nothing, with other cards. They return
 * data unchanged without an error, which would corrupt it.
 */
static bool mixes_null(mae_dev_t *const *devs, size_t count)
{
    size_t nulls = 0;
    for (size_t i = 0; i < count; i++)
        nulls += strcmp(devs[i]->caps.backend, "null") == 0;
    return nulls > 0 && nulls < count;
}

mae_error_t mae_pool_of(mae_dev_t *const *devs, const char *const *names, size_t count,
                        mae_pool_t **out)
{
    mae_error_t error = MAE_OK;
    *out = NULL;
    if (count == 0 || count > MAE_POOL_MOST)
        error = mae_detail(MAE_E_URI, "a pool has 1 to %d cards", MAE_POOL_MOST);
    else if (mixes_null(devs, count))
        error = mae_detail(MAE_E_URI, "null: computes nothing: no card beside it in a pool");
    mae_pool_t *pool = error == MAE_OK ? calloc(1, sizeof *pool) : NULL;
    if (!pool) {
        mae_detail_hold(true);
        for (size_t i = 0; i < count; i++)
            mae_close(devs[i]);
        mae_detail_hold(false);
        return error == MAE_OK ? MAE_E_MEMORY : error;
    }
    pool->process = mae_process();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->given, NULL);
    pool->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct card *card = &pool->cards[i];
        const struct mae_caps *caps = &devs[i]->caps;
        card->dev = devs[i];
        card->simulated = caps->simulated;
        card->ns_per_clock = 1000 / caps->clocks_per_us;
        card->opened_ns = devs[i]->ops->now_ns(devs[i]->backend);
        snprintf(card->state.uri, sizeof card->state.uri, "%s", names[i]);
        if (i == 0)
            pool->caps = *caps;
        else
            add_caps(&pool->caps, caps);
    }
    snprintf(pool->caps.backend, sizeof pool->caps.backend, "pool");
    snprintf(pool->caps.name, sizeof pool->caps.name, "%zu cards", count);
    *out = pool;
    return MAE_OK;
}

/* Reads the repetition count in a pool's URI, such as 3 in "3*sim:stream4". */
static size_t times(const char **uri)
{
    size_t digits = strspn(*uri, "0123456789");
    if (digits == 0 || digits > 4 || (*uri)[digits] != '*')
        return 1;
    size_t number = strtoul(*uri, NULL, 10);
    *uri += digits + 1;
    return number;
}

mae_error_t mae_pool_open(const char *uri, mae_pool_t **pool)
{
    static const char prefix[] = "pool:";
    mae_dev_t *devs[MAE_POOL_MOST];
    char names[MAE_POOL_MOST][sizeof(((struct mae_pool_card *)0)->uri)];
    const char *name_of[MAE_POOL_MOST];
    size_t count = 0;
    mae_error_t error = MAE_OK;
    if (!pool)
        return MAE_E_ARGUMENT;
    *pool = NULL;
    mae_detail_clear();
    if (!uri)
        return MAE_E_ARGUMENT;
    if (strncmp(uri, prefix, sizeof prefix - 1) != 0)
        return mae_detail(MAE_E_URI, "'%.100s' should begin with pool:, as in pool:2*sim:stream4",
                          uri);
    const char *at = uri + sizeof prefix - 1;
    while (error == MAE_OK) {
        size_t length = strcspn(at, ",");
        const char *end = at + length;
        size_t copies = times(&at);
        length = (size_t)(end - at);
        if (length == 0 || copies == 0 || length >= sizeof names[0])
            error = mae_detail(MAE_E_URI, "a pool is a list of devices, as in pool:2*sim:stream4");
        for (; error == MAE_OK && copies > 0; copies--) {
            if (count == MAE_POOL_MOST) {
                error = mae_detail(MAE_E_URI, "a pool has %d cards at most", MAE_POOL_MOST);
                break;
            }
            snprintf(names[count], sizeof names[count], "%.*s", (int)length, at);
            name_of[count] = names[count];
            error = mae_open(names[count], &devs[count]);
            count += error == MAE_OK;
        }
        if (*end == '\0')
            break;
        at = end + 1;
    }
    if (error == MAE_OK)
        return mae_pool_of(devs, name_of, count, pool);
    mae_detail_hold(true);
    for (size_t i = 0; i < count; i++)
        mae_close(devs[i]);
    mae_detail_hold(false);
    return error;
}

void mae_pool_close(mae_pool_t *pool)
{
    if (!pool)
        return;
    bool own = check_process(pool) == MAE_OK;
    for (uint32_t i = 0; i < pool->count; i++)
        mae_close(pool->cards[i].dev);
    if (own) { /* else threads of the parent may wait there, which this process does not have */
        pthread_cond_destroy(&pool->given);
        pthread_mutex_destroy(&pool->lock);
    }
    free(pool);
}

mae_error_t mae_pool_get_caps(mae_pool_t *pool, struct mae_caps *caps)
{
    if (!pool || !caps)
        return MAE_E_ARGUMENT;
    *caps = pool->caps;
    return MAE_OK;
}

mae_error_t mae_pool_cards(mae_pool_t *pool, struct mae_pool_card *list, size_t max, size_t *count)
{
    if (!pool || !count || (max > 0 && !list))
        return MAE_E_ARGUMENT;
    MAE_TRY(check_process(pool));
    pthread_mutex_lock(&pool->lock);
    *count = pool->count;
    for (size_t i = 0; i < pool->count && i < max; i++) {
        const struct card *card = &pool->cards[i];
        list[i] = card->state;
        if (card->simulated && card->ns_per_clock > 0) {
            list[i].clocks = (clock_of(card) - card->idle_ns) / card->ns_per_clock;
            list[i].pool_clock = clock_of(card) / card->ns_per_clock;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return MAE_OK;
}

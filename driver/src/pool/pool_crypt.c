/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts or decrypts one message in parts on all cards of a pool. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "pool.h"

enum {
    BLOCK = 16,
    PAGE = 4096,
    LARGEST = 64 * MAE_CHUNK, /* a part is a call: its start and its end must not count */
    EACH = 2                  /* parts for each card, where the message is long enough */
};

struct work {
    mae_pool_t *pool;
    mae_mode_t mode;
    mae_direction_t direction;
    const uint8_t *key, *iv, *src;
    size_t key_bytes;
    uint8_t *dst;
    uint64_t length, part, parts;
    uint8_t (*before)[BLOCK]; /* in place: of each part but the first, the block in front of it */
    pthread_mutex_t lock;
    uint64_t next;
    mae_error_t error; /* the first */
    char detail[256];
};

/* Returns the number of a message part that no thread works on; `parts` if none is left. */
static uint64_t take(struct work *work)
{
    pthread_mutex_lock(&work->lock);
    uint64_t number = work->error == MAE_OK ? work->next : work->parts;
    work->next += number < work->parts;
    pthread_mutex_unlock(&work->lock);
    return number;
}

/* Stores the first error of the threads that process a message. */
static void fail(struct work *work, mae_error_t error)
{
    pthread_mutex_lock(&work->lock);
    if (work->error == MAE_OK) {
        work->error = error;
        strncpy(work->detail, mae_error_detail(), sizeof work->detail - 1);
    }
    pthread_mutex_unlock(&work->lock);
}

/* Processes a part of a message on a card of the pool; on another one if that fails. */
static mae_error_t run_part(struct work *work, uint64_t number, uint8_t *copy)
{
    uint64_t at = number * work->part;
    uint64_t bytes = number + 1 == work->parts ? work->length - at : work->part;
    const uint8_t *src = work->src + at, *before = NULL;
    if (at > 0)
        before = work->before ? work->before[number] : src - BLOCK;
    if (copy)
        src = memcpy(copy, src, bytes);
    mae_dev_t *card;
    mae_error_t error;
    do {
        error = mae_pool_lend(work->pool, &card);
        if (error == MAE_OK)
            error = mae_crypt_part(card, work->mode, work->direction, work->key, work->key_bytes,
                                   work->iv, at, before, src, work->dst + at, bytes);
    } while (mae_pool_give(work->pool, card, error));
    return error;
}

/* Processes parts of a message until none is left; the main function of each thread. */
static void *worker(void *arg)
{
    struct work *work = arg;
    uint8_t *copy = NULL;
    uint64_t largest = work->length < work->part + BLOCK ? work->length : work->part + BLOCK;
    if (work->src == work->dst && !(copy = malloc(largest))) {
        fail(work, mae_detail(MAE_E_MEMORY, "no room for a copy of the source"));
        return NULL;
    }
    for (uint64_t number; (number = take(work)) < work->parts;) {
        mae_error_t error = run_part(work, number, copy);
        if (error != MAE_OK)
            fail(work, error);
    }
    if (copy)
        mae_wipe(copy, largest);
    free(copy);
    return NULL;
}

/* Divides a message into parts for the pool's cards; into one if its mode forbids more. */
static void divide(struct work *work, const struct mae_caps *caps, size_t cards)
{
    work->part = (work->length / (EACH * cards) + PAGE - 1) / PAGE * PAGE;
    if (work->part < MAE_CHUNK)
        work->part = MAE_CHUNK;
    if (work->part > LARGEST)
        work->part = LARGEST;
    if (!mae_mode_divides(work->mode, work->direction) || cards == 1 ||
        (work->mode == MAE_XTS && caps->directions != 3))
        work->part = work->length;
    work->parts = (work->length + work->part - 1) / work->part;
    uint64_t last = work->length - (work->parts - 1) * work->part;
    if (work->mode == MAE_XTS && last < BLOCK && work->parts > 1)
        work->parts--; /* the last two blocks stay together, for stealing */
}

/* Processes the parts of a message in one thread for each card of the pool. */
static mae_error_t run(struct work *work, size_t cards)
{
    pthread_t threads[MAE_POOL_MOST];
    size_t started = 0, wanted = cards < work->parts ? cards : (size_t)work->parts;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, worker, work) == 0)
        started++;
    (void)worker(work); /* this thread is one, too */
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (work->error != MAE_OK)
        return mae_detail(work->error, "%s", work->detail);
    return MAE_OK;
}

/*
 * Saves the ciphertext block before each part of a message that is decrypted in place. A part's
 * predecessor may be done before the part starts.
 */
static mae_error_t keep_blocks(struct work *work)
{
    if (work->parts == 1 || work->src != work->dst || !mae_mode_looks_back(work->mode))
        return MAE_OK;
    work->before = calloc(work->parts, BLOCK);
    if (!work->before)
        return MAE_E_MEMORY;
    for (uint64_t i = 1; i < work->parts; i++)
        memcpy(work->before[i], work->src + i * work->part - BLOCK, BLOCK);
    return MAE_OK;
}

mae_error_t mae_pool_crypt(mae_pool_t *pool, mae_mode_t mode, mae_direction_t direction,
                           const uint8_t *key, size_t key_bytes, const uint8_t *iv, const void *src,
                           void *dst, uint64_t length)
{
    struct mae_caps caps;
    struct mae_pool_card cards[MAE_POOL_MOST];
    size_t count, alive = 0;
    mae_detail_clear();
    MAE_TRY(mae_pool_get_caps(pool, &caps));
    MAE_TRY(mae_pool_cards(pool, cards, MAE_POOL_MOST, &count));
    for (size_t i = 0; i < count; i++)
        alive += cards[i].error == MAE_OK;
    uintptr_t from = (uintptr_t)src, to = (uintptr_t)dst;
    MAE_TRY(mae_check_length(mode, length));
    if (length > 0 && (!src || !dst || length > SIZE_MAX))
        return MAE_E_ARGUMENT;
    if (from != to && from < to + length && to < from + length)
        return mae_detail(MAE_E_ARGUMENT, "source and destination overlap");
    if (length == 0)
        return MAE_OK;
    struct work work = {.pool = pool,
                        .mode = mode,
                        .direction = direction,
                        .key = key,
                        .iv = iv,
                        .src = src,
                        .key_bytes = key_bytes,
                        .dst = dst,
                        .length = length};
    divide(&work, &caps, alive ? alive : 1);
    MAE_TRY(keep_blocks(&work));
    pthread_mutex_init(&work.lock, NULL);
    mae_error_t error = run(&work, alive ? alive : 1);
    pthread_mutex_destroy(&work.lock);
    free(work.before);
    return error;
}

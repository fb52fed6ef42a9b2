/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the provider's device, gives out its contexts and buffers, and runs jobs on it. */
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <openssl/async.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include "card.h"

enum { COMPLETIONS = 16, WAIT_SECONDS = 10 };

/* ---- opening ---- */

/* Opens the device for this process; whatever was known of an earlier opening is void. */
static mae_error_t reopen(struct card *card)
{
    card->dev = NULL;
    card->resident = NULL;
    card->stage_count = 0;
    card->messages = 0;
    card->opening++;
    card->process = mae_process();
    mae_error_t error = mae_open(card->uri, &card->dev);
    return error == MAE_OK ? mae_get_caps(card->dev, &card->caps) : error;
}

struct card *card_open(const char *uri)
{
    struct card *card = OPENSSL_zalloc(sizeof *card);
    if (!card)
        return NULL;
    pthread_mutex_init(&card->lock, NULL);
    card->ready = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    card->uri = OPENSSL_strdup(uri);
    mae_error_t error = card->uri && card->ready >= 0 ? reopen(card) : MAE_E_MEMORY;
    if (error == MAE_OK)
        return card;
    const char *detail = mae_error_detail();
    fail(ERR_R_INIT_FAIL, "maeslant: device '%s' cannot be opened: %s%s%s", uri,
         mae_strerror(error), *detail ? ": " : "", detail);
    card_close(card);
    return NULL;
}

void card_close(struct card *card)
{
    if (!card)
        return;
    if (card->process == mae_process()) /* a forked child leaves its parent's device alone */
        mae_close(card->dev);
    if (card->ready >= 0)
        close(card->ready);
    pthread_mutex_destroy(&card->lock);
    OPENSSL_free(card->uri);
    OPENSSL_clear_free(card, sizeof *card);
}

mae_error_t card_enter(struct card *card)
{
    pthread_mutex_lock(&card->lock);
    if (card->process != mae_process())
        return reopen(card);
    return card->dev ? MAE_OK : MAE_E_NO_DEVICE;
}

void card_leave(struct card *card)
{
    pthread_mutex_unlock(&card->lock);
}

uint64_t card_clocks(struct card *card)
{
    struct mae_stats stats = {0};
    mae_error_t error = card_enter(card);
    if (error == MAE_OK)
        error = mae_get_stats(card->dev, &stats);
    card_leave(card);
    return error == MAE_OK ? stats.bus_clocks : 0;
}

/* ---- waiting ---- */

void card_pass(struct card *card)
{
    ASYNC_JOB *job = ASYNC_get_current_job();
    card_leave(card);
    if (job) {
        ASYNC_WAIT_CTX *waits = ASYNC_get_wait_ctx(job);
        OSSL_ASYNC_FD fd;
        void *custom;
        if (!ASYNC_WAIT_CTX_get_fd(waits, card, &fd, &custom))
            (void)ASYNC_WAIT_CTX_set_wait_fd(waits, card, card->ready, NULL, NULL);
        (void)ASYNC_pause_job();
    } else {
        sched_yield();
    }
    pthread_mutex_lock(&card->lock);
}

void card_pass_ends(struct card *card)
{
    ASYNC_JOB *job = ASYNC_get_current_job();
    OSSL_ASYNC_FD fd;
    void *custom;
    if (job && ASYNC_WAIT_CTX_get_fd(ASYNC_get_wait_ctx(job), card, &fd, &custom))
        (void)ASYNC_WAIT_CTX_clear_fd(ASYNC_get_wait_ctx(job), card);
}

/* ---- contexts and buffers ---- */

mae_error_t card_context(struct card *card, bool aead, uint32_t *context)
{
    time_t begun = time(NULL);
    mae_error_t error;
    while ((error = aead ? mae_context_alloc_aead(card->dev, context)
                         : mae_context_alloc(card->dev, context)) == MAE_E_CONTEXT) {
        if (time(NULL) - begun > WAIT_SECONDS)
            break;
        card_pass(card);
    }
    card_pass_ends(card);
    return error;
}

mae_error_t card_stage(struct card *card, size_t bytes, struct stage *stage)
{
    size_t capacity = STAGE_LEAST;
    while (capacity < bytes)
        capacity *= 2;
    for (uint32_t i = card->stage_count; i-- > 0;) {
        if (card->stages[i].capacity == capacity) {
            *stage = card->stages[i];
            stage->bytes = bytes;
            card->stages[i] = card->stages[--card->stage_count];
            return MAE_OK;
        }
    }
    void *memory = NULL;
    mae_error_t error = mae_mem_alloc(card->dev, capacity, &memory);
    *stage = (struct stage){memory, bytes, capacity};
    return error;
}

void card_stage_free(struct card *card, struct stage *stage)
{
    if (!stage->data)
        return;
    OPENSSL_cleanse(stage->data, stage->bytes);
    if (stage->capacity <= STAGE_MOST && card->stage_count < STAGE_POOL)
        card->stages[card->stage_count++] = *stage;
    else
        (void)!mae_mem_free(card->dev, stage->data);
    stage->data = NULL;
}

/* ---- jobs ---- */

/* Fetches what the device has completed, of all threads' jobs. */
static mae_error_t fetch(struct card *card)
{
    struct mae_completion list[COMPLETIONS];
    size_t count = 0;
    mae_error_t error = mae_poll(card->dev, list, COMPLETIONS, &count);
    for (size_t i = 0; i < count; i++) {
        struct request *request = list[i].user;
        request->result = list[i];
        request->done = true;
    }
    return count > 0 ? MAE_OK : error;
}

/* Returns true if the first `count` requests are done. */
static bool all_done(const struct request *requests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!requests[i].done)
            return false;
    return true;
}

mae_error_t card_run(struct card *card, struct request *requests, size_t count)
{
    size_t taken = 0;
    mae_error_t error = MAE_OK;
    for (size_t i = 0; i < count; i++)
        requests[i].job.user = &requests[i];
    for (;;) {
        while (taken < count && error == MAE_OK) {
            error = mae_submit(card->dev, &requests[taken].job);
            taken += error == MAE_OK;
            if (error != MAE_OK)
                keep_detail();
        }
        bool full = error == MAE_E_FULL;
        if (full)
            error = MAE_OK;
        if (all_done(requests, taken) && !full)
            break;
        mae_error_t polled = fetch(card);
        if (polled != MAE_OK && error == MAE_OK) {
            keep_detail();
            error = polled; /* the device is dead; its jobs complete with the next look */
        }
        if (!all_done(requests, taken) || full)
            card_pass(card);
    }
    card_pass_ends(card);
    for (size_t i = 0; i < taken && error == MAE_OK; i++)
        error = requests[i].result.error;
    if (error == MAE_OK)
        forget_detail();
    return error;
}

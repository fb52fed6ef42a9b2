/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks each job from submission to completion, whatever kind of device runs it. */
#include <string.h>

#include "plan.h"

enum { NONE = UINT32_MAX };

/* ---- lists of entries ---- */

/* Appends a job to the end of a list of jobs. */
static void push(struct mae_dev *dev, struct mae_index_list *list, uint32_t index)
{
    dev->entries[index].next = NONE;
    if (list->head == NONE)
        list->head = index;
    else
        dev->entries[list->tail].next = index;
    list->tail = index;
}

/* Returns a job's entry to the front of the free list, so that it is reused first: its lists are
   allocated. */
static void give_back(struct mae_dev *dev, uint32_t index)
{
    dev->entries[index].next = dev->free.head;
    dev->free.head = index;
}

/* Removes the first job from a list of jobs and returns its index. */
static uint32_t pop(struct mae_dev *dev, struct mae_index_list *list)
{
    uint32_t index = list->head;
    list->head = dev->entries[index].next;
    return index;
}

void mae_jobs_open(struct mae_dev *dev)
{
    dev->free.head = dev->done.head = NONE;
    for (uint32_t i = 0; i < MAE_DEPTH; i++)
        give_back(dev, MAE_DEPTH - 1 - i);
    dev->depth = MAE_DEPTH;
    dev->progress_ns = dev->ops->now_ns(dev->backend);
}

void mae_jobs_close(struct mae_dev *dev)
{
    for (uint32_t i = 0; i < MAE_DEPTH; i++)
        dev->entries[i].lists = NULL; /* the memory goes with all other mappings */
}

/* ---- submission and completion ---- */

/* Adds a job to (+1), or removes it from (-1), the counts of its context, keys and device. */
static void account(struct mae_dev *dev, const struct mae_entry *entry, int change)
{
    dev->contexts[entry->context].jobs += (uint32_t)change;
    for (int i = 0; i < 2; i++)
        if (entry->slots[i] != MAE_SLOT_NONE)
            mae_find_slot(dev, entry->slots[i])->jobs += (uint32_t)change;
    dev->in_flight += (uint32_t)change;
    if (entry->notify)
        dev->own += (uint32_t)change;
    if (change > 0)
        dev->bytes_in_flight += entry->length;
    else
        dev->bytes_in_flight -= entry->length;
}

mae_error_t mae_submit_own(mae_dev_t *dev, const struct mae_job *job, mae_notify_t notify,
                           void *arg)
{
    MAE_TRY(mae_usable(dev));
    if (!job)
        return MAE_E_ARGUMENT;
    if (dev->used >= dev->depth)
        return MAE_E_FULL;
    MAE_TRY(mae_check_job(dev, job));
    bool aead = mae_is_aead(job->mode);
    struct mae_progress next = dev->contexts[job->context].message;
    next.stage = MAE_STAGE_NONE; /* another mode ends what was there */
    if (aead)
        MAE_TRY(mae_check_aead_job(dev, job, &next));

    uint32_t index = dev->free.head;
    struct mae_entry *entry = &dev->entries[index];
    entry->completion = (struct mae_completion){.user = job->user, .context = job->context};
    entry->notify = notify;
    entry->arg = arg;
    entry->length = job->length;
    entry->context = job->context;
    entry->slots[0] = job->mode == MAE_COPY ? MAE_SLOT_NONE : job->key_slot;
    entry->slots[1] = job->mode == MAE_XTS ? job->tweak_slot : MAE_SLOT_NONE;
    if (dev->in_flight == 0)
        dev->progress_ns = dev->ops->now_ns(dev->backend);

    (void)pop(dev, &dev->free);
    dev->used++;
    entry->in_flight = true;
    account(dev, entry, 1);
    struct mae_progress *message = &dev->contexts[job->context].message, before = *message;
    entry->aead = aead;
    entry->message = next.number;
    entry->sinks = aead && job->phase != MAE_PHASE_DATA;
    *message = next; /* before: a peripheral completes inside the call */
    mae_error_t error = dev->engine->submit(dev, index, job);
    if (error != MAE_OK) {
        *message = before;
        account(dev, entry, -1);
        entry->in_flight = false;
        dev->used--;
        give_back(dev, index);
    }
    return error;
}

mae_error_t mae_submit(mae_dev_t *dev, const struct mae_job *job)
{
    return mae_submit_own(dev, job, NULL, NULL);
}

mae_error_t mae_submit_many(mae_dev_t *dev, const struct mae_job *list, size_t count, size_t *taken)
{
    if (!taken)
        return MAE_E_ARGUMENT;
    *taken = 0;
    MAE_TRY(mae_usable(dev));
    if (!list && count > 0)
        return MAE_E_ARGUMENT;
    mae_error_t error = MAE_OK;
    dev->batch = true;
    while (*taken < count && error == MAE_OK) {
        error = mae_submit_own(dev, &list[*taken], NULL, NULL);
        *taken += error == MAE_OK;
    }
    dev->batch = false;
    mae_error_t rung = *taken > 0 ? dev->engine->announce(dev) : MAE_OK;
    return rung != MAE_OK ? rung : error;
}

/* Frees the entry of a fetched job, whose number becomes invalid. */
static void release(struct mae_dev *dev, uint32_t index)
{
    dev->entries[index].generation++;
    dev->used--;
    give_back(dev, index);
}

void mae_complete(struct mae_dev *dev, uint32_t index, mae_error_t error, uint32_t status,
                  uint64_t bytes, const uint8_t *tag)
{
    struct mae_entry *entry = &dev->entries[index];
    account(dev, entry, -1);
    entry->in_flight = false;
    dev->completed++;
    entry->completion.error = error;
    entry->completion.device_status = status;
    entry->completion.bytes = bytes;
    if (tag && error == MAE_OK)
        memcpy(entry->completion.tag, tag, sizeof entry->completion.tag);
    struct mae_progress *message = &dev->contexts[entry->context].message;
    if (entry->aead && error != MAE_OK && message->number == entry->message)
        message->stage = MAE_STAGE_NONE; /* it cannot go on */
    dev->progress_ns = dev->ops->now_ns(dev->backend);
    if (!entry->notify) {
        push(dev, &dev->done, index);
        return;
    }
    /* Released first: the notified may submit again. */
    struct mae_completion completion = entry->completion;
    mae_notify_t notify = entry->notify;
    void *arg = entry->arg;
    release(dev, index);
    notify(arg, &completion);
}

bool mae_jobs_reach(const struct mae_dev *dev, uint64_t iova, uint64_t bytes)
{
    for (uint32_t i = 0; dev->in_flight > 0 && i < MAE_DEPTH; i++) {
        const struct mae_entry *entry = &dev->entries[i];
        if (!entry->in_flight)
            continue;
        const struct mae_ring_sg_entry *list = entry->lists;
        for (int side = 0; side < (entry->sinks ? 1 : 2); side++) {
            if (entry->list_entries[side] == 0 && entry->iova[side] < iova + bytes &&
                iova < entry->iova[side] + entry->length)
                return true;
            for (uint32_t j = 0; j < entry->list_entries[side]; j++, list++)
                if (list->addr < iova + bytes && iova < list->addr + list->length)
                    return true;
        }
    }
    return false;
}

/* ---- waiting ---- */

mae_error_t mae_kill(struct mae_dev *dev, mae_error_t error, const char *why)
{
    if (dev->dead)
        return MAE_E_DEAD;
    if (why)
        (void)mae_detail(error, "%s", why);
    mae_detail_hold(true);
    dev->dead = true;
    dev->ops->stop(dev->backend);
    for (uint32_t i = 0; i < MAE_DEPTH; i++)
        if (dev->entries[i].in_flight)
            mae_complete(dev, i, MAE_E_DEAD, 0, 0, NULL);
    mae_detail_hold(false);
    return error;
}

/*
 * Returns the time at which a device that completes no job counts as dead. A block may take 250 ns:
 * CBC on an iterative core.
 */
static uint64_t stall_at(const struct mae_dev *dev)
{
    uint64_t allowed = dev->stall_ns + dev->bytes_in_flight / 16 * 250;
    return dev->progress_ns > UINT64_MAX - allowed ? UINT64_MAX : dev->progress_ns + allowed;
}

/* Takes completed jobs from the device; an error ends the device. */
static mae_error_t collect(struct mae_dev *dev)
{
    mae_error_t error = dev->engine->collect(dev);
    if (error != MAE_OK)
        return mae_kill(dev, error, NULL);
    return MAE_OK;
}

mae_error_t mae_work(struct mae_dev *dev, uint64_t max_ns)
{
    uint64_t before = dev->completed;
    uint64_t start = dev->ops->now_ns(dev->backend), now = start;
    MAE_TRY(collect(dev));
    while (dev->completed == before && dev->in_flight > 0) {
        if (now - start >= max_ns)
            return MAE_E_TIMEOUT;
        if (now >= stall_at(dev))
            return mae_kill(dev, MAE_E_TIMEOUT, "the device completed nothing for too long");
        /* The line must fall before the last look, or a completion between the two is missed. */
        mae_error_t error = dev->engine->acknowledge(dev);
        if (error != MAE_OK)
            return mae_kill(dev, error, NULL);
        MAE_TRY(collect(dev));
        if (dev->completed != before)
            break;
        uint64_t slice = max_ns - (now - start), left = stall_at(dev) - now;
        mae_error_t waited = dev->ops->wait(dev->backend, slice < left ? slice : left);
        if (waited != MAE_OK && waited != MAE_E_TIMEOUT)
            return mae_kill(dev, waited, NULL);
        now = dev->ops->now_ns(dev->backend);
        atomic_store_explicit(&dev->seen_ns, now, memory_order_relaxed);
        MAE_TRY(collect(dev));
        if (waited == MAE_OK && dev->completed == before &&
            (error = dev->engine->check(dev)) != MAE_OK)
            return mae_kill(dev, error, NULL);
    }
    return MAE_OK;
}

/* Copies results of completed jobs to the caller, up to a maximum count. */
static size_t fetch(struct mae_dev *dev, struct mae_completion *list, size_t max)
{
    size_t count = 0;
    for (; count < max && dev->done.head != NONE; count++) {
        uint32_t index = pop(dev, &dev->done);
        list[count] = dev->entries[index].completion;
        release(dev, index);
    }
    return count;
}

mae_error_t mae_wait(mae_dev_t *dev, struct mae_completion *list, size_t max, size_t *count,
                     uint64_t timeout_us)
{
    mae_detail_clear();
    if (!dev || !count || (max > 0 && !list))
        return MAE_E_ARGUMENT;
    *count = 0;
    MAE_TRY(mae_check_process(dev)); /* a dead device has completions to give, too */
    *count = fetch(dev, list, max);
    if (*count > 0 || max == 0)
        return MAE_OK;
    MAE_TRY(mae_usable(dev));
    uint64_t now = dev->ops->now_ns(dev->backend);
    uint64_t limit = timeout_us > (UINT64_MAX - now) / 1000 ? UINT64_MAX : now + timeout_us * 1000;
    mae_error_t error = MAE_OK;
    do {
        if (dev->in_flight == dev->own) /* what is left belongs to open streams */
            return mae_detail(MAE_E_TIMEOUT, "no job is in flight");
        now = dev->ops->now_ns(dev->backend);
        error = mae_work(dev, limit > now ? limit - now : 0);
        if (error == MAE_OK)
            *count = fetch(dev, list, max);
    } while (*count == 0 && error == MAE_OK);
    return error;
}

mae_error_t mae_poll(mae_dev_t *dev, struct mae_completion *list, size_t max, size_t *count)
{
    mae_detail_clear();
    if (!dev || !count || (max > 0 && !list))
        return MAE_E_ARGUMENT;
    *count = 0;
    MAE_TRY(mae_check_process(dev)); /* a dead device has completions to give, too */
    *count = fetch(dev, list, max);
    if (*count > 0 || max == 0)
        return MAE_OK;
    MAE_TRY(mae_usable(dev));
    mae_error_t error = mae_work(dev, dev->ops->poll_ns);
    if (error == MAE_E_TIMEOUT && !dev->dead)
        return MAE_OK;
    if (error == MAE_OK)
        *count = fetch(dev, list, max);
    return error;
}

uint32_t mae_in_flight(const mae_dev_t *dev)
{
    return dev ? dev->used - dev->own : 0;
}

mae_error_t mae_set_queue_depth(mae_dev_t *dev, uint32_t depth)
{
    MAE_TRY(mae_usable(dev));
    if (depth == 0 || depth > dev->caps.max_queue_depth)
        return mae_detail(MAE_E_ARGUMENT, "queue depth %u: 1 to %u are possible", depth,
                          dev->caps.max_queue_depth);
    dev->depth = depth;
    return MAE_OK;
}

mae_error_t mae_set_stall_timeout(mae_dev_t *dev, uint64_t microseconds)
{
    MAE_TRY(mae_usable(dev));
    if (microseconds == 0 || microseconds > UINT64_MAX / 4000)
        return mae_detail(MAE_E_ARGUMENT, "a stall timeout has 1 to 2^62/1000 microseconds");
    dev->stall_ns = microseconds * 1000;
    return MAE_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: checked, numbered, followed to their completion. What carries them is the engine's. */
#include <string.h>

#include "plan.h"

enum { NONE = UINT32_MAX };

/* ---- lists of entries ---- */

static void push(struct mae_dev *dev, struct mae_index_list *list, uint32_t index)
{
    dev->entries[index].next = NONE;
    if (list->head == NONE)
        list->head = index;
    else
        dev->entries[list->tail].next = index;
    list->tail = index;
}

/* The entry used last is taken first: its lists are in place. */
static void give_back(struct mae_dev *dev, uint32_t index)
{
    dev->entries[index].next = dev->free.head;
    dev->free.head = index;
}

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

/* ---- contexts ---- */

mae_error_t mae_context_alloc(mae_dev_t *dev, uint32_t *context)
{
    if (!context)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_usable(dev));
    for (uint32_t i = 0; i < dev->caps.contexts; i++) {
        if (!dev->contexts[i].held) {
            dev->contexts[i].held = true;
            *context = i;
            return MAE_OK;
        }
    }
    return mae_detail(MAE_E_CONTEXT, "all %u contexts are taken", dev->caps.contexts);
}

mae_error_t mae_context_free(mae_dev_t *dev, uint32_t context)
{
    mae_detail_clear();
    if (!dev)
        return MAE_E_ARGUMENT;
    if (context >= dev->caps.contexts || !dev->contexts[context].held)
        return mae_detail(MAE_E_CONTEXT, "context %u is not allocated", context);
    if (dev->contexts[context].jobs > 0)
        return mae_detail(MAE_E_BUSY, "context %u has jobs in flight", context);
    dev->contexts[context].held = false;
    return MAE_OK;
}

/* ---- checks ---- */

static mae_error_t check_list(const struct mae_segment *list, uint32_t entries, uint64_t length,
                              const char *what)
{
    uint64_t sum = 0;
    if (entries == 0 || entries > MAE_MAX_LIST)
        return mae_detail(MAE_E_ARGUMENT, "%s list of %u entries: 1 to %d are possible", what,
                          entries, MAE_MAX_LIST);
    for (uint32_t i = 0; i < entries; i++) {
        if (list[i].bytes > length - sum)
            return mae_detail(MAE_E_LENGTH, "%s list holds more than the length", what);
        if (list[i].bytes > 0 && !list[i].data)
            return mae_detail(MAE_E_ARGUMENT, "%s list entry %u is NULL", what, i);
        sum += list[i].bytes;
    }
    if (sum != length)
        return mae_detail(MAE_E_LENGTH, "%s list holds less than the length", what);
    return MAE_OK;
}

static mae_error_t check_key_slot(const struct mae_dev *dev, uint32_t slot)
{
    if (slot >= dev->caps.key_slots)
        return mae_detail(MAE_E_SLOT, "slot %u: this device has %u", slot, dev->caps.key_slots);
    if (dev->slots[slot].key_bytes == 0)
        return mae_detail(MAE_E_KEY, "slot %u is empty", slot);
    return MAE_OK;
}

/* Which cipher directions a job needs, as bits of caps.directions. */
static uint32_t needed_directions(const struct mae_job *job)
{
    if (job->mode == MAE_COPY)
        return 0;
    if (job->mode == MAE_CFB || job->mode == MAE_OFB || job->mode == MAE_CTR)
        return 1;
    return (job->direction == MAE_DECRYPT ? 2u : 1u) | (job->mode == MAE_XTS ? 1u : 0u);
}

/* Mode, direction and key slots. */
static mae_error_t check_operation(const struct mae_dev *dev, const struct mae_job *job)
{
    if ((unsigned)job->mode > MAE_COPY)
        return mae_detail(MAE_E_MODE, "mode %u is unknown", (unsigned)job->mode);
    if (!(dev->caps.modes >> job->mode & 1))
        return mae_detail(MAE_E_MODE, "this device lacks mode %u", (unsigned)job->mode);
    if (job->direction != MAE_ENCRYPT && job->direction != MAE_DECRYPT)
        return mae_detail(MAE_E_MODE, "direction %u is unknown", (unsigned)job->direction);
    uint32_t needed = needed_directions(job);
    if ((dev->caps.directions & needed) != needed)
        return mae_detail(MAE_E_MODE, "this device has the cipher in one direction only");
    if (job->mode != MAE_COPY)
        MAE_TRY(check_key_slot(dev, job->key_slot));
    if (job->mode == MAE_XTS)
        MAE_TRY(check_key_slot(dev, job->tweak_slot));
    return MAE_OK;
}

mae_error_t mae_check_length(mae_mode_t mode, uint64_t length)
{
    if (mode <= MAE_PCBC && length % 16 != 0)
        return mae_detail(MAE_E_LENGTH, "ECB, CBC and PCBC take whole blocks of 16 bytes");
    if (mode == MAE_XTS && length < 16)
        return mae_detail(MAE_E_LENGTH, "XTS takes 16 bytes at least");
    return MAE_OK;
}

mae_error_t mae_check_message(const struct mae_dev *dev, struct mae_job *common, const uint8_t *iv)
{
    MAE_TRY(check_operation(dev, common));
    if (common->mode == MAE_ECB || common->mode == MAE_COPY)
        return MAE_OK;
    if (!iv)
        return mae_detail(MAE_E_ARGUMENT, "this mode needs an IV");
    memcpy(common->iv, iv, sizeof common->iv);
    return MAE_OK;
}

static mae_error_t check_job(const struct mae_dev *dev, const struct mae_job *job)
{
    MAE_TRY(check_operation(dev, job));
    if (job->context >= dev->caps.contexts || !dev->contexts[job->context].held)
        return mae_detail(MAE_E_CONTEXT, "context %u is not allocated", job->context);
    if (job->length == 0 || job->length > dev->caps.max_job_bytes)
        return mae_detail(MAE_E_LENGTH, "a job has 1 to %llu bytes",
                          (unsigned long long)dev->caps.max_job_bytes);
    MAE_TRY(mae_check_length(job->mode, job->length));
    if (job->src_list)
        MAE_TRY(check_list(job->src_list, job->src_entries, job->length, "source"));
    if (job->dst_list)
        MAE_TRY(check_list(job->dst_list, job->dst_entries, job->length, "destination"));
    if ((!job->src_list && !job->src) || (!job->dst_list && !job->dst))
        return mae_detail(MAE_E_ARGUMENT, "source or destination is NULL");
    return MAE_OK;
}

/* ---- submission and completion ---- */

/* Counts a job in (+1) or out (-1) of everything it uses. */
static void account(struct mae_dev *dev, const struct mae_entry *entry, int change)
{
    dev->contexts[entry->context].jobs += (uint32_t)change;
    for (int i = 0; i < 2; i++)
        if (entry->slots[i] != MAE_SLOT_NONE)
            dev->slots[entry->slots[i]].jobs += (uint32_t)change;
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
    MAE_TRY(check_job(dev, job));

    uint32_t index = dev->free.head;
    struct mae_entry *entry = &dev->entries[index];
    entry->completion = (struct mae_completion){.user = job->user, .context = job->context};
    entry->notify = notify;
    entry->arg = arg;
    entry->length = job->length;
    entry->context = job->context;
    entry->slots[0] = job->mode == MAE_COPY ? MAE_SLOT_NONE : (uint8_t)job->key_slot;
    entry->slots[1] = job->mode == MAE_XTS ? (uint8_t)job->tweak_slot : MAE_SLOT_NONE;
    if (dev->in_flight == 0)
        dev->progress_ns = dev->ops->now_ns(dev->backend);

    (void)pop(dev, &dev->free);
    dev->used++;
    entry->in_flight = true;
    account(dev, entry, 1);
    mae_error_t error = dev->engine->submit(dev, index, job);
    if (error != MAE_OK) {
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

static void release(struct mae_dev *dev, uint32_t index)
{
    dev->entries[index].generation++;
    dev->used--;
    give_back(dev, index);
}

void mae_complete(struct mae_dev *dev, uint32_t index, mae_error_t error, uint32_t status,
                  uint64_t bytes)
{
    struct mae_entry *entry = &dev->entries[index];
    account(dev, entry, -1);
    entry->in_flight = false;
    dev->completed++;
    entry->completion.error = error;
    entry->completion.device_status = status;
    entry->completion.bytes = bytes;
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
        for (int side = 0; side < 2; side++) {
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
            mae_complete(dev, i, MAE_E_DEAD, 0, 0);
    mae_detail_hold(false);
    return error;
}

/* When the device is given up, in its own time. A block may take 250 ns: CBC on an iterative core. */
static uint64_t stall_at(const struct mae_dev *dev)
{
    uint64_t allowed = dev->stall_ns + dev->bytes_in_flight / 16 * 250;
    return dev->progress_ns > UINT64_MAX - allowed ? UINT64_MAX : dev->progress_ns + allowed;
}

/* Collects; an engine's failure is the device's end. */
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
        MAE_TRY(collect(dev));
        if (waited == MAE_OK && dev->completed == before &&
            (error = dev->engine->check(dev)) != MAE_OK)
            return mae_kill(dev, error, NULL);
    }
    return MAE_OK;
}

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

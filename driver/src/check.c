/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a job before the library submits it to a device, and reserves contexts. */
#include <string.h>

#include "plan.h"

/* ---- contexts ---- */

/* Reserves the first free context of the device in a range of numbers. */
static mae_error_t take_context(struct mae_dev *dev, uint32_t from, uint32_t to, uint32_t *context)
{
    for (uint32_t i = from; i < to; i++) {
        if (!dev->contexts[i].held) {
            dev->contexts[i] = (struct mae_context){.held = true};
            *context = i;
            return MAE_OK;
        }
    }
    return mae_detail(MAE_E_CONTEXT, "all %u contexts are taken", to - from);
}

mae_error_t mae_context_alloc(mae_dev_t *dev, uint32_t *context)
{
    if (!context)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_usable(dev));
    return take_context(dev, 0, dev->caps.contexts, context);
}

mae_error_t mae_context_alloc_aead(mae_dev_t *dev, uint32_t *context)
{
    if (!context)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_usable(dev));
    bool kept = dev->context_count > dev->caps.contexts;
    return take_context(dev, kept ? dev->caps.contexts : 0, dev->context_count, context);
}

mae_error_t mae_context_free(mae_dev_t *dev, uint32_t context)
{
    mae_detail_clear();
    if (!dev)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(dev));
    if (context >= dev->context_count || !dev->contexts[context].held)
        return mae_detail(MAE_E_CONTEXT, "context %u is not allocated", context);
    if (dev->contexts[context].jobs > 0)
        return mae_detail(MAE_E_BUSY, "context %u has jobs in flight", context);
    mae_wipe(&dev->contexts[context], sizeof dev->contexts[context]);
    if (dev->loaded == context)
        dev->loaded = MAE_NO_CONTEXT;
    return MAE_OK;
}

/* ---- checks ---- */

/* Checks a job's scatter-gather list: its number of segments and total length. */
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

struct mae_slot *mae_find_slot(struct mae_dev *dev, uint32_t slot)
{
    if (slot < dev->caps.key_slots)
        return &dev->slots[slot];
    if (slot >= MAE_RECORD_FIRST && slot - MAE_RECORD_FIRST < dev->records.count)
        return &dev->records.slots[slot - MAE_RECORD_FIRST];
    return NULL;
}

mae_error_t mae_check_key_slot(const struct mae_dev *dev, uint32_t slot)
{
    bool record = slot >= MAE_RECORD_FIRST && slot - MAE_RECORD_FIRST < dev->records.count;
    if (slot >= dev->caps.key_slots && !record)
        return mae_detail(MAE_E_SLOT, "slot %u: this device has %u", slot, dev->caps.key_slots);
    if ((record ? &dev->records.slots[slot - MAE_RECORD_FIRST] : &dev->slots[slot])->key_bytes == 0)
        return mae_detail(MAE_E_KEY, "slot %u is empty", slot);
    return MAE_OK;
}

/* Checks that a device allows the mode, direction and key slots of a job. */
mae_error_t mae_check_operation(const struct mae_dev *dev, const struct mae_job *job)
{
    if (!mae_mode_known(job->mode))
        return mae_detail(MAE_E_MODE, "mode %u is unknown", (unsigned)job->mode);
    if (!(dev->caps.modes >> job->mode & 1))
        return mae_detail(MAE_E_MODE, "this device lacks mode %u", (unsigned)job->mode);
    if (job->direction != MAE_ENCRYPT && job->direction != MAE_DECRYPT)
        return mae_detail(MAE_E_MODE, "direction %u is unknown", (unsigned)job->direction);
    uint32_t needed = mae_mode_directions(job->mode, job->direction);
    if ((dev->caps.directions & needed) != needed)
        return mae_detail(MAE_E_MODE, "this device has the cipher in one direction only");
    if (job->mode != MAE_COPY)
        MAE_TRY(mae_check_key_slot(dev, job->key_slot));
    if (job->mode == MAE_XTS)
        MAE_TRY(mae_check_key_slot(dev, job->tweak_slot));
    if (job->mode == MAE_XTS &&
        (job->key_slot >= MAE_RECORD_FIRST || job->tweak_slot >= MAE_RECORD_FIRST))
        return mae_detail(MAE_E_SLOT, "XTS takes its keys in slots, not in records");
    if (job->mode == MAE_XTS && job->tweak_slot == job->key_slot)
        return mae_detail(MAE_E_KEY, "XTS takes two keys, not slot %u twice (FIPS 140-3 IG C.I)",
                          job->key_slot);
    return MAE_OK;
}

mae_error_t mae_check_message(const struct mae_dev *dev, struct mae_job *common, const uint8_t *iv)
{
    if (mae_is_aead(common->mode))
        return mae_detail(MAE_E_MODE, "mae_seal and mae_unseal are for this mode");
    MAE_TRY(mae_check_operation(dev, common));
    if (common->mode == MAE_ECB || common->mode == MAE_COPY)
        return MAE_OK;
    if (!iv)
        return mae_detail(MAE_E_ARGUMENT, "this mode needs an IV");
    memcpy(common->iv, iv, sizeof common->iv);
    return MAE_OK;
}

mae_error_t mae_check_aead_job(const struct mae_dev *dev, const struct mae_job *job,
                               struct mae_progress *next)
{
    if ((unsigned)job->phase > MAE_PHASE_IV || (job->phase == MAE_PHASE_IV && job->mode != MAE_GCM))
        return mae_detail(MAE_E_ARGUMENT, "phase %u is unknown", (unsigned)job->phase);
    if (job->phase == MAE_PHASE_IV && (!job->init || job->final || job->length == 0))
        return mae_detail(MAE_E_ARGUMENT, "an IV of at least a byte comes with init, not final");
    if (job->mode == MAE_CMAC && job->phase != MAE_PHASE_AAD)
        return mae_detail(MAE_E_ARGUMENT, "CMAC takes its message in the aad phase");
    if (job->final && job->direction == MAE_DECRYPT &&
        (job->tag_bytes < MAE_TAG_LEAST || job->tag_bytes > sizeof job->tag))
        return mae_detail(MAE_E_ARGUMENT, "a tag of %u bytes: 4 to 16 are possible",
                          job->tag_bytes);
    *next = dev->contexts[job->context].message;
    if (job->init) {
        next->number++;
        next->stage = MAE_STAGE_OPEN;
        next->mode = job->mode;
        next->direction = job->direction;
        next->key_slot = job->key_slot;
        next->phase = job->phase;
        next->aad_bytes = next->data_bytes = 0;
    }
    /* The phases are numbered backwards. */
    if (next->stage == MAE_STAGE_NONE || next->mode != job->mode ||
        next->direction != job->direction || next->key_slot != job->key_slot ||
        job->phase > next->phase ||
        (job->phase == next->phase &&
         (next->stage == MAE_STAGE_SHORT || (job->phase == MAE_PHASE_IV && !job->init))))
        return mae_detail(MAE_E_STATE, "context %u has no message that this job continues",
                          job->context);
    next->phase = job->phase;
    next->stage = job->length % 16 ? MAE_STAGE_SHORT : MAE_STAGE_OPEN;
    if (job->final)
        next->stage = MAE_STAGE_NONE;
    uint64_t *sum = job->phase == MAE_PHASE_DATA ? &next->data_bytes : &next->aad_bytes;
    uint64_t most = job->phase == MAE_PHASE_DATA ? MAE_GCM_DATA_MOST : MAE_GCM_AAD_MOST;
    *sum += job->phase == MAE_PHASE_IV ? 0 : job->length;
    if (job->mode == MAE_GCM && *sum > most)
        return mae_detail(MAE_E_LENGTH, "GCM takes at most %llu bytes in this phase",
                          (unsigned long long)most);
    return MAE_OK;
}

mae_error_t mae_check_job(const struct mae_dev *dev, const struct mae_job *job)
{
    bool aead = mae_is_aead(job->mode), sinks = aead && job->phase != MAE_PHASE_DATA;
    MAE_TRY(mae_check_operation(dev, job));
    if (job->context >= (aead ? dev->context_count : dev->caps.contexts) ||
        !dev->contexts[job->context].held)
        return mae_detail(MAE_E_CONTEXT, "context %u is not allocated, or not for this mode",
                          job->context);
    if ((job->length == 0 && !aead) || job->length > dev->caps.max_job_bytes)
        return mae_detail(MAE_E_LENGTH, "a job has 1 to %llu bytes",
                          (unsigned long long)dev->caps.max_job_bytes);
    MAE_TRY(mae_check_length(job->mode, job->length));
    if (job->length == 0)
        return MAE_OK;
    if (job->src_list)
        MAE_TRY(check_list(job->src_list, job->src_entries, job->length, "source"));
    if (job->dst_list && !sinks)
        MAE_TRY(check_list(job->dst_list, job->dst_entries, job->length, "destination"));
    if ((!job->src_list && !job->src) || (!job->dst_list && !job->dst && !sinks))
        return mae_detail(MAE_E_ARGUMENT, "source or destination is NULL");
    return MAE_OK;
}

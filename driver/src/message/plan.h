/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the division of a message into jobs, which may run in parallel. */
#ifndef MAE_PLAN_H
#define MAE_PLAN_H

#include "device.h"

struct mae_plan {
    struct mae_dev *dev;
    struct mae_job job; /* what all jobs have in common; job.iv is the next one's */
    bool parallel;      /* the jobs are independent: each starts with an IV of its own */
    uint32_t chunk;     /* bytes of every job but the last */
    uint64_t jobs;      /* planned so far */
    uint32_t contexts[MAE_PARALLEL];
    uint32_t context_count; /* 1 unless parallel */
    uint32_t outstanding;   /* jobs in flight */
    uint32_t limit;         /* of those at once */
    mae_error_t error;      /* the first */

    /* XTS: IVs of the next jobs, computed in batches by the device itself. */
    uint8_t *tweaks; /* mapped memory; NULL until needed */
    uint32_t tweaks_left;
    uint32_t tweak_context;
    uint64_t tweak_low, tweak_high;   /* the encrypted tweak of the next batch's first job */
    uint64_t factor_low, factor_high; /* alpha to the number of blocks in a job */
};

/* Begins the division of a message into jobs, in up to `contexts` contexts of the device. */
mae_error_t mae_plan_begin(struct mae_plan *plan, struct mae_dev *dev, const struct mae_job *common,
                           uint64_t length, uint32_t chunk, uint32_t contexts);
/* Sets the start of a message's next job: init and iv. `src` is its data, before it is
   processed. */
mae_error_t mae_plan_next(struct mae_plan *plan, struct mae_job *job, const uint8_t *src,
                          uint32_t bytes);
/* Waits for all jobs of a divided message and frees their contexts. */
void mae_plan_end(struct mae_plan *plan);
/* Opens a stream for a message whose keys are loaded. In stream.c. */
mae_error_t mae_stream_open(struct mae_dev *dev, const struct mae_job *common,
                            struct mae_stream **stream);
/* Checks a message's mode, direction and key slots; copies its IV into the job `common`. In
   check.c. */
mae_error_t mae_check_message(const struct mae_dev *dev, struct mae_job *common, const uint8_t *iv);
/* Multiplies an encrypted XTS tweak by alpha once for each of a number of blocks. */
void mae_tweak_advance(uint8_t tweak[16], uint64_t blocks);
/* Returns the device's number of free contexts. */
uint32_t mae_free_contexts(const struct mae_dev *dev);

/* Loads a message's key, and the second key of XTS, into free key slots. */
mae_error_t mae_keys_take(struct mae_dev *dev, mae_mode_t mode, const uint8_t *key, size_t bytes,
                          uint32_t *key_slot, uint32_t *tweak_slot);
void mae_keys_give(struct mae_dev *dev, uint32_t key_slot, uint32_t tweak_slot);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Submits the jobs of an authenticated message to the device and waits for them. */
#include <string.h>

#include "auth.h"

/* Sets how many jobs of an authenticated message the device holds at once. */
enum { AHEAD = 3 };

/* Records that the device has completed a message's job: its tag and first error. */
static void job_done(void *arg, const struct mae_completion *completion)
{
    struct mae_piece *piece = arg;
    struct mae_auth *auth = piece->auth;
    piece->jobs--;
    auth->outstanding--;
    if (!auth->composed && auth->job.direction == MAE_ENCRYPT)
        memcpy(auth->tag, completion->tag, sizeof auth->tag); /* the last job's stays */
    if (auth->error != MAE_OK || completion->error == MAE_OK)
        return;
    auth->error = completion->error;
    if (auth->error != MAE_E_AUTH)
        (void)mae_detail(auth->error, "job of the message failed, device status %u",
                         completion->device_status);
}

mae_error_t mae_auth_submit(struct mae_auth *auth, const struct mae_job *job,
                            struct mae_piece *piece)
{
    struct mae_dev *dev = auth->dev;
    while (auth->error == MAE_OK && dev->used >= dev->depth && auth->outstanding > 0)
        MAE_TRY(mae_work(dev, UINT64_MAX));
    while (auth->error == MAE_OK && auth->outstanding >= AHEAD)
        MAE_TRY(mae_work(dev, UINT64_MAX));
    MAE_TRY(auth->error);
    if (!piece)
        piece = &auth->own;
    piece->auth = auth;
    piece->jobs++; /* before: a peripheral completes inside the call */
    auth->outstanding++;
    mae_error_t error = mae_submit_own(dev, job, job_done, piece);
    if (error != MAE_OK) {
        piece->jobs--;
        auth->outstanding--;
        return error;
    }
    if (job->dst && job->dst != auth->scratch && job->dst != auth->stage)
        auth->wrote = true;
    return MAE_OK;
}

mae_error_t mae_auth_wait(struct mae_auth *auth)
{
    while (auth->outstanding > 0)
        MAE_TRY(mae_work(auth->dev, UINT64_MAX));
    return auth->error;
}

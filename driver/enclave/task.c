/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, completes and frees the tasks by which an application waits for its requests. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

mae_task_t *task_new(mae_session_t *session, uint32_t queue)
{
    mae_task_t *task = calloc(1, sizeof *task);
    if (!task)
        return NULL;
    task->session = session;
    task->result.queue = queue;
    task->following = session->tasks;
    session->tasks = task;
    return task;
}

void task_drop(mae_task_t *task)
{
    mae_task_t **place = &task->session->tasks;
    while (*place && *place != task)
        place = &(*place)->following;
    if (*place)
        *place = task->following;
    gcm_wipe(task, sizeof *task);
    free(task);
}

void task_answered(mae_task_t *task)
{
    if (task->result.done)
        return;
    if (task->given_up && task->result.error != MAE_E_POISONED)
        task->result.error = MAE_E_GIVEN_UP;
    if (task->result.error && task->data)
        gcm_wipe(task->data, task->total); /* H17: a part of a transfer is nothing */
    task->result.done = 1;
    if (task->transfer)
        task->session->transfers--;
    if (task->freed)
        task_drop(task);
}

void mae_task_get(const mae_task_t *task, struct mae_task_result *result)
{
    *result = task->result;
}

mae_error_t mae_task_values(const mae_task_t *task, uint64_t *values, size_t max)
{
    size_t count = task ? task->result.values : 0;
    if (!task || !values || max < count ||
        (count > 0 && !inside(task->session, values, count * sizeof *values)))
        return MAE_E_ARGUMENT;
    if (!task->result.done || task->result.error)
        return MAE_E_STATE;
    memcpy(values, task->values, count * sizeof *values);
    return MAE_OK;
}

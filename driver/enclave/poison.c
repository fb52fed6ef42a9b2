/* SPDX-License-Identifier: Apache-2.0 */
/* Records errors of a protected session, and ends a failed session at once (H18). */
#include "state.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

mae_error_t session_fail(mae_session_t *session, mae_error_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(session->detail, sizeof session->detail, format, arguments);
    va_end(arguments);
    return error;
}

static const char *const kind_names[] = {"kind 0", "OPEN",  "BATCH", "H2D",
                                         "D2H",    "REKEY", "SKIP",  "CLOSE"};

/* Reads the reason why the card ended the session, which the OS may have changed (D6). */
static void advise(mae_session_t *session)
{
    static const char *const causes[] = {"",       "TAG",    "CHUNK",   "BEAT",
                                         "ACCESS", "BUDGET", "DOORBELL"};
    uint64_t cause = outside_register(session, REGISTER_CAUSE, 4);
    uint64_t at = outside_register(session, REGISTER_CAUSE_SEQUENCE, 8);
    unsigned code = cause & 0xff;
    if (code >= 1 && code < sizeof causes / sizeof causes[0])
        snprintf(session->advice, sizeof session->advice, "%s at queue %u, number %llu",
                 causes[code], (unsigned)(cause >> 8 & 0xff), (unsigned long long)at);
}

/* Wipes a session's keys and fails its tasks, without any access outside the enclave. */
static void end(mae_session_t *session, bool forked)
{
    mae_task_t *task = session->tasks, *following;
    session->poisoned = true;
    threads_stop(session, forked);
    keys_wipe(session);
    gcm_wipe(session->stage, sizeof session->stage);
    for (uint32_t queue = 0; session->channels && queue < session->caps.queues; queue++)
        for (int i = 0; i < WIRE_SLOTS; i++) {
            session->channels[queue].requests[i].pending = false;
            session->channels[queue].requests[i].task = NULL;
        }
    for (; task; task = following) {
        following = task->following;
        if (!task->result.done)
            task->result.error = MAE_E_POISONED;
        task_answered(task);
    }
}

bool session_over(mae_session_t *session)
{
    if (*session->birth == 1 && (session->process == 0 || session->process == getpid()))
        return session->poisoned;
    /* Leaves everything outside to the parent, whose buffers these are, also if it failed before. */
    session->outside.release = NULL;
    session->outside.now = NULL;
    session->outside.pause = NULL;
    if (session->poisoned)
        return true;
    end(session, true);
    session_fail(session, MAE_E_POISONED, "the process was forked: begin a session of its own");
    return true;
}

mae_error_t session_poison(mae_session_t *session, const char *format, ...)
{
    va_list arguments;
    if (session->poisoned)
        return MAE_E_POISONED;
    end(session, false);
    va_start(arguments, format);
    vsnprintf(session->detail, sizeof session->detail, format, arguments);
    va_end(arguments);
    advise(session);
    return MAE_E_POISONED;
}

mae_error_t session_poison_request(mae_session_t *session, const char *reason, unsigned queue,
                                   const struct request *request)
{
    return session_poison(session, "%s: %s %llu on queue %u", reason, kind_names[request->kind],
                          (unsigned long long)request->sequence, queue);
}

mae_error_t shared_allocate(mae_session_t *session, size_t size, struct shared *shared)
{
    const char *reason = outside_allocate(session, size, shared);
    return reason ? session_poison(session, "%s", reason) : MAE_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypts and decrypts the chunks of protected transfers in several threads. Each has a stage and
 * library contexts of its own; what they share is a list of chunks, which the session's thread
 * fills and takes from, too. Which chunk has which number is decided before a thread sees it, and
 * what is done with its tag after (H2, H11): a thread decides nothing, and accesses nothing outside
 * but the chunk's shared memory.
 */
#include <signal.h>
#include <stdlib.h>

#include "state.h"

enum { TURNS = 1000 }; /* before a thread sleeps */

/* Executes the processor's pause instruction in a polling loop. */
static void turn(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Removes the first chunk from the queue of the sealing threads; NULL if none waits. The lock is
   held. */
static struct request *take(struct pool *pool)
{
    struct request *request = pool->first;
    if (!request)
        return NULL;
    pool->first = request->work.following;
    pool->waiting--;
    request->work.state = WORK_RUNNING;
    return request;
}

/* Encrypts or decrypts a chunk in this thread and reports the end to the session. */
static void work_on(mae_session_t *session, unsigned thread, struct request *request,
                    chunk_pause *pause, void *user)
{
    struct pool *pool = &session->pool;
    bool done = request->work.h2d ? chunk_seal(session, thread, request, pause, user) == CHUNK_DONE
                                  : chunk_open(session, thread, request);
    if (!pool->lanes)
        return; /* the session ended in `pause` */
    pthread_mutex_lock(&pool->lock);
    request->work.state = done ? WORK_DONE : WORK_FAILED;
    pool->unfinished--;
    pthread_cond_broadcast(&pool->done);
    pthread_mutex_unlock(&pool->lock);
}

/* Encrypts and decrypts queued chunks until the session stops; a thread's main function. */
static void *run(void *user)
{
    struct lane *lane = user;
    struct pool *pool = &lane->session->pool;
    while (!pool->stop) {
        for (int i = 0; i < TURNS && !pool->waiting && !pool->stop; i++)
            turn();
        pthread_mutex_lock(&pool->lock);
        while (!pool->first && !pool->stop)
            pthread_cond_wait(&pool->work, &pool->lock);
        struct request *request = pool->stop ? NULL : take(pool);
        pthread_mutex_unlock(&pool->lock);
        if (request)
            work_on(lane->session, lane->number, request, NULL, NULL);
    }
    return NULL;
}

/* Starts a session's sealing threads, or as many as the operating system grants. */
static void start(mae_session_t *session)
{
    struct pool *pool = &session->pool;
    sigset_t all, before;
    pool->lanes = calloc(session->threads, sizeof *pool->lanes);
    if (!pool->lanes)
        return;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 1; i < session->threads; i++) {
        struct lane *lane = &pool->lanes[i];
        lane->session = session;
        lane->number = i;
        if (pthread_create(&lane->thread, NULL, run, lane) != 0)
            break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool threads_ready(mae_session_t *session)
{
    if (session->threads > 1 && !session->pool.lanes)
        start(session);
    return session->pool.started > 0;
}

void threads_submit(mae_session_t *session, struct request *request)
{
    struct pool *pool = &session->pool;
    request->work.state = WORK_WAITING;
    request->work.following = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->first)
        pool->last->work.following = request;
    else
        pool->first = request;
    pool->last = request;
    pool->waiting++;
    pool->unfinished++;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

bool threads_help(mae_session_t *session, chunk_pause *pause, void *user)
{
    struct pool *pool = &session->pool;
    if (!pool->waiting)
        return false;
    pthread_mutex_lock(&pool->lock);
    struct request *request = take(pool);
    pthread_mutex_unlock(&pool->lock);
    if (request)
        work_on(session, 0, request, pause, user);
    return request != NULL;
}

/* Returns true if a request's chunk waits for a sealing thread or is in work. */
static bool underway(const struct request *request)
{
    return request->work.state == WORK_WAITING || request->work.state == WORK_RUNNING;
}

void threads_wait(mae_session_t *session, const struct request *request)
{
    struct pool *pool = &session->pool;
    for (int i = 0; i < TURNS && underway(request); i++)
        turn();
    pthread_mutex_lock(&pool->lock);
    while (underway(request))
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void threads_finish(mae_session_t *session)
{
    struct pool *pool = &session->pool;
    while (threads_help(session, NULL, NULL))
        ;
    if (!pool->unfinished)
        return;
    pthread_mutex_lock(&pool->lock);
    while (pool->unfinished)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void threads_stop(mae_session_t *session, bool forked)
{
    struct pool *pool = &session->pool;
    if (!pool->lanes)
        return;
    pool->stop = true;
    if (!forked) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
        for (unsigned i = 1; i <= pool->started; i++)
            pthread_join(pool->lanes[i].thread, NULL);
        pthread_mutex_destroy(&pool->lock);
        pthread_cond_destroy(&pool->work);
        pthread_cond_destroy(&pool->done);
    }
    gcm_wipe(pool->lanes, session->threads * sizeof *pool->lanes);
    free(pool->lanes);
    pool->lanes = NULL;
    pool->started = 0;
    pool->first = NULL;
    pool->waiting = pool->unfinished = 0;
}

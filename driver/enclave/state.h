/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the state of a protected session in the enclave, and the driver's private functions. The
 * state is private memory of the enclave.
 */
#ifndef MAE_STATE_H
#define MAE_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "crypto/gcm.h"
#include "maeslant_protected.h"

/*
 * Holds the AES key of a message class in an epoch, its IV mask and its use count. A key of chunks
 * has a library context for each thread.
 */
struct key {
    struct gcm *gcm[SEAL_THREADS];
    uint8_t mask[WIRE_MASK];
    uint64_t used;
};

/* Holds all keys of an epoch; a session has keys of at most two epochs at once (H13). */
struct bank {
    bool live;
    uint32_t epoch;
    struct key keys[CLASSES]; /* by class - 1 */
};

enum work_state { WORK_WAITING = 1, WORK_RUNNING, WORK_DONE, WORK_FAILED };

/*
 * Holds the work on a chunk that any sealing thread can do: encrypt or decrypt it. Written before
 * it is submitted; then it belongs to the thread that took it, until its state is DONE or FAILED.
 */
struct work {
    _Atomic int state;
    uint32_t queue;
    struct key *key;
    const struct mae_h2d *h2d; /* to seal: where the plaintext is */
    uint8_t *data;             /* to open: where the plaintext goes; NULL: nowhere */
    uint8_t tag[WIRE_TAG];
    struct request *following; /* that waits for a thread */
};

/* Holds a piece of shared memory: its address for the card and for the enclave. */
struct shared {
    uint64_t host;
    uint64_t at;
    size_t size; /* 0: none */
};

/*
 * Holds a sealed request to the card until its response is complete. Its place in a channel is its
 * number modulo 64.
 */
struct request {
    bool pending; /* sealed and unanswered */
    bool sent;
    enum wire_kind kind;
    uint32_t epoch;
    uint64_t sequence;
    uint32_t operations; /* of a batch */
    uint32_t reads;
    struct wire_place place; /* of a chunk */
    struct shared buffer;
    mae_task_t *task;
    struct work work;              /* of a chunk */
    bool opening;                  /* answered, and its chunk given to the threads */
    struct wire_response response; /* meanwhile */
    size_t body_bytes;
    uint8_t message[WIRE_MAX_MESSAGE];
};

/* Holds the enclave's state of one request queue of the card. */
struct channel {
    uint64_t next;   /* the next number */
    uint64_t oldest; /* every number below was answered */
    uint64_t unsent; /* the first number that was sealed and not sent */
    uint32_t epoch;
    bool switching; /* between REKEY and its answer */
    struct shared slots;
    struct request requests[WIRE_SLOTS];
};

struct mae_task {
    mae_session_t *session;
    struct mae_task *following; /* in the session's list */
    struct mae_task_result result;
    uint32_t left; /* requests unanswered */
    bool given_up;
    bool freed; /* by the caller, before it was done */
    bool transfer;
    bool d2h;
    uint64_t base, total; /* of a transfer */
    uint8_t *data;        /* of a d2h one */
    uint64_t values[WIRE_MAX_OPERATIONS];
};

/* Holds a thread that encrypts and decrypts chunks, with its private buffer (H10). */
struct lane {
    mae_session_t *session;
    unsigned number; /* 0: the caller's thread, which is not started here */
    pthread_t thread;
    uint8_t stage[WIRE_STAGE];
};

/* Holds a session's threads that encrypt and decrypt chunks, and the chunks that wait. `lock`
   guards the list. */
struct pool {
    struct lane *lanes; /* NULL: not started */
    unsigned started;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct request *first, *last; /* waiting for a thread */
    _Atomic unsigned waiting;     /* their number */
    _Atomic unsigned unfinished;  /* these, and those that a thread has */
    _Atomic bool stop;
};

struct mae_session {
    struct mae_outside outside;
    uint64_t timeout, block_limit;
    uint64_t enclave_base, enclave_bytes, buffers_base, buffers_bytes, shared_base, shared_bytes;
    bool send_while_sealing;
    unsigned threads; /* the caller's included */
    struct pool pool;
    struct mae_session_caps caps;
    uint8_t secret[WIRE_KEY];
    uint8_t session_id[16], host_nonce[32], device_nonce[32];
    uint64_t capabilities;
    struct bank banks[2];
    struct channel *channels;
    mae_task_t *tasks;
    uint32_t transfers; /* unanswered */
    bool poisoned;
    volatile uint64_t *birth; /* a page that the kernel clears in a forked child */
    pid_t process;            /* where no page can be so */
    bool closing;             /* CLOSE was sealed: nothing may follow it */
    char detail[160];
    char advice[96];
    uint8_t stage[WIRE_STAGE]; /* H10: what goes to and comes from shared memory */
};

/* ---- outside.c: everything that touches the untrusted world ---- */

/*
 * Clears the direction flag and returns its argument: CALL_OUT and ASK_OUT call code outside the
 * enclave and do so as the first thing after it. The ABI demands the flag clear at each function's
 * entry and return (System V ABI, AMD64, 3.2.1), so that compiler and C library use string
 * instructions without a CLD of their own; code that returns with the flag set would have them copy
 * and clear memory below their buffers. The enclave's runtime does the same at its entry.
 */
static inline uint64_t cleared(uint64_t value)
{
#if defined(__x86_64__)
    __asm__ volatile("cld" : : : "cc", "memory");
#endif
    return value;
}
#define CALL_OUT(call) ((call), (void)cleared(0))
#define ASK_OUT(call) cleared(call)

uint64_t outside_register(mae_session_t *session, uint32_t offset, size_t size);
void outside_write(mae_session_t *session, uint32_t offset, uint64_t value, size_t size);
/* Allocates shared memory wholly outside the enclave; returns NULL, or the reason of a failure. */
const char *outside_allocate(mae_session_t *session, size_t size, struct shared *shared);
void outside_release(mae_session_t *session, struct shared *shared);
void outside_load(mae_session_t *session, uint64_t at, void *bytes, size_t size);
void outside_store(mae_session_t *session, uint64_t at, const void *bytes, size_t size);
uint64_t outside_now(mae_session_t *session);
/* Returns true if an application's buffer lies wholly inside the enclave (H10). */
bool inside(const mae_session_t *session, const void *buffer, uint64_t size);

/* ---- keys.c ---- */

bool keys_load(mae_session_t *session, uint32_t epoch);
struct bank *keys_bank(mae_session_t *session, uint32_t epoch); /* NULL: not alive */
struct key *keys_get(mae_session_t *session, enum wire_class cls, uint32_t epoch);
void keys_erase(struct bank *bank);
void keys_wipe(mae_session_t *session); /* the secret, too */
/* Begins GCM under a session key, with the only IV of the queue's sequence number (H2). */
bool keys_begin(const struct key *key, unsigned thread, enum wire_class cls, unsigned queue,
                uint64_t sequence, const uint8_t *aad, size_t aad_bytes);

/* ---- poison.c ---- */

__attribute__((format(printf, 3, 4))) mae_error_t session_fail(mae_session_t *session,
                                                               mae_error_t error,
                                                               const char *format, ...);
/*
 * Returns true if the session has ended, as it does in a forked process (H2, H11). Parent and child
 * would seal different plaintexts under the same IVs.
 */
bool session_over(mae_session_t *session);
/* Wipes the session and fails every request (H18); returns MAE_E_POISONED. */
__attribute__((format(printf, 2, 3))) mae_error_t session_poison(mae_session_t *session,
                                                                 const char *format, ...);
mae_error_t session_poison_request(mae_session_t *session, const char *reason, unsigned queue,
                                   const struct request *request);
/* Allocates shared memory for the session; ends the session if there is none. */
mae_error_t shared_allocate(mae_session_t *session, size_t size, struct shared *shared);

/* ---- request.c ---- */

/* Checks that `count` requests can be sealed, before sequence numbers are used (H5, H11, H12). */
mae_error_t request_room(mae_session_t *session, uint32_t queue, enum wire_kind kind,
                         size_t body_bytes, uint64_t count, uint64_t chunk_blocks);
/* Takes the queue's next sequence number for a request that is sealed later. */
struct request *request_begin(mae_session_t *session, uint32_t queue, enum wire_kind kind,
                              mae_task_t *task);
/* Encrypts a request's body in place and completes its message. */
mae_error_t request_seal(mae_session_t *session, uint32_t queue, struct request *request);
/* Writes the queue's next sealed request to the card, if the card has room for it. */
bool request_send(mae_session_t *session, uint32_t queue);

/* ---- task.c ---- */

mae_task_t *task_new(mae_session_t *session, uint32_t queue);
void task_drop(mae_task_t *task);
/* Marks a task as done, once all its requests were answered or have failed. */
void task_answered(mae_task_t *task);

/* ---- chunk.c ---- */

/* Runs between the parts of a chunk that a thread encrypts; returns false to stop that. */
typedef bool chunk_pause(void *user);

enum chunk_end { CHUNK_DONE, CHUNK_FAILED, CHUNK_GIVEN_UP };

/* Encrypts a chunk into shared memory and stores its GCM tag in the request. GIVEN_UP: by the
   application's `fill`. */
enum chunk_end chunk_seal(mae_session_t *session, unsigned thread, struct request *request,
                          chunk_pause *pause, void *user);
/* Copies a chunk out of shared memory once and decrypts it; false if its tag is wrong. */
bool chunk_open(mae_session_t *session, unsigned thread, const struct request *request);

/* ---- threads.c ---- */

/* Starts the sealing threads at the first use; false if only the caller's thread exists. */
bool threads_ready(mae_session_t *session);
/* Queues a request's chunk for the sealing threads. */
void threads_submit(mae_session_t *session, struct request *request);
/* Encrypts or decrypts one queued chunk in the caller's thread; false if none waits. */
bool threads_help(mae_session_t *session, chunk_pause *pause, void *user);
/* Waits until a sealing thread has finished a request's chunk. */
void threads_wait(mae_session_t *session, const struct request *request);
/* Waits until the sealing threads have finished all queued chunks. */
void threads_finish(mae_session_t *session);
/*
 * Ends and joins a session's sealing threads; chunks that wait are dropped. `forked`: they do not
 * exist in this process.
 */
void threads_stop(mae_session_t *session, bool forked);

#endif

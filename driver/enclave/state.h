/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the host's state of a session (docs/protocol.md §6), and the functions of each file of
   this folder; private. The state is private memory of the enclave. */
#ifndef MAE_STATE_H
#define MAE_STATE_H

#include <sys/types.h>

#include "gcm.h"
#include "maeslant_protected.h"

/* The key of a class in an epoch, with its mask and its use count. */
struct key {
    struct gcm *gcm;
    uint8_t mask[WIRE_MASK];
    uint64_t used;
};

/* The keys of an epoch; at most two epochs have keys at once (H13). */
struct bank {
    bool live;
    uint32_t epoch;
    struct key keys[CLASSES]; /* by class - 1 */
};

/* Shared memory, by the card's address and by the enclave's. */
struct shared {
    uint64_t host;
    uint64_t at;
    size_t size; /* 0: none */
};

/* A sealed request. Its place in a channel is its number modulo 64. */
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
    size_t body_bytes;
    uint8_t message[WIRE_MAX_MESSAGE];
};

/* The host's state of a queue. */
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

struct mae_session {
    struct mae_outside outside;
    uint64_t timeout, block_limit;
    uint64_t enclave_base, enclave_bytes, buffers_base, buffers_bytes, shared_base, shared_bytes;
    bool send_while_sealing;
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

uint64_t outside_register(mae_session_t *session, uint32_t offset, size_t size);
void outside_write(mae_session_t *session, uint32_t offset, uint64_t value, size_t size);
/* Takes memory that lies wholly outside the enclave; gives NULL, or why there is none. */
const char *outside_allocate(mae_session_t *session, size_t size, struct shared *shared);
void outside_release(mae_session_t *session, struct shared *shared);
void outside_load(mae_session_t *session, uint64_t at, void *bytes, size_t size);
void outside_store(mae_session_t *session, uint64_t at, const void *bytes, size_t size);
uint64_t outside_now(mae_session_t *session);
/* Returns true if an application's buffer lies wholly inside (H10). */
bool inside(const mae_session_t *session, const void *buffer, uint64_t size);

/* ---- keys.c ---- */

bool keys_load(mae_session_t *session, uint32_t epoch);
struct bank *keys_bank(mae_session_t *session, uint32_t epoch); /* NULL: not alive */
struct key *keys_get(mae_session_t *session, enum wire_class cls, uint32_t epoch);
void keys_erase(struct bank *bank);
void keys_wipe(mae_session_t *session); /* the secret, too */
/* Sets the IV of (queue, number), the only one under this key (H2). */
bool keys_begin(struct key *key, enum wire_class cls, unsigned queue, uint64_t sequence,
                const uint8_t *aad, size_t aad_bytes);

/* ---- poison.c ---- */

__attribute__((format(printf, 3, 4))) mae_error_t session_fail(mae_session_t *session,
                                                               mae_error_t error,
                                                               const char *format, ...);
/* Returns true if the session has ended, and ends it in a process forked from its own, because
   parent and child would seal different plaintexts under the same IVs (H2, H11). */
bool session_over(mae_session_t *session);
/* Wipes the session and fails every request (H18); returns MAE_E_POISONED. */
__attribute__((format(printf, 2, 3))) mae_error_t session_poison(mae_session_t *session,
                                                                 const char *format, ...);
mae_error_t session_poison_request(mae_session_t *session, const char *reason, unsigned queue,
                                   const struct request *request);
/* Takes shared memory, or ends the session. */
mae_error_t shared_allocate(mae_session_t *session, size_t size, struct shared *shared);

/* ---- request.c ---- */

/* Checks that `count` requests of such bodies and chunks are possible, before a number is used (H5,
   H11, H12). */
mae_error_t request_room(mae_session_t *session, uint32_t queue, enum wire_kind kind,
                         size_t body_bytes, uint64_t count, uint64_t chunk_blocks);
/* Uses a sequence number for a new request, which is sealed next. */
struct request *request_begin(mae_session_t *session, uint32_t queue, enum wire_kind kind,
                              mae_task_t *task);
/* Seals the one message of a sequence number; its body is in the message's place. */
mae_error_t request_seal(mae_session_t *session, uint32_t queue, struct request *request);
/* Sends the next sealed request of a queue, if the card has room for it. */
bool request_send(mae_session_t *session, uint32_t queue);

/* ---- task.c ---- */

mae_task_t *task_new(mae_session_t *session, uint32_t queue);
void task_drop(mae_task_t *task);
/* Ends a task whose requests are answered, or that will have no answers. */
void task_answered(mae_task_t *task);

/* ---- chunk.c ---- */

/* Enciphers a chunk into shared memory; *given_up: the application's `fill` gave the transfer up. */
mae_error_t chunk_seal(mae_session_t *session, const struct mae_h2d *h2d,
                       const struct request *request, uint8_t tag[WIRE_TAG], bool *given_up);
/* Copies a chunk once, stage by stage, and decrypts it; false: the tag is wrong. */
bool chunk_open(mae_session_t *session, uint32_t queue, const struct request *request,
                const uint8_t tag[WIRE_TAG]);

#endif

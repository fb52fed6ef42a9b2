/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares libmaeslant_protected, the enclave's end of the protected channel (docs/protocol.md).
 *
 * What is behind `struct mae_outside` is the adversary's: registers, shared memory and time.
 * Nothing that comes from there is believed before a tag says so, and it can end a session, no
 * more. A session is over ("poisoned") after a wrong tag, an answer that no genuine device gives,
 * or a timeout: its keys are wiped, what is outstanding fails, and only a new secret helps.
 *
 *   mae_session_begin(&outside, &config, &session)   reads the card, derives the keys
 *   ... the card is told secret and session id over its provisioning port ...
 *   mae_session_open(session, &task); mae_session_wait(session, task); mae_task_free(task);
 *   mae_session_h2d(...), _batch(...), _d2h(...), each a task; any number at once
 *   mae_session_close(session, &task); ... mae_session_free(session)
 *
 * Order (H16): the OS decides how far each queue is. What must not overlap waits by an operation of
 * a batch (mae_operation_wait: for the last request of a task; mae_operation_wait_runs) or by
 * `after`, a number of kernel runs. That holds both ways: for what a run reads, and for what it
 * overwrites. Nothing else is ordered, not even on one queue, but chunks.
 *
 * Threads: a session and its tasks belong to one thread at a time. The library's own
 * (config.threads) begin with the first transfer of several chunks, with all signals blocked, and
 * end with the session; they call nothing of the application's but `load` and `store`.
 *
 * Fork: in the child the session is over (MAE_E_POISONED), its keys are wiped, and what is outside
 * stays the parent's; the parent goes on. The child begins a session of its own.
 *
 * The text between the two "cdef" marks is plain C without preprocessor lines, for bindings.
 */
#ifndef MAESLANT_PROTECTED_H
#define MAESLANT_PROTECTED_H

#include "maeslant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cdef begin */

typedef struct mae_session mae_session_t;
typedef struct mae_task mae_task_t;

/* ---- the untrusted world --------------------------------------------------------------------- */

/* Holds the functions by which the enclave reaches the card, shared memory and time, all untrusted.
   Pointers given to these functions are private memory; `at` is where the enclave sees shared
   memory, `host` where the card does. */
struct mae_outside {
    void *user;
    /* Reads unprotected registers of the card in 32-bit words, little-endian; `write` writes them.
       A read always gives `size` bytes. */
    void (*read)(void *user, uint32_t offset, void *bytes, size_t size);
    void (*write)(void *user, uint32_t offset, const void *bytes, size_t size);
    /* Allocates memory shared with the card, at a multiple of 64; `release` frees it. False: there
       is none. `release` may be NULL. */
    bool (*allocate)(void *user, size_t size, uint64_t *host, uint64_t *at);
    void (*release)(void *user, uint64_t host, uint64_t at, size_t size);
    /* Copies from shared memory, reading each byte once; `store` copies to it. NULL: `at` is an
       address in this process, and the library copies by itself. */
    void (*load)(void *user, uint64_t at, void *bytes, size_t size);
    void (*store)(void *user, uint64_t at, const void *bytes, size_t size);
    /* Returns the present time in units of config.timeout. NULL: microseconds of the operating
       system. */
    uint64_t (*now)(void *user);
    /* Waits a little before the queues are polled again; `news`: the last poll found responses. May
       be NULL. */
    void (*pause)(void *user, bool news);
};

/* Holds the parameters by which mae_session_begin starts a protected session. */
struct mae_session_config {
    uint8_t secret[32]; /* shared with the card alone; wipe this struct after use */
    uint8_t session_id[16];
    uint8_t host_nonce[32];      /* used if nonce_given; else the library draws one */
    uint32_t nonce_given;        /* 1: for tests. A nonce must not be used twice with one secret */
    uint32_t send_while_sealing; /* 1: begin to send a transfer while its later chunks are sealed */
    uint64_t timeout;            /* time without a response that ends the session; 0: 10,000,000 */
    uint64_t block_limit;        /* 16-byte blocks under one key, at most and by default 2^34 */
    /* Tells private from shared memory (H10); a session without this does not begin. In an
       enclave give the first two, in a process of its own behind a gate the third
       (mae_gate_window). */
    uint64_t enclave_base, enclave_bytes; /* where shared memory may not be */
    uint64_t buffers_base, buffers_bytes; /* in it, where buffers given to these calls must be;
                                             none: anywhere but in shared memory */
    uint64_t shared_base, shared_bytes;   /* where shared memory must be, and no buffer may be */
    /* Threads that seal and open the chunks of a transfer, the caller's included: 1 to 16; 1: the
       library starts none. 0: one for each processor, at most 4, and 1 if the outside has `load` or
       `store`. More than 1 call these two at the same time. */
    uint32_t threads;
    uint32_t reserved;
};

/* Holds the capabilities of a protected card, which are authentic once OPEN was answered. */
struct mae_session_caps {
    uint32_t queues;
    uint32_t depth;      /* chunks a queue moves at once */
    uint32_t operations; /* a batch */
    uint32_t regions;    /* transfers unanswered at once */
    uint64_t chunk_bytes;
    uint64_t memory_bytes;
};

/* ---- sessions -------------------------------------------------------------------------------- */

/* Begins a protected session: checks the card's capabilities and derives the keys. *session is NULL
   after MAE_E_ARGUMENT and MAE_E_MEMORY only; else it must be freed, and explains an error. Start
   when the card's STATE is IDLE: a card that still clears its memory takes no nonce, and the
   session then ends at OPEN. (STATE is the OS's word, so nothing depends on it here.) */
MAE_API mae_error_t mae_session_begin(const struct mae_outside *outside,
                                      const struct mae_session_config *config,
                                      mae_session_t **session);
/*
 * Wipes the keys of a protected session and frees it. Its tasks become invalid. NULL is allowed.
 * The card is not told: see mae_session_close.
 */
MAE_API_VOID void mae_session_free(mae_session_t *session);
/* Copies the capabilities of a protected session's card to *caps. */
MAE_API mae_error_t mae_session_get_caps(const mae_session_t *session,
                                         struct mae_session_caps *caps);
/* Returns a text on a session's last failing call, or why the session ended; never NULL. */
MAE_API const char *mae_session_detail(const mae_session_t *session);
/* Returns the card's text on why a session ended, which the OS may have changed; never NULL. */
MAE_API const char *mae_session_advice(const mae_session_t *session);

/* ---- tasks ----------------------------------------------------------------------------------- */

enum {
    MAE_OPERATION_READ = 1,
    MAE_OPERATION_WRITE = 2,
    MAE_OPERATION_WAIT = 3,
    MAE_WIDTH_4 = 2, /* log2 of bytes */
    MAE_WIDTH_8 = 3
};

/*
 * Describes one operation of a BATCH request: read or write a register, or wait. Sent as it is; the
 * device refuses what is not legal.
 */
struct mae_operation {
    uint8_t op;
    uint8_t log2_width;
    uint16_t zero;
    uint32_t offset; /* of the register; WAIT: the queue, or 0xffffffff for the kernel */
    uint64_t data;   /* of a WRITE; WAIT: the number */
};

/* Holds the parameters of a transfer from device to host. */
struct mae_d2h {
    uint32_t queue;
    uint64_t base;  /* in device memory, a multiple of 64 */
    uint64_t total; /* bytes */
    /* Bytes of each chunk but the last, a multiple of 64. 0: with one thread the longest; with more
       they begin small, grow, and end small, so that threads and card work at once. */
    uint64_t chunk;
    uint64_t after; /* kernel runs that must be complete */
    void *data;     /* belongs to the driver until the task is done; zeroes if it fails */
};

/* Holds the parameters of a transfer from host to device. */
struct mae_h2d {
    uint32_t queue;
    uint64_t base, total, chunk, after;
    const void *data; /* read once, during the call */
    /* Supplies the next `size` bytes of plaintext if data is NULL; other results than 0 abandon.
       The card then clears what it has of the transfer. */
    int (*fill)(void *user, uint64_t offset, void *bytes, size_t size);
    void *user;
};

/*
 * Sends OPEN, which must be the first request of a protected session; returns its task. This and
 * the following calls seal their requests and return. Nothing is sealed and no number used if they
 * fail with MAE_E_ARGUMENT, MAE_E_FULL (unanswered requests or transfers at their limit),
 * MAE_E_BUSY (a rekey of the queue, or a transfer of the same granules, is unanswered), MAE_E_LIMIT
 * (rekey first), MAE_E_STATE (after a close) or MAE_E_MEMORY. MAE_E_POISONED: the session is over.
 */
MAE_API mae_error_t mae_session_open(mae_session_t *session, mae_task_t **task);
/* Sends CLOSE, which must be the last request of a protected session; returns its task. */
MAE_API mae_error_t mae_session_close(mae_session_t *session, mae_task_t **task);
/* Sends REKEY, by which a queue switches to the keys of the next epoch; returns its task. */
MAE_API mae_error_t mae_session_rekey(mae_session_t *session, uint32_t queue, mae_task_t **task);
/* Sends SKIP, by which the card abandons the open transfer of a queue; returns its task. */
MAE_API mae_error_t mae_session_skip(mae_session_t *session, uint32_t queue, mae_task_t **task);
/* Sends a BATCH of register operations, which the card executes in order; returns its task. */
MAE_API mae_error_t mae_session_batch(mae_session_t *session, uint32_t queue,
                                      const struct mae_operation *operations, size_t count,
                                      mae_task_t **task);
/* Starts a transfer of data from host to device in encrypted chunks; returns its task. */
MAE_API mae_error_t mae_session_h2d(mae_session_t *session, const struct mae_h2d *h2d,
                                    mae_task_t **task);
/* Starts a transfer of data from device to host in encrypted chunks; returns its task. */
MAE_API mae_error_t mae_session_d2h(mae_session_t *session, const struct mae_d2h *d2h,
                                    mae_task_t **task);

/*
 * Sends a session's requests that the card has room for, and takes the card's responses. Never
 * waits and never times out: see mae_session_wait. *news (may be NULL): a request was sent or a
 * response taken.
 */
MAE_API mae_error_t mae_session_poll(mae_session_t *session, bool *news);
/* Sends requests and takes responses until a task is done; returns the task's error. */
MAE_API mae_error_t mae_session_wait(mae_session_t *session, mae_task_t *task);

/* Holds the state and result of a task of a protected session. */
struct mae_task_result {
    uint32_t done;
    uint32_t error; /* mae_error_t: MAE_OK, _POISONED, _REFUSED or _GIVEN_UP */
    uint32_t queue; /* of all its requests */
    uint32_t requests;
    uint64_t first; /* sequence numbers of the first request and the last: a WAIT's */
    uint64_t last;
    /* Of an authenticated refusal, and of success (docs/protocol.md, Response). */
    uint32_t status;
    uint32_t executed;
    uint64_t value;
    uint64_t number; /* of the request that was refused */
    uint32_t kind;   /* its kind */
    uint32_t values; /* how many a batch has read */
};

/* Copies the state and result of a protected session's task to *result. */
MAE_API_VOID void mae_task_get(const mae_task_t *task, struct mae_task_result *result);
/* Copies the register values that a task's BATCH request has read to `values`, in order, which lies
   where application buffers do. */
MAE_API mae_error_t mae_task_values(const mae_task_t *task, uint64_t *values, size_t max);
/*
 * Wipes and frees a task of a protected session. An unfinished task continues without its buffer.
 * NULL is allowed.
 */
MAE_API_VOID void mae_task_free(mae_task_t *task);

/* Returns the operation of a BATCH request that reads a protected register. */
MAE_API struct mae_operation mae_operation_read(uint32_t offset, uint32_t log2_width);
/* Returns the operation of a BATCH request that writes a protected register. */
MAE_API struct mae_operation mae_operation_write(uint32_t offset, uint32_t log2_width,
                                                 uint64_t data);
/* Returns the operation of a BATCH request that waits until an earlier task is done. */
MAE_API struct mae_operation mae_operation_wait(const mae_task_t *task);
/* Returns the operation of a BATCH request that waits for a number of kernel runs. They count from
   the session's start. */
MAE_API struct mae_operation mae_operation_wait_runs(uint64_t runs);

/* ---- the world as a process of the operating system (driver/os) ------------------------------ */

/* Represents the connection to a process that owns the card and the memory shared with it. That
   process provides registers by commands in a page of shared memory, and buffers in a window that
   this process maps, too. It may answer anything. Time is the card's clocks. A process that does
   not answer for a while counts as dead: registers read as ones, and time runs out. */
typedef struct mae_gate mae_gate_t;

/*
 * Connects the enclave to the process that owns the card, over a UNIX socket. The caller closes the
 * socket.
 */
MAE_API mae_error_t mae_gate_open(int socket, mae_gate_t **gate);
/*
 * Closes the connection to the process that owns the card, after all sessions over it. NULL is
 * allowed.
 */
MAE_API_VOID void mae_gate_close(mae_gate_t *gate);
/* Returns the functions by which mae_session_begin uses a gate; valid until the gate is closed. */
MAE_API const struct mae_outside *mae_gate_outside(mae_gate_t *gate);
/*
 * Writes address and size of the memory shared over a gate to *base and *bytes. They are
 * shared_base and shared_bytes of a session.
 */
MAE_API_VOID void mae_gate_window(const mae_gate_t *gate, uint64_t *base, uint64_t *bytes);
/* Returns the card's clock count, as the last command over a gate reported it. */
MAE_API uint64_t mae_gate_clocks(const mae_gate_t *gate);
/* Returns the number of commands that were sent over a gate to the process that owns the card. */
MAE_API uint64_t mae_gate_commands(const mae_gate_t *gate);

/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares how the OpenSSL provider uses its device: one lock, keys in slots, jobs in flight.
 *
 * The functions marked "locked" are called between card_enter and card_leave. Only card_run and the
 * functions that wait for a slot or context give the lock up while they wait, so that the jobs of
 * several threads, or of several ASYNC jobs of one thread, are in the device at once.
 */
#ifndef MAE_PROVIDER_CARD_H
#define MAE_PROVIDER_CARD_H

#include <pthread.h>
#include <stdatomic.h>

#include "maeslant.h"
#include "process.h"

enum {
    BLOCK = 16,
    KEY_MOST = 64,                /* both keys of XTS */
    STAGE_POOL = 8,               /* buffers that are kept */
    STAGE_LEAST = 32768,          /* bytes of one: a TLS record with all that goes with it */
    STAGE_MOST = 2 * 1024 * 1024, /* larger ones are not kept */
    RESERVED = 2 /* contexts and key slots that unfinished messages leave to others */
};

/* Holds a key, or the two of XTS, and the slots it lies in while they are not needed by others. */
struct key {
    struct key *next; /* in the device's list of keys that lie in slots */
    atomic_uint users;
    uint8_t material[KEY_MOST];
    uint32_t bytes; /* of one of its keys */
    uint32_t parts; /* 2: XTS */
    uint32_t slots[2];
    uint32_t pins;    /* operations that need it in its slots now */
    uint64_t used;    /* when, in uses of keys */
    uint32_t opening; /* of the device, in which the slots were taken */
};

/* Holds a buffer that the device can access. */
struct stage {
    uint8_t *data;
    size_t bytes;    /* in use */
    size_t capacity; /* a power of two */
};

/* Holds the device of a provider. */
struct card {
    pthread_mutex_t lock;
    char *uri;
    mae_dev_t *dev;
    struct mae_caps caps;
    uint32_t process;  /* that opened it */
    uint32_t opening;  /* counts openings: a forked child opens its own */
    int ready;         /* a file descriptor that can always be read, for ASYNC jobs */
    uint32_t messages; /* GCM messages that have begun and not ended */
    struct key *resident;
    uint64_t key_uses;
    struct stage stages[STAGE_POOL];
    uint32_t stage_count;
};

/* Describes a job for the device, and holds its result. */
struct request {
    struct mae_job job;
    struct mae_completion result;
    bool done;
};

/* Raises an OpenSSL error with a text; returns 0. */
int fail(int reason, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Raises an OpenSSL error for an error of libmaeslant, with its details; returns 0. */
int fail_card(mae_error_t error);

/* Keeps libmaeslant's details of a failure for fail_card. */
void keep_detail(void);
/* Forgets them: what had failed was tried again and worked. */
void forget_detail(void);

/* Opens the device that a URI names; raises an OpenSSL error and returns NULL if it cannot. */
struct card *card_open(const char *uri);
/* Closes the device of a provider, which erases its keys. NULL is allowed. */
void card_close(struct card *card);
/* Returns the clocks that a simulated device has run; 0: a real one's are not counted. */
uint64_t card_clocks(struct card *card);
/* Locks the device for the calling thread; a forked child opens a device of its own. */
mae_error_t card_enter(struct card *card);
/* Unlocks the device. */
void card_leave(struct card *card);

/* Runs jobs on the device, to the end of all. Locked. Returns the first error. */
mae_error_t card_run(struct card *card, struct request *requests, size_t count);
/* Waits a moment for other users of the device: pauses an ASYNC job, or yields the CPU. Locked. */
void card_pass(struct card *card);
/* Ends the calling ASYNC job's wait for the device, if it is one. */
void card_pass_ends(struct card *card);
/* Allocates a context for one job, or for a GCM message, once one is free. Locked. */
mae_error_t card_context(struct card *card, bool aead, uint32_t *context);
/* Allocates a buffer that the device can access. Locked. */
mae_error_t card_stage(struct card *card, size_t bytes, struct stage *stage);
/* Wipes and frees a buffer. Locked. */
void card_stage_free(struct card *card, struct stage *stage);

/* Makes a key of 1 or 2 parts with one user; raises an error and returns NULL without memory. */
struct key *key_new(const uint8_t *material, size_t bytes, uint32_t parts);
/* Adds a user to a key. NULL is allowed. */
struct key *key_share(struct key *key);
/* Removes a user from a key; the last one's leaving erases it, in its slots too. */
void key_free(struct card *card, struct key *key);
/* Loads a key into slots of the device, unless it is there, and keeps it there. Locked. */
mae_error_t key_pin(struct card *card, struct key *key);
/* Lets a key's slots be used by other keys again. Locked. */
void key_unpin(struct card *card, struct key *key);

#endif

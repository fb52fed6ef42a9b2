/* SPDX-License-Identifier: Apache-2.0 */
/* Defines libmaeslant's private state of an open device. */
#ifndef MAE_DEVICE_H
#define MAE_DEVICE_H

#include <stdarg.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "maeslant.h"
#include "maeslant_peripheral.h"
#include "maeslant_records.h"
#include "maeslant_ring.h"
#include "ops.h"
#include "process.h"

enum {
    MAE_MAX_SLOTS = 64,
    MAE_MAX_CONTEXTS = 256,
    MAE_RING_LOG2 = 8, /* entries of both rings, and so the deepest queue */
    MAE_DEPTH = 1 << MAE_RING_LOG2,
    MAE_MAX_LIST = 65535,
    MAE_CHUNK = 65536,              /* bytes of a job that the library cuts from a message */
    MAE_CARD_CHUNK = 8 * MAE_CHUNK, /* of an authenticated message in pieces, on a card: the change
                                       from job to job costs a memory latency */
    MAE_CHUNKS_AHEAD = 2, /* jobs queued at once in the one context of a chained mode: one that
                               runs, one that hides the change; more would hold up other contexts */
    MAE_PARALLEL = 32,    /* contexts the library takes for one message at most */
    MAE_TAG_LEAST = 4,
    MAE_SAVED = 16, /* contexts of a peripheral whose state the library keeps */
    MAE_NO_CONTEXT = MAE_MAX_CONTEXTS + MAE_SAVED
};

/*
 * Limits of GCM and CCM: 2^39 - 256 bits of data, 2^64 - 1 bits of AAD, in bytes (SP 800-38D
 * 5.2.1.1).
 */
#define MAE_GCM_DATA_MOST ((UINT64_C(1) << 36) - 32)
#define MAE_GCM_AAD_MOST ((UINT64_C(1) << 61) - 1)

/* Holds a job from its submission to the fetch of its result. */
struct mae_entry {
    struct mae_completion completion;
    /* Handles the completion of a job that the library submitted for itself. */
    void (*notify)(void *arg, const struct mae_completion *completion);
    void *arg;
    uint64_t length;
    uint32_t context;
    uint32_t slots[2]; /* in use until completion; MAE_SLOT_NONE */
    uint16_t generation;
    uint16_t index; /* in the submission ring, modulo 65536 */
    bool in_flight;
    bool aead;
    bool sinks;       /* has no destination */
    uint32_t message; /* mae_progress.number */
    uint32_t next;    /* of the free or the done list */
    /* What the device may touch: source and destination, buffer or list. */
    uint64_t iova[2];
    uint32_t list_entries[2]; /* 0: one buffer of `length` bytes */
    /* Memory for the two lists, one after the other; kept for the entry's next job. */
    struct mae_ring_sg_entry *lists;
    uint32_t lists_capacity;
};

/* Counts the messages that were sealed under one key. */
struct mae_seal_count {
    uint64_t messages;
    bool drawn; /* one of them with a nonce that was not counted */
};

struct mae_slot {
    uint32_t jobs;
    uint8_t key_bytes; /* 0: empty */
    struct mae_seal_count seals;
};

/* Holds the table of key records, which the stream card reads; see maeslant_records.h. */
struct mae_records {
    struct mae_ring_key_record *memory;
    struct mae_slot *slots;
    uint32_t count;
};

/* Names the stages of a GCM, CCM or CMAC message, by the jobs submitted so far. */
enum mae_stage {
    MAE_STAGE_NONE,  /* no message, or one that has ended or failed */
    MAE_STAGE_OPEN,  /* more of the same phase may come */
    MAE_STAGE_SHORT, /* the phase ended with a part of a block: the next one only */
};

/* Holds how far the submitted jobs of a GCM, CCM or CMAC message have come. */
struct mae_progress {
    uint32_t number; /* of messages begun in the context */
    enum mae_stage stage;
    mae_mode_t mode;
    mae_direction_t direction;
    mae_phase_t phase;
    uint32_t key_slot;
    uint64_t aad_bytes, data_bytes;
};

struct mae_context {
    uint32_t jobs;
    bool held;
    struct mae_progress message;
    struct mae_pio_context saved; /* a peripheral's, while another message has its registers */
};

/* Describes a region of memory that is mapped for the device. */
struct mae_region {
    uintptr_t start;
    size_t bytes;
    uint64_t iova;
    bool writable;
    bool ours; /* from mae_mem_alloc */
};

struct mae_index_list {
    uint32_t head, tail;
};

struct mae_ring {
    void *memory;
    struct mae_ring_desc *descs;
    struct mae_ring_completion *completions;
    uint16_t sub_tail;
    uint16_t comp_head;
};

struct mae_dev;

/* Holds the functions that run jobs on one kind of device: stream card or peripheral. */
struct mae_engine {
    mae_error_t (*start)(struct mae_dev *dev);
    /* Submits a checked job to the device; `entry` is filled but for the result. */
    mae_error_t (*submit)(struct mae_dev *dev, uint32_t entry, const struct mae_job *job);
    /* Rings the device's doorbell for the jobs submitted while `batch` was set. */
    mae_error_t (*announce)(struct mae_dev *dev);
    /* Calls mae_complete for each job that the device has completed. */
    mae_error_t (*collect)(struct mae_dev *dev);
    /* Lowers the device's interrupt line, as far as completed jobs raised it. */
    mae_error_t (*acknowledge)(struct mae_dev *dev);
    /* Checks the device for an error after an interrupt without a completed job. */
    mae_error_t (*check)(struct mae_dev *dev);
    void (*stop)(struct mae_dev *dev);
};

extern const struct mae_engine mae_engine_ring;
extern const struct mae_engine mae_engine_pio;

struct mae_dev {
    const struct mae_ops *ops;
    void *backend;
    const struct mae_engine *engine;
    struct mae_pio_bus bus;
    struct mae_caps caps;
    uint32_t key_sizes;
    bool dead;
    bool batch;       /* submissions wait for `announce` */
    uint32_t process; /* that opened it, by mae_process() */

    struct mae_slot slots[MAE_MAX_SLOTS];
    struct mae_records records;
    struct mae_seal_count seals; /* with keys that came with their messages */
    uint32_t context_count;      /* the device's, and a peripheral's that the library keeps */
    uint32_t loaded;             /* of those, the one whose message is in the peripheral */
    uint8_t chain[16];           /* the peripheral's, of its last plain job */
    bool chain_lost;             /* a job of GCM, CCM or CMAC has taken its place */
    struct mae_context contexts[MAE_MAX_CONTEXTS + MAE_SAVED];
    struct mae_region *regions; /* by address */
    size_t region_count, region_capacity;

    struct mae_entry entries[MAE_DEPTH];
    struct mae_index_list free, done;
    uint32_t depth;
    uint32_t used;      /* entries that are not free */
    uint32_t in_flight; /* of those, not completed */
    uint32_t own;       /* of those, the library's */
    uint64_t completed; /* ever */
    uint64_t bytes_in_flight;
    uint64_t progress_ns; /* when something last completed, or the device was idle */
    uint64_t stall_ns;
    _Atomic uint64_t seen_ns; /* the device's time as last seen: other threads may read it */

    struct mae_ring ring;
    void *bounce;  /* MAE_CHUNK bytes for small messages in memory that is not mapped */
    uint8_t *work; /* for an authenticated message in one call: struct mae_auth's, and to bounce */
};

#define MAE_TRY(call) \
    do { \
        mae_error_t error_ = (call); \
        if (error_ != MAE_OK) \
            return error_; \
    } while (0)

/* Writes a 64-bit register of the device as two words, the low one first: no access is wider. */
static inline mae_error_t mae_write64(struct mae_dev *dev, uint32_t offset, uint64_t value)
{
    MAE_TRY(dev->ops->write32(dev->backend, offset, (uint32_t)value));
    return dev->ops->write32(dev->backend, offset + 4, (uint32_t)(value >> 32));
}

/* Sets the text that mae_error_detail() returns in this thread; returns `error`. In error.c. */
mae_error_t mae_detail(mae_error_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Clears this thread's error detail, as most calls do first, by mae_usable. */
void mae_detail_clear(void);
/* Protects this thread's error detail from changes, for cleanup after a failure. Calls nest. */
void mae_detail_hold(bool hold);
/* Overwrites memory with zeros in a way that compilers do not remove. */
void mae_wipe(void *memory, size_t bytes);

/* usable.c */
/*
 * Returns MAE_E_STATE in a process that did not open the device. A forked child has copies of the
 * parent's nonces and chain values, under which it would encrypt other data, and of its rings,
 * which the card does not read; registers and DMA mappings are the same.
 */
mae_error_t mae_check_process(const struct mae_dev *dev);
/* Returns an error if the device is NULL, dead or of another process; clears this thread's error
   detail. */
mae_error_t mae_usable(const struct mae_dev *dev);

/* Creates a device on an open backend, which it takes over, also on failure. In open.c. */
mae_error_t mae_attach(const struct mae_ops *ops, void *backend, const char *name,
                       struct mae_dev **dev);

/* Returns true if the device reads and writes host memory by DMA. */
bool mae_has_dma(const struct mae_dev *dev);
/* Translates the address of a mapped buffer to the device's address. MAE_E_NOT_MAPPED unless one
   mapping holds all of it. */
mae_error_t mae_translate(struct mae_dev *dev, const void *memory, uint64_t bytes, bool write,
                          uint64_t *iova);
bool mae_is_mapped(struct mae_dev *dev, const void *memory, uint64_t bytes, bool write);
void mae_memory_close(struct mae_dev *dev);

/* records.c */
/* Writes a key to a record; the card forgets the one before. */
mae_error_t mae_record_load(struct mae_dev *dev, uint32_t slot, const uint8_t *key, size_t bytes);
/* Wipes the key of a record, and the card's copy of it. */
mae_error_t mae_record_erase(struct mae_dev *dev, uint32_t slot);
void mae_records_close(struct mae_dev *dev);

/* message/modes.c; with mae_mode_divides of maeslant.h */
/* Returns true if a number is that of a mode. */
bool mae_mode_known(mae_mode_t mode);
/* Returns true if a mode is GCM, CCM or CMAC. */
bool mae_is_aead(mae_mode_t mode);
/* Returns true if a part of a decryption starts from the ciphertext block before it. */
bool mae_mode_looks_back(mae_mode_t mode);
/* Returns the modes but GCM, CCM, CMAC and copy, as bits of caps.modes. */
uint32_t mae_unauthenticated_modes(void);
/* Returns which directions of the AES cipher a mode needs, as bits of caps.directions. */
uint32_t mae_mode_directions(mae_mode_t mode, mae_direction_t direction);
/* Returns MAE_E_LENGTH if a mode has no message of this length. */
mae_error_t mae_check_length(mae_mode_t mode, uint64_t length);
/* Adds a number of blocks to a 128-bit big-endian CTR counter (SP 800-38A B.1). */
void mae_counter_add(uint8_t counter[16], uint64_t blocks);
/* Advances a chain value by a number of blocks, of which the last has the given input and output.
   What can be divided needs no output. XTS: unchanged. */
void mae_chain_advance(mae_mode_t mode, mae_direction_t direction, uint8_t chain[16],
                       const uint8_t in[16], const uint8_t out[16], uint64_t blocks);

/* check.c */
/* Returns the state of a key slot or of a key record; NULL if the device has no such. */
struct mae_slot *mae_find_slot(struct mae_dev *dev, uint32_t slot);
mae_error_t mae_check_key_slot(const struct mae_dev *dev, uint32_t slot);
mae_error_t mae_check_operation(const struct mae_dev *dev, const struct mae_job *job);
mae_error_t mae_check_job(const struct mae_dev *dev, const struct mae_job *job);
/* Checks a GCM, CCM or CMAC job and returns the message's progress after it. */
mae_error_t mae_check_aead_job(const struct mae_dev *dev, const struct mae_job *job,
                               struct mae_progress *next);

/* Handles the completion of a job that the library submitted for itself. */
typedef void (*mae_notify_t)(void *arg, const struct mae_completion *completion);
/* Submits a job of the library's own; `notify` is called at its completion. */
mae_error_t mae_submit_own(struct mae_dev *dev, const struct mae_job *job, mae_notify_t notify,
                           void *arg);
/* Records the result of a job that the device has completed; `tag` is NULL unless the job made
   one. */
void mae_complete(struct mae_dev *dev, uint32_t entry, mae_error_t error, uint32_t status,
                  uint64_t bytes, const uint8_t *tag);
/* Advances the device until a job completes; ends a device that completes none in time. */
mae_error_t mae_work(struct mae_dev *dev, uint64_t max_ns);
/*
 * Stops all memory access of a failed device; its jobs complete with MAE_E_DEAD. Returns `error`;
 * `why` is its detail, NULL if that is set already.
 */
mae_error_t mae_kill(struct mae_dev *dev, mae_error_t error, const char *why);
/* Returns true if a job in flight may access a range of the device's address space. */
bool mae_jobs_reach(const struct mae_dev *dev, uint64_t iova, uint64_t bytes);
void mae_jobs_open(struct mae_dev *dev);
void mae_jobs_close(struct mae_dev *dev);

#endif

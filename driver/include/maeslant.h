/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the C interface of libmaeslant for every Maeslant AES device, simulated or real.
 *
 *   mae_dev_t *dev;
 *   if (mae_open("sim:stream?lanes=4", &dev) != MAE_OK) ...
 *   mae_crypt(dev, MAE_CTR, MAE_ENCRYPT, key, 16, iv, src, dst, length)
 *   mae_close(dev);
 *
 * Layers, each built on the one before:
 *   jobs      mae_submit / mae_poll / mae_wait: asynchronous, on memory the device can reach;
 *   messages  mae_crypt: one call, any memory, large data as many jobs at once;
 *   streams   mae_stream_*: a message that comes in pieces of any size, in bounded memory.
 * Authenticated encryption likewise: jobs of MAE_GCM; mae_seal, mae_unseal, mae_mac; mae_aead_*.
 *
 * Threads: a device and everything made from it belong to one thread at a time (the caller locks);
 * different devices may be used by different threads at once. Nothing here is async-signal-safe.
 * They belong to the process that opened the device: to a forked child every call that works on it
 * returns MAE_E_STATE; mae_close, mae_stream_free and mae_aead_free leave it as it is.
 *
 * Misuse that no library can detect, and that breaks the secrecy of the data:
 *   - CTR and OFB: never the same IV twice under one key. For CTR the whole range of counter
 *     values iv, iv + 1, ... counts: messages must not overlap in it.
 *   - CBC, PCBC and CFB: the IV must not be predictable by who chooses the plaintext, or be reused.
 *   - XTS: for storage, one data unit a call, its number as the IV; not for messages in transit.
 *     Two slots given for it must not hold equal keys (FIPS 140-3 IG C.I): none can be read back.
 *   - ECB shows which blocks are equal. It is here as a building block.
 *   - None of these modes detects changes to the data: mae_seal does, by GCM or CCM.
 *   - GCM and CCM: never the same nonce twice under one key. One repetition gives away the sum of
 *     both plaintexts and, in GCM, the means to forge any message under that key. mae_seal draws
 *     the nonce itself and mae_seal_counted counts it; they are the calls to use.
 *   - Key slots are shared by all who have the device open: leave no key in one that is done with.
 *
 * Bindings: the text between the two "cdef" marks is plain C without preprocessor lines; delete
 * the word MAE_API from it and cffi can parse it.
 */
#ifndef MAESLANT_H
#define MAESLANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exports a function of the library; the compiler warns where its result is dropped. */
#if defined(__GNUC__)
#define MAE_API __attribute__((visibility("default"))) __attribute__((warn_unused_result))
#define MAE_API_VOID __attribute__((visibility("default")))
#else
#define MAE_API
#define MAE_API_VOID
#endif

/* cdef begin */
typedef struct mae_dev mae_dev_t;
typedef struct mae_stream mae_stream_t;
typedef struct mae_aead mae_aead_t;

/* ---- errors ---------------------------------------------------------------------------------- */

typedef enum mae_error {
    MAE_OK = 0,
    MAE_E_ARGUMENT = 1,    /* null pointer, number out of range, unknown flag */
    MAE_E_URI = 2,         /* the device name is malformed */
    MAE_E_NO_DEVICE = 3,   /* there is no such device or build */
    MAE_E_PERMISSION = 4,  /* the device exists, but may not be opened */
    MAE_E_NOT_BOUND = 5,   /* the PCI function is not bound to vfio-pci */
    MAE_E_NOT_OURS = 6,    /* the device is not a Maeslant device that this library knows */
    MAE_E_SYSTEM = 7,      /* the operating system refused a call; see mae_error_detail */
    MAE_E_MEMORY = 8,      /* out of memory */
    MAE_E_UNSUPPORTED = 9, /* the device or backend cannot do this: see mae_caps */
    MAE_E_MODE = 10,       /* unknown mode or direction */
    MAE_E_KEY = 11,        /* wrong key length, or the key slot is empty */
    MAE_E_SLOT = 12,       /* no such key slot, or none free */
    MAE_E_CONTEXT = 13,    /* no such context, not allocated, or none free */
    MAE_E_LENGTH = 14,     /* length not allowed by the mode, 0, or unequal lists */
    MAE_E_NOT_MAPPED = 15, /* memory the device has not been given: mae_mem_map first */
    MAE_E_BUSY = 16,       /* jobs in flight use this key slot, context or memory */
    MAE_E_FULL = 17,       /* the queue is full: poll, then submit again */
    MAE_E_TIMEOUT = 18,    /* nothing happened in the given time */
    MAE_E_BUS = 19,        /* a register access, or the device's at its rings, met a bus error */
    MAE_E_BUS_READ = 20,   /* the device could not read the source */
    MAE_E_BUS_WRITE = 21,  /* the device could not write the destination */
    MAE_E_BUS_LIST = 22,   /* the device could not read a descriptor or scatter-gather list */
    MAE_E_ABORTED = 23,    /* the device was stopped with the job in flight */
    MAE_E_DEVICE = 24,     /* the device gave an inconsistent response */
    MAE_E_DEAD = 25,       /* the device stopped answering earlier; only mae_close is left */
    MAE_E_STATE = 26,      /* not allowed in this state: the stream is finished or has failed */
    MAE_E_AUTH = 27,       /* the tag is wrong: the message is not what was sealed */
    MAE_E_LIMIT = 28,      /* the key has reached its limit of uses: take a new one */
    MAE_E_POISONED = 29,   /* a protected session is over; only a new secret helps */
    MAE_E_REFUSED = 30,    /* the protected card refused a request, authentically */
    MAE_E_GIVEN_UP = 31,   /* a protected transfer was abandoned by its caller */
    MAE_E_COUNT = 32       /* how many values there are */
} mae_error_t;

/* Returns the text of an error, one line; never NULL. */
MAE_API const char *mae_strerror(mae_error_t error);
/* Returns details of this thread's last failing call (file names, advice); never NULL. */
MAE_API const char *mae_error_detail(void);

/* ---- devices --------------------------------------------------------------------------------- */

typedef enum mae_kind {
    MAE_KIND_PERIPHERAL = 1, /* registers only: jobs run inside mae_submit */
    MAE_KIND_STREAM = 2,     /* rings in host memory */
    MAE_KIND_COPY = 3        /* the stream card's DMA without a cipher: mode MAE_COPY only */
} mae_kind_t;

/* Holds the capabilities of a device, as mae_get_caps reads them. */
struct mae_caps {
    char backend[16];    /* "sim", "vfio", "uio", "null" */
    char name[32];       /* the build or the PCI address */
    uint32_t kind;       /* mae_kind_t */
    uint32_t version;    /* of the hardware, 0xMMmm */
    uint32_t modes;      /* bit mae_mode_t: the device has the mode */
    uint32_t directions; /* bit 0 encrypts, bit 1 decrypts */
    uint32_t lanes;      /* blocks a clock at best; 0 for an iterative core */
    uint32_t contexts;
    uint32_t aead_contexts; /* for jobs of GCM, CCM and CMAC: see mae_context_alloc_aead */
    uint32_t key_slots;
    uint32_t key_banks;       /* keys that can be in use without a reload */
    uint32_t max_key_bytes;   /* 16, 24 or 32 */
    uint32_t data_width_bits; /* of the bus to host memory; 0 if there is none */
    uint32_t max_queue_depth; /* see mae_set_queue_depth */
    uint32_t max_list_entries;
    uint64_t max_job_bytes;
    uint32_t simulated;     /* 1: time is simulated, mae_stats works */
    uint32_t clocks_per_us; /* how many clocks this library takes for a microsecond in time-outs */
};

/* Describes a device that mae_device_list found. */
struct mae_device_info {
    char uri[128];      /* for mae_open */
    char summary[128];  /* "simulated build", "PCI function, bound to vfio-pci", ... */
    uint32_t available; /* 0: cannot be opened now, the summary says why */
};

/*
 * Opens the AES device that a URI names.
 *
 * uri: "sim:NAME[?options]" a simulated build, NAME as in configs/builds.yml, found in
 *        $MAESLANT_SIM_PATH or build/sim; "sim:stream?lanes=4" is build stream4. Other options
 *        (latency=50-300, wave=FILE, ...) go to the simulator; dies=CLOCK removes the card then.
 *      "vfio:0000:00:04.0" a PCI function bound to vfio-pci; "uio:0000:00:04.0?iommu=off" one bound
 *        to uio_pci_generic, unprotected: it maps memory of mae_mem_alloc only (guides/linux.md).
 *      "null:" no device: jobs complete at once and touch no data; it measures this library.
 * On failure *dev is NULL and mae_error_detail() says more.
 */
MAE_API mae_error_t mae_open(const char *uri, mae_dev_t **dev);
/* Closes a device: erases every key, stops its DMA, frees its memory. NULL is allowed. Jobs in
   flight are dropped; streams of the device must have been freed before. */
MAE_API_VOID void mae_close(mae_dev_t *dev);
/* Copies the capabilities of a device to *caps. */
MAE_API mae_error_t mae_get_caps(const mae_dev_t *dev, struct mae_caps *caps);
/* Writes the AES devices found to `list`, at most `max`; *count is their number. */
MAE_API mae_error_t mae_device_list(struct mae_device_info *list, size_t max, size_t *count);

/* Limits a device's jobs in flight to `depth`, at most and by default caps.max_queue_depth. */
MAE_API mae_error_t mae_set_queue_depth(mae_dev_t *dev, uint32_t depth);
/* Sets the time without a completed job after which a busy device counts as dead. Every 4 blocks in
   flight add 1 us. Simulated devices count caps.clocks_per_us clocks as a microsecond. */
MAE_API mae_error_t mae_set_stall_timeout(mae_dev_t *dev, uint64_t microseconds);

/* ---- keys ------------------------------------------------------------------------------------ */

enum { MAE_SLOT_NONE = 0xff };

/* Loads a key of 16, 24 or 32 bytes into a key slot, from which it cannot be read back. Overwrites
   the slot's key. MAE_E_BUSY if the slot is in use. */
MAE_API mae_error_t mae_key_load(mae_dev_t *dev, uint32_t slot, const uint8_t *key, size_t bytes);
/* Loads a key of 16, 24 or 32 bytes into a free key slot of the device; *slot is its number. */
MAE_API mae_error_t mae_key_alloc(mae_dev_t *dev, const uint8_t *key, size_t bytes, uint32_t *slot);
/* Erases the key in a key slot of the device and frees the slot. An empty slot is no error. */
MAE_API mae_error_t mae_key_erase(mae_dev_t *dev, uint32_t slot);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Allocates zeroed, page-aligned memory that the device can read and write. */
MAE_API mae_error_t mae_mem_alloc(mae_dev_t *dev, size_t bytes, void **memory);
/* Wipes and frees memory that mae_mem_alloc has allocated. */
MAE_API mae_error_t mae_mem_free(mae_dev_t *dev, void *memory);
/* Maps the caller's memory for access by the device (vfio: pins its pages). */
MAE_API mae_error_t mae_mem_map(mae_dev_t *dev, void *memory, size_t bytes, bool writable);
/* Ends the device's access to memory that mae_mem_map has mapped. */
MAE_API mae_error_t mae_mem_unmap(mae_dev_t *dev, void *memory);

/* ---- jobs ------------------------------------------------------------------------------------ */

typedef enum mae_mode {
    MAE_ECB = 0,
    MAE_CBC = 1,
    MAE_PCBC = 2,
    MAE_CFB = 3, /* 128-bit segments */
    MAE_OFB = 4,
    MAE_CTR = 5, /* the IV is a 128-bit big-endian counter */
    MAE_XTS = 6,
    MAE_COPY = 7, /* the copy card's */
    MAE_GCM = 8,  /* GMAC is GCM without data */
    MAE_CCM = 9,
    MAE_CMAC = 10
} mae_mode_t;

typedef enum mae_direction { MAE_ENCRYPT = 0, MAE_DECRYPT = 1 } mae_direction_t;

/* Names the part of a GCM, CCM or CMAC message that a job carries. */
typedef enum mae_phase { MAE_PHASE_DATA = 0, MAE_PHASE_AAD = 1, MAE_PHASE_IV = 2 } mae_phase_t;

/* Describes a contiguous part of a job's data in a scatter-gather list: address and length. */
struct mae_segment {
    void *data;
    uint64_t bytes; /* 0 is allowed */
};

/*
 * Describes a job of a device: a whole message or a part of one, with key slot and mode. Buffers
 * must be mapped and may have any alignment; source and destination are the same place or do not
 * overlap. Lengths: at least 1; ECB, CBC and PCBC whole blocks; XTS at least a block; jobs of a
 * message before its last one always whole blocks.
 *
 * A context keeps the chain value of a message from one job to the next: init = 1 starts a message
 * with iv, init = 0 goes on. Jobs of one context run one after the other in the order of their
 * submission, jobs of different contexts at once. Do not queue far ahead in one context: a card
 * holds eight jobs that wait for their contexts, and then all others, too.
 *
 * GCM, CCM and CMAC: the jobs of a message go through its phases in order, iv (GCM), aad, data; in
 * each all but the last are whole blocks; any may be empty; `final` ends the message. Only data has
 * a destination. GCM: with init, the first 12 bytes of iv are the IV; another IV is the source of
 * one job of phase iv with init. CCM (if in caps.modes): iv is the counter block A0, the aad phase
 * carries B0, the encoded length and the AAD (SP 800-38C A.2). CMAC (if in caps.modes): the message
 * is the aad phase. A final decryption takes the first tag_bytes of `tag`; MAE_E_AUTH: they are
 * wrong, and that job's destination has been overwritten; those of earlier jobs are the caller's to
 * wipe, unread, and nonces the caller's to keep apart. mae_seal, mae_unseal, mae_aead_* do it.
 */
struct mae_job {
    mae_mode_t mode;
    mae_direction_t direction;
    uint32_t key_slot;
    uint32_t tweak_slot; /* XTS: slot of the second key, which must be another one; else ignored */
    uint32_t context;
    uint32_t init; /* 1: start a message with iv; 0: go on where the context stands */
    uint8_t iv[16];
    uint64_t length; /* bytes */
    const void *src;
    void *dst;
    const struct mae_segment *src_list; /* not NULL: instead of src; copied by mae_submit */
    const struct mae_segment *dst_list; /* not NULL: instead of dst; copied by mae_submit */
    uint32_t src_entries;
    uint32_t dst_entries;
    mae_phase_t phase;  /* GCM, CCM, CMAC; else ignored, as the rest of these */
    uint32_t final;     /* 1: the message ends with this job */
    uint8_t tag[16];    /* final, decryption: the expected one */
    uint32_t tag_bytes; /* of them to compare, 4 to 16 */
    void *user;         /* comes back in the completion */
};

/* Holds the result of a completed job of a device. */
struct mae_completion {
    void *user;
    mae_error_t error;
    uint32_t context;
    uint64_t bytes;         /* written */
    uint32_t device_status; /* as the device put it (status_e of mae_dma_pkg) */
    uint8_t tag[16];        /* of a message encrypted to its end; on crc4 a copy's CRC; else 0 */
};

/* Allocates a context of the device, which holds a message's chain value between its jobs. */
MAE_API mae_error_t mae_context_alloc(mae_dev_t *dev, uint32_t *context);
/* Allocates a context of the device for a GCM, CCM or CMAC message only. The peripheral has these
   beyond caps.contexts: the library saves their state, so several such messages and one of another
   mode can be interleaved. Only XTS cannot continue after such a job there: MAE_E_STATE. */
MAE_API mae_error_t mae_context_alloc_aead(mae_dev_t *dev, uint32_t *context);
/* Frees a context that mae_context_alloc or mae_context_alloc_aead has allocated. */
MAE_API mae_error_t mae_context_free(mae_dev_t *dev, uint32_t context);

/* Submits a job to a device. MAE_E_FULL: poll first. Every accepted job completes exactly once. */
MAE_API mae_error_t mae_submit(mae_dev_t *dev, const struct mae_job *job);
/* Submits several jobs to a device, in order, with one doorbell. *taken: how many were accepted;
   the error is the next one's, or the doorbell's, which rings again with the next submission. */
MAE_API mae_error_t mae_submit_many(mae_dev_t *dev, const struct mae_job *list, size_t count,
                                    size_t *taken);
/* Fetches a device's completed jobs, in their order; *count may be 0. Advances simulated time. */
MAE_API mae_error_t mae_poll(mae_dev_t *dev, struct mae_completion *list, size_t max,
                             size_t *count);
/* Waits until a job completes; fetches as mae_poll. MAE_E_TIMEOUT: none completed or in flight. */
MAE_API mae_error_t mae_wait(mae_dev_t *dev, struct mae_completion *list, size_t max, size_t *count,
                             uint64_t timeout_us);
/* Returns the number of jobs submitted and not yet fetched by mae_poll or mae_wait. */
MAE_API uint32_t mae_in_flight(const mae_dev_t *dev);

/* ---- messages -------------------------------------------------------------------------------- */

/*
 * Encrypts or decrypts one message from src to dst on the device; returns when it is done. Any
 * memory; dst == src is allowed. The key is loaded into a free slot and erased afterwards.
 * key_bytes: 16, 24, 32; for XTS both keys one after the other, 32, 48, 64; MAE_E_KEY if they are
 * equal (FIPS 140-3 IG C.I). iv: 16 bytes, NULL for ECB. Padding is the caller's. Needs a free
 * context; takes more to run ECB, CTR, XTS and the decryption of CBC and CFB as many jobs at once.
 */
MAE_API mae_error_t mae_crypt(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                              const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                              const void *src, void *dst, uint64_t length);
/* Encrypts or decrypts one message, as mae_crypt, under keys in the device's key slots. tweak_slot
   holds the second key of XTS and is ignored in other modes. */
MAE_API mae_error_t mae_crypt_slot(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                                   uint32_t key_slot, uint32_t tweak_slot, const uint8_t *iv,
                                   const void *src, void *dst, uint64_t length);

/*
 * Encrypts or decrypts a part of a message, on any device and in any order. The part is the bytes
 * from `offset`, a multiple of 16, to offset + length. `before` is the source's block before them
 * (CBC and CFB, else ignored). ECB, CTR, XTS and the decryption of CBC and CFB; others from offset
 * 0 only (MAE_E_MODE). XTS: at least 16 bytes, and whole blocks but in the last part. XTS beyond
 * offset 0 needs a device of both directions.
 */
MAE_API mae_error_t mae_crypt_part(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                                   const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                                   uint64_t offset, const uint8_t *before, const void *src,
                                   void *dst, uint64_t length);
/* Returns true if mae_crypt_part can process messages of a mode part by part. */
MAE_API bool mae_mode_divides(mae_mode_t mode, mae_direction_t direction);

/* ---- streams --------------------------------------------------------------------------------- */

/*
 * Starts a message that is processed in pieces of any size, for data that does not fit in memory.
 * Input is copied to the stream's own buffers and processed while the caller fetches more; output
 * comes later, in order.
 * Keys, IV and contexts as for mae_crypt. A failed stream stays failed; free it.
 *
 *   mae_stream_begin(...)
 *   for each piece: until all is taken: mae_stream_update(s, p, n, &taken, out, room, &given)
 *   do mae_stream_finish(s, out, room, &given) while (given > 0)
 *   mae_stream_free(s)
 */
MAE_API mae_error_t mae_stream_begin(mae_dev_t *dev, mae_mode_t mode, mae_direction_t direction,
                                     const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                                     mae_stream_t **stream);
/* Copies input of a stream's message from src and output to dst; waits if neither is possible. */
MAE_API mae_error_t mae_stream_update(mae_stream_t *stream, const void *src, size_t bytes,
                                      size_t *taken, void *dst, size_t room, size_t *given);
/* Ends the input of a stream's message and copies the remaining output to dst. Several calls may be
   needed; given = 0 is the end. MAE_E_LENGTH: the message's length is not allowed by the mode. */
MAE_API mae_error_t mae_stream_finish(mae_stream_t *stream, void *dst, size_t room, size_t *given);
/* Frees a stream: wipes its buffers, erases its keys, frees its contexts. NULL is allowed. */
MAE_API_VOID void mae_stream_free(mae_stream_t *stream);

/* ---- authenticated messages ------------------------------------------------------------------ */

/*
 * Holds a GCM (SP 800-38D), CCM (SP 800-38C) or CMAC message. GCM and CCM detect any change of
 * nonce, AAD, ciphertext or tag. CCM needs two passes over data and is slower; take GCM unless a
 * protocol requires CCM. Where a device lacks CCM or CMAC the library composes them of CBC and CTR.
 */
struct mae_message {
    mae_mode_t mode;    /* MAE_GCM, MAE_CCM; mae_mac: MAE_CMAC */
    uint32_t key_slot;  /* holds the key, if `key` is NULL */
    const uint8_t *key; /* NULL, or the key: loaded into a free slot and erased afterwards */
    size_t key_bytes;   /* of `key`: 16, 24, 32 */
    uint8_t *nonce;     /* written by mae_seal and mae_seal_counted, else read */
    size_t nonce_bytes; /* GCM 1 to 65536: take 12, fewer soon repeat and no call warns (SP 800-38D
                           8.2); CCM 7 to 13; 0 where the library writes it: 12 */
    const void *aad;    /* authenticated, not encrypted; any memory */
    uint64_t aad_bytes;
    const void *src; /* any memory; dst may be the same place */
    void *dst;
    uint64_t length; /* GCM: at most 2^36 - 32; CCM: less than 2^(8 * (15 - nonce_bytes)) */
    uint8_t *tag;    /* written when sealing, read by mae_unseal and mae_mac_verify */
    /* GCM 4, 8, 12 to 16; CCM 4, 6, ... 16; CMAC 4 to 16; 0 where the library writes it: 16. Short
       ones are for protocols that bound what may be tried (SP 800-38D appendix C). */
    size_t tag_bytes;
};

/* Holds the next nonce of a sender: a fixed field and a counter of 8 bytes (SP 800-38D 8.2.1). Keep
   one with each key: no value may be counted twice under it. Two senders under one key must differ
   in the fixed field, which is the first nonce_bytes - 8 bytes of `fixed`. A forked child is
   another sender: it needs a device and a fixed field of its own. */
struct mae_nonce_counter {
    uint8_t fixed[8];
    uint64_t next;
};

/*
 * Encrypts and authenticates one message under a nonce drawn from the operating system. GMAC is a
 * message of length 0. Of a key in a slot at most 2^32 messages are sealed (SP 800-38D 8.3), then
 * MAE_E_LIMIT until a key is loaded; keys given with their messages are counted together, for as
 * long as the device is open. CCM: a drawn nonce has 12 or 13 bytes.
 */
MAE_API mae_error_t mae_seal(mae_dev_t *dev, const struct mae_message *message);
/* Encrypts and authenticates one message under a counter's next nonce, used up by a failure too. No
   limit of 2^32 if all nonces under the key are counted, of 12 bytes. nonce_bytes >= 8. */
MAE_API mae_error_t mae_seal_counted(mae_dev_t *dev, const struct mae_message *message,
                                     struct mae_nonce_counter *counter);
/* Encrypts and authenticates one message with the caller's nonce. Use it only where a protocol
   prescribes the nonce. A nonce used twice under one key breaks GCM: see the top of this file. */
MAE_API mae_error_t mae_seal_with_chosen_nonce(mae_dev_t *dev, const struct mae_message *message);
/* Decrypts one GCM or CCM message and verifies its tag. MAE_E_AUTH: it is not what was sealed.
   After this and every other error once work has begun, dst is wiped; in place, that wipes the
   ciphertext too. */
MAE_API mae_error_t mae_unseal(mae_dev_t *dev, const struct mae_message *message);

/* Writes the CMAC (SP 800-38B) of `length` bytes at src to tag; takes no nonce, AAD or dst. */
MAE_API mae_error_t mae_mac(mae_dev_t *dev, const struct mae_message *message);
/* Checks a tag against the CMAC of one message. MAE_E_AUTH: the tag is wrong. */
MAE_API mae_error_t mae_mac_verify(mae_dev_t *dev, const struct mae_message *message);
/* Compares two authentication tags in constant time; returns true if they are equal. */
MAE_API bool mae_tags_equal(const uint8_t *left, const uint8_t *right, size_t bytes);

/*
 * Starts a GCM or CCM message that is encrypted in pieces. The calls are one of the start calls
 * below, aad..., update..., finish, read... until nothing is given, free. Of struct mae_message the
 * start calls use mode, key, nonce and tag_bytes, and for CCM also aad_bytes and length, which CCM
 * must know ahead. A failed message stays failed; free it.
 *
 * Unsealing gives nothing before mae_aead_finish has verified the tag: until then the library holds
 * the whole plaintext. For messages too long for that, mae_aead_unseal_unverified gives it at once:
 * keep it where nothing acts on it, and destroy it if mae_aead_finish then fails.
 */
MAE_API mae_error_t mae_aead_seal(mae_dev_t *dev, const struct mae_message *message,
                                  mae_aead_t **aead);
MAE_API mae_error_t mae_aead_seal_counted(mae_dev_t *dev, const struct mae_message *message,
                                          struct mae_nonce_counter *counter, mae_aead_t **aead);
MAE_API mae_error_t mae_aead_seal_with_chosen_nonce(mae_dev_t *dev,
                                                    const struct mae_message *message,
                                                    mae_aead_t **aead);
MAE_API mae_error_t mae_aead_unseal(mae_dev_t *dev, const struct mae_message *message,
                                    mae_aead_t **aead);
MAE_API mae_error_t mae_aead_unseal_unverified(mae_dev_t *dev, const struct mae_message *message,
                                               mae_aead_t **aead);
/* Starts the CMAC of a message: mae_aead_aad takes it, mae_aead_finish returns the tag. */
MAE_API mae_error_t mae_aead_mac(mae_dev_t *dev, const struct mae_message *message,
                                 mae_aead_t **aead);
/* Adds AAD to a GCM or CCM message, before any of its data, or data to a CMAC. */
MAE_API mae_error_t mae_aead_aad(mae_aead_t *aead, const void *aad, size_t bytes);
/* Copies data of a GCM or CCM message from src and output to dst; waits if neither is possible. */
MAE_API mae_error_t mae_aead_update(mae_aead_t *aead, const void *src, size_t bytes, size_t *taken,
                                    void *dst, size_t room, size_t *given);
/* Ends a GCM, CCM or CMAC message; writes its tag, or returns MAE_E_AUTH if the tag is wrong. */
MAE_API mae_error_t mae_aead_finish(mae_aead_t *aead, uint8_t *tag);
/* Copies the remaining output of a GCM or CCM message to dst; *given = 0 once there is none. */
MAE_API mae_error_t mae_aead_read(mae_aead_t *aead, void *dst, size_t room, size_t *given);
/* Frees a GCM, CCM or CMAC message: wipes its buffers, erases its key. NULL is allowed. */
MAE_API_VOID void mae_aead_free(mae_aead_t *aead);

/* ---- statistics and registers ---------------------------------------------------------------- */

/* Holds the counters of a simulated device since it was opened or they were reset. */
struct mae_stats {
    uint64_t core_clocks;
    uint64_t bus_clocks;
    uint64_t read_beats;
    uint64_t write_beats;
    uint64_t read_bytes;
    uint64_t write_bytes;
    uint64_t first_data_clock;
    uint64_t last_data_clock;
    uint64_t host_copy_beats;
    uint64_t register_reads;
    uint64_t register_writes;
    uint64_t errors_injected;
    uint32_t data_width_bits;
    uint32_t one_way; /* 1: the memory bus serves one direction at a time */
    /* Finer: payload is what the movers move, without descriptors, lists and completions. */
    uint64_t payload_read_beats;
    uint64_t payload_write_beats;
    uint64_t both_ways_clocks; /* clocks with a read beat and a write beat */
    uint64_t overtakes;        /* bursts whose answer began before an older one's */
    uint64_t interleaved;      /* read beats between two beats of another burst */
    uint64_t max_reads_outstanding;
    uint64_t max_writes_outstanding;
    uint64_t decode_errors; /* accesses to memory that is not mapped */
    uint64_t read_latency_min;
    uint64_t read_latency_max;
    uint64_t write_latency_min;
    uint64_t write_latency_max;
};

/* Copies the counters of a simulated device to *stats; MAE_E_UNSUPPORTED for real devices. */
MAE_API mae_error_t mae_get_stats(mae_dev_t *dev, struct mae_stats *stats);
/* Resets the counters of a simulated device to zero; MAE_E_UNSUPPORTED for real devices. */
MAE_API mae_error_t mae_reset_stats(mae_dev_t *dev);
/* Advances a simulated device by a number of clock cycles; has no effect on real devices. */
MAE_API mae_error_t mae_run_clocks(mae_dev_t *dev, uint64_t clocks);
/* Copies bytes between two mapped buffers by the host CPU; in a simulation, that takes clocks. */
MAE_API mae_error_t mae_host_copy(mae_dev_t *dev, void *dst, const void *src, uint64_t bytes);
/* Reads the 32-bit register at an offset of a device, as in regs/, to *value. */
MAE_API mae_error_t mae_register_read(mae_dev_t *dev, uint32_t offset, uint32_t *value);
/* Writes the 32-bit register at an offset of a device, as in regs/. The library does not know. */
MAE_API mae_error_t mae_register_write(mae_dev_t *dev, uint32_t offset, uint32_t value);

/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

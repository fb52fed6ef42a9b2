/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the register-level driver of the AES peripheral, for firmware and for libmaeslant. It is
 * what a program without an operating system needs to use the peripheral. Freestanding C17: no
 * libc, no allocation, no static data; errors are mae_error_t of maeslant.h.
 *
 *   struct mae_pio_bus bus = {mae_pio_mmio_read32, mae_pio_mmio_write32, (void *)0x40000000};
 *   mae_pio_key_load(&bus, 0, key, 16);
 *   mae_pio_run(&bus, &(struct mae_pio_job){.mode = MAE_CTR, .init = 1, .iv = iv, .length = 100},
 *               src, dst);
 *
 * GCM, CCM and CMAC likewise: mae_pio_seal, mae_pio_unseal, mae_pio_mac. Where the device reaches
 * memory by itself: mae_pio_memory_start.
 *
 * Identity, capabilities and the key window stand at the same offsets in every Maeslant device, so
 * the functions on those serve the stream card too.
 */
#ifndef MAESLANT_PERIPHERAL_H
#define MAESLANT_PERIPHERAL_H

#include <stddef.h>
#include <stdint.h>

#include "maeslant.h"

/* Holds the functions by which the driver reads and writes the device's registers. They use a
   pointer in firmware, a backend in libmaeslant. */
struct mae_pio_bus {
    mae_error_t (*read32)(void *bus, uint32_t offset, uint32_t *value);
    mae_error_t (*write32)(void *bus, uint32_t offset, uint32_t value);
    void *bus;
};

/* Reads a memory-mapped register of the device to *value; `bus` is the device's base address. */
inline mae_error_t mae_pio_mmio_read32(void *bus, uint32_t offset, uint32_t *value)
{
    *value = *(volatile uint32_t *)((uintptr_t)bus + offset);
    return MAE_OK;
}

/* Writes a memory-mapped register of the device; `bus` is the device's base address. A bus of these
   two functions is the fast one. */
inline mae_error_t mae_pio_mmio_write32(void *bus, uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)((uintptr_t)bus + offset) = value;
    return MAE_OK;
}

/* Holds a device's kind and capabilities, read from its registers by mae_pio_probe. */
struct mae_pio_info {
    mae_kind_t kind;
    uint32_t version; /* major in bits 31:16, minor in bits 15:0 */
    uint32_t lanes;
    uint32_t contexts;
    uint32_t key_slots;
    uint32_t key_banks;
    uint32_t modes;      /* bit mae_mode_t */
    uint32_t directions; /* bit 0 forward cipher, bit 1 inverse cipher */
    uint32_t key_sizes;  /* bit 0 AES-128, bit 1 AES-192, bit 2 AES-256 */
    uint32_t memory;     /* 1: takes memory jobs */
    uint32_t jobs;       /* a peripheral: jobs at once, 1 or 2; see mae_pio_run_both */
};

/* Describes a job of the peripheral: a whole message or a part of one; see struct mae_job. */
struct mae_pio_job {
    mae_mode_t mode;
    mae_direction_t direction;
    uint32_t init;
    uint32_t key_slot;
    uint32_t tweak_slot;
    const uint8_t *iv; /* 16 bytes; NULL unless init and the mode takes one. GCM reads 12 */
    uint32_t length;
    mae_phase_t phase;  /* GCM, CCM, CMAC, as the rest of these */
    uint32_t final;     /* 1: the message ends with this job */
    uint8_t *tag;       /* final: 16 bytes, written by an encryption, read by a decryption */
    uint32_t tag_bytes; /* of them to compare, 4 to 16 */
};

/* Holds the state of a GCM, CCM or CMAC message that mae_pio_save read from the peripheral. Whoever
   has the registers can read it, and can use the key as well; wipe it all the same. */
struct mae_pio_context {
    uint32_t words[12];
};

/* Writes a job's next n input bytes to `block`, as the caller's function; n is 16 or less. */
typedef void (*mae_pio_get_t)(void *arg, uint8_t *block, uint32_t n);
typedef void (*mae_pio_put_t)(void *arg, const uint8_t *block, uint32_t n);

/* Identifies the device behind a register bus; writes its capabilities to *info. MAE_E_NOT_OURS: no
   known device answers. */
mae_error_t mae_pio_probe(const struct mae_pio_bus *bus, struct mae_pio_info *info);
/* Loads a key of 16, 24 or 32 bytes into a key slot of the device. */
mae_error_t mae_pio_key_load(const struct mae_pio_bus *bus, uint32_t slot, const uint8_t *key,
                             size_t bytes);
/* Erases the key in a key slot of the device. */
mae_error_t mae_pio_key_erase(const struct mae_pio_bus *bus, uint32_t slot);
/* Erases all keys, chain values and data in the device and drops its job in progress. The
   peripheral only. */
mae_error_t mae_pio_wipe(const struct mae_pio_bus *bus);
/* Runs a job on the peripheral to its end; moves the data from src to dst over its registers.
   src == dst is allowed. */
mae_error_t mae_pio_run(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                        const void *src, void *dst);
/* Encrypts or decrypts one block on the peripheral under a loaded key, faster than mae_pio_run. It
   is ECB, and takes a quarter of the time of mae_pio_run where registers are memory-mapped and both
   blocks word-aligned. in == out is allowed. */
mae_error_t mae_pio_block(const struct mae_pio_bus *bus, uint32_t slot, mae_direction_t direction,
                          const uint8_t in[16], uint8_t out[16]);
/* Runs a job on the peripheral, with functions of the caller that supply and take its data. Block k
   + 1 is asked for before block k is given. */
mae_error_t mae_pio_run_with(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                             mae_pio_get_t get, void *get_arg, mae_pio_put_t put, void *put_arg);
/*
 * Sets *second to the second job's registers of a peripheral whose info.jobs is 2. All functions on
 * jobs in ECB, CBC and CTR take either bus, and a job of each runs at the same time under the same
 * key. Keys are loaded, erased and wiped by the first bus. `bus` must live as long as `second`.
 */
void mae_pio_second(const struct mae_pio_bus *bus, struct mae_pio_bus *second);
/* Describes one of two jobs that run at once: the job, and where its data is and goes. */
struct mae_pio_side {
    const struct mae_pio_job *job;
    const void *src;
    void *dst; /* the same as src, or apart from all data of both jobs */
};
/*
 * Runs two jobs in ECB, CBC or CTR at once on a peripheral whose info.jobs is 2, under its key. One
 * that encrypts and one that decrypts do not wait for each other; lengths may differ. An error of
 * `first` at its start: nothing was done. One of `second`: `first` was done alone. MAE_E_BUS ends
 * the call at once, and a job may still run: mae_pio_wipe ends it.
 */
mae_error_t mae_pio_run_both(const struct mae_pio_bus *bus, const struct mae_pio_side *first,
                             const struct mae_pio_side *second);
/* Reads the state of a GCM, CCM or CMAC message from the idle peripheral, to continue it later. */
mae_error_t mae_pio_save(const struct mae_pio_bus *bus, struct mae_pio_context *context);
/* Writes the state of a GCM, CCM or CMAC message, read by mae_pio_save, to the peripheral. */
mae_error_t mae_pio_restore(const struct mae_pio_bus *bus, const struct mae_pio_context *context);

/*
 * Describes where a memory job of the peripheral reads its source and writes its destination. That
 * is where info.memory is 1: the device itself accesses the memory. The call returns when the job
 * has begun, and the program continues as if the job were done: a read of a block that is not there
 * yet, or a write to one not yet read, waits for it. So wait for the end only to learn of errors,
 * for the tag, and to start the next job.
 *
 *   struct mae_pio_job job = {.mode = MAE_CTR, .init = 1, .iv = iv, .length = 4096};
 *   struct mae_pio_memory memory = {.source = (uintptr_t)src, .destination = (uintptr_t)dst};
 *   error = mae_pio_memory_start(&bus, &job, &memory);
 *   ... anything ...
 *   error = mae_pio_memory_wait(&bus, &job);
 */
struct mae_pio_memory {
    uint32_t source;      /* addresses of the device's memory, multiples of 16 */
    uint32_t destination; /* the same as source, below it, or apart from it */
    uint32_t keys;        /* a table of keys, apart from destination, if key_bytes is not 0 */
    uint32_t key_bytes;   /* 16, 24, 32: each block has a key of its own, one every 16 bytes of the
                             table (AES-128) or 32, loaded into the job's key_slot and tweak_slot by
                             turns; not in XTS, GCM, CCM, CMAC. 0: the key in key_slot */
    uint32_t interrupt;   /* 1: the interrupt line rises at the end, until mae_pio_memory_poll or
                             mae_pio_memory_wait has seen it */
};

/* Starts a memory job: the peripheral itself reads the source and writes the destination.
   MAE_E_ARGUMENT: an address is not a multiple of 16 or not in the memory, or the destination
   overlaps so that the result would be undefined. */
mae_error_t mae_pio_memory_start(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                 const struct mae_pio_memory *memory);
/* Sets *over to true if the peripheral's memory job has ended, and returns that job's error. Does
   not wait. Writes job->tag if the job made one. */
mae_error_t mae_pio_memory_poll(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                bool *over);
/* Polls the peripheral until its memory job has ended; returns its error. */
mae_error_t mae_pio_memory_wait(const struct mae_pio_bus *bus, const struct mae_pio_job *job);

/*
 * Describes a GCM, CCM or CMAC message that the peripheral processes in one call. MAE_GCM (GMAC
 * with length 0), MAE_CCM. There is no source of random numbers here: the nonce is the caller's,
 * and must never be used twice under one key. A counter that survives resets is the safe choice.
 *
 *   mae_pio_seal(&bus, &(struct mae_pio_message){.mode = MAE_GCM, .nonce = counter, .nonce_bytes =
 * 12,
 *                .aad = header, .aad_bytes = 20, .tag = tag, .tag_bytes = 16}, text, text, 100);
 */
struct mae_pio_message {
    mae_mode_t mode;
    uint32_t key_slot;
    const uint8_t *nonce;
    uint32_t nonce_bytes; /* GCM 1 and more, CCM 7 to 13 */
    const void *aad;
    uint32_t aad_bytes;
    uint8_t *tag;
    uint32_t tag_bytes; /* GCM 4, 8, 12 to 16; CCM 4, 6, ... 16; CMAC 4 to 16 */
};

/* Encrypts and authenticates one GCM or CCM message on the peripheral. */
mae_error_t mae_pio_seal(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                         const void *src, void *dst, uint32_t length);
/* Decrypts one GCM or CCM message on the peripheral and verifies its tag. MAE_E_AUTH: it is not
   what was sealed; dst has then been wiped, as after every other error. */
mae_error_t mae_pio_unseal(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                           const void *src, void *dst, uint32_t length);
/* Starts a GCM, CCM or CMAC message as a memory job of the peripheral. The CPU moves the AAD, then
   the device works alone: call mae_pio_memory_poll or _wait with `job`, which this fills in. `tag`,
   16 bytes that live until then, is written by an encryption; a decryption expects message->tag. */
mae_error_t mae_pio_memory_message(const struct mae_pio_bus *bus,
                                   const struct mae_pio_message *message, mae_direction_t direction,
                                   const struct mae_pio_memory *memory, uint32_t length,
                                   uint8_t *tag, struct mae_pio_job *job);
/* Writes the CMAC of data to message->tag, computed on the peripheral. Uses key_slot, tag and
   tag_bytes of the message. */
mae_error_t mae_pio_mac(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                        const void *data, uint32_t length);
/* Checks message->tag against the CMAC of data on the peripheral. MAE_E_AUTH: the tag is wrong. */
mae_error_t mae_pio_mac_verify(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                               const void *data, uint32_t length);

#endif

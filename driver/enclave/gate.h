/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the shared page by which the enclave commands the process that owns the card. Who asks
 * fills in the command and counts `asked` up; who answers fills in the rest and sets `answered` to
 * it. Both wait by turning a while, then by a futex.
 */
#ifndef MAE_GATE_H
#define MAE_GATE_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum gate_command {
    GATE_READ = 1, /* registers: offset, size; data */
    GATE_WRITE,    /* registers: offset, size, data */
    GATE_ALLOCATE, /* size; host, offset in the window */
    GATE_RELEASE,  /* offset in the window, size */
    GATE_PAUSE     /* let time pass until an interrupt, or a little */
};

enum { GATE_DATA = 1088, GATE_TURNS = 2000, GATE_VERSION = 3 };

/* Defines the page that the enclave shares with the process that owns the card. Every field has 8
   bytes (outside.c). */
struct gate_page {
    _Atomic uint64_t asked;
    _Atomic uint64_t answered;
    uint64_t command;
    int64_t status; /* 0, or it could not be done */
    uint64_t offset;
    uint64_t size;
    uint64_t host;
    uint64_t clocks; /* of the card */
    uint64_t data[GATE_DATA / 8];
};

/* Defines the message that carries the files of shared page and memory over the socket. */
struct gate_hello {
    uint32_t version;
    uint32_t reserved;
    uint64_t window_bytes;
};

/* Waits until a word of the shared page differs from `old`; false after a time-out. The futex is
   its low half: the kernel compares 32 bits. */
static inline int gate_await(_Atomic uint64_t *word, uint64_t old, int milliseconds)
{
    struct timespec slice = {.tv_sec = 0, .tv_nsec = 100000000};
    for (int i = 0; i < GATE_TURNS; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != old)
            return 1;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    for (int waited = 0; waited <= milliseconds; waited += 100) {
        syscall(SYS_futex, word, FUTEX_WAIT, (uint32_t)old, &slice, NULL, 0);
        if (atomic_load_explicit(word, memory_order_acquire) != old)
            return 1;
    }
    return 0;
}

/* Writes a word of the shared page and wakes the process that waits for it. */
static inline void gate_tell(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

#endif

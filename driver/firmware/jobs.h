/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the list of AES jobs that the host puts into the SoC's mailbox for the firmware. At the
 * end of the list it writes `finish`; when the clock runs on, it begins again with the list that is
 * there then. The text between the marks is plain C for cffi.
 */
#ifndef MAESLANT_FIRMWARE_JOBS_H
#define MAESLANT_FIRMWARE_JOBS_H

#include <stdint.h>

/* cdef begin */
enum soc_way {
    SOC_SOFTWARE = 0,  /* aes.c; ECB */
    SOC_REGISTERS = 1, /* the driver over AXI4-Lite: the CPU moves the data */
    SOC_POLLED = 2,    /* a memory job; the driver polls for its end */
    SOC_INTERRUPT = 3, /* a memory job; the CPU sums up `work` over and over until an interrupt */
    SOC_GO_ON = 4,     /* a memory job; the CPU sums up `work` once, at once, then waits */
    SOC_DUPLEX = 5,    /* the driver over AXI4-Lite on the peripheral of two jobs at once */
    SOC_BOTH = 6       /* there, at once with the next job of the list, under this one's key */
};

enum soc_job_kind {
    SOC_KEY = 0, /* expand the key, or load it */
    SOC_DATA = 1 /* a message; the key is not part of what is timed, but with key_each */
};

/*
 * Describes an AES job for the firmware: data, keys, mode, and how to run it. Modes and directions
 * are maeslant.h's; addresses are the CPU's.
 */
struct soc_job {
    uint32_t way, kind, mode, direction;
    uint32_t source, destination, length;
    uint32_t keys, key_bytes,
        key_each; /* a key every 16 or 32 bytes; 1: a new one for each block */
    uint32_t iv, iv_bytes, aad, aad_bytes, tag_bytes;
    uint32_t work, work_bytes;
    uint8_t tag[16]; /* expected, or made */
    /* what came of it */
    uint32_t error, clocks, instructions;
    uint32_t sum, summed; /* of the words of `work`, and how many were added */
};

struct soc_jobs {
    uint32_t count;
    struct soc_job list[100];
    uint8_t bytes[8192]; /* for IVs and additional data */
};
/* cdef end */

#endif

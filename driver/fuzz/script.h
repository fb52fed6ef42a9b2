/* SPDX-License-Identifier: Apache-2.0 */
/* Declares a fuzzed application that makes calls of the protected driver. */
#ifndef MAE_SCRIPT_H
#define MAE_SCRIPT_H

#include "../enclave/state.h"

struct stream {
    const uint8_t *data;
    size_t left;
};

/* Takes the next byte of fuzz data; 0 at its end. */
static inline uint8_t stream_byte(struct stream *stream)
{
    if (stream->left == 0)
        return 0;
    stream->left--;
    return *stream->data++;
}

/* Copies the next bytes of fuzz data to memory. */
static inline void stream_bytes(struct stream *stream, void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = stream_byte(stream);
}

/* Returns a legal capability word of a card, mostly the common one, sometimes with extremes. */
static inline uint64_t capabilities_of(unsigned choice)
{
    static const uint64_t words[] = {
        UINT64_C(0x0103081440140610), /* 3 queues, depth 8, 1 MiB chunks, memory, 16 regions */
        UINT64_C(0x0103081440140610), UINT64_C(0x0103081440140610), UINT64_C(0x0103081440140610),
        UINT64_C(0x0101010c040c0601), /* 1 queue, depth 1, 4 KiB, 4 operations, 1 region */
        UINT64_C(0x01403f1440280640), /* 64 queues, depth 63, memory of 1 TiB, 64 regions */
        UINT64_C(0x0104040c100e0602), UINT64_C(0x0102020e08100603),
    };
    return words[choice % (sizeof words / sizeof words[0])];
}

enum { SCRIPT_TASKS = 24, SCRIPT_ROOM = 3 * WIRE_STAGE };

struct script {
    mae_session_t *session;
    struct stream *stream;
    struct {
        mae_task_t *task;
        uint8_t *data; /* of a d2h transfer */
        uint64_t total;
    } tasks[SCRIPT_TASKS];
    uint64_t passed;       /* tasks that ended well */
    uint8_t expected;      /* every byte of a d2h transfer that ended well */
    uint64_t word;         /* every value of a batch that ended well */
    bool nothing_may_pass; /* nobody else has the key */
};

/* Makes driver calls until the fuzz data or the session ends, and checks their results. */
void script_run(struct script *script);

#endif

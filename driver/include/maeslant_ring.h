/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the stream card's rings of job descriptors and completions in host memory. Both are
 * little-endian, without padding. The hardware's side is rtl/dma/mae_dma_pkg.sv; a test compares
 * the two, member by member.
 */
#ifndef MAESLANT_RING_H
#define MAESLANT_RING_H

#include <stddef.h>
#include <stdint.h>

/* Describes a job in the stream card's submission ring; 64 bytes, aligned. */
struct mae_ring_desc {
    uint32_t cookie;      /* comes back in the completion */
    uint8_t op;           /* mae_mode_t */
    uint8_t flags;        /* MAE_DESC_* */
    uint8_t context_id;   /* whose chain value is used and kept */
    uint8_t key_slot;     /* with MAE_DESC_RECORD bits 7:0 of the record's number */
    uint32_t length;      /* bytes; 0 only in GCM */
    uint8_t tweak_slot;   /* key slot of XTS's second key */
    uint8_t phase;        /* GCM: mae_phase_t */
    uint8_t tag_bytes;    /* GCM, final decryption: bytes of the expected tag that count, 4 … 16 */
    uint8_t record_high;  /* with MAE_DESC_RECORD bits 15:8 of the record's number, else zero */
    uint64_t src;         /* address of the source, or of its list */
    uint64_t dst;         /* address of the destination, or of its list */
    uint16_t src_entries; /* with MAE_DESC_SRC_LIST */
    uint16_t dst_entries; /* with MAE_DESC_DST_LIST */
    uint8_t nonce[12];    /* GCM: with MAE_DESC_INIT the IV, if it has 12 bytes; else zero */
    uint8_t iv[16];       /* GCM: the expected tag of a final decryption, else zero */
};

enum {
    MAE_DESC_DECRYPT = 1 << 0,
    MAE_DESC_INIT = 1 << 1,     /* start a message with iv, else go on */
    MAE_DESC_SRC_LIST = 1 << 2, /* src points to src_entries list entries */
    MAE_DESC_DST_LIST = 1 << 3, /* dst points to dst_entries list entries */
    MAE_DESC_IRQ = 1 << 4,      /* raise the interrupt when completed */
    MAE_DESC_FINAL = 1 << 5,    /* GCM: the message ends: make its tag, or check it */
    MAE_DESC_RECORD = 1 << 6    /* the key is in a record of the key table */
};

/* Describes a segment in the stream card's scatter-gather lists; 16 bytes, aligned. 0 bytes are
   legal. */
struct mae_ring_sg_entry {
    uint64_t addr;
    uint32_t length;
    uint32_t reserved; /* zero */
};

/* Holds a key in host memory, in the table of key records; 64 bytes, aligned. */
struct mae_ring_key_record {
    uint8_t key[32];      /* bytes beyond key_bytes are zero */
    uint32_t valid;       /* MAE_KEY_RECORD_VALID */
    uint32_t key_bytes;   /* 16, 24 or 32 */
    uint8_t reserved[24]; /* zero */
};

enum { MAE_KEY_RECORD_VALID = 0x59454b4d }; /* the letters MKEY in memory */

/* Describes a completed job in the stream card's completion ring; 32 bytes, aligned. Its phase is
   written last. */
struct mae_ring_completion {
    uint8_t tag[16]; /* of a GCM message encrypted to its end, else zero */
    uint32_t cookie;
    uint8_t status; /* MAE_STATUS_* */
    uint8_t context_id;
    uint16_t index; /* how many descriptors came before this one, modulo 65536 */
    uint32_t bytes; /* written */
    uint32_t phase; /* bit 0 toggles each time round the ring, first round 1 */
};

enum {
    MAE_STATUS_OK = 0,
    MAE_STATUS_DESC_FETCH = 1, /* the descriptor could not be read; cookie is 0 */
    MAE_STATUS_BAD_OP = 2,
    MAE_STATUS_BAD_CONTEXT = 3,
    MAE_STATUS_BAD_LENGTH = 4,
    MAE_STATUS_BAD_KEY = 5,
    MAE_STATUS_LIST_FETCH = 6,
    MAE_STATUS_READ_SLVERR = 7,
    MAE_STATUS_READ_DECERR = 8,
    MAE_STATUS_WRITE_SLVERR = 9,
    MAE_STATUS_WRITE_DECERR = 10,
    MAE_STATUS_ABORTED = 11,
    MAE_STATUS_BAD_TAG = 12,   /* GCM: the tag is wrong; this job's destination was overwritten */
    MAE_STATUS_KEY_RECORD = 13 /* the key record could not be read, is not valid or not there */
};

#define MAE_RING_ASSERT(type, member, offset) \
    _Static_assert(offsetof(struct type, member) == (offset), #type "." #member)
#ifndef __cplusplus
MAE_RING_ASSERT(mae_ring_desc, cookie, 0x00);
MAE_RING_ASSERT(mae_ring_desc, op, 0x04);
MAE_RING_ASSERT(mae_ring_desc, flags, 0x05);
MAE_RING_ASSERT(mae_ring_desc, context_id, 0x06);
MAE_RING_ASSERT(mae_ring_desc, key_slot, 0x07);
MAE_RING_ASSERT(mae_ring_desc, length, 0x08);
MAE_RING_ASSERT(mae_ring_desc, tweak_slot, 0x0c);
MAE_RING_ASSERT(mae_ring_desc, phase, 0x0d);
MAE_RING_ASSERT(mae_ring_desc, tag_bytes, 0x0e);
MAE_RING_ASSERT(mae_ring_desc, record_high, 0x0f);
MAE_RING_ASSERT(mae_ring_desc, src, 0x10);
MAE_RING_ASSERT(mae_ring_desc, dst, 0x18);
MAE_RING_ASSERT(mae_ring_desc, src_entries, 0x20);
MAE_RING_ASSERT(mae_ring_desc, dst_entries, 0x22);
MAE_RING_ASSERT(mae_ring_desc, nonce, 0x24);
MAE_RING_ASSERT(mae_ring_desc, iv, 0x30);
_Static_assert(sizeof(struct mae_ring_desc) == 64, "descriptor");
MAE_RING_ASSERT(mae_ring_key_record, key, 0x00);
MAE_RING_ASSERT(mae_ring_key_record, valid, 0x20);
MAE_RING_ASSERT(mae_ring_key_record, key_bytes, 0x24);
MAE_RING_ASSERT(mae_ring_key_record, reserved, 0x28);
_Static_assert(sizeof(struct mae_ring_key_record) == 64, "key record");
MAE_RING_ASSERT(mae_ring_sg_entry, addr, 0x00);
MAE_RING_ASSERT(mae_ring_sg_entry, length, 0x08);
MAE_RING_ASSERT(mae_ring_sg_entry, reserved, 0x0c);
_Static_assert(sizeof(struct mae_ring_sg_entry) == 16, "list entry");
MAE_RING_ASSERT(mae_ring_completion, tag, 0x00);
MAE_RING_ASSERT(mae_ring_completion, cookie, 0x10);
MAE_RING_ASSERT(mae_ring_completion, status, 0x14);
MAE_RING_ASSERT(mae_ring_completion, context_id, 0x15);
MAE_RING_ASSERT(mae_ring_completion, index, 0x16);
MAE_RING_ASSERT(mae_ring_completion, bytes, 0x18);
MAE_RING_ASSERT(mae_ring_completion, phase, 0x1c);
_Static_assert(sizeof(struct mae_ring_completion) == 32, "completion");
#endif

#endif

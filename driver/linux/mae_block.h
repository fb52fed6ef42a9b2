/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the Maeslant block card's driver; formats of requests and completions.
 *
 * The formats are those of rtl/device/block/mae_block_pkg.sv, the registers those of
 * regs/mae_block_card.rdl.
 */
#ifndef MAE_BLOCK_H
#define MAE_BLOCK_H

#include <linux/blk-crypto-profile.h>
#include <linux/blk-mq.h>
#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "generated/mae_block_card_linux.h"

#define MAEB_IRQ_QUEUE(i)  (MAEB_IRQ_STATUS_QUEUE0 << (i))

#define MAEB_NAME	   "mae_block"
#define MAEB_QUEUES	   3  /* in the register map */
#define MAEB_SEGMENTS	   16 /* of a request; each is an entry of the ring */
#define MAEB_SEGMENT_BYTES SZ_1M
#define MAEB_MAX_SECTORS   (SZ_1M >> SECTOR_SHIFT)
#define MAEB_MAX_DEPTH	   1024 /* with MAEB_SEGMENTS: 2^14 entries, of at most 2^15 */

enum maeb_op {
	MAEB_OP_READ = 0,
	MAEB_OP_WRITE = 1,
	MAEB_OP_FLUSH = 2,
};

#define MAEB_FLAG_PLAIN BIT(0)
#define MAEB_FLAG_IRQ	BIT(4)

struct maeb_entry {
	__le32 cookie;
	u8 op;
	u8 flags;
	u8 key_slot;
	u8 unit_log2; /* bytes of a data unit */
	__le32 sectors;
	__le32 reserved_low;
	__le64 sector;
	__le64 addr;
	__le64 unit[2]; /* number of the first data unit */
	__le64 reserved_high[2];
};

static_assert(sizeof(struct maeb_entry) == 64);

enum maeb_status {
	MAEB_OK = 0,
	MAEB_BAD_KEY = 5,
	MAEB_READ_SLVERR = 7,
	MAEB_READ_DECERR = 8,
	MAEB_WRITE_SLVERR = 9,
	MAEB_WRITE_DECERR = 10,
};

struct maeb_completion {
	__le64 tag[2];
	__le32 cookie;
	u8 status;
	u8 context;
	__le16 index;
	__le32 bytes;
	__le32 phase; /* bit 0 is 1 in the first round of the ring */
};

static_assert(sizeof(struct maeb_completion) == 32);

enum maeb_state {
	MAEB_DOWN, /* stopped, its keys erased; maeb_start() loads them again */
	MAEB_UP,
	MAEB_DEAD, /* gone, or does not recover */
};

struct maeb_queue {
	struct maeb_card *card;
	void __iomem *regs;
	unsigned int index;

	spinlock_t sub_lock; /* protects the submission ring */
	struct maeb_entry *sub;
	dma_addr_t sub_dma;
	u16 sub_tail;

	spinlock_t comp_lock; /* protects the completion ring and which requests are in flight */
	struct maeb_completion *comp;
	dma_addr_t comp_dma;
	u16 comp_head;
};

struct maeb_card {
	struct pci_dev *pdev;
	void __iomem *regs;
	int irq;
	int id; /* in the disk's name */
	unsigned int nr_queues;
	unsigned int ring_log2; /* entries of each ring */
	u32 irq_mask;

	struct maeb_queue queues[MAEB_QUEUES];
	struct blk_mq_tag_set set;
	struct gendisk *disk;
	struct blk_crypto_profile profile;

	struct mutex key_lock; /* protects the key registers and changes of state */
	enum maeb_state state;
	struct workqueue_struct *wq;
	struct work_struct reset_work;
};

/* The driver's part of a request. */
struct maeb_pdu {
	struct scatterlist sg[MAEB_SEGMENTS];
	unsigned int nents; /* before the DMA mapping; 0: not mapped */
	u16 pending;	    /* entries without a completion */
	u16 generation;	    /* tells a completion of an earlier request with this tag */
	u8 timeouts;
	bool lost; /* ended by a reset of the card */
	blk_status_t status;
};

static inline u32 maeb_read(struct maeb_card *card, u32 reg)
{
	return readl(card->regs + reg);
}

static inline void maeb_write(struct maeb_card *card, u32 reg, u32 value)
{
	writel(value, card->regs + reg);
}

static inline void maeb_request_reset(struct maeb_card *card)
{
	queue_work(card->wq, &card->reset_work);
}

/* mae_block_queue.c */
extern const struct blk_mq_ops maeb_mq_ops;
int maeb_alloc_rings(struct maeb_card *card);
void maeb_start_rings(struct maeb_card *card);
void maeb_lose_requests(struct maeb_card *card);
irqreturn_t maeb_irq(int irq, void *data);

/* mae_block_crypto.c */
int maeb_init_crypto(struct maeb_card *card, u32 caps);

#endif /* MAE_BLOCK_H */

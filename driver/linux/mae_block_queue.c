// SPDX-License-Identifier: GPL-2.0
/*
 * Sends requests of the block layer to the rings of the Maeslant block card and ends them.
 *
 * A ring entry has one buffer. A request of the block layer with several is sent as several
 * entries, and ends with the last of them. A ring has an entry for each segment of each tag, so
 * that an entry is free whenever the block layer has a tag.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>

#include "mae_block.h"

#define MAEB_TIMEOUTS 5 /* of a request before it fails */

static void maeb_unmap(struct maeb_card *card, struct request *rq)
{
	struct maeb_pdu *pdu = blk_mq_rq_to_pdu(rq);

	if (pdu->nents)
		dma_unmap_sg(&card->pdev->dev, pdu->sg, pdu->nents, rq_dma_dir(rq));
	pdu->nents = 0;
}

static void maeb_put_entry(struct maeb_queue *queue, const struct maeb_entry *entry)
{
	queue->sub[queue->sub_tail++ & (BIT(queue->card->ring_log2) - 1)] = *entry;
}

/* Puts the entries of a request into the ring; @count is that of its mapped segments. */
static void maeb_put_request(struct maeb_queue *queue, struct request *rq, int count)
{
	struct maeb_pdu *pdu = blk_mq_rq_to_pdu(rq);
	struct maeb_entry entry = {
		.cookie = cpu_to_le32((u32)pdu->generation << 16 | rq->tag),
		.flags = MAEB_FLAG_IRQ,
		.op = MAEB_OP_FLUSH,
	};
	u64 sector = blk_rq_pos(rq);
	u64 unit[2] = {};
	unsigned int unit_log2 = 0;
	struct scatterlist *sg;
	int i;

	if (!count) {
		maeb_put_entry(queue, &entry);
		return;
	}
	entry.op = req_op(rq) == REQ_OP_WRITE ? MAEB_OP_WRITE : MAEB_OP_READ;
	if (rq->crypt_keyslot) {
		entry.key_slot = blk_crypto_keyslot_index(rq->crypt_keyslot);
		unit_log2 = rq->crypt_ctx->bc_key->data_unit_size_bits;
		entry.unit_log2 = unit_log2;
		unit[0] = rq->crypt_ctx->bc_dun[0];
		unit[1] = rq->crypt_ctx->bc_dun[1];
	} else {
		entry.flags |= MAEB_FLAG_PLAIN;
	}
	for_each_sg(pdu->sg, sg, count, i) {
		unsigned int bytes = sg_dma_len(sg);

		entry.sectors = cpu_to_le32(bytes >> SECTOR_SHIFT);
		entry.sector = cpu_to_le64(sector);
		entry.addr = cpu_to_le64(sg_dma_address(sg));
		entry.unit[0] = cpu_to_le64(unit[0]);
		entry.unit[1] = cpu_to_le64(unit[1]);
		maeb_put_entry(queue, &entry);
		sector += bytes >> SECTOR_SHIFT;
		if (unit_log2) {
			unit[0] += bytes >> unit_log2;
			if (unit[0] < bytes >> unit_log2)
				unit[1]++;
		}
	}
}

static void maeb_ring_doorbell(struct maeb_queue *queue)
{
	/* writel() orders the entries before the doorbell. */
	writel(queue->sub_tail, queue->regs + MAEB_QUEUE_SUB_TAIL);
}

static blk_status_t maeb_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct maeb_queue *queue = hctx->driver_data;
	struct maeb_card *card = queue->card;
	struct request *rq = bd->rq;
	struct maeb_pdu *pdu = blk_mq_rq_to_pdu(rq);
	int count = 0;

	if (unlikely(READ_ONCE(card->state) != MAEB_UP))
		return BLK_STS_IOERR;
	if (!(rq->rq_flags & RQF_DONTPREP)) { /* not a request that was requeued */
		pdu->timeouts = 0;
		rq->rq_flags |= RQF_DONTPREP;
	}
	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		sg_init_table(pdu->sg, MAEB_SEGMENTS);
		pdu->nents = blk_rq_map_sg(rq, pdu->sg);
		count = dma_map_sg(&card->pdev->dev, pdu->sg, pdu->nents, rq_dma_dir(rq));
		if (!count) {
			pdu->nents = 0;
			return BLK_STS_RESOURCE;
		}
		break;
	case REQ_OP_FLUSH:
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	pdu->pending = max(count, 1);
	pdu->generation++;
	pdu->lost = false;
	pdu->status = BLK_STS_OK;
	blk_mq_start_request(rq);
	spin_lock(&queue->sub_lock);
	maeb_put_request(queue, rq, count);
	if (bd->last)
		maeb_ring_doorbell(queue);
	spin_unlock(&queue->sub_lock);
	return BLK_STS_OK;
}

static void maeb_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	struct maeb_queue *queue = hctx->driver_data;

	spin_lock(&queue->sub_lock);
	maeb_ring_doorbell(queue);
	spin_unlock(&queue->sub_lock);
}

static blk_status_t maeb_blk_status(struct request *rq, u8 status)
{
	bool write = req_op(rq) == REQ_OP_WRITE;

	switch (status) {
	case MAEB_READ_SLVERR:
	case MAEB_READ_DECERR:
		return write ? BLK_STS_TRANSPORT : BLK_STS_MEDIUM;
	case MAEB_WRITE_SLVERR:
	case MAEB_WRITE_DECERR:
		return write ? BLK_STS_MEDIUM : BLK_STS_TRANSPORT;
	default:
		return BLK_STS_IOERR;
	}
}

/* Takes a completion: ends its request if it is the last of it. */
static void maeb_take(struct maeb_queue *queue, const struct maeb_completion *done)
{
	struct maeb_card *card = queue->card;
	u32 cookie = le32_to_cpu(done->cookie);
	struct request *rq = blk_mq_tag_to_rq(card->set.tags[queue->index], cookie & 0xffff);
	struct maeb_pdu *pdu = rq ? blk_mq_rq_to_pdu(rq) : NULL;

	if (!rq || blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT || pdu->generation != cookie >> 16 ||
	    !pdu->pending) {
		dev_err_ratelimited(&card->pdev->dev, "completion of no request: cookie %#x\n",
				    cookie);
		return;
	}
	if (done->status != MAEB_OK) {
		dev_err_ratelimited(&card->pdev->dev, "request at sector %llu failed: status %u\n",
				    (u64)blk_rq_pos(rq), done->status);
		pdu->status = maeb_blk_status(rq, done->status);
	}
	if (!--pdu->pending && likely(!blk_should_fake_timeout(rq->q)))
		blk_mq_complete_request(rq);
}

/* Takes all completions of a ring. */
static void maeb_poll(struct maeb_queue *queue)
{
	unsigned int log2 = queue->card->ring_log2;
	unsigned long flags;
	u16 first;

	spin_lock_irqsave(&queue->comp_lock, flags);
	first = queue->comp_head;
	for (;;) {
		struct maeb_completion *done = &queue->comp[queue->comp_head & (BIT(log2) - 1)];
		u32 round = queue->comp_head >> log2;

		if ((le32_to_cpu(READ_ONCE(done->phase)) & 1) == (round & 1))
			break;
		dma_rmb(); /* the phase is written last */
		maeb_take(queue, done);
		queue->comp_head++;
	}
	if (queue->comp_head != first)
		writel(queue->comp_head, queue->regs + MAEB_QUEUE_COMP_HEAD);
	spin_unlock_irqrestore(&queue->comp_lock, flags);
}

irqreturn_t maeb_irq(int irq, void *data)
{
	struct maeb_card *card = data;
	u32 status = maeb_read(card, MAEB_IRQ_STATUS);
	unsigned int i;

	if (!status)
		return IRQ_NONE;
	while (status) {
		u32 taken = status;

		if (status & MAEB_IRQ_STATUS_RING_ERROR) { /* or the card is gone: all ones */
			maeb_write(card, MAEB_IRQ_ENABLE, 0);
			maeb_request_reset(card);
			break;
		}
		maeb_write(card, MAEB_IRQ_STATUS, taken);
		/*
		 * The read delivers the acknowledgment. A completion that it cleared the bit of
		 * is in memory by then; one that comes later sets the bit again.
		 */
		status = maeb_read(card, MAEB_IRQ_STATUS);
		for (i = 0; i < card->nr_queues; i++)
			if (taken & MAEB_IRQ_QUEUE(i))
				maeb_poll(&card->queues[i]);
	}
	return IRQ_HANDLED;
}

static void maeb_complete_rq(struct request *rq)
{
	struct maeb_card *card = rq->q->queuedata;
	struct maeb_pdu *pdu = blk_mq_rq_to_pdu(rq);

	maeb_unmap(card, rq);
	if (!pdu->lost)
		blk_mq_end_request(rq, pdu->status);
	else if (READ_ONCE(card->state) != MAEB_DEAD && pdu->timeouts < MAEB_TIMEOUTS)
		blk_mq_requeue_request(rq, true);
	else
		blk_mq_end_request(rq, pdu->timeouts ? BLK_STS_TIMEOUT : BLK_STS_IOERR);
}

static enum blk_eh_timer_return maeb_timeout(struct request *rq)
{
	struct maeb_queue *queue = rq->mq_hctx->driver_data;
	struct maeb_pdu *pdu = blk_mq_rq_to_pdu(rq);

	maeb_poll(queue); /* an interrupt may have been lost */
	if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
		return BLK_EH_DONE;
	if (READ_ONCE(queue->card->state) == MAEB_UP) { /* no reset is in progress */
		pdu->timeouts++;
		maeb_request_reset(queue->card);
	}
	return BLK_EH_RESET_TIMER;
}

static bool maeb_lose_request(struct request *rq, void *data)
{
	struct maeb_queue *queue = rq->mq_hctx->driver_data;
	struct maeb_pdu *pdu = blk_mq_rq_to_pdu(rq);
	unsigned long flags;

	spin_lock_irqsave(&queue->comp_lock, flags);
	if (blk_mq_rq_state(rq) == MQ_RQ_IN_FLIGHT) {
		pdu->pending = 0;
		pdu->lost = true;
		blk_mq_complete_request(rq);
	}
	spin_unlock_irqrestore(&queue->comp_lock, flags);
	return true;
}

static bool maeb_count_lost(struct request *rq, void *data)
{
	struct maeb_pdu *pdu = blk_mq_rq_to_pdu(rq);

	*(unsigned int *)data += pdu->lost && blk_mq_request_completed(rq);
	return true;
}

/*
 * Ends all requests that a card has forgotten. The block layer dispatches none meanwhile, and the
 * card reaches no memory. blk_mq_tagset_wait_completed_request() would wait for ever: a write that
 * is done and waits for the flush behind it counts as completed, and the flush is not dispatched.
 */
void maeb_lose_requests(struct maeb_card *card)
{
	unsigned int i, left;

	for (i = 0; i < card->nr_queues; i++)
		maeb_poll(&card->queues[i]);
	blk_mq_tagset_busy_iter(&card->set, maeb_lose_request, NULL);
	for (;;) {
		left = 0;
		blk_mq_tagset_busy_iter(&card->set, maeb_count_lost, &left);
		if (!left)
			break;
		msleep(5);
	}
}

static int maeb_init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct maeb_card *card = data;

	hctx->driver_data = &card->queues[index];
	return 0;
}

const struct blk_mq_ops maeb_mq_ops = {
	.queue_rq = maeb_queue_rq,
	.commit_rqs = maeb_commit_rqs,
	.complete = maeb_complete_rq,
	.timeout = maeb_timeout,
	.init_hctx = maeb_init_hctx,
};

/* Allocates the rings of a card; they are freed with its PCI device. */
int maeb_alloc_rings(struct maeb_card *card)
{
	struct device *dev = &card->pdev->dev;
	unsigned int i;

	for (i = 0; i < card->nr_queues; i++) {
		struct maeb_queue *queue = &card->queues[i];

		queue->card = card;
		queue->index = i;
		queue->regs = card->regs + MAEB_RINGS(i);
		spin_lock_init(&queue->sub_lock);
		spin_lock_init(&queue->comp_lock);
		queue->sub = dmam_alloc_coherent(dev, sizeof(*queue->sub) << card->ring_log2,
						 &queue->sub_dma, GFP_KERNEL);
		queue->comp = dmam_alloc_coherent(dev, sizeof(*queue->comp) << card->ring_log2,
						  &queue->comp_dma, GFP_KERNEL);
		if (!queue->sub || !queue->comp)
			return -ENOMEM;
	}
	return 0;
}

/* Empties the rings of a stopped card and hands them to it. */
void maeb_start_rings(struct maeb_card *card)
{
	unsigned int i;

	for (i = 0; i < card->nr_queues; i++) {
		struct maeb_queue *queue = &card->queues[i];

		spin_lock_irq(&queue->comp_lock);
		queue->sub_tail = 0;
		queue->comp_head = 0;
		memset(queue->comp, 0, sizeof(*queue->comp) << card->ring_log2);
		writel(lower_32_bits(queue->sub_dma), queue->regs + MAEB_QUEUE_SUB_BASE_LO);
		writel(upper_32_bits(queue->sub_dma), queue->regs + MAEB_QUEUE_SUB_BASE_HI);
		writel(card->ring_log2, queue->regs + MAEB_QUEUE_SUB_LOG2);
		writel(0, queue->regs + MAEB_QUEUE_SUB_TAIL);
		writel(lower_32_bits(queue->comp_dma), queue->regs + MAEB_QUEUE_COMP_BASE_LO);
		writel(upper_32_bits(queue->comp_dma), queue->regs + MAEB_QUEUE_COMP_BASE_HI);
		writel(card->ring_log2, queue->regs + MAEB_QUEUE_COMP_LOG2);
		writel(0, queue->regs + MAEB_QUEUE_COMP_HEAD);
		spin_unlock_irq(&queue->comp_lock);
	}
}

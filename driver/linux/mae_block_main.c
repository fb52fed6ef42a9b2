// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the Maeslant block card: a PCI storage controller with inline AES-256-XTS.
 *
 * Finds, resets, suspends and removes cards. mae_block_queue.c has the requests,
 * mae_block_crypto.c the keys.
 *
 * maeb_stop() wipes the card, which ends all DMA and erases all keys, and gives the requests in
 * flight back to the block layer; maeb_start() loads the keys again and sends them again. Every
 * reset, suspend and recovery is one and the other.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/iopoll.h>
#include <linux/log2.h>
#include <linux/module.h>

#include "mae_block.h"

#define MAEB_VENDOR  0x1234 /* no vendor's numbers: for prototypes */
#define MAEB_DEVICE  0xae51
#define MAEB_BAR     0
#define MAEB_MAJOR   1 /* of the register map */
#define MAEB_STOP_US (5 * USEC_PER_SEC)
#define MAEB_POLL_US 100

static unsigned int depth = 64;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "requests in flight of each queue, 1 to 1024 (64)");

static struct workqueue_struct *maeb_wq;
static DEFINE_IDA(maeb_ida);

static void maeb_set_state(struct maeb_card *card, enum maeb_state state)
{
	mutex_lock(&card->key_lock);
	WRITE_ONCE(card->state, state);
	mutex_unlock(&card->key_lock);
}

static bool maeb_present(struct maeb_card *card)
{
	return maeb_read(card, MAEB_ID) == MAEB_ID_MAGIC_VALUE;
}

/* Resets the whole function, without bus mastering if it does not answer. */
static int maeb_reset_function(struct maeb_card *card)
{
	struct pci_dev *pdev = card->pdev;
	int err;

	dev_warn(&pdev->dev, "wiping does not end; resetting the function\n");
	pci_clear_master(pdev);
	err = pcie_reset_flr(pdev, PCI_RESET_DO_RESET);
	if (err)
		return err;
	pci_restore_state(pdev);
	return maeb_present(card) ? 0 : -ENODEV;
}

/* Ends all DMA and interrupts of a card and erases its keys. */
static int maeb_halt(struct maeb_card *card)
{
	u32 value;

	if (!maeb_present(card))
		return -ENODEV;
	maeb_write(card, MAEB_IRQ_ENABLE, 0);
	maeb_write(card, MAEB_CTRL, MAEB_CTRL_WIPE);
	if (!read_poll_timeout(maeb_read, value, !(value & (MAEB_STATUS_BUSY | MAEB_STATUS_WIPING)),
			       MAEB_POLL_US, MAEB_STOP_US, false, card, MAEB_STATUS))
		return 0;
	return maeb_reset_function(card);
}

/* Stops a card that is up, and the block layer's dispatching. */
static int maeb_stop(struct maeb_card *card)
{
	int err;

	blk_mq_quiesce_queue(card->disk->queue);
	maeb_set_state(card, MAEB_DOWN);
	disable_irq(card->irq);
	err = maeb_halt(card);
	maeb_lose_requests(card);
	return err;
}

/* Gives up a stopped card: all its requests fail from now on. */
static void maeb_kill(struct maeb_card *card)
{
	dev_err(&card->pdev->dev, "the card is gone or does not recover\n");
	maeb_set_state(card, MAEB_DEAD);
	/* Before the disk is marked: a file system that shuts down may wait for a request. */
	blk_mq_unquiesce_queue(card->disk->queue);
	blk_mq_kick_requeue_list(card->disk->queue);
	blk_mark_disk_dead(card->disk);
}

/* Starts a halted card: rings, interrupts, keys. */
static int maeb_run(struct maeb_card *card)
{
	u32 value;

	if (!maeb_present(card))
		return -ENODEV;
	if (read_poll_timeout(maeb_read, value, !(value & MAEB_STATUS_WIPING), MAEB_POLL_US,
			      MAEB_STOP_US, false, card, MAEB_STATUS))
		return -EIO;
	maeb_start_rings(card);
	maeb_write(card, MAEB_IRQ_STATUS, card->irq_mask);
	maeb_write(card, MAEB_IRQ_ENABLE, card->irq_mask);
	pci_save_state(card->pdev); /* for maeb_reset_function() and maeb_slot_reset() */
	enable_irq(card->irq);
	maeb_set_state(card, MAEB_UP);
	blk_crypto_reprogram_all_keys(&card->profile);
	maeb_write(card, MAEB_CTRL, MAEB_CTRL_ENABLE);
	return 0;
}

/* Starts a stopped card, or gives it up. */
static void maeb_start(struct maeb_card *card)
{
	if (maeb_run(card)) {
		maeb_kill(card);
		return;
	}
	blk_mq_unquiesce_queue(card->disk->queue);
	blk_mq_kick_requeue_list(card->disk->queue);
}

static void maeb_reset_work(struct work_struct *work)
{
	struct maeb_card *card = container_of(work, struct maeb_card, reset_work);

	if (card->state != MAEB_UP)
		return;
	dev_warn(&card->pdev->dev, "resetting the card\n");
	if (maeb_stop(card))
		maeb_kill(card);
	else
		maeb_start(card);
}

/* Stops a card for a reset or a suspend; maeb_resume_card() starts it again. */
static void maeb_pause_card(struct maeb_card *card)
{
	disable_work_sync(&card->reset_work);
	if (card->state == MAEB_UP)
		maeb_stop(card);
}

static void maeb_resume_card(struct maeb_card *card)
{
	if (card->state == MAEB_DOWN)
		maeb_start(card);
	enable_work(&card->reset_work);
}

static int maeb_suspend(struct device *dev)
{
	struct maeb_card *card = dev_get_drvdata(dev);
	unsigned int memflags;

	memflags = blk_mq_freeze_queue(card->disk->queue); /* waits for the requests in flight */
	maeb_pause_card(card);
	blk_mq_unfreeze_queue(card->disk->queue, memflags);
	return 0;
}

static int maeb_resume(struct device *dev)
{
	maeb_resume_card(dev_get_drvdata(dev));
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(maeb_pm_ops, maeb_suspend, maeb_resume);

static void maeb_shutdown(struct pci_dev *pdev)
{
	maeb_suspend(&pdev->dev);
}

static void maeb_reset_prepare(struct pci_dev *pdev)
{
	maeb_pause_card(pci_get_drvdata(pdev));
}

static void maeb_reset_done(struct pci_dev *pdev)
{
	maeb_resume_card(pci_get_drvdata(pdev));
}

static pci_ers_result_t maeb_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct maeb_card *card = pci_get_drvdata(pdev);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	maeb_pause_card(card);
	if (state == pci_channel_io_frozen)
		return PCI_ERS_RESULT_NEED_RESET;
	if (card->state == MAEB_DOWN)
		maeb_kill(card);
	return PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t maeb_slot_reset(struct pci_dev *pdev)
{
	struct maeb_card *card = pci_get_drvdata(pdev);

	pci_restore_state(pdev);
	maeb_resume_card(card);
	return card->state == MAEB_UP ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_DISCONNECT;
}

static const struct pci_error_handlers maeb_error_handlers = {
	.error_detected = maeb_error_detected,
	.slot_reset = maeb_slot_reset,
	.reset_prepare = maeb_reset_prepare,
	.reset_done = maeb_reset_done,
};

static void maeb_free_card(struct maeb_card *card)
{
	ida_free(&maeb_ida, card->id);
	kfree(card);
}

/* A file system may hold the disk, and evict keys of it, after the card was removed. */
static void maeb_free_disk(struct gendisk *disk)
{
	struct maeb_card *card = disk->private_data;

	blk_crypto_profile_destroy(&card->profile);
	maeb_free_card(card);
}

static const struct block_device_operations maeb_fops = {
	.owner = THIS_MODULE,
	.free_disk = maeb_free_disk,
};

static int maeb_alloc_disk(struct maeb_card *card)
{
	struct queue_limits limits = {
		.features = BLK_FEAT_WRITE_CACHE,
		.logical_block_size = SECTOR_SIZE,
		.physical_block_size = SZ_4K, /* of the largest data unit */
		.dma_alignment = SECTOR_SIZE - 1,
		.max_hw_sectors = MAEB_MAX_SECTORS,
		.max_segments = MAEB_SEGMENTS,
		.max_segment_size = MAEB_SEGMENT_BYTES,
	};
	struct gendisk *disk;
	u64 sectors;
	int err;

	card->set.ops = &maeb_mq_ops;
	card->set.nr_hw_queues = card->nr_queues;
	card->set.queue_depth = clamp(depth, 1U, (unsigned int)MAEB_MAX_DEPTH);
	card->set.numa_node = dev_to_node(&card->pdev->dev);
	card->set.cmd_size = sizeof(struct maeb_pdu);
	card->set.driver_data = card;
	err = blk_mq_alloc_tag_set(&card->set);
	if (err)
		return err;
	disk = blk_mq_alloc_disk(&card->set, &limits, card);
	if (IS_ERR(disk)) {
		blk_mq_free_tag_set(&card->set);
		return PTR_ERR(disk);
	}
	card->disk = disk;
	disk->fops = &maeb_fops;
	disk->private_data = card;
	snprintf(disk->disk_name, DISK_NAME_LEN, "maeb%d", card->id);
	sectors = maeb_read(card, MAEB_CAPACITY_LO);
	sectors |= (u64)maeb_read(card, MAEB_CAPACITY_HI) << 32;
	set_capacity(disk, sectors);
	if (card->profile.num_slots)
		blk_crypto_register(&card->profile, disk->queue);
	return 0;
}

/* Maps a card's registers and reads what it offers. */
static int maeb_init_card(struct maeb_card *card)
{
	struct pci_dev *pdev = card->pdev;
	struct device *dev = &pdev->dev;
	u32 version, caps, entries;
	int err;

	err = pcim_enable_device(pdev);
	if (err)
		return err;
	card->regs = pcim_iomap_region(pdev, MAEB_BAR, MAEB_NAME);
	if (IS_ERR(card->regs))
		return PTR_ERR(card->regs);
	if (!maeb_present(card))
		return dev_err_probe(dev, -ENODEV, "no block card: identity %#x\n",
				     maeb_read(card, MAEB_ID));
	version = maeb_read(card, MAEB_VERSION);
	if (FIELD_GET(MAEB_VERSION_MAJOR, version) != MAEB_MAJOR)
		return dev_err_probe(dev, -ENODEV, "registers of version %lu, not %u\n",
				     FIELD_GET(MAEB_VERSION_MAJOR, version), MAEB_MAJOR);
	err = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (err)
		return err;
	dma_set_max_seg_size(dev, MAEB_SEGMENT_BYTES);
	caps = maeb_read(card, MAEB_CAPS);
	card->nr_queues =
		min3(FIELD_GET(MAEB_CAPS_QUEUES, caps), (u32)MAEB_QUEUES, (u32)num_possible_cpus());
	entries = clamp(depth, 1U, (unsigned int)MAEB_MAX_DEPTH) * MAEB_SEGMENTS;
	card->ring_log2 = order_base_2(entries);
	card->irq_mask = MAEB_IRQ_STATUS_RING_ERROR | (BIT(card->nr_queues) - 1);
	pci_save_state(pdev);
	err = maeb_halt(card); /* ends what a driver before left */
	if (err)
		return err;
	err = maeb_alloc_rings(card);
	if (err)
		return err;
	return maeb_init_crypto(card, caps);
}

static int maeb_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct maeb_card *card = kzalloc(sizeof(*card), GFP_KERNEL);
	int err;

	if (!card)
		return -ENOMEM;
	card->pdev = pdev;
	card->wq = maeb_wq;
	mutex_init(&card->key_lock);
	INIT_WORK(&card->reset_work, maeb_reset_work);
	pci_set_drvdata(pdev, card);
	err = ida_alloc(&maeb_ida, GFP_KERNEL);
	if (err < 0) {
		kfree(card);
		return err;
	}
	card->id = err;

	err = maeb_init_card(card);
	if (err)
		goto out_free;
	err = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX | PCI_IRQ_MSI);
	if (err < 0)
		goto out_crypto;
	card->irq = pci_irq_vector(pdev, 0);
	err = request_irq(card->irq, maeb_irq, IRQF_NO_AUTOEN, MAEB_NAME, card);
	if (err)
		goto out_crypto;
	pci_set_master(pdev);
	err = maeb_alloc_disk(card);
	if (err)
		goto out_irq;
	err = maeb_run(card);
	if (err)
		goto out_disk;
	err = device_add_disk(&pdev->dev, card->disk, NULL);
	if (err)
		goto out_halt;
	return 0;

out_halt:
	disable_work_sync(&card->reset_work);
	maeb_set_state(card, MAEB_DEAD);
	maeb_halt(card);
out_disk:
	put_disk(card->disk);
	blk_mq_free_tag_set(&card->set);
out_irq:
	free_irq(card->irq, card);
out_crypto:
	blk_crypto_profile_destroy(&card->profile);
out_free:
	maeb_free_card(card);
	return err;
}

static void maeb_remove(struct pci_dev *pdev)
{
	struct maeb_card *card = pci_get_drvdata(pdev);

	disable_work_sync(&card->reset_work);
	if (card->state == MAEB_UP && !pci_device_is_present(pdev))
		maeb_stop(card);
	if (card->state == MAEB_DOWN)
		maeb_kill(card);
	enable_work(&card->reset_work);
	del_gendisk(card->disk); /* writes what is dirty; the reset work is on duty meanwhile */
	disable_work_sync(&card->reset_work);
	maeb_set_state(card, MAEB_DEAD);
	free_irq(card->irq, card);
	maeb_halt(card);
	pci_clear_master(pdev);
	blk_mq_free_tag_set(&card->set);
	put_disk(card->disk);
}

static const struct pci_device_id maeb_ids[] = { { PCI_DEVICE(MAEB_VENDOR, MAEB_DEVICE) }, {} };
MODULE_DEVICE_TABLE(pci, maeb_ids);

static struct pci_driver maeb_driver = {
	.name = MAEB_NAME,
	.id_table = maeb_ids,
	.probe = maeb_probe,
	.remove = maeb_remove,
	.shutdown = maeb_shutdown,
	.driver.pm = pm_sleep_ptr(&maeb_pm_ops),
	.err_handler = &maeb_error_handlers,
};

static int __init maeb_init(void)
{
	int err;

	maeb_wq = alloc_workqueue("maeb", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!maeb_wq)
		return -ENOMEM;
	err = pci_register_driver(&maeb_driver);
	if (err)
		destroy_workqueue(maeb_wq);
	return err;
}
module_init(maeb_init);

static void __exit maeb_exit(void)
{
	pci_unregister_driver(&maeb_driver);
	destroy_workqueue(maeb_wq);
	ida_destroy(&maeb_ida);
}
module_exit(maeb_exit);

MODULE_DESCRIPTION("Block card with inline AES-256-XTS of Maeslant");
MODULE_LICENSE("GPL");

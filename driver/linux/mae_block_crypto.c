// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and erases the media encryption keys of the Maeslant block card for blk-crypto.
 *
 * The registers are those of an encryption engine after OCP L.O.C.K., draft 0.8. A key goes from
 * the block layer's copy straight to the write-only registers, which every command erases: the
 * driver keeps no copy that it would have to wipe.
 */
#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/unaligned.h>

#include "mae_block.h"

/* The card erases a key under requests that do not end within 65,536 clocks. */
#define MAEB_KEY_US  (5 * USEC_PER_SEC)
#define MAEB_POLL_US 10

static struct maeb_card *to_card(struct blk_crypto_profile *profile)
{
	return container_of(profile, struct maeb_card, profile);
}

static int maeb_key_command(struct maeb_card *card, u32 command, unsigned int slot)
{
	unsigned int i;
	u32 value;
	int err;

	maeb_write(card, MAEB_METD(0), slot);
	for (i = 1; i < MAEB_METD_COUNT; i++)
		maeb_write(card, MAEB_METD(i), 0);
	for (i = 0; i < MAEB_AUX_COUNT; i++)
		maeb_write(card, MAEB_AUX(i), 0);
	maeb_write(card, MAEB_LOCK_CTRL,
		   FIELD_PREP(MAEB_LOCK_CTRL_CMD, command) | MAEB_LOCK_CTRL_EXE);
	err = read_poll_timeout(maeb_read, value, value & MAEB_LOCK_CTRL_DN, MAEB_POLL_US,
				MAEB_KEY_US, false, card, MAEB_LOCK_CTRL);
	if (err) {
		dev_err(&card->pdev->dev, "key command %u does not end\n", command);
		maeb_request_reset(card);
		return -EIO;
	}
	maeb_write(card, MAEB_LOCK_CTRL, MAEB_LOCK_CTRL_DN);
	switch (FIELD_GET(MAEB_LOCK_CTRL_ERR, value)) {
	case MAEB_LOCK_CTRL_ERR_OK:
		return 0;
	case MAEB_LOCK_CTRL_ERR_FORCED:
		dev_warn(&card->pdev->dev, "key slot %u was erased under requests\n", slot);
		return 0;
	case MAEB_LOCK_CTRL_ERR_EQUAL_KEYS:
		return -EINVAL;
	default:
		dev_err(&card->pdev->dev, "key command %u refused: %#x\n", command, value);
		return -EIO;
	}
}

static int maeb_keyslot_program(struct blk_crypto_profile *profile,
				const struct blk_crypto_key *key, unsigned int slot)
{
	struct maeb_card *card = to_card(profile);
	unsigned int i;
	int err = 0;

	if (WARN_ON_ONCE(key->size != MAEB_MEK_COUNT * sizeof(u32)))
		return -EINVAL;
	mutex_lock(&card->key_lock);
	if (card->state == MAEB_UP) {
		for (i = 0; i < MAEB_MEK_COUNT; i++)
			maeb_write(card, MAEB_MEK(i), get_unaligned_le32(&key->bytes[4 * i]));
		err = maeb_key_command(card, MAEB_LOCK_CTRL_CMD_LOAD, slot);
	} else if (card->state == MAEB_DEAD) {
		err = -ENODEV;
	} /* else maeb_start() loads all keys, and no request is dispatched before */
	mutex_unlock(&card->key_lock);
	return err;
}

static int maeb_keyslot_evict(struct blk_crypto_profile *profile, const struct blk_crypto_key *key,
			      unsigned int slot)
{
	struct maeb_card *card = to_card(profile);
	int err = 0;

	mutex_lock(&card->key_lock);
	if (card->state == MAEB_UP) /* else the card was wiped, or is out of reach */
		err = maeb_key_command(card, MAEB_LOCK_CTRL_CMD_UNLOAD, slot);
	mutex_unlock(&card->key_lock);
	return err;
}

static const struct blk_crypto_ll_ops maeb_crypto_ops = {
	.keyslot_program = maeb_keyslot_program,
	.keyslot_evict = maeb_keyslot_evict,
};

/* Initializes the profile of a card; blk_crypto_profile_destroy() ends it. */
int maeb_init_crypto(struct maeb_card *card, u32 caps)
{
	struct blk_crypto_profile *profile = &card->profile;
	int err;

	err = blk_crypto_profile_init(profile, FIELD_GET(MAEB_CAPS_KEY_SLOTS, caps));
	if (err)
		return err;
	profile->ll_ops = maeb_crypto_ops;
	profile->key_types_supported = BLK_CRYPTO_KEY_TYPE_RAW;
	profile->max_dun_bytes_supported = sizeof_field(struct maeb_entry, unit);
	/* A bit for each size in bytes; the card's are those of 512 bytes and up. */
	profile->modes_supported[BLK_ENCRYPTION_MODE_AES_256_XTS] = FIELD_GET(MAEB_CAPS_UNITS, caps)
								    << SECTOR_SHIFT;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares pools of AES cards, which process messages as one device (Fernando et al.).
 *
 *   mae_pool_t *pool;
 *   if (mae_pool_open("pool:2*sim:stream4,vfio:0000:00:04.0", &pool) != MAE_OK) ...
 *   mae_pool_crypt(pool, MAE_CTR, MAE_ENCRYPT, key, 16, iv, src, dst, length)
 *   mae_pool_close(pool);
 *
 * Anything else that a device can do is done on a card that the pool lends:
 *
 *   mae_dev_t *card;
 *   mae_error_t error;
 *   do {
 *       if ((error = mae_pool_lend(pool, &card)) == MAE_OK)
 *           error = mae_seal(card, &message);
 *   } while (mae_pool_give(pool, card, error));
 *
 * The loop ends when the work was done or is at fault itself; a card that fails is closed, and the
 * work goes to another one. For that the source must still be there: not dst == src.
 *
 * Threads: unlike a device, a pool may be used by any number of threads at once, which is how many
 * messages of modes that cannot be divided keep all cards busy. A lent card is the borrower's
 * alone. A forked child gets MAE_E_STATE for its parent's pool.
 *
 * What counts as a card's failure: it stopped answering, met a bus error, gave an inconsistent
 * response or was removed. A card that computes wrongly and says nothing is not noticed.
 */
#ifndef MAESLANT_POOL_H
#define MAESLANT_POOL_H

#include "maeslant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cdef begin */

typedef struct mae_pool mae_pool_t;

/* Describes a card of a pool: name, error, number of loans, clock cycles. */
struct mae_pool_card {
    char uri[128];
    mae_error_t error; /* MAE_OK: in use; else why it was closed */
    char why[192];     /* the same in words */
    uint64_t loans;
    uint64_t clocks; /* its own, since it was opened; simulated cards, else 0 */
    /* The same on the pool's clock, which also counts what it stood idle while others worked. */
    uint64_t pool_clock;
};

/*
 * Opens the pool of AES cards that a URI names. uri: "pool:" and device names, separated by commas;
 * "4*sim:stream4" is four of them. Options of a device follow its own name, so none may hold a
 * comma. At most 64 cards.
 */
MAE_API mae_error_t mae_pool_open(const char *uri, mae_pool_t **pool);
/* Closes a pool of cards, and with it the cards, whose keys are erased. No card may be lent. NULL
   is allowed. */
MAE_API_VOID void mae_pool_close(mae_pool_t *pool);
/* Copies the capabilities that all cards of a pool share to *caps; adds up lanes and contexts. */
MAE_API mae_error_t mae_pool_get_caps(mae_pool_t *pool, struct mae_caps *caps);
/*
 * Writes the cards of a pool, each with its error and counts, to `list`. Fills up to `max` entries;
 * *count is their number.
 */
MAE_API mae_error_t mae_pool_cards(mae_pool_t *pool, struct mae_pool_card *list, size_t max,
                                   size_t *count);

/*
 * Lends a free card of a pool to the calling thread; waits until one is free. MAE_E_NO_DEVICE: all
 * have failed. Simulated cards keep pace with each other: one that is ahead of a lent one at work
 * waits.
 */
MAE_API mae_error_t mae_pool_lend(mae_pool_t *pool, mae_dev_t **card);
/*
 * Returns a lent card to its pool and closes the card if `error` says that it failed. `error` is
 * the result of the last call on it. True: the card failed and has been closed; try the work again
 * on another. *card may be NULL, with the error of mae_pool_lend: false. Jobs, streams, keys and
 * memory of the card must have been freed, unless true.
 */
MAE_API_VOID bool mae_pool_give(mae_pool_t *pool, mae_dev_t *card, mae_error_t error);

/*
 * Encrypts or decrypts one message, in parts on all cards of a pool where the mode allows that. The
 * modes are ECB, CTR, XTS and the decryption of CBC and CFB. A message of another mode, and a short
 * one, runs on one card. A part of the message that a card fails on is done again by another; when
 * the last has failed, its error comes back and dst is undefined. dst == src is allowed; parts of
 * the source are copied then.
 */
MAE_API mae_error_t mae_pool_crypt(mae_pool_t *pool, mae_mode_t mode, mae_direction_t direction,
                                   const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                                   const void *src, void *dst, uint64_t length);

/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

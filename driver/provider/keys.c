/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the provider's keys into key slots of the device and erases them there. A key stays in its
 * slots from its first use to its last user's leaving, or until another key needs the slots: then
 * the one that has not been used for longest goes.
 */
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/proverr.h>

#include "card.h"

enum { WAIT_SECONDS = 10 }; /* for a slot that others hold */

struct key *key_new(const uint8_t *material, size_t bytes, uint32_t parts)
{
    struct key *key = OPENSSL_zalloc(sizeof *key);
    if (!key)
        return NULL;
    atomic_init(&key->users, 1);
    memcpy(key->material, material, bytes);
    key->bytes = (uint32_t)bytes / parts;
    key->parts = parts;
    key->slots[0] = key->slots[1] = MAE_SLOT_NONE;
    return key;
}

struct key *key_share(struct key *key)
{
    if (key)
        atomic_fetch_add(&key->users, 1);
    return key;
}

/* Erases a key in the slots of the device and takes it from the list. Locked. */
static void evict(struct card *card, struct key *key)
{
    for (struct key **at = &card->resident; *at; at = &(*at)->next) {
        if (*at == key) {
            *at = key->next;
            break;
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (key->slots[i] != MAE_SLOT_NONE && key->opening == card->opening)
            (void)!mae_key_erase(card->dev, key->slots[i]);
        key->slots[i] = MAE_SLOT_NONE;
    }
}

void key_free(struct card *card, struct key *key)
{
    if (!key || atomic_fetch_sub(&key->users, 1) != 1)
        return;
    if (card_enter(card) == MAE_OK)
        evict(card, key);
    card_leave(card);
    OPENSSL_clear_free(key, sizeof *key);
}

/* Loads the parts of a key into free slots of the device; MAE_E_SLOT: not enough are free. */
static mae_error_t load(struct card *card, struct key *key)
{
    mae_error_t error = MAE_OK;
    if (key->opening != card->opening)
        key->pins = 0; /* those of the parent */
    key->opening = card->opening;
    for (uint32_t i = 0; i < key->parts && error == MAE_OK; i++) {
        const uint8_t *part = key->material + i * key->bytes;
        error = mae_key_alloc(card->dev, part, key->bytes, &key->slots[i]);
    }
    if (error != MAE_OK) {
        evict(card, key);
        return error;
    }
    key->next = card->resident;
    card->resident = key;
    return MAE_OK;
}

/* Erases the key that has not been used for longest and that nobody needs now; false: none. */
static bool make_room(struct card *card)
{
    struct key *oldest = NULL;
    for (struct key *key = card->resident; key; key = key->next)
        if (key->pins == 0 && (!oldest || key->used < oldest->used))
            oldest = key;
    if (oldest)
        evict(card, oldest);
    return oldest != NULL;
}

mae_error_t key_pin(struct card *card, struct key *key)
{
    time_t begun = time(NULL);
    bool resident = key->slots[0] != MAE_SLOT_NONE && key->opening == card->opening;
    mae_error_t error = resident ? MAE_OK : MAE_E_SLOT;
    while (error == MAE_E_SLOT) {
        error = load(card, key);
        if (error == MAE_E_SLOT && !make_room(card)) {
            if (time(NULL) - begun > WAIT_SECONDS)
                return error;
            card_pass(card);
            if (key->slots[0] != MAE_SLOT_NONE && key->opening == card->opening)
                error = MAE_OK; /* another thread has loaded it meanwhile */
        }
    }
    card_pass_ends(card);
    if (error == MAE_OK) {
        key->pins++;
        key->used = ++card->key_uses;
    }
    return error;
}

void key_unpin(struct card *card, struct key *key)
{
    if (key->opening == card->opening)
        key->pins--;
}

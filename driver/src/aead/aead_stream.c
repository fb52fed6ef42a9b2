/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypts, decrypts or authenticates GCM, CCM and CMAC messages in pieces (mae_aead_*). Data goes
 * through a ring of buffers as in stream.c:
 *
 *   drained <= buffer < submitted   in the device, or done and waiting to be given
 *   submitted <= buffer < filled    full, waiting for its turn
 *   buffer == filled                being filled
 *
 * The buffer being filled is never handed to the device before the end: it may be the last. What is
 * withheld until the tag is known moves from the buffers to a list of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "plan.h"

enum { BUFFERS = 2 * MAE_CHUNKS_AHEAD };

struct buffer {
    struct mae_piece piece;
    uint8_t *data;
    uint32_t bytes;
    uint32_t given;
};

/* Holds decrypted data of a stream that waits for the check of its tag. */
struct held {
    struct held *next;
    uint32_t bytes;
    uint32_t given;
    uint8_t data[];
};

struct mae_aead {
    struct mae_dev *dev;
    struct mae_auth auth;
    uint32_t key_slot; /* ours to erase, or MAE_SLOT_NONE */
    void *memory;
    struct buffer buffers[BUFFERS];
    uint32_t chunk; /* bytes of a full buffer */
    uint64_t drained, submitted, filled;
    uint64_t aad_bytes, data_bytes;       /* so far */
    uint64_t aad_promised, data_promised; /* at most; CCM: exactly */
    struct held *first, **last;
    uint32_t tag_bytes;
    mae_error_t error; /* the first */
    bool withholds, exact, data_begun, finished;
};

/* Returns a buffer of the message's ring of buffers, by its running number. */
static struct buffer *at(struct mae_aead *aead, uint64_t number)
{
    return &aead->buffers[number % BUFFERS];
}

/* Wipes and frees the decrypted data of a message that waits for the check of its tag. */
static void forget(struct mae_aead *aead)
{
    for (struct held *held = aead->first, *next; held; held = next) {
        next = held->next;
        mae_wipe(held, sizeof *held + held->bytes);
        free(held);
    }
    aead->first = NULL;
    aead->last = &aead->first;
}

/* Stores a message's first error and drops its held plaintext. A full queue is none. */
static mae_error_t keep(struct mae_aead *aead, mae_error_t error)
{
    if (error != MAE_OK && error != MAE_E_FULL && aead->error == MAE_OK) {
        aead->error = error;
        forget(aead);
    }
    return error;
}

/* ---- the ring ---- */

/* Submits the full buffers of an authenticated message to the device. */
static mae_error_t pump(struct mae_aead *aead)
{
    while (aead->submitted < aead->filled && aead->auth.outstanding < MAE_CHUNKS_AHEAD) {
        struct buffer *buffer = at(aead, aead->submitted);
        if (aead->dev->used >= aead->dev->depth) /* full of others' jobs */
            return aead->auth.outstanding > 0 ? MAE_OK : MAE_E_FULL;
        MAE_TRY(mae_auth_data(&aead->auth, buffer->data, buffer->data, buffer->bytes, false,
                              &buffer->piece));
        aead->submitted++;
    }
    return aead->auth.error;
}

/*
 * Copies input into a message's buffers; keeps the last buffer open until more input follows. So
 * one buffer is left to be the last.
 */
static size_t take(struct mae_aead *aead, const uint8_t *src, size_t bytes)
{
    size_t taken = 0;
    while (taken < bytes) {
        struct buffer *buffer = at(aead, aead->filled);
        if (aead->filled - aead->drained == BUFFERS)
            break;
        if (buffer->bytes == aead->chunk) {
            aead->filled++;
            continue;
        }
        size_t piece = aead->chunk - buffer->bytes;
        if (piece > bytes - taken)
            piece = bytes - taken;
        memcpy(buffer->data + buffer->bytes, src + taken, piece);
        buffer->bytes += (uint32_t)piece;
        taken += piece;
    }
    aead->data_bytes += taken;
    return taken;
}

/* Returns true if the device has processed the message's oldest buffer. */
static bool has_output(struct mae_aead *aead)
{
    return aead->drained < aead->submitted && at(aead, aead->drained)->piece.jobs == 0 &&
           aead->auth.error == MAE_OK;
}

/* Copies processed data of a message to the caller; returns the number of bytes. */
static size_t give(struct mae_aead *aead, uint8_t *dst, size_t room)
{
    size_t given = 0;
    while (given < room && has_output(aead)) {
        struct buffer *buffer = at(aead, aead->drained);
        size_t piece = buffer->bytes - buffer->given;
        if (piece > room - given)
            piece = room - given;
        memcpy(dst + given, buffer->data + buffer->given, piece);
        buffer->given += (uint32_t)piece;
        given += piece;
        if (buffer->given == buffer->bytes) {
            buffer->bytes = buffer->given = 0;
            aead->drained++;
        }
    }
    return given;
}

/* Moves decrypted data of a message from its buffers to memory that waits for the tag check. */
static mae_error_t withhold(struct mae_aead *aead)
{
    while (has_output(aead)) {
        struct buffer *buffer = at(aead, aead->drained);
        struct held *held = malloc(sizeof *held + buffer->bytes);
        if (!held)
            return MAE_E_MEMORY;
        held->next = NULL;
        held->bytes = buffer->bytes;
        held->given = 0;
        memcpy(held->data, buffer->data, buffer->bytes);
        *aead->last = held;
        aead->last = &held->next;
        buffer->bytes = 0;
        aead->drained++;
    }
    return MAE_OK;
}

/* Gives the caller decrypted data of a message whose tag was verified; returns the number of
   bytes. */
static size_t give_held(struct mae_aead *aead, uint8_t *dst, size_t room)
{
    size_t given = 0;
    while (given < room && aead->first) {
        struct held *held = aead->first;
        size_t piece = held->bytes - held->given;
        if (piece > room - given)
            piece = room - given;
        memcpy(dst + given, held->data + held->given, piece);
        held->given += (uint32_t)piece;
        given += piece;
        if (held->given < held->bytes)
            break;
        aead->first = held->next;
        mae_wipe(held, sizeof *held + held->bytes);
        free(held);
    }
    if (!aead->first)
        aead->last = &aead->first;
    return given;
}

/* ---- calls ---- */

mae_error_t mae_aead_aad(mae_aead_t *aead, const void *aad, size_t bytes)
{
    mae_detail_clear();
    if (!aead || (bytes > 0 && !aad))
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(aead->dev));
    MAE_TRY(aead->error);
    if (aead->finished || aead->data_begun)
        return mae_detail(MAE_E_STATE, "all AAD comes before the data");
    if (bytes > aead->aad_promised - aead->aad_bytes)
        return mae_detail(MAE_E_LENGTH, "more AAD than announced or allowed");
    aead->aad_bytes += bytes;
    mae_error_t error = mae_auth_aad(&aead->auth, aad, bytes);
    if (error == MAE_E_FULL) /* part of it may have been taken */
        aead->error = error;
    return keep(aead, error);
}

/* Checks that an authenticated message may take more data, within its announced length. */
static mae_error_t check_update(struct mae_aead *aead, size_t bytes)
{
    MAE_TRY(mae_check_process(aead->dev));
    MAE_TRY(aead->error);
    if (aead->finished)
        return MAE_E_STATE;
    if (aead->auth.job.mode == MAE_CMAC)
        return mae_detail(MAE_E_STATE, "CMAC's message goes to mae_aead_aad");
    if (aead->exact && bytes > 0 && aead->aad_bytes != aead->aad_promised)
        return mae_detail(MAE_E_LENGTH, "less AAD than announced");
    if (bytes > aead->data_promised - aead->data_bytes)
        return mae_detail(MAE_E_LENGTH, "more data than announced or allowed");
    aead->data_begun = aead->data_begun || bytes > 0;
    return MAE_OK;
}

mae_error_t mae_aead_update(mae_aead_t *aead, const void *src, size_t bytes, size_t *taken,
                            void *dst, size_t room, size_t *given)
{
    mae_detail_clear();
    if (!taken || !given)
        return MAE_E_ARGUMENT;
    *taken = *given = 0;
    if (!aead || (bytes > 0 && !src) || (room > 0 && !dst))
        return MAE_E_ARGUMENT;
    MAE_TRY(check_update(aead, bytes));
    const uint8_t *in = src;
    uint8_t *out = dst;
    if (aead->auth.outstanding > 0) {
        mae_error_t error = mae_work(aead->dev, 0);
        if (error != MAE_OK && error != MAE_E_TIMEOUT)
            return keep(aead, error);
    }
    for (;;) {
        size_t got = 0;
        if (aead->withholds)
            MAE_TRY(keep(aead, withhold(aead)));
        else
            got = give(aead, out + *given, room - *given);
        size_t put = take(aead, in + *taken, bytes - *taken);
        *given += got;
        *taken += put;
        MAE_TRY(keep(aead, pump(aead)));
        if (got > 0 || put > 0)
            continue;
        if (*taken > 0 || *given > 0 || bytes == 0 || (room == 0 && !aead->withholds))
            return MAE_OK;
        while (at(aead, aead->drained)->piece.jobs > 0)
            MAE_TRY(keep(aead, mae_work(aead->dev, UINT64_MAX)));
    }
}

/* Submits all buffers that an authenticated message has left, and ends the message. */
static mae_error_t run_to_end(struct mae_aead *aead)
{
    struct buffer *last = at(aead, aead->filled);
    while (aead->submitted < aead->filled) {
        MAE_TRY(pump(aead));
        if (aead->submitted < aead->filled)
            MAE_TRY(mae_work(aead->dev, UINT64_MAX));
    }
    if (aead->filled - aead->drained < BUFFERS && last->bytes > 0) {
        MAE_TRY(
            mae_auth_data(&aead->auth, last->data, last->data, last->bytes, true, &last->piece));
        aead->filled++;
        aead->submitted++;
    } else {
        MAE_TRY(mae_auth_finish(&aead->auth));
    }
    MAE_TRY(mae_auth_wait(&aead->auth));
    return aead->withholds ? withhold(aead) : MAE_OK;
}

mae_error_t mae_aead_finish(mae_aead_t *aead, uint8_t *tag)
{
    mae_detail_clear();
    if (!aead || !tag)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(aead->dev));
    MAE_TRY(aead->error);
    if (aead->finished)
        return MAE_E_STATE;
    if (aead->exact &&
        (aead->aad_bytes != aead->aad_promised || aead->data_bytes != aead->data_promised))
        return keep(aead, mae_detail(MAE_E_LENGTH, "less AAD or data than announced"));
    aead->finished = true;
    bool seals = aead->auth.job.direction == MAE_ENCRYPT;
    if (!seals)
        memcpy(aead->auth.tag, tag, aead->tag_bytes);
    mae_error_t error = run_to_end(aead);
    if (error == MAE_E_FULL)
        aead->error = error;
    MAE_TRY(keep(aead, error));
    if (seals)
        memcpy(tag, aead->auth.tag, aead->tag_bytes);
    return MAE_OK;
}

mae_error_t mae_aead_read(mae_aead_t *aead, void *dst, size_t room, size_t *given)
{
    mae_detail_clear();
    if (!given)
        return MAE_E_ARGUMENT;
    *given = 0;
    if (!aead || (room > 0 && !dst))
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(aead->dev));
    MAE_TRY(aead->error);
    if (!aead->finished)
        return mae_detail(MAE_E_STATE, "mae_aead_finish comes before mae_aead_read");
    *given = aead->withholds ? give_held(aead, dst, room) : give(aead, dst, room);
    return MAE_OK;
}

void mae_aead_free(mae_aead_t *aead)
{
    if (!aead)
        return;
    mae_detail_hold(true);
    forget(aead);
    if (mae_check_process(aead->dev) == MAE_OK) { /* else the device's state is the parent's */
        mae_auth_end(&aead->auth);
        if (aead->memory)
            (void)!mae_mem_free(aead->dev, aead->memory);
        mae_keys_give(aead->dev, aead->key_slot, MAE_SLOT_NONE);
    }
    mae_detail_hold(false);
    mae_wipe(aead, sizeof *aead);
    free(aead);
}

/* ---- beginning ---- */

/* Begins an authenticated message in pieces: checks it, takes a key slot and buffers. */
static mae_error_t begin(mae_dev_t *dev, const struct mae_message *given, mae_direction_t direction,
                         enum mae_nonce_kind kind, struct mae_nonce_counter *counter,
                         mae_aead_t **out)
{
    struct mae_message message;
    uint32_t slot;
    bool owned;
    if (!out)
        return MAE_E_ARGUMENT;
    *out = NULL;
    MAE_TRY(mae_usable(dev));
    MAE_TRY(mae_message_check(dev, given, direction, kind, &message));
    struct mae_aead *aead = calloc(1, sizeof *aead);
    if (!aead)
        return MAE_E_MEMORY;
    aead->dev = dev;
    aead->last = &aead->first;
    aead->key_slot = MAE_SLOT_NONE;
    aead->tag_bytes = (uint32_t)message.tag_bytes;
    aead->exact = message.mode == MAE_CCM;
    aead->aad_promised = aead->exact               ? message.aad_bytes
                         : message.mode == MAE_GCM ? MAE_GCM_AAD_MOST
                                                   : UINT64_MAX;
    aead->data_promised = aead->exact ? message.length : MAE_GCM_DATA_MOST;
    aead->chunk = mae_has_dma(dev) ? MAE_CARD_CHUNK : MAE_CHUNK;
    mae_error_t error =
        mae_mem_alloc(dev, MAE_AUTH_BYTES + (size_t)BUFFERS * aead->chunk, &aead->memory);
    if (error == MAE_OK)
        error = mae_message_key(dev, &message, &slot, &owned);
    if (error == MAE_OK && owned)
        aead->key_slot = slot;
    if (error == MAE_OK && direction == MAE_ENCRYPT)
        error = mae_message_nonce(dev, &message, kind, counter);
    if (error == MAE_OK)
        error = mae_auth_begin(&aead->auth, dev, &message, direction, slot, aead->memory);
    if (error != MAE_OK) {
        mae_aead_free(aead);
        return error;
    }
    for (uint32_t i = 0; i < BUFFERS; i++)
        aead->buffers[i].data = (uint8_t *)aead->memory + MAE_AUTH_BYTES + (size_t)i * aead->chunk;
    *out = aead;
    return MAE_OK;
}

/* Begins a GCM or CCM message in pieces; refuses CMAC. */
static mae_error_t begin_aead(mae_dev_t *dev, const struct mae_message *message,
                              mae_direction_t direction, enum mae_nonce_kind kind,
                              struct mae_nonce_counter *counter, mae_aead_t **aead)
{
    if (message && message->mode == MAE_CMAC)
        return mae_detail(MAE_E_MODE, "CMAC encrypts nothing: mae_aead_mac is for it");
    return begin(dev, message, direction, kind, counter, aead);
}

mae_error_t mae_aead_seal(mae_dev_t *dev, const struct mae_message *message, mae_aead_t **aead)
{
    return begin_aead(dev, message, MAE_ENCRYPT, MAE_NONCE_DRAWN, NULL, aead);
}

mae_error_t mae_aead_seal_counted(mae_dev_t *dev, const struct mae_message *message,
                                  struct mae_nonce_counter *counter, mae_aead_t **aead)
{
    return begin_aead(dev, message, MAE_ENCRYPT, MAE_NONCE_COUNTED, counter, aead);
}

mae_error_t mae_aead_seal_with_chosen_nonce(mae_dev_t *dev, const struct mae_message *message,
                                            mae_aead_t **aead)
{
    return begin_aead(dev, message, MAE_ENCRYPT, MAE_NONCE_CHOSEN, NULL, aead);
}

mae_error_t mae_aead_unseal(mae_dev_t *dev, const struct mae_message *message, mae_aead_t **aead)
{
    MAE_TRY(begin_aead(dev, message, MAE_DECRYPT, MAE_NONCE_CHOSEN, NULL, aead));
    (*aead)->withholds = true;
    return MAE_OK;
}

mae_error_t mae_aead_unseal_unverified(mae_dev_t *dev, const struct mae_message *message,
                                       mae_aead_t **aead)
{
    return begin_aead(dev, message, MAE_DECRYPT, MAE_NONCE_CHOSEN, NULL, aead);
}

mae_error_t mae_aead_mac(mae_dev_t *dev, const struct mae_message *message, mae_aead_t **aead)
{
    if (message && message->mode != MAE_CMAC)
        return mae_detail(MAE_E_MODE, "mae_aead_mac is for CMAC");
    return begin(dev, message, MAE_ENCRYPT, MAE_NONCE_CHOSEN, NULL, aead);
}

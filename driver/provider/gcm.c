/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a GCM message through the device in pieces of any size. */
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/proverr.h>

#include "gcm.h"

enum {
    REQUESTS = 4, /* at once: IV, AAD, data, the keystream of a block that is not full */
    ALIGN = 64,
    WAIT_SECONDS = 10
};

/* Holds jobs that go to the device together, with their buffer. */
struct batch {
    struct request requests[REQUESTS];
    size_t count;
    struct stage stage;
    size_t used;
};

void gcm_start(struct gcm *gcm, struct card *card, struct key *key, const uint8_t *iv,
               size_t iv_bytes, mae_direction_t direction)
{
    gcm_drop(gcm);
    gcm->card = card;
    gcm->key = key_share(key);
    gcm->process = mae_process();
    gcm->direction = direction;
    memcpy(gcm->iv, iv, iv_bytes);
    gcm->iv_bytes = iv_bytes;
}

/* ---- what a message holds in the device ---- */

/* Waits until so few messages are open that others find contexts and slots. Locked. */
static mae_error_t wait_turn(struct card *card)
{
    uint32_t slots = card->caps.key_slots, contexts = card->caps.aead_contexts;
    uint32_t least = slots < contexts ? slots : contexts;
    uint32_t most = least > RESERVED ? least - RESERVED : 1;
    time_t begun = time(NULL);
    while (card->messages >= most) {
        if (time(NULL) - begun > WAIT_SECONDS)
            return MAE_E_CONTEXT;
        card_pass(card);
    }
    card_pass_ends(card);
    return MAE_OK;
}

/* Gives a message a context of the device and keeps its key in a slot. Locked. */
static mae_error_t open_message(struct gcm *gcm)
{
    struct card *card = gcm->card;
    if (gcm->open && gcm->opening != card->opening)
        return MAE_E_STATE;
    if (gcm->open)
        return MAE_OK;
    mae_error_t error = wait_turn(card);
    if (error != MAE_OK)
        return error;
    card->messages++;
    error = key_pin(card, gcm->key);
    if (error == MAE_OK) {
        error = card_context(card, true, &gcm->context);
        if (error != MAE_OK)
            key_unpin(card, gcm->key);
    }
    if (error != MAE_OK) {
        card->messages--;
        return error;
    }
    gcm->open = true;
    gcm->opening = card->opening;
    return MAE_OK;
}

void gcm_drop(struct gcm *gcm)
{
    struct card *card = gcm->card;
    if (gcm->open) {
        if (card_enter(card) == MAE_OK && gcm->opening == card->opening) {
            (void)!mae_context_free(card->dev, gcm->context);
            key_unpin(card, gcm->key);
            card->messages--;
        }
        card_leave(card);
    }
    key_free(card, gcm->key);
    OPENSSL_cleanse(gcm, sizeof *gcm);
}

/* ---- jobs ---- */

/* Adds a job for a phase of the message to a batch; returns where its bytes belong. */
static uint8_t *add(const struct gcm *gcm, struct batch *batch, mae_phase_t phase, size_t bytes)
{
    struct mae_job *job = &batch->requests[batch->count].job;
    uint8_t *at = batch->stage.data + batch->used;
    *job = (struct mae_job){
        .mode = MAE_GCM,
        .direction = gcm->direction,
        .key_slot = gcm->key->slots[0],
        .context = gcm->context,
        .init = !gcm->begun && batch->count == 0,
        .length = bytes,
        .src = at,
        .dst = phase == MAE_PHASE_DATA ? at : NULL,
        .phase = phase,
    };
    if (job->init && gcm->iv_bytes == 12)
        memcpy(job->iv, gcm->iv, 12);
    batch->count++;
    batch->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

/* Begins a batch of a message with room for `bytes` bytes; adds its IV, if that is not hashed yet. */
static mae_error_t begin(struct gcm *gcm, struct batch *batch, size_t bytes)
{
    *batch = (struct batch){0};
    mae_error_t error = open_message(gcm);
    if (error == MAE_OK)
        error =
            card_stage(gcm->card, bytes + GCM_IV_MOST + REQUESTS * (ALIGN + BLOCK), &batch->stage);
    if (error == MAE_OK && !gcm->begun && gcm->iv_bytes != 12)
        memcpy(add(gcm, batch, MAE_PHASE_IV, gcm->iv_bytes), gcm->iv, gcm->iv_bytes);
    return error;
}

/* Runs a batch of the message. */
static mae_error_t run(struct gcm *gcm, struct batch *batch)
{
    mae_error_t error = card_run(gcm->card, batch->requests, batch->count);
    gcm->begun = gcm->begun || batch->requests[0].job.mode == MAE_GCM;
    return error;
}

/* Adds the AAD that is held to a batch, as the last of it. */
static void close_aad(struct gcm *gcm, struct batch *batch)
{
    if (!gcm->data && gcm->held_bytes > 0)
        memcpy(add(gcm, batch, MAE_PHASE_AAD, gcm->held_bytes), gcm->held, gcm->held_bytes);
    if (!gcm->data)
        gcm->held_bytes = 0;
    gcm->data = true;
}

/* ---- the keystream of a block that is not full ---- */

/*
 * Computes the first counter block of a message whose IV has not 12 bytes. It is a hash that only
 * the device has: the tag of a message of nothing is its encryption, and gets decrypted.
 */
static mae_error_t hashed_counter(struct gcm *gcm)
{
    struct card *card = gcm->card;
    struct gcm empty = {.card = card, .key = gcm->key, .direction = MAE_ENCRYPT};
    struct batch batch = {0};
    memcpy(empty.iv, gcm->iv, gcm->iv_bytes);
    empty.iv_bytes = gcm->iv_bytes;
    mae_error_t error = card_context(card, true, &empty.context);
    if (error != MAE_OK)
        return error;
    error = card_stage(card, GCM_IV_MOST + ALIGN, &batch.stage);
    if (error == MAE_OK) {
        memcpy(add(&empty, &batch, MAE_PHASE_IV, gcm->iv_bytes), gcm->iv, gcm->iv_bytes);
        (void)add(&empty, &batch, MAE_PHASE_DATA, 0);
        batch.requests[1].job.final = 1;
        error = card_run(card, batch.requests, 2);
    }
    (void)!mae_context_free(card->dev, empty.context);
    struct request request = {.job = {.mode = MAE_ECB,
                                      .direction = MAE_DECRYPT,
                                      .key_slot = gcm->key->slots[0],
                                      .init = 1,
                                      .length = BLOCK,
                                      .src = batch.stage.data,
                                      .dst = batch.stage.data}};
    if (error == MAE_OK)
        error = card_context(card, false, &request.job.context);
    if (error == MAE_OK) {
        memcpy(batch.stage.data, batch.requests[1].result.tag, BLOCK);
        error = card_run(card, &request, 1);
        (void)!mae_context_free(card->dev, request.job.context);
        memcpy(gcm->first_counter, batch.stage.data, BLOCK);
    }
    card_stage_free(card, &batch.stage);
    return error;
}

/* Computes the first counter block of a message, if it is not known yet. */
static mae_error_t know_counter(struct gcm *gcm)
{
    mae_error_t error = MAE_OK;
    if (gcm->counted)
        return MAE_OK;
    if (gcm->iv_bytes == 12) {
        memcpy(gcm->first_counter, gcm->iv, 12);
        gcm->first_counter[15] = 1;
    } else {
        error = hashed_counter(gcm);
    }
    gcm->counted = error == MAE_OK;
    return error;
}

/* Adds a job to a batch that computes the keystream of the block number `number` of the data. */
static mae_error_t add_keystream(struct gcm *gcm, struct batch *batch, uint64_t number)
{
    uint8_t *at = add(gcm, batch, MAE_PHASE_DATA, BLOCK);
    struct mae_job *job = &batch->requests[batch->count - 1].job;
    job->mode = MAE_CTR;
    job->direction = MAE_ENCRYPT;
    job->init = 1;
    memcpy(job->iv, gcm->first_counter, BLOCK);
    uint32_t low = (uint32_t)job->iv[12] << 24 | job->iv[13] << 16 | job->iv[14] << 8 | job->iv[15];
    low += (uint32_t)number + 1; /* modulo 2^32, as GCM counts */
    for (int i = 0; i < 4; i++)
        job->iv[15 - i] = (uint8_t)(low >> 8 * i);
    memset(at, 0, BLOCK);
    return card_context(gcm->card, false, &job->context);
}

/* ---- calls ---- */

/* Raises an error and returns 0 if a message has failed, or is another process's. */
static int goes_on(const struct gcm *gcm)
{
    if (gcm->process != mae_process())
        return fail(PROV_R_CIPHER_OPERATION_FAILED,
                    "maeslant: this message was begun before a fork: its parent goes on with it");
    return gcm->failed ? fail_card(MAE_E_STATE) : 1;
}

int gcm_aad(struct gcm *gcm, const uint8_t *aad, size_t bytes)
{
    struct batch batch;
    size_t whole = (gcm->held_bytes + bytes) / BLOCK * BLOCK, head = gcm->held_bytes;
    mae_error_t error = MAE_OK;
    if (!goes_on(gcm))
        return 0;
    if (gcm->data)
        return fail(PROV_R_CIPHER_OPERATION_FAILED, "maeslant: all AAD comes before the data");
    if (whole > 0) {
        error = card_enter(gcm->card);
        batch.stage.data = NULL;
        if (error == MAE_OK)
            error = begin(gcm, &batch, whole);
        if (error == MAE_OK) {
            uint8_t *at = add(gcm, &batch, MAE_PHASE_AAD, whole);
            memcpy(at, gcm->held, head);
            memcpy(at + head, aad, whole - head);
            error = run(gcm, &batch);
        }
        card_stage_free(gcm->card, &batch.stage);
        card_leave(gcm->card);
        gcm->failed = gcm->failed || error != MAE_OK;
        aad += whole - head;
        bytes -= whole - head;
        gcm->held_bytes = 0;
    }
    if (bytes > 0)
        memcpy(gcm->held + gcm->held_bytes, aad, bytes);
    gcm->held_bytes += bytes;
    return error == MAE_OK ? 1 : fail_card(error);
}

/* Encrypts or decrypts data that completes at least one block, or begins one. Locked. */
static mae_error_t run_data(struct gcm *gcm, uint8_t *out, const uint8_t *in, size_t bytes)
{
    struct batch batch;
    size_t head = gcm->data ? gcm->held_bytes : 0;
    size_t whole = (head + bytes) / BLOCK * BLOCK, tail = (head + bytes) % BLOCK;
    batch.stage.data = NULL;
    mae_error_t error = begin(gcm, &batch, whole);
    if (error == MAE_OK && tail > 0)
        error = know_counter(gcm);
    if (error == MAE_OK) {
        uint8_t *at = NULL;
        close_aad(gcm, &batch);
        if (whole > 0) {
            at = add(gcm, &batch, MAE_PHASE_DATA, whole);
            memcpy(at, gcm->held, head);
            memcpy(at + head, in, whole - head);
        }
        uint8_t rest[BLOCK];
        memcpy(rest, in + bytes - tail, tail); /* where out is in, it is about to go */
        if (tail > 0)
            error = add_keystream(gcm, &batch, gcm->blocks + whole / BLOCK);
        struct request *peek = &batch.requests[batch.count - 1];
        if (error == MAE_OK) {
            error = run(gcm, &batch);
            if (tail > 0)
                (void)!mae_context_free(gcm->card->dev, peek->job.context);
        }
        if (error == MAE_OK) {
            size_t given = whole > 0 ? whole - head : 0;
            if (whole > 0)
                memcpy(out, at + head, given);
            if (tail > 0)
                memcpy(gcm->keystream, peek->job.dst, BLOCK);
            for (size_t i = 0; i < tail; i++)
                out[given + i] = rest[i] ^ gcm->keystream[i];
            memcpy(gcm->held, rest, tail);
            gcm->held_bytes = tail;
            gcm->blocks += whole / BLOCK;
        }
        OPENSSL_cleanse(rest, sizeof rest);
    }
    card_stage_free(gcm->card, &batch.stage);
    return error;
}

int gcm_data(struct gcm *gcm, uint8_t *out, const uint8_t *in, size_t bytes)
{
    if (!goes_on(gcm))
        return 0;
    if (bytes == 0)
        return 1;
    if (gcm->data && gcm->held_bytes > 0 && gcm->held_bytes + bytes < BLOCK) {
        for (size_t i = 0; i < bytes; i++) {
            uint8_t byte = in[i];
            out[i] = byte ^ gcm->keystream[gcm->held_bytes];
            gcm->held[gcm->held_bytes++] = byte;
        }
        return 1;
    }
    mae_error_t error = card_enter(gcm->card);
    if (error == MAE_OK)
        error = run_data(gcm, out, in, bytes);
    card_leave(gcm->card);
    gcm->failed = gcm->failed || error != MAE_OK;
    return error == MAE_OK ? 1 : fail_card(error);
}

/* Sends the last job of the message. Locked. */
static mae_error_t run_last(struct gcm *gcm, uint8_t *tag, size_t tag_bytes)
{
    struct batch batch;
    batch.stage.data = NULL;
    mae_error_t error = begin(gcm, &batch, BLOCK);
    if (error == MAE_OK) {
        mae_phase_t phase = gcm->data || gcm->held_bytes == 0 ? MAE_PHASE_DATA : MAE_PHASE_AAD;
        memcpy(add(gcm, &batch, phase, gcm->held_bytes), gcm->held, gcm->held_bytes);
        struct request *last = &batch.requests[batch.count - 1];
        last->job.final = 1;
        if (gcm->direction == MAE_DECRYPT) {
            memcpy(last->job.tag, tag, tag_bytes);
            last->job.tag_bytes = (uint32_t)tag_bytes;
        }
        error = run(gcm, &batch);
        if (error == MAE_OK && gcm->direction == MAE_ENCRYPT)
            memcpy(tag, last->result.tag, BLOCK);
    }
    card_stage_free(gcm->card, &batch.stage);
    return error;
}

int gcm_finish(struct gcm *gcm, uint8_t *tag, size_t tag_bytes)
{
    if (!goes_on(gcm)) {
        gcm_drop(gcm);
        return 0;
    }
    mae_error_t error = card_enter(gcm->card);
    if (error == MAE_OK)
        error = run_last(gcm, tag, tag_bytes);
    card_leave(gcm->card);
    gcm_drop(gcm);
    if (error == MAE_E_AUTH)
        return 0; /* as OpenSSL's own: no error is raised for a wrong tag */
    return error == MAE_OK ? 1 : fail_card(error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts or decrypts a piece of a message without authentication by one job of the device. */
#include <string.h>

#include "crypt.h"

/* Runs a piece whose input lies in a buffer of the device. Locked. */
static mae_error_t run(struct card *card, const struct piece *piece, struct stage *stage)
{
    struct request request = {.job = {
                                  .mode = piece->mode,
                                  .direction = piece->direction,
                                  .init = 1,
                                  .length = stage->bytes,
                                  .src = stage->data,
                                  .dst = stage->data,
                              }};
    mae_error_t error = card_context(card, false, &request.job.context);
    if (error != MAE_OK)
        return error;
    if (piece->iv)
        memcpy(request.job.iv, piece->iv, BLOCK);
    request.job.key_slot = piece->key->slots[0];
    request.job.tweak_slot = piece->key->slots[1];
    error = card_run(card, &request, 1);
    (void)!mae_context_free(card->dev, request.job.context);
    return error;
}

/* Copies a piece into a buffer of the device, runs it, and copies the result. Locked. */
static mae_error_t stage_and_run(struct card *card, struct piece *piece, size_t total, uint8_t *out)
{
    struct stage stage;
    mae_error_t error = card_stage(card, total, &stage);
    if (error != MAE_OK)
        return error;
    const uint8_t *last = stage.data + total - BLOCK; /* XTS alone has other ends, and no chain */
    if (piece->head_bytes > 0)
        memcpy(stage.data, piece->head, piece->head_bytes);
    if (piece->bytes > 0)
        memcpy(stage.data + piece->head_bytes, piece->in, piece->bytes);
    memset(stage.data + total - piece->pad, 0, piece->pad);
    memcpy(piece->last_in, last, BLOCK);
    error = run(card, piece, &stage);
    if (error == MAE_OK) {
        memcpy(piece->last_out, last, BLOCK);
        if (out)
            memcpy(out, stage.data, total - piece->pad);
    }
    card_stage_free(card, &stage);
    return error;
}

int crypt_piece(struct card *card, struct piece *piece, uint8_t *out)
{
    size_t total = piece->head_bytes + piece->bytes + piece->pad;
    if (total == 0)
        return 1;
    mae_error_t error = card_enter(card);
    if (error == MAE_OK)
        error = key_pin(card, piece->key);
    if (error == MAE_OK) {
        error = stage_and_run(card, piece, total, out);
        key_unpin(card, piece->key);
    }
    card_leave(card);
    return error == MAE_OK ? 1 : fail_card(error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts, decrypts or authenticates a GCM, CCM or CMAC message in one call. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "auth.h"
#include "ccm.h"
#include "plan.h"

enum {
    NONCE_BYTES = 12,
    COUNTER_BYTES = 8,
    LONG_CHUNK = 16 * MAE_CHUNK, /* the change from job to job costs latency */
    WORK_BYTES = MAE_AUTH_BYTES + MAE_CHUNK
};

static const uint64_t most_seals = UINT64_C(1) << 32; /* SP 800-38D 8.3 */

/* ---- what is allowed ---- */

/* Checks that the mode of a GCM, CCM or CMAC message allows its nonce's length. */
static mae_error_t check_nonce(const struct mae_message *message)
{
    if (message->mode == MAE_CMAC)
        return MAE_OK;
    bool ccm = message->mode == MAE_CCM;
    size_t least = ccm ? MAE_CCM_NONCE_LEAST : 1, most = ccm ? MAE_CCM_NONCE_MOST : MAE_CHUNK;
    if (!message->nonce)
        return mae_detail(MAE_E_ARGUMENT, "a message needs a nonce");
    if (message->nonce_bytes < least || message->nonce_bytes > most)
        return mae_detail(MAE_E_ARGUMENT, "a nonce of %zu bytes: %zu to %zu are possible",
                          message->nonce_bytes, least, most);
    return MAE_OK;
}

/* Checks the lengths of a message's data and AAD against the limits of its mode. */
static mae_error_t check_lengths(const struct mae_message *message)
{
    if (message->mode == MAE_GCM && message->length > MAE_GCM_DATA_MOST)
        return mae_detail(MAE_E_LENGTH, "GCM takes at most 2^36 - 32 bytes");
    if (message->mode == MAE_GCM && message->aad_bytes > MAE_GCM_AAD_MOST)
        return mae_detail(MAE_E_LENGTH, "GCM takes at most 2^61 - 1 bytes of AAD");
    if (message->mode == MAE_CCM && !mae_ccm_fits(message->length, (uint32_t)message->nonce_bytes))
        return mae_detail(MAE_E_LENGTH, "CCM with a nonce of %zu bytes takes less than 2^%zu bytes",
                          message->nonce_bytes, 8 * (15 - message->nonce_bytes));
    return MAE_OK;
}

mae_error_t mae_message_check(struct mae_dev *dev, const struct mae_message *given,
                              mae_direction_t direction, enum mae_nonce_kind kind,
                              struct mae_message *message)
{
    bool composed;
    if (!given)
        return MAE_E_ARGUMENT;
    *message = *given;
    /* Only of what the library writes: a length of 0 that came from outside is no default. */
    if (message->nonce_bytes == 0 && kind != MAE_NONCE_CHOSEN)
        message->nonce_bytes = NONCE_BYTES;
    if (message->tag_bytes == 0 && direction == MAE_ENCRYPT)
        message->tag_bytes = 16;
    MAE_TRY(mae_message_mode(dev, message->mode, &composed));
    if (message->tag_bytes > 16 ||
        !mae_tag_length_allowed(message->mode, (uint32_t)message->tag_bytes))
        return mae_detail(MAE_E_ARGUMENT, "the mode has no tag of %zu bytes", message->tag_bytes);
    MAE_TRY(check_nonce(message));
    return check_lengths(message);
}

/* Checks that a message's buffers exist and that source and destination do not partly overlap. */
static mae_error_t check_buffers(const struct mae_message *message)
{
    uintptr_t from = (uintptr_t)message->src, to = (uintptr_t)message->dst;
    bool writes = message->mode != MAE_CMAC && message->length > 0;
    if (!message->tag || (message->aad_bytes > 0 && !message->aad) ||
        (message->length > 0 && !message->src) || (writes && !message->dst) ||
        message->length > SIZE_MAX)
        return mae_detail(MAE_E_ARGUMENT, "no tag, AAD, source or destination");
    if (writes && from != to && from < to + message->length && to < from + message->length)
        return mae_detail(MAE_E_ARGUMENT, "source and destination overlap");
    return MAE_OK;
}

mae_error_t mae_message_key(struct mae_dev *dev, const struct mae_message *message, uint32_t *slot,
                            bool *owned)
{
    *owned = message->key != NULL;
    *slot = message->key_slot;
    if (*owned)
        return mae_key_alloc(dev, message->key, message->key_bytes, slot);
    /* Of the slot alone: the mode has been looked at, and may be a composed one. */
    return mae_check_key_slot(dev, message->key_slot);
}

/* ---- nonces ---- */

/* Fills a message's nonce with random bytes of the operating system. */
static mae_error_t draw(uint8_t *nonce, size_t bytes)
{
    while (bytes > 0) {
        ssize_t got = getrandom(nonce, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return mae_detail(MAE_E_SYSTEM, "getrandom: %s", strerror(errno));
        nonce += got;
        bytes -= (size_t)got;
    }
    return MAE_OK;
}

/* Makes a message's nonce from the caller's counter and advances the counter. */
static mae_error_t count(uint8_t *nonce, size_t bytes, struct mae_nonce_counter *counter)
{
    if (!counter)
        return MAE_E_ARGUMENT;
    if (bytes < COUNTER_BYTES)
        return mae_detail(MAE_E_ARGUMENT, "a counted nonce has 8 bytes at least");
    if (counter->next == UINT64_MAX)
        return mae_detail(MAE_E_LIMIT, "the nonce counter is at its end");
    size_t fixed = bytes - COUNTER_BYTES;
    memcpy(nonce, counter->fixed, fixed < sizeof counter->fixed ? fixed : sizeof counter->fixed);
    mae_ccm_number(nonce + bytes, counter->next++, COUNTER_BYTES);
    return MAE_OK;
}

mae_error_t mae_message_nonce(struct mae_dev *dev, const struct mae_message *message,
                              enum mae_nonce_kind kind, struct mae_nonce_counter *counter)
{
    size_t bytes = message->nonce_bytes;
    struct mae_seal_count *seals =
        message->key ? &dev->seals : &mae_find_slot(dev, message->key_slot)->seals;
    if (message->mode == MAE_CMAC)
        return MAE_OK;
    bool drawn = kind != MAE_NONCE_COUNTED || bytes != NONCE_BYTES;
    if ((drawn || seals->drawn) && seals->messages >= most_seals)
        return mae_detail(MAE_E_LIMIT, "2^32 messages have been sealed: load a new key");
    if (kind == MAE_NONCE_DRAWN && bytes < NONCE_BYTES)
        return mae_detail(MAE_E_ARGUMENT, "a drawn nonce has 12 bytes at least");
    if (kind == MAE_NONCE_DRAWN && message->mode == MAE_GCM && bytes != NONCE_BYTES)
        return mae_detail(MAE_E_ARGUMENT, "a drawn nonce of GCM has 12 bytes");
    if (kind == MAE_NONCE_COUNTED && bytes > COUNTER_BYTES + sizeof counter->fixed)
        return mae_detail(MAE_E_ARGUMENT, "a counted nonce has 16 bytes at most");
    if (kind == MAE_NONCE_DRAWN)
        MAE_TRY(draw(message->nonce, bytes));
    if (kind == MAE_NONCE_COUNTED)
        MAE_TRY(count(message->nonce, bytes, counter));
    seals->messages++;
    seals->drawn = seals->drawn || drawn;
    return MAE_OK;
}

/* ---- the way of the data ---- */

/* Processes the data of an authenticated message in buffers that the device can access. */
static mae_error_t run_direct(struct mae_auth *auth, const uint8_t *src, uint8_t *dst,
                              uint64_t length, bool last)
{
    mae_error_t error = MAE_OK;
    for (uint64_t at = 0; at < length && error == MAE_OK;) {
        uint64_t bytes = length - at < LONG_CHUNK ? length - at : LONG_CHUNK;
        error = mae_auth_data(auth, src + at, dst + at, bytes, last && at + bytes == length, NULL);
        at += bytes;
    }
    mae_error_t waited = mae_auth_wait(auth); /* whatever happened: nothing stays in flight */
    return error != MAE_OK ? error : waited;
}

/*
 * Processes the data of an authenticated message, chunk by chunk, through the device's memory. A
 * message of one chunk is given only once its tag is verified.
 */
static mae_error_t run_bounced(struct mae_auth *auth, const uint8_t *src, uint8_t *dst,
                               uint64_t length)
{
    uint8_t *bounce = auth->dev->work + MAE_AUTH_BYTES;
    uint32_t largest = length < MAE_CHUNK ? (uint32_t)length : MAE_CHUNK;
    mae_error_t error = MAE_OK;
    for (uint64_t at = 0; at < length && error == MAE_OK;) {
        uint32_t bytes = length - at < largest ? (uint32_t)(length - at) : largest;
        memcpy(bounce, src + at, bytes);
        error = run_direct(auth, bounce, bounce, bytes, at + bytes == length);
        if (error == MAE_OK)
            memcpy(dst + at, bounce, bytes);
        at += bytes;
    }
    mae_wipe(bounce, largest);
    return error;
}

/*
 * Processes the data of an authenticated message and maps its buffers for that time. *mapped: that
 * was possible.
 */
static mae_error_t run_mapped(struct mae_auth *auth, const uint8_t *src, uint8_t *dst,
                              uint64_t length, bool *mapped)
{
    struct mae_dev *dev = auth->dev;
    mae_error_t error = MAE_OK;
    bool map_dst = !mae_is_mapped(dev, dst, length, true);
    *mapped = !map_dst || mae_mem_map(dev, dst, length, true) == MAE_OK;
    if (!*mapped)
        return MAE_OK;
    bool map_src = !mae_is_mapped(dev, src, length, false);
    *mapped = !map_src || mae_mem_map(dev, (void *)src, length, false) == MAE_OK;
    if (*mapped)
        error = run_direct(auth, src, dst, length, true);
    mae_detail_hold(true);
    if (map_src && *mapped)
        (void)!mae_mem_unmap(dev, (void *)src);
    if (map_dst)
        (void)!mae_mem_unmap(dev, dst);
    mae_detail_hold(false);
    return error;
}

/* Processes the data of an authenticated message: in place if mapped, else through a buffer. */
static mae_error_t run_data(struct mae_auth *auth, const struct mae_message *message)
{
    struct mae_dev *dev = auth->dev;
    uint64_t length = message->length;
    if (!mae_has_dma(dev) || (mae_is_mapped(dev, message->src, length, false) &&
                              mae_is_mapped(dev, message->dst, length, true)))
        return run_direct(auth, message->src, message->dst, length, true);
    bool mapped = false;
    mae_error_t error = MAE_OK;
    if (length > MAE_CHUNK)
        error = run_mapped(auth, message->src, message->dst, length, &mapped);
    return mapped ? error : run_bounced(auth, message->src, message->dst, length);
}

/* ---- calls ---- */

/* Processes an authenticated message that was checked and whose key is loaded. */
static mae_error_t run_message(struct mae_dev *dev, const struct mae_message *message,
                               mae_direction_t direction, uint32_t slot)
{
    struct mae_auth auth;
    void *work = dev->work;
    if (!work)
        MAE_TRY(mae_mem_alloc(dev, WORK_BYTES, &work));
    dev->work = work;
    mae_error_t error = mae_auth_begin(&auth, dev, message, direction, slot, dev->work);
    if (direction == MAE_DECRYPT)
        memcpy(auth.tag, message->tag, message->tag_bytes);
    bool mac = message->mode == MAE_CMAC;
    if (error == MAE_OK)
        error = mac ? mae_auth_aad(&auth, message->src, message->length)
                    : mae_auth_aad(&auth, message->aad, message->aad_bytes);
    if (error == MAE_OK)
        error = mac || message->length == 0 ? mae_auth_finish(&auth) : run_data(&auth, message);
    if (error == MAE_OK)
        error = mae_auth_wait(&auth);
    if (error == MAE_OK && direction == MAE_ENCRYPT)
        memcpy(message->tag, auth.tag, message->tag_bytes);
    bool wrote = auth.wrote;
    mae_auth_end(&auth); /* nothing is in flight any more */
    if (error != MAE_OK && direction == MAE_DECRYPT && wrote)
        mae_wipe(message->dst, message->length);
    return error;
}

/* Processes one authenticated message of a call, from the checks to the tag. */
static mae_error_t call(mae_dev_t *dev, const struct mae_message *given, mae_direction_t direction,
                        enum mae_nonce_kind kind, struct mae_nonce_counter *counter)
{
    struct mae_message message;
    uint32_t slot;
    bool owned;
    MAE_TRY(mae_message_check(dev, given, direction, kind, &message));
    MAE_TRY(check_buffers(&message));
    MAE_TRY(mae_message_key(dev, &message, &slot, &owned));
    mae_error_t error = MAE_OK;
    if (direction == MAE_ENCRYPT)
        error = mae_message_nonce(dev, &message, kind, counter);
    if (error == MAE_OK)
        error = run_message(dev, &message, direction, slot);
    if (owned)
        mae_keys_give(dev, slot, MAE_SLOT_NONE);
    return error;
}

/* Encrypts or decrypts one GCM or CCM message; refuses CMAC. */
static mae_error_t call_aead(mae_dev_t *dev, const struct mae_message *message,
                             mae_direction_t direction, enum mae_nonce_kind kind,
                             struct mae_nonce_counter *counter)
{
    MAE_TRY(mae_usable(dev));
    if (message && message->mode == MAE_CMAC)
        return mae_detail(MAE_E_MODE, "CMAC encrypts nothing: mae_mac is for it");
    return call(dev, message, direction, kind, counter);
}

mae_error_t mae_seal(mae_dev_t *dev, const struct mae_message *message)
{
    return call_aead(dev, message, MAE_ENCRYPT, MAE_NONCE_DRAWN, NULL);
}

mae_error_t mae_seal_counted(mae_dev_t *dev, const struct mae_message *message,
                             struct mae_nonce_counter *counter)
{
    return call_aead(dev, message, MAE_ENCRYPT, MAE_NONCE_COUNTED, counter);
}

mae_error_t mae_seal_with_chosen_nonce(mae_dev_t *dev, const struct mae_message *message)
{
    return call_aead(dev, message, MAE_ENCRYPT, MAE_NONCE_CHOSEN, NULL);
}

mae_error_t mae_unseal(mae_dev_t *dev, const struct mae_message *message)
{
    return call_aead(dev, message, MAE_DECRYPT, MAE_NONCE_CHOSEN, NULL);
}

/* Computes or checks the CMAC of one message; refuses other modes. */
static mae_error_t call_mac(mae_dev_t *dev, const struct mae_message *message,
                            mae_direction_t direction)
{
    MAE_TRY(mae_usable(dev));
    if (message && message->mode != MAE_CMAC)
        return mae_detail(MAE_E_MODE, "GMAC is mae_seal of a message without data");
    return call(dev, message, direction, MAE_NONCE_CHOSEN, NULL);
}

mae_error_t mae_mac(mae_dev_t *dev, const struct mae_message *message)
{
    return call_mac(dev, message, MAE_ENCRYPT);
}

mae_error_t mae_mac_verify(mae_dev_t *dev, const struct mae_message *message)
{
    return call_mac(dev, message, MAE_DECRYPT);
}

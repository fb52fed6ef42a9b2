/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encrypts, decrypts or authenticates a GCM, CCM or CMAC message on the peripheral. Built like
 * peripheral.c: nothing here makes a compiler call memcpy or memset.
 */
#include "ccm.h"
#include "peripheral.h"

/* Holds the source of a message's AAD phase: the encoded AAD length, then the AAD. */
struct aad {
    uint8_t head[16 + MAE_CCM_PREFIX_MOST]; /* B0 and the encoded length */
    uint32_t head_bytes;
    uint32_t at;
    const uint8_t *aad;
};

/* Supplies the next block of a message's AAD phase to the peripheral. */
static void get_aad(void *arg, uint8_t *block, uint32_t n)
{
    struct aad *source = arg;
    for (uint32_t i = 0; i < n; i++, source->at++)
        block[i] = source->at < source->head_bytes ? source->head[source->at]
                                                   : source->aad[source->at - source->head_bytes];
}

/* Runs the peripheral's jobs for IV and AAD of a GCM or CCM message. */
static mae_error_t begin(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                         struct mae_pio_job *job, uint8_t counter[16], uint32_t length)
{
    struct aad source;
    source.head_bytes = source.at = 0;
    source.aad = message->aad;
    job->init = 1;
    job->iv = message->nonce;
    if (message->mode == MAE_CCM) {
        mae_ccm_first(source.head, message->nonce, message->nonce_bytes, message->aad_bytes, length,
                      message->tag_bytes);
        source.head_bytes = 16 + mae_ccm_prefix(source.head + 16, message->aad_bytes);
        mae_ccm_counter(counter, message->nonce, message->nonce_bytes);
        job->iv = counter;
    } else if (message->nonce_bytes != 12) {
        job->phase = MAE_PHASE_IV;
        job->length = message->nonce_bytes;
        TRY(mae_pio_run(bus, job, message->nonce, NULL));
        job->init = 0;
    }
    job->phase = MAE_PHASE_AAD;
    job->length = source.head_bytes + message->aad_bytes;
    if (job->length > 0) {
        TRY(mae_pio_run_with(bus, job, get_aad, &source, NULL, NULL));
        job->init = 0;
    }
    return MAE_OK;
}

/* Checks mode, nonce, tag and length of a GCM or CCM message. */
static mae_error_t check(const struct mae_pio_message *message, uint32_t length)
{
    bool ccm = message->mode == MAE_CCM;
    if (message->mode != MAE_GCM && !ccm)
        return MAE_E_MODE;
    if (!message->nonce || !message->tag || (message->aad_bytes > 0 && !message->aad) ||
        !mae_tag_length_allowed(message->mode, message->tag_bytes))
        return MAE_E_ARGUMENT;
    if (ccm ? message->nonce_bytes < MAE_CCM_NONCE_LEAST ||
                  message->nonce_bytes > MAE_CCM_NONCE_MOST
            : message->nonce_bytes == 0)
        return MAE_E_ARGUMENT;
    if (message->aad_bytes > UINT32_MAX - 16 - MAE_CCM_PREFIX_MOST ||
        (ccm && !mae_ccm_fits(length, message->nonce_bytes)))
        return MAE_E_LENGTH;
    return MAE_OK;
}

/* Overwrites memory with zeros, without a call of memset. */
static void wipe(volatile uint8_t *memory, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        memory[i] = 0;
}

/*
 * Fills in a job of the peripheral field by field, so that no memset is called. A compiler would
 * clear a larger initialiser by one.
 */
static void prepare(struct mae_pio_job *job, mae_mode_t mode, mae_direction_t direction,
                    const struct mae_pio_message *message, uint8_t *tag)
{
    job->mode = mode;
    job->direction = direction;
    job->init = 1;
    job->key_slot = message->key_slot;
    job->tweak_slot = 0;
    job->iv = NULL;
    job->length = 0;
    job->phase = MAE_PHASE_DATA;
    job->final = 0;
    job->tag = tag;
    job->tag_bytes = message->tag_bytes;
}

/* Copies the tag that a decryption expects, padded to 16 bytes. */
static void expect(const struct mae_pio_message *message, mae_direction_t direction,
                   uint8_t tag[16])
{
    for (uint32_t i = 0; i < 16; i++)
        tag[i] = direction == MAE_DECRYPT && i < message->tag_bytes ? message->tag[i] : 0;
}

/* Processes nonce and AAD of a GCM or CCM message and prepares the job of its data. */
static mae_error_t prelude(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                           mae_direction_t direction, uint32_t length, uint8_t tag[16],
                           struct mae_pio_job *job)
{
    uint8_t counter[16];
    expect(message, direction, tag);
    prepare(job, message->mode, direction, message, tag);
    TRY(begin(bus, message, job, counter, length));
    job->phase = MAE_PHASE_DATA;
    job->final = 1;
    job->length = length;
    if (job->iv == counter) /* used up */
        job->iv = NULL;
    return MAE_OK;
}

/* Encrypts or decrypts one GCM or CCM message on the peripheral. */
static mae_error_t crypt(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                         mae_direction_t direction, const void *src, void *dst, uint32_t length)
{
    struct mae_pio_job job;
    uint8_t tag[16];
    TRY(check(message, length));
    if (length > 0 && (!src || !dst))
        return MAE_E_ARGUMENT;
    mae_error_t error = prelude(bus, message, direction, length, tag, &job);
    if (error == MAE_OK)
        error = mae_pio_run(bus, &job, src, dst);
    for (uint32_t i = 0; error == MAE_OK && direction == MAE_ENCRYPT && i < message->tag_bytes; i++)
        message->tag[i] = tag[i];
    if (error != MAE_OK && direction == MAE_DECRYPT)
        wipe(dst, length);
    wipe(tag, sizeof tag);
    return error;
}

mae_error_t mae_pio_seal(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                         const void *src, void *dst, uint32_t length)
{
    return crypt(bus, message, MAE_ENCRYPT, src, dst, length);
}

mae_error_t mae_pio_unseal(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                           const void *src, void *dst, uint32_t length)
{
    return crypt(bus, message, MAE_DECRYPT, src, dst, length);
}

/* Fills in the peripheral's job that computes a CMAC. */
static mae_error_t prepare_mac(const struct mae_pio_message *message, mae_direction_t direction,
                               uint32_t length, uint8_t tag[16], struct mae_pio_job *job)
{
    if (!message->tag || !mae_tag_length_allowed(MAE_CMAC, message->tag_bytes))
        return MAE_E_ARGUMENT;
    expect(message, direction, tag);
    prepare(job, MAE_CMAC, direction, message, tag);
    job->phase = MAE_PHASE_AAD;
    job->final = 1;
    job->length = length;
    return MAE_OK;
}

/* Computes or checks the CMAC of data on the peripheral. */
static mae_error_t mac(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                       mae_direction_t direction, const void *data, uint32_t length)
{
    struct mae_pio_job job;
    uint8_t tag[16];
    if (length > 0 && !data)
        return MAE_E_ARGUMENT;
    TRY(prepare_mac(message, direction, length, tag, &job));
    mae_error_t error = mae_pio_run(bus, &job, data, NULL);
    for (uint32_t i = 0; error == MAE_OK && direction == MAE_ENCRYPT && i < message->tag_bytes; i++)
        message->tag[i] = tag[i];
    wipe(tag, sizeof tag);
    return error;
}

mae_error_t mae_pio_mac(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                        const void *data, uint32_t length)
{
    return mac(bus, message, MAE_ENCRYPT, data, length);
}

mae_error_t mae_pio_mac_verify(const struct mae_pio_bus *bus, const struct mae_pio_message *message,
                               const void *data, uint32_t length)
{
    return mac(bus, message, MAE_DECRYPT, data, length);
}

mae_error_t mae_pio_memory_message(const struct mae_pio_bus *bus,
                                   const struct mae_pio_message *message, mae_direction_t direction,
                                   const struct mae_pio_memory *memory, uint32_t length,
                                   uint8_t *tag, struct mae_pio_job *job)
{
    if (message->mode == MAE_CMAC) {
        TRY(prepare_mac(message, direction, length, tag, job));
    } else {
        TRY(check(message, length));
        TRY(prelude(bus, message, direction, length, tag, job));
    }
    return mae_pio_memory_start(bus, job, memory);
}

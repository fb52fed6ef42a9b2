/* SPDX-License-Identifier: Apache-2.0 */
/* Implements an imitated protected card for fuzzing, by the driver's own message formats. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t nonce[32] = {1, 2, 3};

bool fake_begin(struct fake *fake, size_t window_bytes)
{
    memset(fake, 0, sizeof *fake);
    memset(fake->secret, 0x42, sizeof fake->secret);
    fake->capabilities = UINT64_C(0x0103081440140610); /* 3 queues, 1 MiB, 16 regions */
    fake->window_bytes = window_bytes;
    fake->window = aligned_alloc(WIRE_STAGE, window_bytes);
    return fake->window != NULL;
}

/* Frees the keys of one epoch of the imitated card. */
static void forget(struct fake *fake, int bank)
{
    for (int i = 0; i < CLASSES; i++) {
        gcm_free(fake->keys[bank][i]);
        fake->keys[bank][i] = NULL;
    }
    fake->epochs[bank] = 0;
}

void fake_end(struct fake *fake)
{
    forget(fake, 0);
    forget(fake, 1);
    free(fake->window);
}

/* Returns the imitated card's GCM key of a message class and epoch. */
static struct gcm *key_of(struct fake *fake, unsigned cls, uint32_t epoch, const uint8_t **mask)
{
    int bank = (int)(epoch & 1);
    if (fake->epochs[bank] != epoch + 1) {
        uint8_t context[93], output[WIRE_KEY + WIRE_MASK];
        forget(fake, bank);
        memcpy(context, fake->session_id, 16);
        memcpy(context + 16, fake->host_nonce, 32);
        memcpy(context + 48, nonce, 32);
        wire_put(context + 81, epoch, 4);
        wire_put(context + 85, fake->capabilities, 8);
        for (unsigned i = 0; i < CLASSES; i++) {
            context[80] = (uint8_t)(i + 1);
            if (!gcm_derive(fake->secret, context, sizeof context, output, sizeof output))
                abort();
            memcpy(fake->masks[bank][i], output + WIRE_KEY, WIRE_MASK);
            fake->keys[bank][i] =
                gcm_new(output, i + 1 == CLASS_RESPONSE || i + 1 == CLASS_DMA_OUT);
        }
        fake->epochs[bank] = epoch + 1;
    }
    *mask = fake->masks[bank][cls - 1];
    return fake->keys[bank][cls - 1];
}

/* Begins AES-GCM of a message with the imitated card's key and IV. */
static struct gcm *begin(struct fake *fake, const struct fake_request *request, unsigned cls,
                         const uint8_t *aad, size_t aad_bytes)
{
    const uint8_t *mask;
    struct gcm *gcm = key_of(fake, cls, request->epoch, &mask);
    uint8_t iv[WIRE_MASK] = {(uint8_t)cls, (uint8_t)request->queue};
    wire_put(iv + 4, request->sequence, 8);
    for (int i = 0; i < WIRE_MASK; i++)
        iv[i] ^= mask[i];
    if (!gcm_begin(gcm, iv, aad, aad_bytes))
        abort();
    return gcm;
}

/* Returns a pointer to shared memory at a bus address, NULL outside the window. */
static uint8_t *memory(const struct fake *fake, uint64_t at, size_t size)
{
    uint64_t offset = at - (uintptr_t)fake->window;
    if (offset > fake->window_bytes || size > fake->window_bytes - offset)
        return NULL;
    return fake->window + offset;
}

size_t fake_body(const struct fake *fake, const struct fake_request *request,
                 uint8_t body[WIRE_MAX_ANSWER])
{
    size_t size = request->kind == KIND_D2H ? 32 : 16;
    uint64_t executed = 1, value = 0;
    memset(body, 0, WIRE_MAX_ANSWER);
    if (request->kind == KIND_BATCH) {
        executed = request->body_bytes / WIRE_BLOCK;
        for (uint64_t i = 0; i < executed; i++)
            if (request->body[WIRE_BLOCK * i] == MAE_OPERATION_READ) {
                memset(body + size, FAKE_PATTERN, 8);
                size += 8;
            }
    } else if (request->kind == KIND_OPEN) {
        value = fake->capabilities;
    } else if (request->kind == KIND_REKEY) {
        value = request->epoch + 1;
    } else if (request->kind == KIND_H2D || request->kind == KIND_D2H) {
        value = request->place.length;
    }
    wire_put(body, STATUS_OK, 2);
    wire_put(body + 2, executed, 2);
    wire_put(body + 8, value, 8);
    return size;
}

void fake_answer(struct fake *fake, const struct fake_request *request, const uint8_t *body,
                 size_t size)
{
    uint64_t at = fake->slots[request->queue] + WIRE_SLOT_BYTES * (request->sequence % WIRE_SLOTS);
    uint8_t *slot = memory(fake, at, WIRE_SLOT_BYTES);
    if (!slot)
        return;
    uint8_t *header = slot + 16;
    wire_header(header, CLASS_RESPONSE, request->queue, request->kind, request->epoch,
                request->sequence);
    struct gcm *gcm = begin(fake, request, CLASS_RESPONSE, header, WIRE_HEADER);
    if (!gcm_update(gcm, header + WIRE_HEADER, body, size) ||
        !gcm_tag(gcm, header + WIRE_HEADER + size))
        abort();
    wire_put(slot, request->sequence, 8);
}

void fake_chunk(struct fake *fake, const struct fake_request *request, uint8_t tag[WIRE_TAG])
{
    uint8_t aad[WIRE_AAD], plain[WIRE_STAGE];
    const struct wire_place *place = &request->place;
    uint8_t *to = memory(fake, place->host, place->length);
    if (!to)
        return;
    memset(plain, FAKE_PATTERN, sizeof plain);
    wire_aad(aad, place, CLASS_DMA_OUT, request->queue, request->epoch, request->sequence);
    struct gcm *gcm = begin(fake, request, CLASS_DMA_OUT, aad, sizeof aad);
    for (size_t at = 0; at < place->length; at += sizeof plain) {
        size_t left = place->length - at;
        if (!gcm_update(gcm, to + at, plain, left < sizeof plain ? left : sizeof plain))
            abort();
    }
    if (!gcm_tag(gcm, tag))
        abort();
}

bool fake_check(struct fake *fake, const struct fake_request *request)
{
    uint8_t aad[WIRE_AAD], plain[WIRE_STAGE];
    const struct wire_place *place = &request->place;
    const uint8_t *from = memory(fake, place->host, place->length);
    if (!from)
        return false;
    wire_aad(aad, place, CLASS_DMA_IN, request->queue, request->epoch, request->sequence);
    struct gcm *gcm = begin(fake, request, CLASS_DMA_IN, aad, sizeof aad);
    for (size_t at = 0; at < place->length; at += sizeof plain) {
        size_t left = place->length - at;
        if (!gcm_update(gcm, plain, from + at, left < sizeof plain ? left : sizeof plain))
            abort();
    }
    return gcm_check(gcm, request->tag);
}

/* Verifies and decrypts the driver's request in a mailbox; aborts if it was sealed wrongly. */
static void ring(struct fake *fake, unsigned queue, uint32_t blocks)
{
    struct fake_request request = {.queue = queue};
    uint8_t *message = fake->mailbox[queue], *body = request.body;
    request.kind = message[3];
    request.epoch = (uint32_t)wire_get(message + 4, 4);
    request.sequence = wire_get(message + 8, 8);
    request.body_bytes = (size_t)blocks * WIRE_BLOCK;
    if (message[0] != WIRE_VERSION || message[1] != CLASS_REQUEST || message[2] != queue ||
        blocks < 1 || blocks > WIRE_MAX_OPERATIONS || request.sequence != fake->last[queue] + 1) {
        fprintf(stderr, "the driver rang with a header that is not its next\n");
        abort();
    }
    fake->last[queue] = request.sequence;
    struct gcm *gcm = begin(fake, &request, CLASS_REQUEST, message, WIRE_HEADER);
    if (!gcm_update(gcm, body, message + WIRE_HEADER, request.body_bytes) ||
        !gcm_check(gcm, message + WIRE_HEADER + request.body_bytes)) {
        fprintf(stderr, "the driver sent a message that was not sealed for its place\n");
        abort();
    }
    if (request.kind == KIND_H2D || request.kind == KIND_D2H) {
        request.place = (struct wire_place){
            .address = wire_get(body, 8),
            .length = (uint32_t)wire_get(body + 8, 4),
            .index = (uint32_t)wire_get(body + 12, 4),
            .base = wire_get(body + 16, 8),
            .total = wire_get(body + 24, 8),
            .host = wire_get(body + 32, 8),
            .after = wire_get(body + 40, 8),
        };
        memcpy(request.tag, body + 48, WIRE_TAG);
    }
    if (fake->rung)
        fake->rung(fake, &request);
}

/* Reads a register of the imitated card. */
static void fake_read(void *user, uint32_t offset, void *bytes, size_t size)
{
    const struct fake *fake = user;
    memset(bytes, 0, size);
    if (offset == REGISTER_CAPABILITIES && size == 8)
        wire_put_little(bytes, fake->capabilities, 8);
    else if (offset == REGISTER_DEVICE_NONCE && size == 32)
        memcpy(bytes, nonce, 32);
    else if (offset % REGISTER_PAGE == REGISTER_STATUS)
        wire_put_little(bytes, 1, size);
}

/* Writes a register of the imitated card; a doorbell calls the fuzz target's function. */
static void fake_write(void *user, uint32_t offset, const void *bytes, size_t size)
{
    struct fake *fake = user;
    unsigned queue = offset / REGISTER_PAGE - 1;
    if (offset == REGISTER_HOST_NONCE)
        memcpy(fake->host_nonce, bytes, 32);
    if (offset < REGISTER_PAGE || queue >= FAKE_QUEUES)
        return;
    if (offset % REGISTER_PAGE == REGISTER_RESPONSE_BASE)
        fake->slots[queue] = wire_get_little(bytes, 8);
    else if (offset % REGISTER_PAGE == REGISTER_MAILBOX && size <= WIRE_MAX_MESSAGE)
        memcpy(fake->mailbox[queue], bytes, size);
    else if (offset % REGISTER_PAGE == REGISTER_DOORBELL)
        ring(fake, queue, (uint32_t)wire_get_little(bytes, 4));
}

/* Allocates shared memory from the imitated card's window. */
static bool fake_allocate(void *user, size_t size, uint64_t *host, uint64_t *at)
{
    struct fake *fake = user;
    size_t rounded = (size + WIRE_GRANULE - 1) / WIRE_GRANULE * WIRE_GRANULE;
    if (rounded > fake->window_bytes - fake->used)
        return false;
    *host = *at = (uintptr_t)fake->window + fake->used;
    fake->used += rounded;
    return true;
}

/* Counts its own calls; the memory is not used again. */
static void fake_release(void *user, uint64_t host, uint64_t at, size_t size)
{
    struct fake *fake = user;
    (void)host, (void)at, (void)size;
    fake->released++;
}

/* Counts its own calls and returns their number as the imitated card's time. */
static uint64_t fake_now(void *user)
{
    struct fake *fake = user;
    return ++fake->time;
}

void fake_outside(struct fake *fake, struct mae_outside *outside)
{
    *outside = (struct mae_outside){.user = fake,
                                    .read = fake_read,
                                    .write = fake_write,
                                    .allocate = fake_allocate,
                                    .release = fake_release,
                                    .now = fake_now};
}

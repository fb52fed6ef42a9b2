/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the protected driver by a card whose responses come late, out of order or changed. It is a
 * libFuzzer target; the card has the right keys, and its responses and chunks are authentic, late,
 * out of order, false in any field, or damaged on the way. The driver's messages are opened: a
 * number that is rung twice, or a message that was not sealed for its place, stops it. In half of
 * the runs a bit of what the driver reads of shared memory flips after each read, so that a second
 * read differs; the others have up to 4 sealing threads; in one of 8 another thread changes shared
 * memory all the while, as the operating system can.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "script.h"

enum { HELD = 64, WINDOW = 12 << 20, NUMBER = 8, COPIED = 0x20, CHANGED = 0xe0 };

struct card {
    struct stream *stream;
    struct fake_request held[HELD];
    int count;
    bool changed; /* shared memory, at the same time */
    bool written; /* by the operating system, a chunk that waits for its request perhaps */
    _Atomic bool stop;
    uint32_t state; /* of the places that change */
};

/* Returns the next state of a linear congruential generator (Knuth and Lewis). */
static uint32_t advance(uint32_t state)
{
    return state * 1664525u + 1013904223u;
}

/* Flips bits of shared memory at any time, in a thread beside the driver. */
static void *change_memory(void *user)
{
    const struct fake *fake = user;
    struct card *card = fake->user;
    volatile uint8_t *window = fake->window;
    while (!card->stop) {
        size_t used = *(const volatile size_t *)&fake->used;
        card->state = advance(card->state);
        if (used)
            window[(card->state >> 8) % used] ^= (uint8_t)(1u << (card->state >> 29));
    }
    return NULL;
}

/* Reads shared memory for the driver, then flips a bit of what was read. */
static void load_and_change(void *user, uint64_t at, void *bytes, size_t size)
{
    const struct fake *fake = user;
    struct card *card = fake->user;
    uint8_t *shared = (uint8_t *)(uintptr_t)at;
    memcpy(bytes, shared, size);
    if (size <= NUMBER)
        return;
    card->state = advance(card->state);
    shared[(card->state >> 8) % size] ^= (uint8_t)(1u << (card->state >> 29));
}

/* Changes a random field of the response that the imitated card will send. */
static void change(struct stream *stream, uint8_t *body, size_t size)
{
    switch (stream_byte(stream) % 16) {
    case 1: /* a refusal, as a genuine card gives it */
        memset(body, 0, size);
        wire_put(body, 2 + stream_byte(stream) % 14, 2);
        break;
    case 2:
        wire_put(body, stream_byte(stream) % 20, 2);
        break;
    case 3:
        wire_put(body, STATUS_WAIT, 2);
        wire_put(body + 2, stream_byte(stream), 2);
        wire_put(body + 8, stream_byte(stream), 8);
        break;
    case 4:
        body[stream_byte(stream) % 16] ^= (uint8_t)(1u << stream_byte(stream) % 8);
        break;
    default:
        break;
    }
}

/* Sends a correct or changed response and chunk to a request of the driver. */
static void respond(struct fake *fake, const struct fake_request *request)
{
    struct card *card = fake->user;
    uint8_t body[WIRE_MAX_ANSWER];
    size_t size = fake_body(fake, request, body);
    if (request->kind == KIND_D2H)
        fake_chunk(fake, request, body + 16);
    bool intact = !card->changed && !card->written;
    if (request->kind == KIND_H2D && intact && !fake_check(fake, request))
        abort(); /* the driver's chunk and its tag do not belong together */
    change(card->stream, body, size);
    fake_answer(fake, request, body, size);
    if (stream_byte(card->stream) == 9) { /* the OS writes somewhere in shared memory */
        size_t at = (stream_byte(card->stream) * 256u + stream_byte(card->stream)) * 16 %
                    (fake->used ? fake->used : 1);
        fake->window[at] ^= stream_byte(card->stream);
        card->written = true;
    }
}

/* Answers a request of the driver now or later, as the fuzz data decides. */
static void rung(struct fake *fake, const struct fake_request *request)
{
    struct card *card = fake->user;
    if (stream_byte(card->stream) % 4 == 1 && card->count < HELD)
        card->held[card->count++] = *request;
    else
        respond(fake, request);
    if (card->count && stream_byte(card->stream) % 2)
        respond(fake, &card->held[--card->count]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fake fake;
    static struct card card;
    struct stream stream = {.data = data, .left = size};
    struct mae_outside outside;
    uint8_t flags = stream_byte(&stream);
    struct mae_session_config config = {.nonce_given = 1,
                                        .timeout = 500,
                                        .send_while_sealing = flags & 1,
                                        .threads = flags & COPIED ? 1 + flags % 4 : 1};
    struct script script = {.stream = &stream, .expected = FAKE_PATTERN};
    memset(&script.word, FAKE_PATTERN, sizeof script.word);
    pthread_t thread;
    card = (struct card){.stream = &stream, .changed = (flags & CHANGED) == CHANGED};
    if (!fake_begin(&fake, WINDOW))
        abort();
    fake.capabilities = capabilities_of(flags / 2);
    fake.rung = rung;
    fake.user = &card;
    config.shared_base = (uintptr_t)fake.window;
    config.shared_bytes = fake.window_bytes;
    memcpy(config.secret, fake.secret, sizeof config.secret);
    fake_outside(&fake, &outside);
    if (!(flags & COPIED)) /* else by the driver's own copy */
        outside.load = load_and_change;
    if (mae_session_begin(&outside, &config, &script.session) != MAE_OK)
        abort();
    if (card.changed && pthread_create(&thread, NULL, change_memory, &fake) != 0)
        abort();
    script_run(&script);
    card.stop = true;
    if (card.changed)
        pthread_join(thread, NULL);
    fake_end(&fake);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a protected card as an enclave does, through the process maeslant-os, which owns the card:
 * sends chunks, compares what comes back, and has a chunk changed on the way, each way.
 *
 *   protected_check DEVICE SECRET      DEVICE as in vfio:0000:00:01.0; SECRET: a file of 48 bytes,
 *                                      that of the card's provisioning port
 *   protected_check DEVICE SECRET load moves data for ever; prints "under way" once they come back,
 *                                      and ends with an error of the session only
 *
 * The line "maeslant-secret" asks for the secret to be told to the card.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "maeslant_protected.h"

enum {
    STATE = 0x000,
    CAUSE = 0x004,
    RESET = 0x018,
    RESET_WORD = 0x52455354,
    PAGE = 4096,
    IDLE = 2,
    KEYED = 3,
    DEAD = 6,
    CAUSE_CHUNK = 2,
    LARGE = 2048,    /* bytes that are a part of a chunk, and no answer */
    CHUNKS = 16,     /* of a transfer; a queue has 64 requests at most */
    SAMPLES = 128,   /* of the data, four and more in each chunk */
    SECONDS = 120,   /* for what the card does at once; a busy host simulates slowly */
    FEW_SECONDS = 10 /* until a session gives up a card that answers nothing any more */
};

/* Says what to change in shared memory, once. */
static enum { NOTHING, SENT, RECEIVED } change;

static mae_gate_t *gate;
static struct mae_outside outside;
static uint8_t secret[48];
static uint8_t *data, *back;
static struct mae_session_caps caps;

static void need(int good, const char *what)
{
    printf("%-6s %s\n", good ? "good" : "WRONG", what);
    fflush(stdout);
    if (!good)
        exit(1);
}

/* ---- the outside, which changes data ---- */

static void store(void *user, uint64_t at, const void *bytes, size_t size)
{
    uint8_t *place = (uint8_t *)(uintptr_t)at;
    (void)user;
    memcpy(place, bytes, size);
    if (change == SENT && size >= LARGE) {
        place[size / 2] ^= 1;
        change = NOTHING;
    }
}

static void load(void *user, uint64_t at, void *bytes, size_t size)
{
    (void)user;
    memcpy(bytes, (const void *)(uintptr_t)at, size);
    if (change == RECEIVED && size >= LARGE) {
        ((uint8_t *)bytes)[size / 2] ^= 1;
        change = NOTHING;
    }
}

static uint32_t read_register(uint32_t offset)
{
    uint32_t value;
    outside.read(outside.user, offset, &value, sizeof value);
    return value;
}

static void wait_for_state(uint32_t wanted, const char *what)
{
    for (int i = 0; i < SECONDS * 100 && read_register(STATE) != wanted; i++)
        usleep(10000);
    need(read_register(STATE) == wanted, what);
}

/* Starts the process that owns the card, and connects to it. */
static void start(const char *device)
{
    int sockets[2];
    char number[16];
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "a socket");
    snprintf(number, sizeof number, "%d", sockets[1]);
    pid_t child = fork();
    if (child == 0) {
        close(sockets[0]);
        execlp("maeslant-os", "maeslant-os", number, "-1", device, "", "8", (char *)NULL);
        perror("maeslant-os");
        _exit(1);
    }
    close(sockets[1]);
    need(child > 0 && mae_gate_open(sockets[0], &gate) == MAE_OK, "the card is served");
    outside = *mae_gate_outside(gate);
    outside.load = load;
    outside.store = store;
}

/* ---- sessions ---- */

static mae_error_t finish(mae_session_t *session, mae_error_t error, mae_task_t *task)
{
    if (error == MAE_OK)
        error = mae_session_wait(session, task);
    mae_task_free(task);
    if (error != MAE_OK)
        printf("the session says: %s (card: state %u, cause %#x)\n", mae_session_detail(session),
               read_register(STATE), read_register(CAUSE));
    return error;
}

static mae_session_t *begin(unsigned seconds)
{
    mae_session_t *session;
    mae_task_t *task = NULL;
    struct mae_session_config config = {.timeout = (uint64_t)seconds * 1000000};
    memcpy(config.secret, secret, sizeof config.secret);
    memcpy(config.session_id, secret + sizeof config.secret, sizeof config.session_id);
    mae_gate_window(gate, &config.shared_base, &config.shared_bytes);
    wait_for_state(IDLE, "the card is idle");
    mae_error_t error = mae_session_begin(&outside, &config, &session);
    explicit_bzero(&config, sizeof config);
    need(error == MAE_OK, "a session begins");
    puts("maeslant-secret");
    fflush(stdout);
    wait_for_state(KEYED, "the card has the secret");
    error = mae_session_open(session, &task);
    need(finish(session, error, task) == MAE_OK, "the card opens the session");
    need(mae_session_get_caps(session, &caps) == MAE_OK, "the card says what it can");
    return session;
}

static mae_error_t send_data(mae_session_t *session, uint32_t queue, uint64_t base, uint64_t total,
                             uint64_t chunk)
{
    mae_task_t *task = NULL;
    struct mae_h2d h2d = {
        .queue = queue, .base = base, .total = total, .chunk = chunk, .data = data + base};
    mae_error_t error = mae_session_h2d(session, &h2d, &task);
    return finish(session, error, task);
}

static mae_error_t receive(mae_session_t *session, uint32_t queue, uint64_t base, uint64_t total,
                           uint64_t chunk)
{
    mae_task_t *task = NULL;
    struct mae_d2h d2h = {
        .queue = queue, .base = base, .total = total, .chunk = chunk, .data = back + base};
    mae_error_t error = mae_session_d2h(session, &d2h, &task);
    return finish(session, error, task);
}

/* Makes data as large as the card's memory, and room for what comes back. */
static void make_data(void)
{
    data = malloc(caps.memory_bytes);
    back = calloc(1, caps.memory_bytes);
    need(data && back, "memory");
    srand(1);
    for (size_t i = 0; i < caps.memory_bytes; i++)
        data[i] = (uint8_t)(rand() >> 7);
}

/* Returns true if a sample of the data, 16 bytes somewhere in its part, lies in shared memory. */
static bool shows_plaintext(void)
{
    uint64_t base, bytes;
    mae_gate_window(gate, &base, &bytes);
    const size_t part = caps.memory_bytes / SAMPLES;
    for (size_t i = 0; i < SAMPLES; i++) {
        const uint8_t *sample = data + i * part + (size_t)rand() % (part - 16);
        if (memmem((const void *)(uintptr_t)base, bytes, sample, 16))
            return true;
    }
    return false;
}

/* Fills the card's memory and reads it, half by half: one is sent while the other is received. */
static void there_and_back(mae_session_t *session)
{
    const uint64_t half = caps.memory_bytes / 2, chunk = half / CHUNKS;
    mae_task_t *sent = NULL, *received = NULL;
    need(send_data(session, 0, 0, half, 0) == MAE_OK, "the first half is sent");
    struct mae_h2d h2d = {
        .queue = 0, .base = half, .total = half, .chunk = chunk, .data = data + half};
    struct mae_d2h d2h = {.queue = 1, .base = 0, .total = half, .chunk = chunk, .data = back};
    mae_error_t first = mae_session_h2d(session, &h2d, &sent);
    mae_error_t second = mae_session_d2h(session, &d2h, &received);
    need(finish(session, first, sent) == MAE_OK && finish(session, second, received) == MAE_OK,
         "the second is sent, the first received");
    need(receive(session, 1, half, half, 0) == MAE_OK, "the second is received");
    need(memcmp(data, back, caps.memory_bytes) == 0, "what came back is what was sent");
    need(!shows_plaintext(), "shared memory has no plaintext");
    printf("moved %llu bytes each way\n", (unsigned long long)caps.memory_bytes);
}

/* Moves data until the session ends. */
static int load_for_ever(void)
{
    mae_session_t *session = begin(FEW_SECONDS);
    make_data();
    for (unsigned n = 0;; n++) {
        if (send_data(session, 0, 0, caps.memory_bytes, 0) != MAE_OK ||
            receive(session, 1, 0, caps.memory_bytes, caps.memory_bytes / CHUNKS) != MAE_OK)
            break;
        need(memcmp(data, back, caps.memory_bytes) == 0, "what came back is what was sent");
        if (n == 0) {
            puts("under way");
            fflush(stdout);
        }
    }
    mae_session_free(session);
    return 1;
}

/* Ends a session that is over, and takes the card back. */
static void recover(mae_session_t *session)
{
    const uint32_t word = RESET_WORD;
    mae_session_free(session);
    outside.write(outside.user, RESET, &word, sizeof word);
}

int main(int argc, char **argv)
{
    const bool endless = argc == 4 && strcmp(argv[3], "load") == 0;
    FILE *file = argc == 3 || endless ? fopen(argv[2], "rb") : NULL;
    if (!file || fread(secret, 1, sizeof secret, file) != sizeof secret) {
        fprintf(stderr, "usage: protected_check DEVICE SECRET [load]\n");
        return 2;
    }
    fclose(file);
    start(argv[1]);
    if (endless)
        return load_for_ever();
    mae_session_t *session = begin(SECONDS);
    printf("protected card: %u queues, chunks of %llu bytes, %llu bytes of memory\n", caps.queues,
           (unsigned long long)caps.chunk_bytes, (unsigned long long)caps.memory_bytes);
    make_data();
    need(read_register(PAGE * (1 + caps.queues)) == UINT32_MAX,
         "the kernel's registers answer with a bus error");
    there_and_back(session);
    mae_task_t *task = NULL;
    mae_error_t error = mae_session_close(session, &task);
    need(finish(session, error, task) == MAE_OK, "the session is closed");
    mae_session_free(session);

    session = begin(FEW_SECONDS);
    change = SENT;
    need(send_data(session, 0, 0, PAGE, 0) == MAE_E_POISONED,
         "a chunk changed on its way in ends it");
    wait_for_state(DEAD, "the card has ended it");
    need((read_register(CAUSE) & 0xff) == CAUSE_CHUNK, "the card says: the chunk's tag");
    recover(session);

    session = begin(SECONDS);
    need(send_data(session, 0, 0, PAGE, 0) == MAE_OK, "the next session sends a chunk");
    change = RECEIVED;
    memset(back, 0x5a, PAGE);
    need(receive(session, 1, 0, PAGE, 0) == MAE_E_POISONED,
         "a chunk changed on its way out ends it");
    bool zero = true;
    for (size_t i = 0; i < PAGE; i++)
        zero &= back[i] == 0;
    need(zero, "nothing of it is given out");
    recover(session);
    wait_for_state(IDLE, "the card is taken back");
    puts("the protected card is good");
    mae_gate_close(gate);
    explicit_bzero(secret, sizeof secret);
    free(data);
    free(back);
    return 0;
}

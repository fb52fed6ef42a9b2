/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the enclave's connection to the process that owns the card, by that process's answers. It
 * is a libFuzzer target. Whatever it answers, a buffer lies in the window, and a session over it
 * never gets anything right.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../enclave/gate.h"
#include "script.h"

enum { WINDOW = 1 << 20, CHANGES = 64 };

struct other {
    struct stream *stream;
    struct gate_page *page;  /* shared with the driver */
    struct gate_page answer; /* the next */
    int changes;             /* of it, once it is given */
    pthread_t thread;
    _Atomic bool stop;
    mae_gate_t *gate;
    const struct mae_outside *outside;
    uint64_t base;
};

/* Answers every command of the enclave by fuzz data, in place of the card's process. */
static void *serve(void *user)
{
    struct other *other = user;
    struct gate_page *page = other->page;
    uint64_t done = 0;
    while (!other->stop)
        if (gate_await(&page->asked, done, 0)) {
            page->status = other->answer.status;
            page->offset = other->answer.offset;
            page->host = other->answer.host;
            page->clocks = other->answer.clocks;
            memcpy(page->data, other->answer.data, sizeof page->data);
            gate_tell(&page->answered, ++done);
            for (int i = 0; i < other->changes && !other->stop; i++) { /* while it is read */
                volatile struct gate_page *shared = page;
                shared->status ^= 1;
                shared->offset ^= other->answer.offset + 64;
                shared->host ^= 4096;
                ((volatile uint8_t *)shared->data)[i % GATE_DATA] ^= (uint8_t)i;
            }
        }
    return NULL;
}

/* Draws the next answer of the card's process from the fuzz data. */
static void think(struct other *other)
{
    struct gate_page *page = &other->answer;
    struct stream *stream = other->stream;
    page->status = stream_byte(stream) % 4 == 1;
    stream_bytes(stream, &page->offset, stream_byte(stream) % 3 + 2);
    stream_bytes(stream, &page->host, stream_byte(stream) % 9);
    if (stream_byte(stream) % 8) { /* mostly at granules, or no session gets far */
        page->offset &= ~UINT64_C(63);
        page->host &= ~UINT64_C(63);
    }
    page->clocks += 1 + stream_byte(stream); /* a clock that stands is only denial of service */
    stream_bytes(stream, page->data, 16);
    uint8_t choice = stream_byte(stream);
    other->changes = choice % 8 == 3 ? CHANGES : 0;
    if (choice % 4)
        wire_put_little((uint8_t *)page->data, capabilities_of(choice / 4), 8);
}

/* Reads a register through the fuzzed connection, after drawing its next answer. */
static void other_read(void *user, uint32_t offset, void *bytes, size_t size)
{
    struct other *other = user;
    think(other);
    other->outside->read(other->outside->user, offset, bytes, size);
}

/* Writes a register through the fuzzed connection, after drawing its next answer. */
static void other_write(void *user, uint32_t offset, const void *bytes, size_t size)
{
    struct other *other = user;
    think(other);
    other->outside->write(other->outside->user, offset, bytes, size);
}

/* Allocates shared memory over the fuzzed connection; aborts if it lies outside the window. */
static bool other_allocate(void *user, size_t size, uint64_t *host, uint64_t *at)
{
    struct other *other = user;
    think(other);
    if (!other->outside->allocate(other->outside->user, size, host, at))
        return false;
    if (size > WINDOW || *at < other->base || *at - other->base > WINDOW - size)
        abort();
    return true;
}

/* Releases shared memory through the fuzzed connection. */
static void other_release(void *user, uint64_t host, uint64_t at, size_t size)
{
    struct other *other = user;
    other->outside->release(other->outside->user, host, at, size);
}

/* Returns the time through the fuzzed connection, after drawing its next answer. */
static uint64_t other_now(void *user)
{
    struct other *other = user;
    think(other);
    return other->outside->now(other->outside->user);
}

/* Lets the card run through the fuzzed connection, after drawing its next answer. */
static void other_pause(void *user, bool news)
{
    struct other *other = user;
    other->outside->pause(other->outside->user, news);
}

/* Sends the first message of the card's process, with fields from the fuzz data. */
static void send_hello(struct stream *stream, int socket, const int files[2])
{
    struct gate_hello hello = {.version = GATE_VERSION, .window_bytes = WINDOW};
    char control[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec part = {.iov_base = &hello, .iov_len = sizeof hello};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (stream_byte(stream) == 1)
        stream_bytes(stream, &hello.version, sizeof hello.version);
    if (stream_byte(stream) == 1)
        part.iov_len = stream_byte(stream) % sizeof hello;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(header), files, 2 * sizeof(int));
    if (sendmsg(socket, &message, 0) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream stream = {.data = data, .left = size};
    struct other other = {.stream = &stream};
    int sockets[2], files[2] = {memfd_create("page", 0), memfd_create("window", 0)};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
        ftruncate(files[0], sizeof *other.page) != 0 || ftruncate(files[1], WINDOW) != 0)
        abort();
    other.page = mmap(NULL, sizeof *other.page, PROT_READ | PROT_WRITE, MAP_SHARED, files[0], 0);
    send_hello(&stream, sockets[0], files);
    shutdown(sockets[0], SHUT_WR);
    if (mae_gate_open(sockets[1], &other.gate) == MAE_OK) {
        struct mae_outside outside = {.user = &other,
                                      .read = other_read,
                                      .write = other_write,
                                      .allocate = other_allocate,
                                      .now = other_now,
                                      .pause = other_pause};
        struct mae_session_config config = {.nonce_given = 1, .timeout = 5000};
        struct script script = {.stream = &stream, .nothing_may_pass = true};
        other.outside = mae_gate_outside(other.gate);
        mae_gate_window(other.gate, &config.shared_base, &config.shared_bytes);
        other.base = config.shared_base;
        outside.release = other_release;
        think(&other);
        if (pthread_create(&other.thread, NULL, serve, &other) != 0)
            abort();
        if (mae_session_begin(&outside, &config, &script.session) != MAE_OK)
            stream.left = 0;
        script_run(&script);
        other.stop = true;
        gate_tell(&other.page->asked, other.page->asked + 1);
        pthread_join(other.thread, NULL);
        mae_gate_close(other.gate);
    }
    munmap(other.page, sizeof *other.page);
    for (int i = 0; i < 2; i++) {
        close(sockets[i]);
        close(files[i]);
    }
    return 0;
}

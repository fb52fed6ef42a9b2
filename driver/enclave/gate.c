/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects the enclave to the process that owns the card, by commands in a shared page. Nothing
 * here decides anything: what comes back is given on as register values, addresses and time, all of
 * which the session treats as the adversary's. The only thing checked is that a buffer lies in the
 * window, so that the copies stay inside it.
 */
#include "gate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "state.h"

enum { KEPT = 128, PATIENCE_MS = 200, PATIENCE = 300 };

struct mae_gate {
    struct mae_outside outside;
    int socket;
    struct gate_page *page;
    uint8_t *window;
    uint64_t window_bytes;
    uint64_t number; /* of the last command */
    uint64_t commands;
    uint64_t clocks;
    bool dead;
    struct shared kept[KEPT]; /* buffers that were given back, for the next of their size */
    uint32_t keeps;
};

/* Writes bytes to the shared page of a gate in units of 8 bytes, filled up with zeros. */
static void put(volatile uint64_t *to, const void *from, size_t size)
{
    const uint8_t *source = from;
    for (size_t at = 0; at < size; at += sizeof *to) {
        uint64_t unit = 0;
        memcpy(&unit, source + at, size - at < sizeof unit ? size - at : sizeof unit);
        *to++ = unit;
    }
}

/* Reads bytes from the shared page of a gate in units of 8 bytes. */
static void get(void *to, const volatile uint64_t *from, size_t size)
{
    uint8_t *target = to;
    for (size_t at = 0; at < size; at += sizeof *from) {
        uint64_t unit = *from++;
        memcpy(target + at, &unit, size - at < sizeof unit ? size - at : sizeof unit);
    }
}

/* Waits for the process that owns the card to answer a command; false if it has died. */
static bool answered(const mae_gate_t *gate, uint64_t old)
{
    for (int i = 0; i < PATIENCE; i++) {
        char byte;
        if (gate_await(&gate->page->answered, old, PATIENCE_MS))
            return true;
        if (recv(gate->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            return false; /* closed: the process has ended */
    }
    return false;
}

/* Sends a command to the process that owns the card and waits; false if the command failed. */
static bool ask(mae_gate_t *gate, enum gate_command command, uint64_t offset, uint64_t size)
{
    volatile struct gate_page *page = gate->page;
    uint64_t old = gate->number;
    if (gate->dead)
        return false;
    page->command = command;
    page->offset = offset;
    page->size = size;
    gate->commands++;
    gate_tell(&gate->page->asked, ++gate->number);
    if (!answered(gate, old)) {
        gate->dead = true;
        return false;
    }
    uint64_t clocks = page->clocks;
    if (clocks > gate->clocks)
        gate->clocks = clocks;
    return page->status == 0;
}

/* Reads registers of the card through the process that owns it. */
static void gate_read(void *user, uint32_t offset, void *bytes, size_t size)
{
    mae_gate_t *gate = user;
    if (ask(gate, GATE_READ, offset, size))
        get(bytes, gate->page->data, size);
    else
        memset(bytes, 0xff, size); /* as on PCIe */
}

/* Writes registers of the card through the process that owns it. */
static void gate_write(void *user, uint32_t offset, const void *bytes, size_t size)
{
    mae_gate_t *gate = user;
    put(gate->page->data, bytes, size);
    (void)ask(gate, GATE_WRITE, offset, size); /* writes are posted */
}

/* Allocates memory shared with the card: a released piece, or a new one from its process. */
static bool gate_allocate(void *user, size_t size, uint64_t *host, uint64_t *at)
{
    mae_gate_t *gate = user;
    for (uint32_t i = gate->keeps; i-- > 0;)
        if (gate->kept[i].size == size) {
            *host = gate->kept[i].host;
            *at = gate->kept[i].at;
            gate->kept[i] = gate->kept[--gate->keeps];
            return true;
        }
    if (!ask(gate, GATE_ALLOCATE, 0, size))
        return false;
    const volatile struct gate_page *page = gate->page;
    uint64_t offset = page->offset;
    *host = page->host;
    if (offset % WIRE_GRANULE || size > gate->window_bytes || offset > gate->window_bytes - size)
        return false;
    *at = (uintptr_t)gate->window + offset;
    return true;
}

/* Keeps released shared memory for the next allocation of equal size, or returns it. */
static void gate_release(void *user, uint64_t host, uint64_t at, size_t size)
{
    mae_gate_t *gate = user;
    if (gate->keeps < KEPT)
        gate->kept[gate->keeps++] = (struct shared){.host = host, .at = at, .size = size};
    else
        (void)ask(gate, GATE_RELEASE, at - (uintptr_t)gate->window, size);
}

/* Returns the card's clock count; it also advances after the death of the card's process. */
static uint64_t gate_now(void *user)
{
    mae_gate_t *gate = user;
    if (gate->dead)
        gate->clocks += UINT64_C(1) << 40;
    return gate->clocks;
}

/* Lets the card's process run while the session waits for a response. */
static void gate_pause(void *user, bool news)
{
    if (!news)
        (void)ask(user, GATE_PAUSE, 0, 0);
}

/* Receives the files of the shared page and memory window from the card's process. */
static bool receive(int socket, struct gate_hello *hello, int files[2])
{
    char control[CMSG_SPACE(2 * sizeof(int))];
    size_t came = 0;
    struct iovec part = {.iov_base = hello, .iov_len = sizeof *hello};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *header = bytes < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len >= CMSG_LEN(0) && header->cmsg_len <= CMSG_LEN(2 * sizeof(int))) {
        came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(files, CMSG_DATA(header), came * sizeof(int));
    }
    if (bytes == (ssize_t)sizeof *hello && came == 2 && !(message.msg_flags & MSG_CTRUNC) &&
        hello->version == GATE_VERSION && hello->window_bytes > 0 &&
        hello->window_bytes <= UINT64_C(1) << 40)
        return true;
    while (came > 0)
        close(files[--came]);
    return false;
}

mae_error_t mae_gate_open(int socket, mae_gate_t **result)
{
    struct gate_hello hello;
    int files[2];
    const int access = PROT_READ | PROT_WRITE;
    if (!result)
        return MAE_E_ARGUMENT;
    *result = NULL;
    if (!receive(socket, &hello, files))
        return MAE_E_SYSTEM;
    mae_gate_t *gate = calloc(1, sizeof *gate);
    void *page = mmap(NULL, sizeof *gate->page, access, MAP_SHARED, files[0], 0);
    void *window = mmap(NULL, hello.window_bytes, access, MAP_SHARED, files[1], 0);
    close(files[0]);
    close(files[1]);
    if (!gate || page == MAP_FAILED || window == MAP_FAILED) {
        if (page != MAP_FAILED)
            munmap(page, sizeof *gate->page);
        if (window != MAP_FAILED)
            munmap(window, hello.window_bytes);
        free(gate);
        return gate ? MAE_E_SYSTEM : MAE_E_MEMORY;
    }
    *gate = (struct mae_gate){.socket = socket,
                              .page = page,
                              .window = window,
                              .window_bytes = hello.window_bytes,
                              .outside = {.user = gate,
                                          .read = gate_read,
                                          .write = gate_write,
                                          .allocate = gate_allocate,
                                          .release = gate_release,
                                          .now = gate_now,
                                          .pause = gate_pause}};
    *result = gate;
    return MAE_OK;
}

void mae_gate_close(mae_gate_t *gate)
{
    if (!gate)
        return;
    munmap(gate->page, sizeof *gate->page);
    munmap(gate->window, gate->window_bytes);
    free(gate);
}

const struct mae_outside *mae_gate_outside(mae_gate_t *gate)
{
    return &gate->outside;
}

void mae_gate_window(const mae_gate_t *gate, uint64_t *base, uint64_t *bytes)
{
    *base = (uintptr_t)gate->window;
    *bytes = gate->window_bytes;
}

uint64_t mae_gate_clocks(const mae_gate_t *gate)
{
    return gate->clocks;
}

uint64_t mae_gate_commands(const mae_gate_t *gate)
{
    return gate->commands;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the enclave's commands on the card, in the process that owns card and host memory. */
#include "serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../enclave/gate.h"

enum { GRANULE = 64, FREED = 1024, SECRET = 32, SESSION_ID = 16 };

static const uint64_t first_host = 0x100000000; /* beyond 32 bits, so that high halves count */

struct range {
    uint64_t offset, size;
};

struct server {
    const struct mae_os_card *card;
    struct gate_page *page;
    uint8_t *window;
    uint64_t window_bytes;
    uint64_t host; /* bus address of the window */
    uint64_t used; /* the window up to here has been given out once */
    struct range freed[FREED];
    size_t frees;
};

/* Allocates memory shared by card and enclave; reuses freed ranges of equal size. */
static int allocate(struct server *server, uint64_t size, uint64_t *offset)
{
    size = (size + GRANULE - 1) / GRANULE * GRANULE;
    for (size_t i = server->frees; i-- > 0;)
        if (server->freed[i].size == size) {
            *offset = server->freed[i].offset;
            server->freed[i] = server->freed[--server->frees];
            return 0;
        }
    if (size > server->window_bytes || server->used > server->window_bytes - size)
        return -ENOMEM;
    *offset = server->used;
    server->used += size;
    return 0;
}

/* Frees a range of memory shared by card and enclave, for reuse. */
static int give_back(struct server *server, uint64_t offset, uint64_t size)
{
    size = (size + GRANULE - 1) / GRANULE * GRANULE;
    if (server->frees == FREED)
        return -ENOSPC;
    server->freed[server->frees++] = (struct range){.offset = offset, .size = size};
    return 0;
}

/* Executes the enclave's command in the shared page on the card; returns 0 or an error. */
static int carry_out(struct server *server)
{
    struct gate_page *page = server->page;
    const struct mae_os_card *card = server->card;
    const volatile struct gate_page *asked = page; /* the enclave is not trusted, either */
    uint64_t offset = asked->offset, size = asked->size;
    uint64_t command = asked->command;
    int status;
    if (size > GATE_DATA && (command == GATE_READ || command == GATE_WRITE))
        return -EINVAL;
    switch (command) {
    case GATE_READ:
        return card->read(card->user, offset, (uint8_t *)page->data, size);
    case GATE_WRITE:
        return card->write(card->user, offset, (uint8_t *)page->data, size);
    case GATE_ALLOCATE:
        status = allocate(server, size, &offset);
        page->offset = offset;
        page->host = server->host + offset;
        return status;
    case GATE_RELEASE:
        return give_back(server, offset, size);
    case GATE_PAUSE:
        return card->pause(card->user);
    default:
        return -EINVAL;
    }
}

/* Returns true if the enclave's process is still connected to the socket. */
static bool connected(int socket)
{
    char byte;
    ssize_t got = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

/* Installs a secret from the provisioning socket in the card; answers 1 if the card took it. */
static void provision(const struct mae_os_card *card, int wire)
{
    uint8_t message[SECRET + SESSION_ID], taken = 0;
    if (wire < 0 || recv(wire, message, sizeof message, MSG_DONTWAIT) != (ssize_t)sizeof message)
        return;
    taken = card->install(card->user, message, message + SECRET) == 0;
    explicit_bzero(message, sizeof message);
    (void)!send(wire, &taken, sizeof taken, MSG_NOSIGNAL);
}

/* Sends the files of shared page and memory to the enclave's process. */
static int greet(int socket, uint64_t window_bytes, const int files[2])
{
    struct gate_hello hello = {.version = GATE_VERSION, .window_bytes = window_bytes};
    char control[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec part = {.iov_base = &hello, .iov_len = sizeof hello};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(header), files, 2 * sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

/* Creates memory that another process can map by its file; NULL and errno on failure. */
static void *share(const char *name, uint64_t bytes, int *file)
{
    *file = memfd_create(name, MFD_CLOEXEC);
    if (*file < 0 || ftruncate(*file, (off_t)bytes) != 0)
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int mae_os_serve(int socket, int wire, uint64_t window_bytes, const struct mae_os_card *card)
{
    int files[2] = {-1, -1}, error = 0;
    uint64_t done = 0;
    struct server *server = calloc(1, sizeof *server);
    if (!server)
        return ENOMEM;
    server->card = card;
    server->window_bytes = window_bytes;
    server->host = first_host;
    server->page = share("maeslant-gate", sizeof *server->page, &files[0]);
    server->window = server->page ? share("maeslant-memory", window_bytes, &files[1]) : NULL;
    if (!server->window)
        error = errno;
    else if (card->map(card->user, &server->host, server->window, window_bytes) != 0)
        error = EINVAL;
    else
        error = greet(socket, window_bytes, files);
    while (!error) {
        if (!gate_await(&server->page->asked, done, 0)) {
            if (!connected(socket))
                break;
            provision(card, wire);
            continue;
        }
        server->page->status = carry_out(server);
        server->page->clocks = card->clocks(card->user);
        gate_tell(&server->page->answered, ++done);
    }
    if (server->window)
        munmap(server->window, window_bytes);
    if (server->page)
        munmap(server->page, sizeof *server->page);
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(server);
    return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the server by which the untrusted operating system gives an enclave its card. It owns
 * the card, host memory and bus addresses.
 */
#ifndef MAE_SERVE_H
#define MAE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MAE_OS_API __attribute__((visibility("default")))
#else
#define MAE_OS_API
#endif

/* cdef begin */

/* Holds the functions that access a protected card, simulated or real. Functions give 0 for
   success. */
struct mae_os_card {
    void *user;
    int (*read)(void *user, uint64_t offset, uint8_t *bytes, uint64_t size);
    int (*write)(void *user, uint64_t offset, const uint8_t *bytes, uint64_t size);
    /* Maps memory for the card's DMA, at the bus address *host or at another, which it writes
       there. */
    int (*map)(void *user, uint64_t *host, void *memory, uint64_t bytes);
    /* Lets the card run until its interrupt, or for a limited time. */
    int (*pause)(void *user);
    int (*install)(void *user, const uint8_t *secret, const uint8_t *session_id);
    uint64_t (*clocks)(void *user); /* the card's time: clocks, or microseconds */
};

/*
 * Serves a protected card to one enclave over a UNIX socket until the enclave closes it.
 * `window_bytes`: shared memory, a multiple of 4,096. Gives 0, or an errno. `wire`: a UNIX socket
 * of datagrams that stands for the card's provisioning port, which on a real machine no operating
 * system has a part in; -1: none. A message of 48 bytes (secret, session id) is answered by one
 * byte, 1 if the card took it. The wire is looked at while the enclave asks nothing.
 */
MAE_OS_API int mae_os_serve(int socket, int wire, uint64_t window_bytes,
                            const struct mae_os_card *card);

/* Creates a simulated protected card from a simulator library, for mae_os_serve. The library is
   libmae_sim_<name>.so; options are as in mae_sim.h, and step=CLOCKS, the most that pass in a pause
   (64). Gives NULL with a reason. */
MAE_OS_API struct mae_os_card *mae_os_simulate(const char *library, const char *options,
                                               char *reason, size_t reason_size);
MAE_OS_API void mae_os_simulate_end(struct mae_os_card *card);

/* cdef end */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the process that owns a protected card and serves it to an enclave. Usage:
 * maeslant-os SOCKET WIRE CARD OPTIONS MEBIBYTES. SOCKET is the number of an open UNIX socket to
 * the enclave's process, WIRE that of one that stands for the card's provisioning port (-1: none),
 * CARD a simulator library with its OPTIONS, or vfio:ADDRESS. Ends when the socket is closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"
#include "slot.h"

int main(int count, char **words)
{
    char reason[512] = "out of memory";
    if (count != 6) {
        fprintf(stderr, "usage: maeslant-os SOCKET WIRE CARD OPTIONS MEBIBYTES\n");
        return 2;
    }
    const bool slot = strncmp(words[3], "vfio:", 5) == 0;
    struct mae_os_card *card = slot ? mae_os_open_slot(words[3], reason, sizeof reason)
                                    : mae_os_simulate(words[3], words[4], reason, sizeof reason);
    if (!card) {
        fprintf(stderr, "maeslant-os: %s\n", reason);
        return 1;
    }
    int error =
        mae_os_serve(atoi(words[1]), atoi(words[2]), strtoull(words[5], NULL, 10) << 20, card);
    if (slot)
        mae_os_close_slot(card);
    else
        mae_os_simulate_end(card);
    if (error)
        fprintf(stderr, "maeslant-os: %s\n", strerror(error));
    return error != 0;
}

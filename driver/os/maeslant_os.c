/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maeslant-os SOCKET LIBRARY OPTIONS MEBIBYTES: the operating system's process. SOCKET is the number
 * of an open UNIX socket to the enclave's process, LIBRARY the simulated card. Ends when the socket
 * is closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve.h"

int main(int count, char **words)
{
    char reason[512] = "out of memory";
    if (count != 5) {
        fprintf(stderr, "usage: maeslant-os SOCKET LIBRARY OPTIONS MEBIBYTES\n");
        return 2;
    }
    struct mae_os_card *card = mae_os_simulate(words[2], words[3], reason, sizeof reason);
    if (!card) {
        fprintf(stderr, "maeslant-os: %s\n", reason);
        return 1;
    }
    int error = mae_os_serve(atoi(words[1]), strtoull(words[4], NULL, 10) << 20, card);
    mae_os_simulate_end(card);
    if (error)
        fprintf(stderr, "maeslant-os: %s\n", strerror(error));
    return error != 0;
}

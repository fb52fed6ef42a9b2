/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a device can be used: it answers, and this process has opened it. A forked child is
 * told from its parent without a system call, of which a job would need several.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

enum { UNKNOWN, COUNTING, KNOWN };

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Tells whether `number` is this process's. NULL: this Linux clears no page (before 4.14). */
static _Atomic int *known;
/* One more than the parent's. Not the system's number of the process, which another one can get. */
static _Atomic uint32_t number;

/* Maps the page of `known`, which Linux clears in a forked child. */
static void map_known(void)
{
    void *page =
        mmap(NULL, sizeof *known, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, sizeof *known, MADV_WIPEONFORK) == 0)
        known = page;
    else if (page != MAP_FAILED)
        munmap(page, sizeof *known);
}

uint32_t mae_process(void)
{
    pthread_once(&once, map_known);
    if (!known)
        return (uint32_t)getpid();
    int state = UNKNOWN;
    if (atomic_load(known) == KNOWN)
        return atomic_load(&number);
    if (atomic_compare_exchange_strong(known, &state, COUNTING)) {
        atomic_fetch_add(&number, 1);
        atomic_store(known, KNOWN);
    }
    while (atomic_load(known) != KNOWN)
        sched_yield();
    return atomic_load(&number);
}

mae_error_t mae_check_process(const struct mae_dev *dev)
{
    if (mae_process() == dev->process)
        return MAE_OK;
    return mae_detail(MAE_E_STATE, "a forked child opens a device of its own");
}

mae_error_t mae_usable(const struct mae_dev *dev)
{
    mae_detail_clear();
    if (!dev)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(dev));
    return dev->dead ? MAE_E_DEAD : MAE_OK;
}

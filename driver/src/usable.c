/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a device can be used: it answers, and this process has opened it. A forked child is
 * told from its parent without a system call, of which a job would need several.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* The process's number, or 0: not known yet. NULL: this Linux clears no page (before 4.14). */
static _Atomic pid_t *number;

/* Maps the page of `number`, which Linux clears in a forked child. */
static void map_number(void)
{
    void *page =
        mmap(NULL, sizeof *number, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, sizeof *number, MADV_WIPEONFORK) == 0)
        number = page;
    else if (page != MAP_FAILED)
        munmap(page, sizeof *number);
}

pid_t mae_process(void)
{
    pthread_once(&once, map_number);
    if (!number)
        return getpid();
    pid_t process = atomic_load_explicit(number, memory_order_relaxed);
    if (process == 0) {
        process = getpid();
        atomic_store_explicit(number, process, memory_order_relaxed);
    }
    return process;
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

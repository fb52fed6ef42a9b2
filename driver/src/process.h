/* SPDX-License-Identifier: Apache-2.0 */
/* Declares how a forked child is told from its parent. */
#ifndef MAE_PROCESS_H
#define MAE_PROCESS_H

#include <stdint.h>

/* Returns the number of the calling process: another one than all its ancestors have. */
uint32_t mae_process(void);

#endif

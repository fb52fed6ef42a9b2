/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the private state of a pool of AES cards. */
#ifndef MAE_POOL_H
#define MAE_POOL_H

#include "device.h"
#include "maeslant_pool.h"

enum { MAE_POOL_MOST = 64 };

/* Creates a pool from open devices, each with a name, and takes them over, also on failure. In
   pool.c. */
mae_error_t mae_pool_of(mae_dev_t *const *cards, const char *const *names, size_t count,
                        mae_pool_t **pool);

#endif

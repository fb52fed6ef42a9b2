/* SPDX-License-Identifier: Apache-2.0 */
/* Declares where the uio backend looks for devices and physical addresses, for tests. */
#ifndef MAE_UIO_H
#define MAE_UIO_H

#include "pci.h"

struct mae_uio_roots {
    const char *dev;     /* folder of the files uio0, uio1, ... */
    const char *pagemap; /* of this process */
};

extern struct mae_uio_roots mae_uio_roots;

#endif

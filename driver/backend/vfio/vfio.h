/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what the vfio backend searches for and where, so that tests can use others. */
#ifndef MAE_VFIO_H
#define MAE_VFIO_H

#include "device.h"

enum {
    /* No vendor has given us a number; these are for prototypes and virtual functions. */
    MAE_PCI_VENDOR = 0x1234,
    MAE_PCI_DEVICE = 0xae50,
    MAE_PCI_BLOCK_DEVICE = 0xae51, /* the block card, which libmaeslant does not drive */
    MAE_BAR_BYTES = 4096
};

/* Holds the folders in which Linux lists PCI functions and VFIO groups. */
struct mae_vfio_roots {
    const char *sysfs;
    const char *dev;
};

extern struct mae_vfio_roots mae_vfio_roots;
extern long mae_vfio_device; /* PCI device number that is opened and listed */

#endif

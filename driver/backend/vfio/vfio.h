/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the folders that the vfio backend searches, so that tests can use others. */
#ifndef MAE_VFIO_H
#define MAE_VFIO_H

#include "device.h"

enum {
    /* No vendor has given us a number; these are for prototypes and virtual functions. */
    MAE_PCI_VENDOR = 0x1234,
    MAE_PCI_DEVICE = 0xae50,
    MAE_BAR_BYTES = 4096
};

/* Holds the folders in which Linux lists PCI functions and VFIO groups. */
struct mae_vfio_roots {
    const char *sysfs;
    const char *dev;
};

extern struct mae_vfio_roots mae_vfio_roots;

#endif

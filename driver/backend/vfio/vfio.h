/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the vfio backend's functions for the driver's tests. */
#ifndef MAE_VFIO_H
#define MAE_VFIO_H

#include "device.h"

enum {
    /* No vendor has given us a number; these are for prototypes and virtual functions. */
    MAE_PCI_VENDOR = 0x1234,
    MAE_PCI_DEVICE = 0xae50,
    MAE_BAR_BYTES = 4096
};

/* The folders in which the kernel lists PCI functions and VFIO groups; tests use other ones. */
struct mae_vfio_roots {
    const char *sysfs;
    const char *dev;
};

extern struct mae_vfio_roots mae_vfio_roots;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the names by which programs find the vfio backend's PCI functions. */
#ifndef MAE_VFIO_H
#define MAE_VFIO_H

#include "pci.h"

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what the backends "vfio" and "uio" share: PCI functions in sysfs, registers in BAR 0. */
#ifndef MAE_PCI_H
#define MAE_PCI_H

#include "device.h"

enum {
    /* No vendor has given us a number; these are for prototypes and virtual functions. */
    MAE_PCI_VENDOR = 0x1234,
    MAE_PCI_DEVICE = 0xae50,
    /* Cards that libmaeslant does not drive. */
    MAE_PCI_BLOCK_DEVICE = 0xae51,
    MAE_PCI_PROTECTED_DEVICE = 0xae52,
    MAE_BAR_BYTES = 4096,
    MAE_PCI_ADDRESS = 12 /* characters of 0000:00:04.0 */
};

/* Holds the folders in which Linux lists PCI functions and VFIO groups, so that tests can use
   others. */
struct mae_vfio_roots {
    const char *sysfs;
    const char *dev;
};

extern struct mae_vfio_roots mae_vfio_roots;
extern long mae_vfio_device; /* PCI device number that is opened and listed */

/* Holds the registers and the address of a PCI function: the first member of a backend's own
   structure, so that the functions below serve as its mae_ops. */
struct mae_pci {
    volatile uint8_t *bar;
    size_t bar_bytes;
    char address[16];
};

mae_error_t mae_pci_read32(void *backend, uint32_t offset, uint32_t *value);
mae_error_t mae_pci_write32(void *backend, uint32_t offset, uint32_t value);
/* Returns the host's monotonic time in ns as the time of a PCI function. */
uint64_t mae_pci_now(void *backend);

/* Returns true if a text begins with the address of a PCI function, as in 0000:00:04.0. */
bool mae_pci_is_address(const char *text);
/* Reads a sysfs attribute of a PCI function as a number; returns -1 on failure. */
long mae_pci_attribute(const char *address, const char *name);
/* Returns the last part of a sysfs link of a PCI function; false if there is no such link. */
bool mae_pci_link_name(const char *address, const char *name, char *out, size_t size);
/* Fails unless a PCI function is there and has Maeslant's vendor and device number. */
mae_error_t mae_pci_find(const char *address);
/* Sets the error detail for a failed system call, with its errno. */
mae_error_t mae_pci_system_error(const char *what);
/* Enables or disables bus mastering by a file that holds the configuration space at a place. */
mae_error_t mae_pci_bus_master(int file, uint64_t place, bool on);

#endif

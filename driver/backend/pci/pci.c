/* SPDX-License-Identifier: Apache-2.0 */
/* Implements what the backends "vfio" and "uio" share: sysfs, registers in BAR 0, bus mastering. */
#include <errno.h>
#include <limits.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pci.h"

struct mae_vfio_roots mae_vfio_roots = {"/sys/bus/pci/devices", "/dev/vfio"};
long mae_vfio_device = MAE_PCI_DEVICE;

mae_error_t mae_pci_system_error(const char *what)
{
    int number = errno;
    return mae_detail(number == EACCES || number == EPERM ? MAE_E_PERMISSION : MAE_E_SYSTEM,
                      "%s: %s", what, strerror(number));
}

/* ---- registers and time ---- */

/* Returns true if a register access lies wholly in the PCI function's BAR 0. In 64 bits: no sum
   wraps. */
static bool in_bar(const struct mae_pci *pci, uint32_t offset)
{
    return (uint64_t)offset + sizeof(uint32_t) <= pci->bar_bytes;
}

/* Reads a 32-bit register of the PCI function; detects a removed function. */
mae_error_t mae_pci_read32(void *backend, uint32_t offset, uint32_t *value)
{
    const struct mae_pci *pci = backend;
    if (!in_bar(pci, offset))
        return MAE_E_BUS;
    *value = *(const volatile uint32_t *)(pci->bar + offset);
    /* A function that has gone answers all ones, also where the identity stands. */
    if (*value == UINT32_MAX && *(const volatile uint32_t *)pci->bar == UINT32_MAX)
        return mae_detail(MAE_E_BUS, "%s does not answer", pci->address);
    return MAE_OK;
}

/* Writes a 32-bit register of the PCI function. */
mae_error_t mae_pci_write32(void *backend, uint32_t offset, uint32_t value)
{
    const struct mae_pci *pci = backend;
    if (!in_bar(pci, offset))
        return MAE_E_BUS;
    *(volatile uint32_t *)(pci->bar + offset) = value;
    return MAE_OK;
}

uint64_t mae_pci_now(void *backend)
{
    struct timespec now;
    (void)backend;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- functions in sysfs ---- */

bool mae_pci_is_address(const char *text)
{
    static const char shape[MAE_PCI_ADDRESS + 1] = "xxxx:xx:xx.x";
    for (size_t i = 0; i < MAE_PCI_ADDRESS; i++) {
        bool good = shape[i] == 'x' ? text[i] && strchr("0123456789abcdefABCDEF", text[i])
                                    : text[i] == shape[i];
        if (!good)
            return false;
    }
    return true;
}

long mae_pci_attribute(const char *address, const char *name)
{
    char path[PATH_MAX];
    long value = -1;
    snprintf(path, sizeof path, "%s/%s/%s", mae_vfio_roots.sysfs, address, name);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%li", &value) != 1)
            value = -1;
        fclose(file);
    }
    return value;
}

bool mae_pci_link_name(const char *address, const char *name, char *out, size_t size)
{
    char path[PATH_MAX], target[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", mae_vfio_roots.sysfs, address, name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(out, size, "%.*s", (int)size - 1, slash ? slash + 1 : target);
    return true;
}

mae_error_t mae_pci_find(const char *address)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", mae_vfio_roots.sysfs, address);
    if (access(path, F_OK) != 0)
        return mae_detail(MAE_E_NO_DEVICE, "there is no PCI function %s (see lspci -D)", address);
    long vendor = mae_pci_attribute(address, "vendor");
    long device = mae_pci_attribute(address, "device");
    if (vendor != MAE_PCI_VENDOR || device != mae_vfio_device)
        return mae_detail(MAE_E_NOT_OURS, "PCI function %s is %04lx:%04lx, not %04x:%04lx", address,
                          vendor & 0xffff, device & 0xffff, MAE_PCI_VENDOR, mae_vfio_device);
    return MAE_OK;
}

mae_error_t mae_pci_bus_master(int file, uint64_t place, bool on)
{
    uint16_t command;
    off_t at = (off_t)(place + PCI_COMMAND);
    if (pread(file, &command, sizeof command, at) != sizeof command)
        return mae_pci_system_error("PCI command register");
    command &= (uint16_t)~PCI_COMMAND_MASTER;
    if (on)
        command |= PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY;
    if (pwrite(file, &command, sizeof command, at) != sizeof command)
        return mae_pci_system_error("PCI command register");
    return MAE_OK;
}

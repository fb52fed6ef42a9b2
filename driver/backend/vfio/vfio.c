/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the backend "vfio": a PCI function bound to vfio-pci, by Linux's VFIO type 1
 * interface. BAR 0 holds the registers; the function's MSI (or MSI-X) vector 0, else its INTx line,
 * comes as an eventfd.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfio.h"

struct vfio {
    struct mae_pci pci; /* the first member */
    int container, group, device, event;
    uint64_t config_offset; /* of the configuration space in the device file */
    uint32_t irq_index;
    uint64_t next_iova;
};

enum { MAP_TRIES = 4096 };

static const uint64_t first_iova = 1ull << 32, end_iova = 1ull << 38;

/* ---- memory ---- */

/* Extends a byte range to whole memory pages; returns start and size. */
static void page_range(uint64_t start, size_t bytes, uint64_t *first, uint64_t *size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    *first = start / page * page;
    *size = (start + bytes + page - 1) / page * page - *first;
}

/*
 * Maps memory for DMA through the IOMMU and returns its bus address. Some IOMMUs reach only 39
 * bits, less than pointers do, and the first 4 GiB hold the interrupt window. The range is used
 * cyclically; the kernel reports which part is still in use.
 */
static mae_error_t vfio_map(void *backend, void *memory, size_t bytes, bool writable,
                            uint64_t *iova)
{
    struct vfio *vfio = backend;
    struct vfio_iommu_type1_dma_map map = {.argsz = sizeof map, .flags = VFIO_DMA_MAP_FLAG_READ};
    uint64_t first, size;
    page_range((uintptr_t)memory, bytes, &first, &size);
    map.vaddr = first;
    map.size = size;
    if (writable)
        map.flags |= VFIO_DMA_MAP_FLAG_WRITE;
    for (int tries = 0; tries < MAP_TRIES; tries++) {
        if (vfio->next_iova < first_iova || size > end_iova - vfio->next_iova)
            vfio->next_iova = first_iova;
        map.iova = vfio->next_iova;
        vfio->next_iova += size;
        if (ioctl(vfio->container, VFIO_IOMMU_MAP_DMA, &map) == 0) {
            *iova = map.iova + ((uintptr_t)memory - first);
            return MAE_OK;
        }
        if (errno != EEXIST)
            break;
    }
    if (errno == ENOMEM)
        return mae_detail(MAE_E_MEMORY,
                          "pinning %zu bytes: raise the limit of locked memory (ulimit -l)", bytes);
    return mae_pci_system_error("VFIO_IOMMU_MAP_DMA");
}

/* Removes a DMA mapping of the PCI function from the IOMMU. */
static mae_error_t vfio_unmap(void *backend, uint64_t iova, size_t bytes)
{
    const struct vfio *vfio = backend;
    struct vfio_iommu_type1_dma_unmap unmap = {.argsz = sizeof unmap};
    uint64_t first, size;
    page_range(iova, bytes, &first, &size);
    unmap.iova = first;
    unmap.size = size;
    if (ioctl(vfio->container, VFIO_IOMMU_UNMAP_DMA, &unmap) != 0)
        return mae_pci_system_error("VFIO_IOMMU_UNMAP_DMA");
    return MAE_OK;
}

/* ---- interrupts and time ---- */

/* Configures an interrupt vector of the function. */
static mae_error_t set_irq(const struct vfio *vfio, uint32_t flags, const int *event)
{
    _Alignas(struct vfio_irq_set) uint8_t buffer[sizeof(struct vfio_irq_set) + sizeof(int)];
    struct vfio_irq_set *set = (void *)buffer;
    memset(buffer, 0, sizeof buffer);
    set->argsz = event ? sizeof buffer : sizeof *set;
    set->flags = flags;
    set->index = vfio->irq_index;
    set->count = event || (flags & VFIO_IRQ_SET_ACTION_UNMASK) ? 1 : 0;
    if (event)
        memcpy(set->data, event, sizeof *event);
    if (ioctl(vfio->device, VFIO_DEVICE_SET_IRQS, set) != 0)
        return mae_pci_system_error("VFIO_DEVICE_SET_IRQS");
    return MAE_OK;
}

/* Waits for an interrupt of the PCI function, at most a given time. */
static mae_error_t vfio_wait(void *backend, uint64_t max_ns)
{
    const struct vfio *vfio = backend;
    struct pollfd poll_event = {.fd = vfio->event, .events = POLLIN};
    uint64_t ms = max_ns / 1000000 + 1, count;
    int ready = poll(&poll_event, 1, ms > INT_MAX ? INT_MAX : (int)ms);
    if (ready < 0 && errno != EINTR)
        return mae_pci_system_error("poll");
    if (ready <= 0)
        return MAE_E_TIMEOUT;
    if (read(vfio->event, &count, sizeof count) != sizeof count)
        return mae_pci_system_error("eventfd");
    if (vfio->irq_index == VFIO_PCI_INTX_IRQ_INDEX) /* masked by the kernel when it came */
        return set_irq(vfio, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, NULL);
    return MAE_OK;
}

/* ---- opening and closing ---- */

/* Stops the DMA of the PCI function by disabling bus mastering. */
static void vfio_stop(void *backend)
{
    const struct vfio *vfio = backend;
    (void)mae_pci_bus_master(vfio->device, vfio->config_offset, false);
}

/* Closes the PCI function: unmaps BAR 0 and closes all files. */
static void vfio_close(void *backend)
{
    struct vfio *vfio = backend;
    if (vfio->pci.bar)
        munmap((void *)vfio->pci.bar, vfio->pci.bar_bytes);
    /* The device goes before its group, the group before its container. */
    const int files[] = {vfio->event, vfio->device, vfio->group, vfio->container};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(vfio);
}

static const struct mae_ops vfio_ops = {
    .name = "vfio",
    .clocks_per_us = 200,
    .posted = true,
    .read32 = mae_pci_read32,
    .write32 = mae_pci_write32,
    .dma_map = vfio_map,
    .dma_unmap = vfio_unmap,
    .wait = vfio_wait,
    .now_ns = mae_pci_now,
    .stop = vfio_stop,
    .close = vfio_close,
};

/* Finds the IOMMU group of a PCI function that the user owns and that is bound to vfio-pci. */
static mae_error_t find_group(const char *address, char *group, size_t size)
{
    char driver[64] = "no driver";
    MAE_TRY(mae_pci_find(address));
    (void)mae_pci_link_name(address, "driver", driver, sizeof driver);
    bool grouped = mae_pci_link_name(address, "iommu_group", group, size);
    if (strcmp(driver, "vfio-pci") != 0)
        return mae_detail(MAE_E_NOT_BOUND,
                          "%s is bound to %s; bind it with: driverctl set-override %s vfio-pci%s",
                          address, driver, address,
                          grouped ? ""
                                  : ", which needs an IOMMU, and none is switched on (without one "
                                    "there is uio:)");
    if (!grouped)
        return mae_detail(MAE_E_SYSTEM, "%s has no IOMMU group: switch the IOMMU on", address);
    return MAE_OK;
}

/* Opens a file of /dev/vfio; on failure the error says which permission is missing. */
static mae_error_t open_file(const char *name, int *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", mae_vfio_roots.dev, name);
    *file = open(path, O_RDWR | O_CLOEXEC);
    if (*file >= 0)
        return MAE_OK;
    if (errno == EACCES || errno == EPERM)
        return mae_detail(MAE_E_PERMISSION, "%s: give your user read and write access", path);
    if (errno == ENOENT)
        return mae_detail(MAE_E_SYSTEM, "%s is not there: load the module vfio-pci", path);
    if (errno == EBUSY)
        return mae_detail(MAE_E_BUSY, "%s: another process has this group open", path);
    return mae_pci_system_error(path);
}

/* Opens the VFIO container and adds the PCI function's group to it. */
static mae_error_t open_container(struct vfio *vfio, const char *group)
{
    struct vfio_group_status status = {.argsz = sizeof status};
    MAE_TRY(open_file("vfio", &vfio->container));
    if (ioctl(vfio->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION)
        return mae_detail(MAE_E_SYSTEM, "this kernel's VFIO has another interface version");
    if (ioctl(vfio->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1)
        return mae_detail(MAE_E_SYSTEM, "this kernel's VFIO has no type 1 IOMMU");
    MAE_TRY(open_file(group, &vfio->group));
    if (ioctl(vfio->group, VFIO_GROUP_GET_STATUS, &status) != 0)
        return mae_pci_system_error("VFIO_GROUP_GET_STATUS");
    if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE))
        return mae_detail(MAE_E_NOT_BOUND,
                          "IOMMU group %s: all of its functions must be bound to vfio-pci", group);
    if (ioctl(vfio->group, VFIO_GROUP_SET_CONTAINER, &vfio->container) != 0)
        return mae_pci_system_error("VFIO_GROUP_SET_CONTAINER");
    if (ioctl(vfio->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) != 0)
        return mae_pci_system_error("VFIO_SET_IOMMU");
    return MAE_OK;
}

/* Maps BAR 0 of the PCI function, which holds the device's registers. */
static mae_error_t map_bar(struct vfio *vfio)
{
    struct vfio_region_info region = {.argsz = sizeof region, .index = VFIO_PCI_BAR0_REGION_INDEX};
    if (ioctl(vfio->device, VFIO_DEVICE_GET_REGION_INFO, &region) != 0)
        return mae_pci_system_error("VFIO_DEVICE_GET_REGION_INFO of BAR 0");
    if (region.size < MAE_BAR_BYTES || !(region.flags & VFIO_REGION_INFO_FLAG_MMAP))
        return mae_detail(MAE_E_NOT_OURS, "BAR 0 has %llu bytes, %d are needed, mappable",
                          (unsigned long long)region.size, MAE_BAR_BYTES);
    void *bar = mmap(NULL, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, vfio->device,
                     (off_t)region.offset);
    if (bar == MAP_FAILED)
        return mae_pci_system_error("mapping BAR 0");
    vfio->pci.bar = bar;
    vfio->pci.bar_bytes = region.size;
    region =
        (struct vfio_region_info){.argsz = sizeof region, .index = VFIO_PCI_CONFIG_REGION_INDEX};
    if (ioctl(vfio->device, VFIO_DEVICE_GET_REGION_INFO, &region) != 0)
        return mae_pci_system_error("VFIO_DEVICE_GET_REGION_INFO of the configuration space");
    vfio->config_offset = region.offset;
    return MAE_OK;
}

/* Connects the PCI function's interrupt to an eventfd. */
static mae_error_t open_interrupt(struct vfio *vfio)
{
    static const uint32_t kinds[] = {VFIO_PCI_MSI_IRQ_INDEX, VFIO_PCI_MSIX_IRQ_INDEX,
                                     VFIO_PCI_INTX_IRQ_INDEX};
    vfio->event = eventfd(0, EFD_CLOEXEC);
    if (vfio->event < 0)
        return mae_pci_system_error("eventfd");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct vfio_irq_info info = {.argsz = sizeof info, .index = kinds[i]};
        if (ioctl(vfio->device, VFIO_DEVICE_GET_IRQ_INFO, &info) != 0 || info.count == 0 ||
            !(info.flags & VFIO_IRQ_INFO_EVENTFD))
            continue;
        vfio->irq_index = kinds[i];
        return set_irq(vfio, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, &vfio->event);
    }
    return mae_detail(MAE_E_NOT_OURS, "%s has no interrupt", vfio->pci.address);
}

/* Opens the PCI function: group, container, BAR 0, interrupt. */
static mae_error_t open_device(struct vfio *vfio)
{
    char group[32];
    MAE_TRY(find_group(vfio->pci.address, group, sizeof group));
    MAE_TRY(open_container(vfio, group));
    vfio->device = ioctl(vfio->group, VFIO_GROUP_GET_DEVICE_FD, vfio->pci.address);
    if (vfio->device < 0)
        return mae_pci_system_error("VFIO_GROUP_GET_DEVICE_FD");
    (void)ioctl(vfio->device, VFIO_DEVICE_RESET); /* not every function can be reset */
    MAE_TRY(map_bar(vfio));
    MAE_TRY(open_interrupt(vfio));
    return mae_pci_bus_master(vfio->device, vfio->config_offset, true);
}

/* Opens the PCI function that a "vfio:" URI names, as mae_open calls it. */
static mae_error_t vfio_open(const char *rest, void **backend, char *name, size_t name_size)
{
    if (!mae_pci_is_address(rest) || rest[MAE_PCI_ADDRESS])
        return mae_detail(MAE_E_URI, "vfio: needs a PCI address, as in vfio:0000:00:04.0");
    struct vfio *vfio = calloc(1, sizeof *vfio);
    if (!vfio)
        return MAE_E_MEMORY;
    vfio->container = vfio->group = vfio->device = vfio->event = -1;
    snprintf(vfio->pci.address, sizeof vfio->pci.address, "%s", rest);
    mae_error_t error = open_device(vfio);
    if (error != MAE_OK) {
        vfio_close(vfio);
        return error;
    }
    snprintf(name, name_size, "%s", rest);
    *backend = vfio;
    return MAE_OK;
}

/* Lists the PCI functions with Maeslant's vendor and device number. */
static void vfio_list(struct mae_device_info *list, size_t max, size_t *count)
{
    struct dirent **names;
    int entries = scandir(mae_vfio_roots.sysfs, &names, NULL, alphasort);
    for (int i = 0; i < entries; i++) {
        const char *address = names[i]->d_name;
        char driver[64] = "no driver";
        if (address[0] != '.' && mae_pci_attribute(address, "vendor") == MAE_PCI_VENDOR &&
            mae_pci_attribute(address, "device") == mae_vfio_device) {
            (void)mae_pci_link_name(address, "driver", driver, sizeof driver);
            if (*count < max) {
                struct mae_device_info *info = &list[*count];
                *info = (struct mae_device_info){.available = strcmp(driver, "vfio-pci") == 0};
                snprintf(info->uri, sizeof info->uri, "vfio:%.16s", address);
                snprintf(info->summary, sizeof info->summary, "PCI function, bound to %s", driver);
            }
            ++*count;
        }
        free(names[i]);
    }
    if (entries >= 0)
        free(names);
}

const struct mae_backend mae_backend_vfio = {&vfio_ops, vfio_open, vfio_list};

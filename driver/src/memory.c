/* SPDX-License-Identifier: Apache-2.0 */
/* Maps memory for a device's DMA and keeps a table of the mappings. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

bool mae_has_dma(const struct mae_dev *dev)
{
    return dev->caps.data_width_bits != 0;
}

/* Returns how many of the device's memory mappings start at or below an address. */
static size_t position(const struct mae_dev *dev, uintptr_t address)
{
    size_t low = 0, high = dev->region_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (dev->regions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds the device's memory mapping that contains a whole range; NULL if there is none. */
static struct mae_region *find(struct mae_dev *dev, const void *memory, uint64_t bytes)
{
    uintptr_t start = (uintptr_t)memory;
    size_t at = position(dev, start);
    if (at == 0)
        return NULL;
    struct mae_region *region = &dev->regions[at - 1];
    uintptr_t offset = start - region->start;
    if (offset > region->bytes || bytes > region->bytes - offset)
        return NULL;
    return region;
}

bool mae_is_mapped(struct mae_dev *dev, const void *memory, uint64_t bytes, bool write)
{
    const struct mae_region *region = find(dev, memory, bytes);
    return region && (region->writable || !write);
}

mae_error_t mae_translate(struct mae_dev *dev, const void *memory, uint64_t bytes, bool write,
                          uint64_t *iova)
{
    const struct mae_region *region = find(dev, memory, bytes);
    if (!region)
        return mae_detail(MAE_E_NOT_MAPPED, "%llu bytes at %p are not in one mapping",
                          (unsigned long long)bytes, memory);
    if (write && !region->writable)
        return mae_detail(MAE_E_NOT_MAPPED, "the destination is mapped read-only");
    *iova = region->iova + ((uintptr_t)memory - region->start);
    return MAE_OK;
}

/* Allocates zeroed memory, if need be from the backend, as its DMA wants it. */
static mae_error_t obtain(struct mae_dev *dev, size_t bytes, void **memory)
{
    if (dev->ops->alloc && mae_has_dma(dev))
        return dev->ops->alloc(dev->backend, bytes, memory);
    *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return *memory == MAP_FAILED ? MAE_E_MEMORY : MAE_OK;
}

/* Frees memory of obtain(). */
static void give_back(struct mae_dev *dev, void *memory, size_t bytes)
{
    if (dev->ops->alloc && mae_has_dma(dev))
        dev->ops->free(dev->backend, memory);
    else
        munmap(memory, bytes);
}

/* Maps memory for the device's DMA and adds the mapping to the table. */
static mae_error_t map(struct mae_dev *dev, void *memory, size_t bytes, bool writable, bool ours)
{
    uintptr_t start = (uintptr_t)memory;
    if (!memory || bytes == 0 || start + bytes < start)
        return mae_detail(MAE_E_ARGUMENT, "no memory, or nothing to map");
    size_t at = position(dev, start + bytes - 1);
    if (at > 0 && dev->regions[at - 1].start + dev->regions[at - 1].bytes > start)
        return mae_detail(MAE_E_BUSY, "part of it is mapped already");
    if (dev->region_count == dev->region_capacity) {
        size_t capacity = dev->region_capacity ? 2 * dev->region_capacity : 16;
        void *grown = realloc(dev->regions, capacity * sizeof *dev->regions);
        if (!grown)
            return MAE_E_MEMORY;
        dev->regions = grown;
        dev->region_capacity = capacity;
    }
    struct mae_region region = {.start = start, .bytes = bytes, .writable = writable, .ours = ours};
    if (mae_has_dma(dev))
        MAE_TRY(dev->ops->dma_map(dev->backend, memory, bytes, writable, &region.iova));
    memmove(&dev->regions[at + 1], &dev->regions[at],
            (dev->region_count - at) * sizeof *dev->regions);
    dev->regions[at] = region;
    dev->region_count++;
    return MAE_OK;
}

/* Removes the device's memory mapping that starts at an address, of mae_mem_alloc or
   mae_mem_map. */
static mae_error_t unmap(struct mae_dev *dev, void *memory, bool ours, size_t *bytes)
{
    size_t at = position(dev, (uintptr_t)memory);
    struct mae_region *region = at ? &dev->regions[at - 1] : NULL;
    if (!region || region->start != (uintptr_t)memory || region->ours != ours)
        return mae_detail(MAE_E_NOT_MAPPED, "no mapping of that kind starts there");
    if (mae_jobs_reach(dev, region->iova, region->bytes))
        return MAE_E_BUSY;
    if (mae_has_dma(dev))
        MAE_TRY(dev->ops->dma_unmap(dev->backend, region->iova, region->bytes));
    *bytes = region->bytes;
    dev->region_count--;
    memmove(region, region + 1, (dev->region_count - (at - 1)) * sizeof *region);
    return MAE_OK;
}

mae_error_t mae_mem_map(mae_dev_t *dev, void *memory, size_t bytes, bool writable)
{
    MAE_TRY(mae_usable(dev));
    return map(dev, memory, bytes, writable, false);
}

mae_error_t mae_mem_unmap(mae_dev_t *dev, void *memory)
{
    size_t bytes;
    mae_detail_clear();
    if (!dev)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(dev));
    return unmap(dev, memory, false, &bytes);
}

mae_error_t mae_mem_alloc(mae_dev_t *dev, size_t bytes, void **memory)
{
    if (!memory)
        return MAE_E_ARGUMENT;
    *memory = NULL;
    MAE_TRY(mae_usable(dev));
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes == 0 || bytes > SIZE_MAX - page)
        return MAE_E_ARGUMENT;
    bytes = (bytes + page - 1) / page * page;
    void *fresh;
    MAE_TRY(obtain(dev, bytes, &fresh));
    mae_error_t error = map(dev, fresh, bytes, true, true);
    if (error != MAE_OK) {
        give_back(dev, fresh, bytes);
        return error;
    }
    *memory = fresh;
    return MAE_OK;
}

mae_error_t mae_mem_free(mae_dev_t *dev, void *memory)
{
    size_t bytes;
    mae_detail_clear();
    if (!dev)
        return MAE_E_ARGUMENT;
    MAE_TRY(mae_check_process(dev));
    MAE_TRY(unmap(dev, memory, true, &bytes));
    mae_wipe(memory, bytes);
    give_back(dev, memory, bytes);
    return MAE_OK;
}

void mae_memory_close(struct mae_dev *dev)
{
    for (size_t i = 0; i < dev->region_count; i++) {
        const struct mae_region *region = &dev->regions[i];
        if (mae_has_dma(dev))
            (void)dev->ops->dma_unmap(dev->backend, region->iova, region->bytes);
        if (region->ours) {
            mae_wipe((void *)region->start, region->bytes);
            give_back(dev, (void *)region->start, region->bytes);
        }
    }
    free(dev->regions);
    dev->regions = NULL;
    dev->region_count = dev->region_capacity = 0;
}

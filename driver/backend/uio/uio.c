/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the backend "uio": a PCI function bound to uio_pci_generic, on a machine without an
 * IOMMU. The device gets physical addresses, so it reaches only memory of mae_mem_alloc, in huge
 * pages that follow one another. uio_pci_generic passes on no message-signalled interrupt: a wait
 * is a pause between two looks. When the process ends, however it does, the kernel ends the
 * device's bus mastering; what was in flight until then lands in huge pages.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "uio.h"

struct mae_uio_roots mae_uio_roots = {"/dev", "/proc/self/pagemap"};

/* Describes memory that the device can reach: huge pages that follow one another. */
struct block {
    uint8_t *memory;
    size_t bytes;
    struct block *next;
};

struct uio {
    struct mae_pci pci; /* the first member */
    int device, config;
    struct block *blocks;
};

/* Names a huge page of a file and its physical address. */
struct page {
    uint64_t physical;
    size_t index;
};

enum { PAUSE_NS = 50000, HUGE_BYTES = 2 << 20 };

/* ---- memory ---- */

/* Returns the physical address of a page in memory, 0 if the kernel does not say it. */
static uint64_t physical(int pagemap, const void *memory)
{
    uint64_t entry, page = (uint64_t)sysconf(_SC_PAGESIZE);
    off_t place = (off_t)((uintptr_t)memory / page * sizeof entry);
    if (pread(pagemap, &entry, sizeof entry, place) != sizeof entry || !(entry >> 63))
        return 0;
    return (entry & ((UINT64_C(1) << 55) - 1)) * page;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = ((const struct page *)left)->physical, b = ((const struct page *)right)->physical;
    return (a > b) - (a < b);
}

/* Sorts huge pages; returns the first of `count` that follow one another, NULL if there are none. */
static struct page *find_run(struct page *pages, size_t have, size_t count)
{
    qsort(pages, have, sizeof *pages, compare);
    for (size_t i = 0, length = 0; i < have; i++) {
        bool follows = i > 0 && pages[i].physical == pages[i - 1].physical + HUGE_BYTES;
        length = follows ? length + 1 : 1;
        if (length == count)
            return &pages[i + 1 - count];
    }
    return NULL;
}

/* Lists the physical addresses of a file's first huge pages, which it makes. */
static mae_error_t list_pages(int file, int pagemap, struct page *pages, size_t have)
{
    mae_error_t error = MAE_OK;
    uint8_t *memory = MAP_FAILED;
    if (ftruncate(file, (off_t)(have * HUGE_BYTES)) == 0)
        memory = mmap(NULL, have * HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      file, 0);
    if (memory == MAP_FAILED)
        return mae_detail(
            MAE_E_MEMORY,
            "no %zu huge pages in a row: reserve more, soon after the machine's start "
            "(/proc/sys/vm/nr_hugepages)",
            have);
    for (size_t i = 0; i < have && error == MAE_OK; i++) {
        pages[i] = (struct page){physical(pagemap, memory + i * HUGE_BYTES), i};
        if (pages[i].physical == 0)
            error = mae_detail(MAE_E_PERMISSION,
                               "physical addresses are root's: the program needs CAP_SYS_ADMIN");
    }
    munmap(memory, have * HUGE_BYTES);
    return error;
}

/* Maps huge pages of a file one after the other in the order of their physical addresses, and
   gives back the others of the file. */
static mae_error_t place(int file, const struct page *pages, size_t have, const struct page *run,
                         size_t count, uint8_t **memory)
{
    size_t bytes = count * HUGE_BYTES;
    uint8_t *room = mmap(NULL, bytes + HUGE_BYTES, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return MAE_E_MEMORY;
    size_t before = HUGE_BYTES - (uintptr_t)room % HUGE_BYTES;
    uint8_t *start = room + before;
    munmap(room, before);
    if (before < HUGE_BYTES)
        munmap(start + bytes, HUGE_BYTES - before);
    for (const struct page *page = pages; page < pages + have; page++) {
        off_t at = (off_t)(page->index * HUGE_BYTES);
        bool in_run = page >= run && page < run + count;
        if (!in_run) {
            (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, HUGE_BYTES);
        } else if (mmap(start + (size_t)(page - run) * HUGE_BYTES, HUGE_BYTES,
                        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file,
                        at) == MAP_FAILED) {
            mae_error_t error = mae_pci_system_error("mapping a huge page");
            munmap(start, bytes);
            return error;
        }
    }
    *memory = start;
    return MAE_OK;
}

/* Finds huge pages in a row and maps them; asks for more of them until there are enough. */
static mae_error_t map_run(int file, int pagemap, size_t count, uint8_t **memory)
{
    for (size_t have = count;; have += (count + 7) / 8) {
        struct page *pages = calloc(have, sizeof *pages);
        if (!pages)
            return MAE_E_MEMORY;
        mae_error_t error = list_pages(file, pagemap, pages, have);
        struct page *run = error == MAE_OK ? find_run(pages, have, count) : NULL;
        if (run)
            error = place(file, pages, have, run, count, memory);
        free(pages);
        if (run || error != MAE_OK)
            return error;
    }
}

/* Allocates memory in huge pages that follow one another in physical memory. */
static mae_error_t uio_alloc(void *backend, size_t bytes, void **memory)
{
    struct uio *uio = backend;
    size_t count = bytes / HUGE_BYTES + (bytes % HUGE_BYTES != 0);
    struct block *block = calloc(1, sizeof *block);
    int file = memfd_create("maeslant", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
    int pagemap = open(mae_uio_roots.pagemap, O_RDONLY | O_CLOEXEC);
    mae_error_t error = MAE_OK;
    if (!block)
        error = MAE_E_MEMORY;
    else if (file < 0)
        error = mae_pci_system_error("huge pages of 2 MiB");
    else if (pagemap < 0)
        error = mae_pci_system_error(mae_uio_roots.pagemap);
    else
        error = map_run(file, pagemap, count, &block->memory);
    if (file >= 0)
        close(file);
    if (pagemap >= 0)
        close(pagemap);
    if (error != MAE_OK) {
        free(block);
        return error;
    }
    block->bytes = count * HUGE_BYTES;
    block->next = uio->blocks;
    uio->blocks = block;
    *memory = block->memory;
    return MAE_OK;
}

/* Frees memory of uio_alloc. */
static void uio_free(void *backend, void *memory)
{
    struct uio *uio = backend;
    for (struct block **link = &uio->blocks; *link; link = &(*link)->next) {
        struct block *block = *link;
        if (block->memory != memory)
            continue;
        *link = block->next;
        munmap(block->memory, block->bytes);
        free(block);
        return;
    }
}

/* Returns the physical address of memory of uio_alloc; other memory may move or be scattered. */
static mae_error_t uio_map(void *backend, void *memory, size_t bytes, bool writable, uint64_t *iova)
{
    const struct uio *uio = backend;
    const struct block *block = uio->blocks;
    (void)writable;
    while (block && ((uint8_t *)memory < block->memory ||
                     (uint8_t *)memory + bytes > block->memory + block->bytes))
        block = block->next;
    if (!block)
        return mae_detail(MAE_E_UNSUPPORTED, "without an IOMMU a device reaches only memory of "
                                             "mae_mem_alloc");
    int pagemap = open(mae_uio_roots.pagemap, O_RDONLY | O_CLOEXEC);
    if (pagemap < 0)
        return mae_pci_system_error(mae_uio_roots.pagemap);
    uint64_t first = physical(pagemap, block->memory);
    bool same = first != 0;
    for (size_t at = HUGE_BYTES; at < block->bytes && same; at += HUGE_BYTES)
        same = physical(pagemap, block->memory + at) == first + at;
    close(pagemap);
    if (!same)
        return mae_detail(MAE_E_SYSTEM, "huge pages have moved");
    *iova = first + (uint64_t)((uint8_t *)memory - block->memory);
    return MAE_OK;
}

/* Does nothing: without an IOMMU there is no mapping to remove. */
static mae_error_t uio_unmap(void *backend, uint64_t iova, size_t bytes)
{
    (void)backend, (void)iova, (void)bytes;
    return MAE_OK;
}

/* Pauses between two looks at the device. MAE_OK: the caller looks at its registers, too. */
static mae_error_t uio_wait(void *backend, uint64_t max_ns)
{
    struct timespec pause = {0, max_ns < PAUSE_NS ? (long)max_ns : PAUSE_NS};
    (void)backend;
    (void)nanosleep(&pause, NULL);
    return MAE_OK;
}

/* ---- opening and closing ---- */

/* Stops the DMA of the PCI function by disabling bus mastering. */
static void uio_stop(void *backend)
{
    const struct uio *uio = backend;
    (void)mae_pci_bus_master(uio->config, 0, false);
}

/* Resets the PCI function, if it can be reset. */
static void reset(const struct uio *uio)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/reset", mae_vfio_roots.sysfs, uio->pci.address);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!write(file, "1", 1);
    close(file);
}

/* Closes the PCI function: its keys and jobs go with a reset. */
static void uio_close(void *backend)
{
    struct uio *uio = backend;
    if (uio->config >= 0 && uio->device >= 0) { /* it is ours */
        uio_stop(uio);
        reset(uio);
    }
    if (uio->pci.bar)
        munmap((void *)uio->pci.bar, uio->pci.bar_bytes);
    if (uio->config >= 0)
        close(uio->config);
    if (uio->device >= 0)
        close(uio->device);
    while (uio->blocks)
        uio_free(uio, uio->blocks->memory);
    free(uio);
}

static const struct mae_ops uio_ops = {
    .name = "uio",
    .clocks_per_us = 200,
    .posted = true,
    .read32 = mae_pci_read32,
    .write32 = mae_pci_write32,
    .dma_map = uio_map,
    .dma_unmap = uio_unmap,
    .alloc = uio_alloc,
    .free = uio_free,
    .wait = uio_wait,
    .now_ns = mae_pci_now,
    .stop = uio_stop,
    .close = uio_close,
};

/* Finds the file of the UIO device to which a PCI function is bound. */
static mae_error_t find_device(const char *address, char *file, size_t size)
{
    char path[PATH_MAX], name[64] = "no driver";
    MAE_TRY(mae_pci_find(address));
    if (mae_pci_link_name(address, "iommu_group", name, sizeof name))
        return mae_detail(MAE_E_UNSUPPORTED, "%s has an IOMMU: open vfio:%s", address, address);
    (void)mae_pci_link_name(address, "driver", name, sizeof name);
    if (strcmp(name, "uio_pci_generic") != 0)
        return mae_detail(MAE_E_NOT_BOUND,
                          "%s is bound to %s; bind it with: modprobe uio_pci_generic; "
                          "driverctl set-override %s uio_pci_generic",
                          address, name, address);
    snprintf(path, sizeof path, "%s/%s/uio", mae_vfio_roots.sysfs, address);
    DIR *folder = opendir(path);
    const struct dirent *entry = NULL;
    while (folder && (entry = readdir(folder)) && strncmp(entry->d_name, "uio", 3) != 0)
        ;
    if (entry)
        snprintf(file, size, "%s/%.32s", mae_uio_roots.dev, entry->d_name);
    if (folder)
        closedir(folder);
    return entry ? MAE_OK : mae_detail(MAE_E_SYSTEM, "%s names no UIO device", path);
}

/* Opens a file, or says which permission is missing. */
static mae_error_t open_file(const char *path, int *file)
{
    *file = open(path, O_RDWR | O_CLOEXEC);
    return *file >= 0 ? MAE_OK : mae_pci_system_error(path);
}

/* Opens the PCI function: for this process alone, reset, with its registers mapped. */
static mae_error_t open_device(struct uio *uio)
{
    char path[PATH_MAX];
    struct stat status;
    int file;
    MAE_TRY(find_device(uio->pci.address, path, sizeof path));
    MAE_TRY(open_file(path, &uio->device));
    if (flock(uio->device, LOCK_EX | LOCK_NB) != 0) {
        close(uio->device);
        uio->device = -1;
        return mae_detail(MAE_E_BUSY, "%s: another process has this device open", path);
    }
    snprintf(path, sizeof path, "%s/%s/config", mae_vfio_roots.sysfs, uio->pci.address);
    MAE_TRY(open_file(path, &uio->config));
    MAE_TRY(mae_pci_bus_master(uio->config, 0, false)); /* a reset keeps it as it is */
    reset(uio);
    snprintf(path, sizeof path, "%s/%s/resource0", mae_vfio_roots.sysfs, uio->pci.address);
    MAE_TRY(open_file(path, &file));
    void *bar = MAP_FAILED;
    off_t bytes = fstat(file, &status) == 0 ? status.st_size : 0;
    if (bytes >= MAE_BAR_BYTES)
        bar = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (bytes < MAE_BAR_BYTES)
        return mae_detail(MAE_E_NOT_OURS, "BAR 0 has %lld bytes, %d are needed", (long long)bytes,
                          MAE_BAR_BYTES);
    if (bar == MAP_FAILED)
        return mae_pci_system_error("mapping BAR 0");
    uio->pci.bar = bar;
    uio->pci.bar_bytes = (size_t)bytes;
    return mae_pci_bus_master(uio->config, 0, true);
}

/* Opens the PCI function that a "uio:" URI names, as mae_open calls it. */
static mae_error_t uio_open(const char *rest, void **backend, char *name, size_t name_size)
{
    static const char consent[] = "?iommu=off";
    if (!mae_pci_is_address(rest) ||
        (rest[MAE_PCI_ADDRESS] && strcmp(rest + MAE_PCI_ADDRESS, consent) != 0))
        return mae_detail(MAE_E_URI, "uio: needs a PCI address, as in uio:0000:00:04.0%s", consent);
    if (!rest[MAE_PCI_ADDRESS])
        return mae_detail(MAE_E_PERMISSION,
                          "without an IOMMU nothing keeps the device from the memory of the kernel "
                          "and of all programs, and what is in flight when this process dies "
                          "still lands; uio:%s%s if that is accepted, vfio:%s with an IOMMU",
                          rest, consent, rest);
    struct uio *uio = calloc(1, sizeof *uio);
    if (!uio)
        return MAE_E_MEMORY;
    uio->device = uio->config = -1;
    snprintf(uio->pci.address, sizeof uio->pci.address, "%.12s", rest);
    mae_error_t error = open_device(uio);
    if (error != MAE_OK) {
        uio_close(uio);
        return error;
    }
    snprintf(name, name_size, "%s", uio->pci.address);
    *backend = uio;
    return MAE_OK;
}

/* Lists nothing: the backend "vfio" lists all PCI functions, and what they are bound to. */
static void uio_list(struct mae_device_info *list, size_t max, size_t *count)
{
    (void)list, (void)max, (void)count;
}

const struct mae_backend mae_backend_uio = {&uio_ops, uio_open, uio_list};

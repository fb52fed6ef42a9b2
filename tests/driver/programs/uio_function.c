/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the backend "uio" on folders that stand for sysfs, /dev and /proc/self/pagemap. */
#include "uio.c" /* NOLINT: its structures are private */

#include "mock/check.h"

static char root[] = "/tmp/mae-uio-XXXXXX";
static char sysfs[64], dev_folder[64], pagemap[64];
static const char uri[] = "uio:0000:00:04.0?iommu=off", place_of[] = "sys/0000:00:04.0";

static void full_path(char *full, size_t size, const char *path)
{
    CHECK(snprintf(full, size, "%s/%s", root, path) < (int)size);
}

static void make(const char *path, const void *data, size_t bytes)
{
    char full[256];
    full_path(full, sizeof full, path);
    if (!data) {
        CHECK(mkdir(full, 0755) == 0);
        return;
    }
    FILE *file = fopen(full, "w");
    CHECK(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

static void text(const char *path, const char *words)
{
    make(path, words, strlen(words));
}

static size_t contents(const char *path, void *data, size_t most)
{
    char full[256];
    full_path(full, sizeof full, path);
    FILE *file = fopen(full, "r");
    CHECK(file);
    size_t bytes = fread(data, 1, most, file);
    fclose(file);
    return bytes;
}

static void make_link(const char *path, const char *target)
{
    char full[256];
    full_path(full, sizeof full, path);
    (void)unlink(full);
    CHECK(symlink(target, full) == 0);
}

static void fails(const char *name, mae_error_t error, const char *words)
{
    mae_dev_t *dev = (void *)1;
    CHECK_ERROR(mae_open(name, &dev), error);
    CHECK(dev == NULL);
    if (!strstr(mae_error_detail(), words)) {
        printf("'%s' does not speak of '%s'\n", mae_error_detail(), words);
        exit(1);
    }
}

static void consent(void)
{
    fails("uio:", MAE_E_URI, "uio:0000:00:04.0?iommu=off");
    fails("uio:0000:00:04.0?iommu=on", MAE_E_URI, "PCI address");
    fails("uio:0000:00:04.0?iommu=off&", MAE_E_URI, "PCI address");
    fails("uio:0000:00:04.0", MAE_E_PERMISSION, "memory of the kernel");
    fails("uio:0000:00:04.0", MAE_E_PERMISSION, "vfio:0000:00:04.0 with an IOMMU");
}

static void step_by_step(void)
{
    static const uint8_t zeros[MAE_BAR_BYTES], master[64] = {[4] = 0x04};
    fails(uri, MAE_E_NO_DEVICE, "no PCI function 0000:00:04.0");
    make(place_of, NULL, 0);
    text("sys/0000:00:04.0/vendor", "0x1234\n");
    text("sys/0000:00:04.0/device", "0xae51\n");
    fails(uri, MAE_E_NOT_OURS, "1234:ae51");
    text("sys/0000:00:04.0/device", "0xae50\n");
    fails(uri, MAE_E_NOT_BOUND, "no driver");
    make_link("sys/0000:00:04.0/iommu_group", "../../../kernel/iommu_groups/7");
    fails(uri, MAE_E_UNSUPPORTED, "open vfio:0000:00:04.0");
    CHECK(unlinkat(AT_FDCWD, strcat(strcpy((char[256]){0}, sysfs), "/0000:00:04.0/iommu_group"),
                   0) == 0);
    make_link("sys/0000:00:04.0/driver", "../../drivers/uio_pci_generic");
    fails(uri, MAE_E_SYSTEM, "names no UIO device");
    make("sys/0000:00:04.0/uio", NULL, 0);
    make("sys/0000:00:04.0/uio/uio3", NULL, 0);
    fails(uri, MAE_E_SYSTEM, "/dev/uio3");
    text("dev/uio3", "");
    fails(uri, MAE_E_SYSTEM, "/config");
    make("sys/0000:00:04.0/config", master, sizeof master);
    fails(uri, MAE_E_SYSTEM, "/resource0");
    make("sys/0000:00:04.0/resource0", zeros, 16);
    fails(uri, MAE_E_NOT_OURS, "BAR 0 has 16 bytes");
    make("sys/0000:00:04.0/resource0", zeros, sizeof zeros);
    text("sys/0000:00:04.0/reset", "");
    fails(uri, MAE_E_NOT_OURS, "does not identify itself"); /* its registers are zeros */
}

/* A function is reset before and after its use, and no bus master but in between. */
static void reset_and_stopped(void)
{
    uint8_t config[64], written[8];
    void *backend;
    char name[32];
    CHECK_OK(uio_open(uri + 4, &backend, name, sizeof name));
    CHECK(strcmp(name, "0000:00:04.0") == 0);
    CHECK(contents("sys/0000:00:04.0/reset", written, sizeof written) == 1 && written[0] == '1');
    text("sys/0000:00:04.0/reset", "");
    CHECK(contents("sys/0000:00:04.0/config", config, sizeof config) == 64 && config[4] == 6);
    fails(uri, MAE_E_BUSY, "another process has this device open");
    CHECK(contents("sys/0000:00:04.0/config", config, sizeof config) == 64 && config[4] == 6);
    uio_close(backend);
    CHECK(contents("sys/0000:00:04.0/reset", written, sizeof written) == 1 && written[0] == '1');
    CHECK(contents("sys/0000:00:04.0/config", config, sizeof config) == 64 && config[4] == 2);
}

/* Pages are taken in a row only, whatever their order in the file. */
static void runs(void)
{
    static const uint64_t megabytes[] = {40, 10, 6, 8, 20, 42, 4};
    struct page pages[7];
    for (size_t i = 0; i < 7; i++)
        pages[i] = (struct page){megabytes[i] << 20, i};
    const struct page *run = find_run(pages, 7, 4);
    CHECK(run && run[0].index == 6 && run[1].index == 2 && run[2].index == 3 && run[3].index == 1);
    CHECK(find_run(pages, 7, 2)->physical == 4 << 20);
    CHECK(find_run(pages, 7, 5) == NULL);
    CHECK(find_run(pages, 7, 1) == pages);
}

/* Writes the entry of a page into the file that stands for /proc/self/pagemap. */
static void entry(int file, const void *memory, uint64_t value)
{
    off_t place = (off_t)((uintptr_t)memory / (uintptr_t)sysconf(_SC_PAGESIZE) * 8);
    CHECK(pwrite(file, &value, 8, place) == 8);
}

static void addresses(void)
{
    const uint64_t there = UINT64_C(1) << 63, soft_dirty = UINT64_C(1) << 55;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), iova;
    size_t bytes = 2 * HUGE_BYTES;
    uint8_t *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct block block = {.memory = memory, .bytes = bytes};
    struct uio uio = {.blocks = &block};
    int file = open(pagemap, O_RDWR | O_CREAT, 0600);
    CHECK(memory != MAP_FAILED && file >= 0);
    entry(file, memory, there | soft_dirty | 0x12345600);
    entry(file, memory + HUGE_BYTES, there | (0x12345600 + HUGE_BYTES / page));
    CHECK_OK(uio_map(&uio, memory + 24, bytes - 24, true, &iova));
    CHECK(iova == 0x12345600 * page + 24);
    CHECK_ERROR(uio_map(&uio, memory + 24, bytes, true, &iova), MAE_E_UNSUPPORTED);
    CHECK_ERROR(uio_map(&uio, &block, 1, true, &iova), MAE_E_UNSUPPORTED);
    entry(file, memory + HUGE_BYTES, there | 0x777);
    CHECK_ERROR(uio_map(&uio, memory, bytes, true, &iova), MAE_E_SYSTEM);
    entry(file, memory, there); /* what the kernel tells those who may not know */
    CHECK_ERROR(uio_map(&uio, memory, 1, true, &iova), MAE_E_SYSTEM);
    close(file);
    munmap(memory, bytes);
}

/* Without huge pages, or without the right to their addresses, nothing is allocated. */
static void no_pages(void)
{
    struct uio uio = {0};
    void *memory = NULL;
    CHECK(uio_alloc(&uio, 3 * HUGE_BYTES, &memory) != MAE_OK);
    CHECK(memory == NULL && uio.blocks == NULL && mae_error_detail()[0]);
}

int main(void)
{
    CHECK(mkdtemp(root));
    make("sys", NULL, 0);
    make("dev", NULL, 0);
    snprintf(sysfs, sizeof sysfs, "%s/sys", root);
    snprintf(dev_folder, sizeof dev_folder, "%s/dev", root);
    snprintf(pagemap, sizeof pagemap, "%s/pagemap", root);
    mae_vfio_roots = (struct mae_vfio_roots){sysfs, "/nowhere"};
    mae_uio_roots = (struct mae_uio_roots){dev_folder, pagemap};
    RUN(consent);
    RUN(step_by_step);
    RUN(reset_and_stopped);
    RUN(runs);
    RUN(addresses);
    RUN(no_pages);
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

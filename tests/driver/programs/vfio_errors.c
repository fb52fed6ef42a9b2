/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the backend "vfio" reports cause and remedy on a machine without a card. */
#include <sys/stat.h>
#include <unistd.h>

#include "mock/check.h"
#include "vfio.h"

static char root[] = "/tmp/mae-vfio-XXXXXX";
static char sysfs[64], dev_folder[64];

static void make(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", root, path);
    if (!text) {
        CHECK(mkdir(full, 0755) == 0);
        return;
    }
    FILE *file = fopen(full, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_link(const char *path, const char *target)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", root, path);
    (void)unlink(full);
    CHECK(symlink(target, full) == 0);
}

static void fails(const char *uri, mae_error_t error, const char *words)
{
    mae_dev_t *dev = (void *)1;
    CHECK_ERROR(mae_open(uri, &dev), error);
    CHECK(dev == NULL);
    if (!strstr(mae_error_detail(), words)) {
        printf("'%s' does not speak of '%s'\n", mae_error_detail(), words);
        exit(1);
    }
}

static void bad_addresses(void)
{
    fails("vfio:", MAE_E_URI, "vfio:0000:00:04.0");
    fails("vfio:00:04.0", MAE_E_URI, "PCI address");
    fails("vfio:0000:00:04.0/..", MAE_E_URI, "PCI address");
    fails("vfio:0000:zz:04.0", MAE_E_URI, "PCI address");
}

static void no_such_function(void)
{
    fails("vfio:0000:00:1f.7", MAE_E_NO_DEVICE, "no PCI function 0000:00:1f.7");
}

static void somebody_elses(void)
{
    make("sys/0000:00:03.0", NULL);
    make("sys/0000:00:03.0/vendor", "0x8086\n");
    make("sys/0000:00:03.0/device", "0x100e\n");
    fails("vfio:0000:00:03.0", MAE_E_NOT_OURS, "8086:100e");
}

static void ours_step_by_step(void)
{
    make("sys/0000:00:04.0", NULL);
    make("sys/0000:00:04.0/vendor", "0x1234\n");
    make("sys/0000:00:04.0/device", "0xae50\n");
    fails("vfio:0000:00:04.0", MAE_E_NOT_BOUND, "no driver");
    fails("vfio:0000:00:04.0", MAE_E_NOT_BOUND, "needs an IOMMU");
    make_link("sys/0000:00:04.0/driver", "../../drivers/nvme");
    fails("vfio:0000:00:04.0", MAE_E_NOT_BOUND, "bound to nvme; bind it with");
    make_link("sys/0000:00:04.0/driver", "../../drivers/vfio-pci");
    fails("vfio:0000:00:04.0", MAE_E_SYSTEM, "IOMMU");
    make_link("sys/0000:00:04.0/iommu_group", "../../../kernel/iommu_groups/7");
    fails("vfio:0000:00:04.0", MAE_E_SYSTEM, "load the module vfio-pci");
    make("dev/vfio", ""); /* a file that is not VFIO */
    fails("vfio:0000:00:04.0", MAE_E_SYSTEM, "interface version");
    if (geteuid() != 0) { /* root may open anything */
        char path[128];
        snprintf(path, sizeof path, "%s/dev/vfio", root);
        CHECK(chmod(path, 0) == 0);
        fails("vfio:0000:00:04.0", MAE_E_PERMISSION, "read and write access");
    }
}

static void listing(void)
{
    struct mae_device_info list[8];
    size_t count, first = 8;
    CHECK_OK(mae_device_list(list, 8, &count));
    for (size_t i = 0; i < count && i < 8; i++)
        if (strcmp(list[i].uri, "vfio:0000:00:04.0") == 0)
            first = i;
    CHECK(first < 8 && list[first].available == 1 && strstr(list[first].summary, "vfio-pci"));
    for (size_t i = 0; i < count && i < 8; i++)
        CHECK(!strstr(list[i].uri, "03.0"));
    make_link("sys/0000:00:04.0/driver", "../../drivers/nvme");
    CHECK_OK(mae_device_list(list, 8, &count));
    CHECK(list[first].available == 0 && strstr(list[first].summary, "nvme"));
    CHECK_OK(mae_device_list(NULL, 0, &first));
    CHECK(first == count);
    CHECK_ERROR(mae_device_list(NULL, 1, &count), MAE_E_ARGUMENT);
    CHECK_ERROR(mae_device_list(list, 8, NULL), MAE_E_ARGUMENT);
}

static void on_this_machine(void)
{
    mae_vfio_roots = (struct mae_vfio_roots){"/sys/bus/pci/devices", "/dev/vfio"};
    fails("vfio:ffff:ff:1f.7", MAE_E_NO_DEVICE, "lspci");
}

int main(void)
{
    CHECK(setenv("MAESLANT_SIM_PATH", "/nowhere", 1) == 0);
    CHECK(mkdtemp(root));
    make("sys", NULL);
    make("dev", NULL);
    snprintf(sysfs, sizeof sysfs, "%s/sys", root);
    snprintf(dev_folder, sizeof dev_folder, "%s/dev", root);
    mae_vfio_roots = (struct mae_vfio_roots){sysfs, dev_folder};
    RUN(bad_addresses);
    RUN(no_such_function);
    RUN(somebody_elses);
    RUN(ours_step_by_step);
    RUN(listing);
    RUN(on_this_machine);
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests register reads and writes of the backend "vfio" at the end of PCI BAR 0 and beyond. */
#include "vfio.c" /* NOLINT: its structure is private */

#include "mock/check.h"

static uint32_t words[MAE_BAR_BYTES / 4 + 2];

int main(void)
{
    struct vfio vfio = {.pci = {.bar = (uint8_t *)words, .bar_bytes = MAE_BAR_BYTES}};
    const uint32_t end = MAE_BAR_BYTES;
    static const uint32_t wrong[] = {MAE_BAR_BYTES - 3, MAE_BAR_BYTES, UINT32_MAX - 3,
                                     UINT32_MAX - 7,    0x80000000,    UINT32_MAX};
    uint32_t word;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_ERROR(vfio_ops.read32(&vfio, wrong[i], &word), MAE_E_BUS);
        CHECK_ERROR(vfio_ops.write32(&vfio, wrong[i], 1), MAE_E_BUS);
    }
    CHECK_OK(vfio_ops.write32(&vfio, end - 4, 7));
    CHECK_OK(vfio_ops.read32(&vfio, end - 4, &word));
    CHECK(word == 7 && words[end / 4] == 0);
    return 0;
}

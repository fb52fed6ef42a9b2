/* SPDX-License-Identifier: Apache-2.0 */
/* Implements slot.h by libmaeslant's backend "vfio". */
#include "slot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vfio.h"

struct slot {
    struct mae_os_card card; /* first: its address is the whole's */
    const struct mae_ops *ops;
    void *backend;
};

static const uint64_t pause_ns = 1000000; /* an interrupt is a hint, and may be missed */

/* Reads registers of the card, in words. */
static int read_registers(void *user, uint64_t offset, uint8_t *bytes, uint64_t size)
{
    const struct slot *slot = user;
    for (uint64_t at = 0; at < size; at += 4) {
        uint32_t word;
        if (offset + at > UINT32_MAX ||
            slot->ops->read32(slot->backend, (uint32_t)(offset + at), &word) != MAE_OK)
            return -EIO;
        for (uint64_t i = 0; i < 4 && at + i < size; i++)
            bytes[at + i] = (uint8_t)(word >> 8 * i);
    }
    return 0;
}

/* Writes registers of the card, in words. */
static int write_registers(void *user, uint64_t offset, const uint8_t *bytes, uint64_t size)
{
    const struct slot *slot = user;
    if (size % 4 != 0) /* a card has no part of a register to write */
        return -EINVAL;
    for (uint64_t at = 0; at < size; at += 4) {
        uint32_t word = bytes[at] | (uint32_t)bytes[at + 1] << 8 | (uint32_t)bytes[at + 2] << 16 |
                        (uint32_t)bytes[at + 3] << 24;
        if (offset + at > UINT32_MAX ||
            slot->ops->write32(slot->backend, (uint32_t)(offset + at), word) != MAE_OK)
            return -EIO;
    }
    return 0;
}

/* Maps memory for the card's DMA, where the IOMMU has room. */
static int map(void *user, uint64_t *host, void *memory, uint64_t bytes)
{
    const struct slot *slot = user;
    if (slot->ops->dma_map(slot->backend, memory, bytes, true, host) == MAE_OK)
        return 0;
    fprintf(stderr, "maeslant-os: %s\n", mae_error_detail());
    return -EIO;
}

/* Waits for the card's interrupt, or a little. */
static int wait_a_while(void *user)
{
    const struct slot *slot = user;
    mae_error_t error = slot->ops->wait(slot->backend, pause_ns);
    return error == MAE_OK || error == MAE_E_TIMEOUT ? 0 : -EIO;
}

static int install(void *user, const uint8_t *secret, const uint8_t *session_id)
{
    (void)user;
    (void)secret;
    (void)session_id;
    return -ENOTSUP;
}

static uint64_t microseconds(void *user)
{
    const struct slot *slot = user;
    return slot->ops->now_ns(slot->backend) / 1000;
}

struct mae_os_card *mae_os_open_slot(const char *uri, char *reason, size_t reason_size)
{
    const char *colon = strchr(uri, ':');
    char name[64];
    struct slot *slot = calloc(1, sizeof *slot);
    if (!slot || !colon) {
        snprintf(reason, reason_size, "%s: %s", uri, slot ? "no URI" : "out of memory");
        free(slot);
        return NULL;
    }
    slot->ops = mae_backend_vfio.ops;
    slot->card = (struct mae_os_card){.user = slot,
                                      .read = read_registers,
                                      .write = write_registers,
                                      .map = map,
                                      .pause = wait_a_while,
                                      .install = install,
                                      .clocks = microseconds};
    mae_vfio_device = MAE_PCI_PROTECTED_DEVICE;
    mae_error_t error = mae_backend_vfio.open(colon + 1, &slot->backend, name, sizeof name);
    if (error == MAE_OK)
        return &slot->card;
    snprintf(reason, reason_size, "%s: %s: %s", uri, mae_strerror(error), mae_error_detail());
    free(slot);
    return NULL;
}

void mae_os_close_slot(struct mae_os_card *card)
{
    struct slot *slot = (struct slot *)card;
    if (!slot)
        return;
    slot->ops->stop(slot->backend);
    slot->ops->close(slot->backend);
    free(slot);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts or decrypts one AES block on the peripheral (mae_pio_block). Built like peripheral.c. */
#include "peripheral.h"

static const struct mae_pio_job plain_job = {.mode = MAE_ECB}; /* makes no tag */

/*
 * Encrypts or decrypts one block on the peripheral in eleven accesses of mapped registers. The
 * reads wait on the bus for the result.
 */
static ALWAYS_INLINE mae_error_t block_mmio(const struct mae_pio_bus *bus, uint32_t slot,
                                            mae_direction_t direction, const uint8_t *in,
                                            uint8_t *out)
{
    void *base = bus->bus;
    uint32_t status, word[4];
    TRY(mae_pio_mmio_write32(base, REG(length), 16));
    TRY(mae_pio_mmio_write32(base, REG(ctrl),
                             FIELD(CTRL, MODE, MAE_ECB) | FIELD(CTRL, DECRYPT, direction) |
                                 FIELD(CTRL, INIT, 1) | FIELD(CTRL, KEY_SLOT, slot) |
                                 MAE_PERIPHERAL__CTRL__START_bm));
    for (uint32_t i = 0; i < 4; i++)
        TRY(mae_pio_mmio_write32(base, REG_WORD(data_in, i), load_aligned(in + 4 * i)));
    for (uint32_t i = 0; i < 4; i++)
        TRY(mae_pio_mmio_read32(base, REG_WORD(data_out, i), &word[i]));
    TRY(mae_pio_mmio_read32(base, REG(status), &status));
    if (GET(STATUS, ERROR, status) != MAE_PERIPHERAL__STATUS__ERROR__NONE)
        return mae_pio_result(bus, &plain_job, status);
    for (uint32_t i = 0; i < 4; i++)
        store_aligned(out + 4 * i, word[i]);
    return MAE_OK;
}

/* Encrypts or decrypts one block on the peripheral by the caller's register functions. */
static NEVER_INLINE mae_error_t block_any(const struct mae_pio_bus *bus, uint32_t slot,
                                          mae_direction_t direction, const uint8_t *in,
                                          uint8_t *out)
{
    struct mae_pio_job job = {.mode = MAE_ECB, .direction = direction, .init = 1, .length = 16};
    job.key_slot = slot;
    return mae_pio_run(bus, &job, in, out);
}

mae_error_t mae_pio_block(const struct mae_pio_bus *bus, uint32_t slot, mae_direction_t direction,
                          const uint8_t in[16], uint8_t out[16])
{
    bool plain = is_mmio(bus) && is_aligned(in) && is_aligned(out);
    return plain ? block_mmio(bus, slot, direction, in, out)
                 : block_any(bus, slot, direction, in, out);
}

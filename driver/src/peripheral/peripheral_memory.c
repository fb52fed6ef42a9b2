/* SPDX-License-Identifier: Apache-2.0 */
/* Runs memory jobs, whose data the peripheral itself reads and writes in memory. Built like
   peripheral.c. */
#include "peripheral.h"

/* Writes address and key length of a memory job's key table to the peripheral. Without key_bytes
   there is no table. */
static ALWAYS_INLINE mae_error_t write_keys(const struct mae_pio_bus *bus,
                                            const struct mae_pio_memory *memory, uint32_t *ctrl)
{
    uint32_t length;
    switch (memory->key_bytes) {
    case 0:
        return MAE_OK;
    case 16:
        length = MAE_PERIPHERAL__KEY_CMD__LEN__AES128;
        break;
    case 24:
        length = MAE_PERIPHERAL__KEY_CMD__LEN__AES192;
        break;
    case 32:
        length = MAE_PERIPHERAL__KEY_CMD__LEN__AES256;
        break;
    default:
        return MAE_E_KEY;
    }
    *ctrl |= MAE_PERIPHERAL__CTRL__KEY_EACH_bm;
    TRY(write_reg(bus, REG(keys), memory->keys));
    return write_reg(bus, REG(keys_len), FIELD(KEYS_LEN, LEN, length));
}

/* Writes all registers of the peripheral's memory job except `ctrl`. */
static ALWAYS_INLINE mae_error_t write_place(const struct mae_pio_bus *bus,
                                             const struct mae_pio_memory *memory, uint32_t *ctrl)
{
    TRY(write_keys(bus, memory, ctrl));
    TRY(write_reg(bus, REG(source), memory->source));
    TRY(write_reg(bus, REG(destination), memory->destination));
    TRY(write_reg(bus, REG(irq_status), MAE_PERIPHERAL__IRQ_STATUS__DONE_bm)); /* an older job's */
    return write_reg(bus, REG(irq_enable), FIELD(IRQ_ENABLE, DONE, memory->interrupt));
}

/* Writes a memory job's parameters through memory-mapped registers of the peripheral. */
static NEVER_INLINE mae_error_t write_place_mmio(void *base, const struct mae_pio_memory *memory,
                                                 uint32_t *ctrl)
{
    return write_place(&MMIO(base), memory, ctrl);
}

/* Writes a memory job's parameters by the caller's register functions. */
static NEVER_INLINE mae_error_t write_place_any(const struct mae_pio_bus *bus,
                                                const struct mae_pio_memory *memory, uint32_t *ctrl)
{
    return write_place(bus, memory, ctrl);
}

mae_error_t mae_pio_memory_start(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                 const struct mae_pio_memory *memory)
{
    uint32_t ctrl = job->length > 0 ? MAE_PERIPHERAL__CTRL__MEMORY_bm : 0;
    TRY(is_mmio(bus) ? write_place_mmio(bus->bus, memory, &ctrl)
                     : write_place_any(bus, memory, &ctrl));
    return mae_pio_start(bus, job, ctrl);
}

/* Checks once if the peripheral's memory job has ended; returns its error. */
static ALWAYS_INLINE mae_error_t poll(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                      bool *over)
{
    uint32_t status;
    *over = false;
    TRY(read_reg(bus, REG(status), &status));
    if (GET(STATUS, BUSY, status))
        return MAE_OK;
    *over = true;
    TRY(write_reg(bus, REG(irq_enable), 0));
    TRY(write_reg(bus, REG(irq_status), MAE_PERIPHERAL__IRQ_STATUS__DONE_bm));
    return GET(STATUS, ERROR, status) || is_aead(job) ? mae_pio_result(bus, job, status) : MAE_OK;
}

/* Polls until the peripheral's memory job has ended; returns its error. */
static ALWAYS_INLINE mae_error_t wait(const struct mae_pio_bus *bus, const struct mae_pio_job *job)
{
    uint32_t most = job->length < UINT32_MAX - MAE_PIO_POLLS ? job->length : 0;
    for (uint32_t i = 0; i < MAE_PIO_POLLS + most; i++) {
        bool over;
        TRY(poll(bus, job, &over));
        if (over)
            return MAE_OK;
    }
    return MAE_E_TIMEOUT;
}

/* Checks if the memory job has ended, by the caller's register functions. */
static NEVER_INLINE mae_error_t poll_any(const struct mae_pio_bus *bus,
                                         const struct mae_pio_job *job, bool *over)
{
    return poll(bus, job, over);
}

/* Polls until the memory job has ended, by the caller's register functions. */
static NEVER_INLINE mae_error_t wait_any(const struct mae_pio_bus *bus,
                                         const struct mae_pio_job *job)
{
    return wait(bus, job);
}

mae_error_t mae_pio_memory_poll(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                bool *over)
{
    return is_mmio(bus) ? poll(&MMIO(bus->bus), job, over) : poll_any(bus, job, over);
}

mae_error_t mae_pio_memory_wait(const struct mae_pio_bus *bus, const struct mae_pio_job *job)
{
    return is_mmio(bus) ? wait(&MMIO(bus->bus), job) : wait_any(bus, job);
}

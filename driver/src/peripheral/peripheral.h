/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares functions and register access that the files of the peripheral's driver share.
 * Freestanding.
 */
#ifndef MAE_PERIPHERAL_H
#define MAE_PERIPHERAL_H

#include "maeslant_peripheral.h"

#include "generated/mae_peripheral_regs.h"

#define REG(name) ((uint32_t)offsetof(mae_peripheral_t, name))
#define REG_WORD(name, i) (REG(name) + 4 * (uint32_t)(i))
#define FIELD(reg, field, value) \
    (((uint32_t)(value) << MAE_PERIPHERAL__##reg##__##field##_bp) & \
     MAE_PERIPHERAL__##reg##__##field##_bm)
#define GET(reg, field, value) \
    (((value) & MAE_PERIPHERAL__##reg##__##field##_bm) >> MAE_PERIPHERAL__##reg##__##field##_bp)
#define TRY(call) \
    do { \
        mae_error_t error_ = (call); \
        if (error_ != MAE_OK) \
            return error_; \
    } while (0)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))

/* Sets how often a register is read before the peripheral counts as dead. A wipe takes < 4096
   clocks. */
enum { MAE_PIO_POLLS = 10000 };

/*
 * Makes a bus of memory-mapped registers a constant, so that register accesses are inlined. So
 * what is called often stands once, as an inline function of its bus, and is compiled twice: for
 * MMIO, of which the compiler then knows everything, and for any bus. Both are functions of their
 * own, so that the quick one saves no registers that only the other one needs.
 */
#define MMIO(base) ((const struct mae_pio_bus){mae_pio_mmio_read32, mae_pio_mmio_write32, (base)})

/* Returns true if the device's registers are memory-mapped, so that no function is called. */
static inline bool is_mmio(const struct mae_pio_bus *bus)
{
    return bus->read32 == mae_pio_mmio_read32 && bus->write32 == mae_pio_mmio_write32;
}

/* Reads a register of the device, memory-mapped or by the caller's function. */
static ALWAYS_INLINE mae_error_t read_reg(const struct mae_pio_bus *bus, uint32_t offset,
                                          uint32_t *value)
{
    return bus->read32(bus->bus, offset, value);
}

/* Writes a register of the device, memory-mapped or by the caller's function. */
static ALWAYS_INLINE mae_error_t write_reg(const struct mae_pio_bus *bus, uint32_t offset,
                                           uint32_t value)
{
    return bus->write32(bus->bus, offset, value);
}

/* Loads a little-endian 32-bit word from any address. */
static inline uint32_t load_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* Stores a 32-bit word in little-endian order at any address. */
static inline void store_word(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

/* Defines a 32-bit word that may alias bytes, so that aligned data take one access. */
typedef uint32_t __attribute__((may_alias)) mae_word_t;

/* Returns true if an address is a multiple of 4. */
static inline bool is_aligned(const void *bytes)
{
    return ((uintptr_t)bytes & 3) == 0;
}

/* Loads a little-endian 32-bit word from an aligned address. */
static inline uint32_t load_aligned(const uint8_t *bytes)
{
    bool same = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return same ? *(const mae_word_t *)(const void *)bytes : load_word(bytes);
}

/* Stores a 32-bit word in little-endian order at an aligned address. */
static inline void store_aligned(uint8_t *bytes, uint32_t word)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        *(mae_word_t *)(void *)bytes = word;
    else
        store_word(bytes, word);
}

/* Polls a device register until the bits of `mask` are 0. */
static ALWAYS_INLINE mae_error_t wait_clear(const struct mae_pio_bus *bus, uint32_t offset,
                                            uint32_t mask, uint32_t *value)
{
    for (int i = 0; i < MAE_PIO_POLLS; i++) {
        TRY(read_reg(bus, offset, value));
        if ((*value & mask) == 0)
            return MAE_OK;
    }
    return MAE_E_TIMEOUT;
}

/* Writes words of memory to consecutive registers of the peripheral, in little-endian order. */
static ALWAYS_INLINE mae_error_t write_words(const struct mae_pio_bus *bus, uint32_t offset,
                                             const uint8_t *bytes, uint32_t count)
{
    bool aligned = is_aligned(bytes);
    for (uint32_t i = 0; i < count; i++, bytes += 4)
        TRY(write_reg(bus, offset + 4 * i, aligned ? load_aligned(bytes) : load_word(bytes)));
    return MAE_OK;
}

/* Translates the error code in the device's status register to mae_error_t. They are mae_error_e of
   regs/mae_common.rdl. */
mae_error_t mae_pio_error(uint32_t code);
/* Writes a job's parameters to the peripheral's registers and starts the job. `more` are further
   bits of `ctrl`. */
mae_error_t mae_pio_start(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                          uint32_t more);
/* Returns the error that the peripheral reports at a job's end, or reads the job's tag. */
mae_error_t mae_pio_result(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                           uint32_t status);

/* Returns true for a peripheral's job of GCM, CCM or CMAC. */
static inline bool is_aead(const struct mae_pio_job *job)
{
    return job->mode == MAE_GCM || job->mode == MAE_CCM || job->mode == MAE_CMAC;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what firmware uses of mae_soc: console, counters, interrupts, AES peripheral. */
#ifndef MAESLANT_SOC_H
#define MAESLANT_SOC_H

#include <stdint.h>

#include "maeslant_peripheral.h"

enum {
    SOC_PERIPHERAL_BASE = 0x10000000,
    SOC_DUPLEX_BASE = 0x10001000,
    SOC_SYSTEM_BASE = 0x20000000,
    SOC_PERIPHERAL_LINE = 1 << 3
};

/* Holds the functions by which the driver accesses the peripheral's registers in firmware. */
extern const struct mae_pio_bus soc_peripheral;
/* Holds those of the peripheral of two jobs at once, where the system has one. */
extern const struct mae_pio_bus soc_duplex;

void soc_put(char character);
void soc_text(const char *text);
void soc_number(uint32_t number);
/* Ends the simulation of the SoC with an exit code. */
void soc_finish(uint32_t code);

/* Returns the CPU's clock cycle counter. */
static inline uint32_t soc_clocks(void)
{
    uint32_t value;
    __asm__ volatile("csrrs %0, 0xc00, x0" : "=r"(value) : : "memory");
    return value;
}

/* Returns the number of instructions that the CPU has executed. */
static inline uint32_t soc_instructions(void)
{
    uint32_t value;
    __asm__ volatile("csrrs %0, 0xc02, x0" : "=r"(value) : : "memory");
    return value;
}

/* Sets the mask of the CPU's disabled interrupt lines; returns the previous mask. In start.S. */
uint32_t soc_interrupt_mask(uint32_t mask);
/* Stops the CPU until one of its interrupt lines rises, masked or not. */
uint32_t soc_interrupt_wait(void);
/* Handles the firmware's interrupts; the firmware defines it, start.S calls it. */
void soc_interrupt(uint32_t lines);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Declares mae_soc for firmware: console, counters, interrupts, the peripheral. */
#ifndef MAESLANT_SOC_H
#define MAESLANT_SOC_H

#include <stdint.h>

#include "maeslant_peripheral.h"

enum {
    SOC_PERIPHERAL_BASE = 0x10000000,
    SOC_SYSTEM_BASE = 0x20000000,
    SOC_PERIPHERAL_LINE = 1 << 3
};

/* The bus by which the firmware's driver accesses the peripheral's registers. */
extern const struct mae_pio_bus soc_peripheral;

void soc_put(char character);
void soc_text(const char *text);
void soc_number(uint32_t number);
/* Ends the simulation of the SoC with an exit code. */
void soc_finish(uint32_t code);

/* Returns the CPU's clock counter. */
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
/* Waits until an interrupt line of the CPU rises, disabled or not. */
uint32_t soc_interrupt_wait(void);
/* Handles interrupts of the firmware; called with the lines that rose. */
void soc_interrupt(uint32_t lines);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "soc.h"

#include "generated/mae_soc_regs.h"

#define SOC_REG(name) \
    (*(volatile uint32_t *)(SOC_SYSTEM_BASE + (uintptr_t)offsetof(mae_soc_t, name)))

const struct mae_pio_bus soc_peripheral = {mae_pio_mmio_read32, mae_pio_mmio_write32,
                                           (void *)SOC_PERIPHERAL_BASE};
const struct mae_pio_bus soc_duplex = {mae_pio_mmio_read32, mae_pio_mmio_write32,
                                       (void *)SOC_DUPLEX_BASE};

void soc_put(char character)
{
    SOC_REG(console) = (uint8_t)character;
}

void soc_text(const char *text)
{
    while (*text)
        soc_put(*text++);
}

void soc_number(uint32_t number)
{
    static const uint32_t powers[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                      10000,      1000,      100,      10,      1};
    uint32_t shown = 0; /* by subtraction: the CPU does not divide */
    for (uint32_t i = 0; i < 10; i++) {
        char digit = '0';
        for (; number >= powers[i]; number -= powers[i])
            digit++;
        shown |= digit != '0' || i == 9;
        if (shown)
            soc_put(digit);
    }
}

void soc_finish(uint32_t code)
{
    SOC_REG(finish) = code;
}

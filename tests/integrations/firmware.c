/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the peripheral from LiteX firmware, with LiteX's generated headers and the driver. Prints
 * what the test compares with OpenSSL.
 */
#include <stdint.h>

#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <irq.h>

#include "generated/mae_peripheral_regs.h"
#include "maeslant_peripheral.h"

static const struct mae_pio_bus aes = {mae_pio_mmio_read32, mae_pio_mmio_write32, (void *)AES_BASE};
static volatile uint32_t interrupts;

void isr(void); /* called by LiteX's start-up code */

void isr(void)
{
    volatile mae_peripheral_t *regs = (volatile mae_peripheral_t *)AES_BASE;

    if (irq_pending() & 1u << AES_INTERRUPT &&
        regs->irq_status & MAE_PERIPHERAL__IRQ_STATUS__DONE_bm) {
        regs->irq_status = MAE_PERIPHERAL__IRQ_STATUS__DONE_bm;
        interrupts = interrupts + 1;
    }
}

static void put(char c)
{
    while (uart_txfull_read())
        ;
    uart_rxtx_write((uint8_t)c);
}

static void print(const char *text)
{
    while (*text)
        put(*text++);
}

static void print_bytes(const char *name, const uint8_t *bytes, uint32_t n)
{
    print(name);
    put(' ');
    for (uint32_t i = 0; i < n; i++) {
        put("0123456789abcdef"[bytes[i] >> 4]);
        put("0123456789abcdef"[bytes[i] & 15]);
    }
    put('\n');
}

static void check(mae_error_t error)
{
    if (error != MAE_OK)
        print("error\n");
}

int main(void)
{
    /* Static: there is no memset here to clear the rest of an initialised local structure. */
    static struct mae_pio_job job = {
        .mode = MAE_ECB, .direction = MAE_ENCRYPT, .init = 1, .length = 80};
    static uint8_t key[16], iv[16], data[80], out[96];
    static const struct mae_pio_message message = {.mode = MAE_GCM,
                                                   .nonce = iv,
                                                   .nonce_bytes = 12,
                                                   .aad = data,
                                                   .aad_bytes = 20,
                                                   .tag = out + 77,
                                                   .tag_bytes = 16};

    for (uint32_t i = 0; i < 80; i++) {
        key[i & 15] = (uint8_t)(i & 15);
        iv[i & 15] = (uint8_t)(0xf0 + (i & 15));
        data[i] = (uint8_t)(i + 7);
    }
    ((volatile mae_peripheral_t *)AES_BASE)->irq_enable = MAE_PERIPHERAL__IRQ_ENABLE__DONE_bm;
    irq_setmask(1u << AES_INTERRUPT);
    irq_setie(1);

    struct mae_pio_info info;
    check(mae_pio_probe(&aes, &info));
    uint8_t byte = (uint8_t)info.key_sizes;
    print_bytes("keys", &byte, 1);

    check(mae_pio_wipe(&aes)); /* also waits for the stores to be zeroed after reset */
    check(mae_pio_key_load(&aes, 0, key, 16));
    check(mae_pio_run(&aes, &job, data, out));
    print_bytes("ecb", out, 80);
    job.mode = MAE_CTR;
    job.iv = iv;
    job.length = 77;
    check(mae_pio_run(&aes, &job, data, out));
    print_bytes("ctr", out, 77);

    check(mae_pio_seal(&aes, &message, data, out, 77));
    print_bytes("gcm", out, 77 + 16);
    check(mae_pio_unseal(&aes, &message, out, out, 77));
    print_bytes("opened", out, 77);
    byte = (uint8_t)interrupts;
    print_bytes("interrupts", &byte, 1);
    print("end\n");
    for (;;)
        ;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware for the PicoRV32 system: encrypts with AES-128-GCM on the peripheral, first with the CPU
 * moving the data, then as a job in memory that the peripheral carries out alone.
 */
#include "soc.h"

static const uint8_t key[16] __attribute__((aligned(4))) = {
    0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t nonce[12] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce,
                                  0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t counter[16] __attribute__((aligned(4))) = {0};
static uint8_t text[1024] __attribute__((aligned(16)));
static uint8_t sealed[1024] __attribute__((aligned(16)));

void soc_interrupt(uint32_t lines)
{
    (void)lines; /* all of them stay masked: this program polls */
}

static void hex(const char *name, const uint8_t *bytes, uint32_t count)
{
    static const char digits[] = "0123456789abcdef";
    soc_text(name);
    for (uint32_t i = 0; i < count; i++) {
        soc_put(digits[bytes[i] >> 4]);
        soc_put(digits[bytes[i] & 15]);
    }
    soc_put('\n');
}

/*
 * The tag of the firmware's message; static, for there is no memcpy here to initialize it on the
 * stack.
 */
static uint8_t tag[16];
static const struct mae_pio_message message = {.mode = MAE_GCM,
                                               .nonce = nonce,
                                               .nonce_bytes = sizeof nonce,
                                               .aad = "header",
                                               .aad_bytes = 6,
                                               .tag = tag,
                                               .tag_bytes = sizeof tag};
static const struct mae_pio_job job = {
    .mode = MAE_CTR, .init = 1, .iv = counter, .length = sizeof text};
static struct mae_pio_memory memory;

int main(void)
{
    uint32_t start;

    memory.source = (uintptr_t)text;
    memory.destination = (uintptr_t)sealed;
    for (uint32_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)i;
    mae_error_t error = mae_pio_key_load(&soc_peripheral, 0, key, sizeof key);

    start = soc_clocks();
    if (error == MAE_OK)
        error = mae_pio_seal(&soc_peripheral, &message, text, sealed, sizeof text);
    soc_number(soc_clocks() - start);
    soc_text(" clocks for 1 KiB of GCM, moved by the CPU\n");
    hex("tag ", tag, sizeof tag);

    start = soc_clocks();
    if (error == MAE_OK)
        error = mae_pio_memory_start(&soc_peripheral, &job, &memory);
    if (error == MAE_OK)
        error = mae_pio_memory_wait(&soc_peripheral, &job);
    soc_number(soc_clocks() - start);
    soc_text(" clocks for 1 KiB of CTR, moved by the peripheral\n");
    hex("last ", sealed + sizeof sealed - 16, 16);
    return (int)error;
}

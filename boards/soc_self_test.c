/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware for the PicoRV32 system on a board: runs published vectors on the peripheral with the C
 * driver, prints a line for each with its clocks, and at the end `ok` or `failed`.
 *
 * Source: CAVP, gcmEncryptExtIV128.rsp, IVlen 96, PTlen 408, AADlen 160, Taglen 128, Count 0;
 * CBCMMT128.rsp, ENCRYPT, COUNT 3.
 */
#include "soc.h"

enum { GCM_BYTES = 51, AAD_BYTES = 20, CBC_BYTES = 64 };

static const char gcm_key[] = "fe47fcce5fc32665d2ae399e4eec72ba";
static const char gcm_iv[] = "5adb9609dbaeb58cbd6e7275";
static const char gcm_aad[] = "88319d6e1d3ffa5f987199166c8a9b56c2aeba5a";
static const char gcm_plain[] = "7c0e88c88899a779228465074797cd4c2e1498d259b54390b85e3eef1c02df60"
                                "e743f1b840382c4bccaf3bafb4ca8429bea063";
static const char gcm_cipher[] = "98f4826f05a265e6dd2be82db241c0fbbbf9ffb1c173aa83964b7cf539304373"
                                 "6365253ddbc5db8778371495da76d269e5db3e";
static const char gcm_tag[] = "291ef1982e4defedaa2249f898556b47";
static const char cbc_key[] = "b7f3c9576e12dd0db63e8f8fac2b9a39";
static const char cbc_iv[] = "c80f095d8bb1a060699f7c19974a1aa0";
static const char cbc_plain[] = "9ac19954ce1319b354d3220460f71c1e373f1cd336240881160cfde46ebfed2e"
                                "791e8d5a1a136ebd1dc469dec00c4187722b841cdabcb22c1be8a14657da200e";
static const char cbc_cipher[] = "19b9609772c63f338608bf6eb52ca10be65097f89c1e0905c42401fd47791ae2"
                                 "c5440b2d473116ca78bd9ff2fb6015cfd316524eae7dcb95ae738ebeae84a467";

/* Hold the vector in progress, where a memory job of the peripheral can reach it. */
static uint8_t key[16] __attribute__((aligned(16)));
static uint8_t iv[16] __attribute__((aligned(16)));
static uint8_t aad[AAD_BYTES] __attribute__((aligned(16)));
static uint8_t tag[16] __attribute__((aligned(16)));
static uint8_t text[64] __attribute__((aligned(16)));
static uint8_t result[64] __attribute__((aligned(16)));

static const struct mae_pio_message message = {.mode = MAE_GCM,
                                               .nonce = iv,
                                               .nonce_bytes = 12,
                                               .aad = aad,
                                               .aad_bytes = AAD_BYTES,
                                               .tag = tag,
                                               .tag_bytes = 16};
static const struct mae_pio_job job = {.mode = MAE_CBC, .init = 1, .iv = iv, .length = CBC_BYTES};
static struct mae_pio_memory memory;
static uint32_t failures;

void soc_interrupt(uint32_t lines)
{
    (void)lines; /* all of them stay masked: this program polls */
}

static uint8_t digit(char character)
{
    return (uint8_t)(character <= '9' ? character - '0' : character - 'a' + 10);
}

/* Writes the bytes that a hexadecimal text stands for. */
static void set(uint8_t *bytes, const char *hex)
{
    for (; *hex; hex += 2)
        *bytes++ = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
}

/* Returns 1 if bytes are those that a hexadecimal text stands for, else 0. */
static uint32_t same(const uint8_t *bytes, const char *hex)
{
    uint32_t different = 0;
    for (; *hex; hex += 2)
        different |= *bytes++ ^ (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
    return different == 0;
}

static void report(const char *name, uint32_t right, uint32_t clocks)
{
    soc_text(name);
    soc_text(right ? " ok, " : " failed, ");
    soc_number(clocks);
    soc_text(" clocks\r\n");
    failures += !right;
}

static void test_gcm(void)
{
    mae_error_t error;
    uint32_t start;

    set(key, gcm_key);
    set(iv, gcm_iv);
    set(aad, gcm_aad);
    set(text, gcm_plain);
    error = mae_pio_key_load(&soc_peripheral, 0, key, sizeof key);
    start = soc_clocks();
    if (error == MAE_OK)
        error = mae_pio_seal(&soc_peripheral, &message, text, result, GCM_BYTES);
    start = soc_clocks() - start;
    report("GCM encrypt", error == MAE_OK && same(result, gcm_cipher) && same(tag, gcm_tag), start);

    set(text, gcm_cipher);
    set(tag, gcm_tag);
    start = soc_clocks();
    error = mae_pio_unseal(&soc_peripheral, &message, text, result, GCM_BYTES);
    start = soc_clocks() - start;
    report("GCM decrypt", error == MAE_OK && same(result, gcm_plain), start);

    tag[15] ^= 1;
    start = soc_clocks();
    error = mae_pio_unseal(&soc_peripheral, &message, text, result, GCM_BYTES);
    start = soc_clocks() - start;
    report("GCM refuse", error == MAE_E_AUTH, start);
}

/* The peripheral moves the data itself, as a job in memory. */
static void test_cbc(void)
{
    mae_error_t error;
    uint32_t start;

    set(key, cbc_key);
    set(iv, cbc_iv);
    set(text, cbc_plain);
    memory.source = (uintptr_t)text;
    memory.destination = (uintptr_t)result;
    error = mae_pio_key_load(&soc_peripheral, 0, key, sizeof key);
    start = soc_clocks();
    if (error == MAE_OK)
        error = mae_pio_memory_start(&soc_peripheral, &job, &memory);
    if (error == MAE_OK)
        error = mae_pio_memory_wait(&soc_peripheral, &job);
    start = soc_clocks() - start;
    report("CBC encrypt", error == MAE_OK && same(result, cbc_cipher), start);
}

int main(void)
{
    test_gcm();
    test_cbc();
    soc_text(failures ? "failed\r\n" : "ok\r\n");
    return (int)failures;
}

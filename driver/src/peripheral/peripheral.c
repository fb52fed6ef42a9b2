/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies the AES peripheral by its registers, loads and erases keys, and wipes it.
 * Freestanding: see maeslant_peripheral.h.
 */
#include "peripheral.h"

#include "generated/mae_stream_card_regs.h"

/* Asserts that a register of both devices has the same offset in both register maps. */
#define SAME(name) \
    _Static_assert(offsetof(mae_peripheral_t, name) == offsetof(mae_stream_card_t, name), #name)
SAME(id);
SAME(version);
SAME(caps);
SAME(features);
SAME(modes);
SAME(key);
SAME(key_cmd);
SAME(key_status);

enum { SUPPORTED_MAJOR = MAE_PERIPHERAL__VERSION__MAJOR_reset };

_Static_assert(MAE_PERIPHERAL__VERSION__MAJOR_reset == MAE_STREAM_CARD__VERSION__MAJOR_reset,
               "one version for both maps");

/* Makes the inline register functions available by address. */
extern inline mae_error_t mae_pio_mmio_read32(void *bus, uint32_t offset, uint32_t *value);
extern inline mae_error_t mae_pio_mmio_write32(void *bus, uint32_t offset, uint32_t value);

NEVER_INLINE mae_error_t mae_pio_error(uint32_t code)
{
    switch (code) {
    case MAE_PERIPHERAL__STATUS__ERROR__NONE:
        return MAE_OK;
    case MAE_PERIPHERAL__STATUS__ERROR__BAD_OP:
        return MAE_E_MODE;
    case MAE_PERIPHERAL__STATUS__ERROR__BAD_LENGTH:
        return MAE_E_LENGTH;
    case MAE_PERIPHERAL__STATUS__ERROR__BAD_KEY:
        return MAE_E_KEY;
    case MAE_PERIPHERAL__STATUS__ERROR__BUSY:
        return MAE_E_BUSY;
    case MAE_PERIPHERAL__STATUS__ERROR__BAD_TAG:
        return MAE_E_AUTH;
    case MAE_PERIPHERAL__STATUS__ERROR__BAD_ADDRESS:
        return MAE_E_ARGUMENT;
    default:
        return MAE_E_DEVICE;
    }
}

mae_error_t mae_pio_probe(const struct mae_pio_bus *bus, struct mae_pio_info *info)
{
    uint32_t id, caps, features;
    TRY(read_reg(bus, REG(id), &id));
    TRY(read_reg(bus, REG(version), &info->version));
    if (id != MAE_PERIPHERAL__ID__MAGIC_reset && id != MAE_STREAM_CARD__ID__MAGIC_reset)
        return MAE_E_NOT_OURS;
    if (GET(VERSION, MAJOR, info->version) != SUPPORTED_MAJOR)
        return MAE_E_NOT_OURS;
    TRY(read_reg(bus, REG(caps), &caps));
    TRY(read_reg(bus, REG(features), &features));
    TRY(read_reg(bus, REG(modes), &info->modes));
    info->kind = MAE_KIND_PERIPHERAL;
    if (id == MAE_STREAM_CARD__ID__MAGIC_reset)
        info->kind = info->modes == 1u << MAE_COPY ? MAE_KIND_COPY : MAE_KIND_STREAM;
    info->lanes = GET(CAPS, LANES, caps);
    info->contexts = GET(CAPS, CONTEXTS, caps);
    info->jobs = info->contexts;
    if (info->kind == MAE_KIND_PERIPHERAL)
        info->contexts = 1; /* of each job's registers */
    info->key_slots = GET(CAPS, KEY_SLOTS, caps);
    info->key_banks = GET(CAPS, KEY_BANKS, caps);
    info->directions = GET(FEATURES, ENCRYPT, features) | GET(FEATURES, DECRYPT, features) << 1;
    info->memory = id == MAE_PERIPHERAL__ID__MAGIC_reset ? GET(FEATURES, MEMORY, features) : 0;
    info->key_sizes = GET(FEATURES, AES128, features) | GET(FEATURES, AES192, features) << 1 |
                      GET(FEATURES, AES256, features) << 2;
    return MAE_OK;
}

/* Writes a key command to the device's registers and waits for its end. */
static ALWAYS_INLINE mae_error_t key_command(const struct mae_pio_bus *bus, uint32_t command)
{
    uint32_t status;
    TRY(write_reg(bus, REG(key_cmd), command | MAE_PERIPHERAL__KEY_CMD__GO_bm));
    TRY(wait_clear(bus, REG(key_status), MAE_PERIPHERAL__KEY_STATUS__BUSY_bm, &status));
    return mae_pio_error(GET(KEY_STATUS, ERROR, status));
}

/* Loads a key into a key slot of the device, inlined for the kind of register access. */
static ALWAYS_INLINE mae_error_t key_load(const struct mae_pio_bus *bus, uint32_t slot,
                                          const uint8_t *key, size_t bytes)
{
    uint32_t length;
    switch (bytes) {
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
    TRY(write_words(bus, REG(key), key, (uint32_t)bytes / 4));
    return key_command(bus, FIELD(KEY_CMD, SLOT, slot) | FIELD(KEY_CMD, LEN, length) |
                                FIELD(KEY_CMD, OP, MAE_PERIPHERAL__KEY_CMD__OP__LOAD));
}

/* Loads a key into a key slot of the device through memory-mapped registers. */
static NEVER_INLINE mae_error_t key_load_mmio(void *base, uint32_t slot, const uint8_t *key,
                                              size_t bytes)
{
    return key_load(&MMIO(base), slot, key, bytes);
}

/* Loads a key into a key slot of the device by the caller's register functions. */
static NEVER_INLINE mae_error_t key_load_any(const struct mae_pio_bus *bus, uint32_t slot,
                                             const uint8_t *key, size_t bytes)
{
    return key_load(bus, slot, key, bytes);
}

mae_error_t mae_pio_key_load(const struct mae_pio_bus *bus, uint32_t slot, const uint8_t *key,
                             size_t bytes)
{
    return is_mmio(bus) ? key_load_mmio(bus->bus, slot, key, bytes)
                        : key_load_any(bus, slot, key, bytes);
}

mae_error_t mae_pio_key_erase(const struct mae_pio_bus *bus, uint32_t slot)
{
    return key_command(bus, FIELD(KEY_CMD, SLOT, slot) |
                                FIELD(KEY_CMD, OP, MAE_PERIPHERAL__KEY_CMD__OP__ERASE));
}

mae_error_t mae_pio_wipe(const struct mae_pio_bus *bus)
{
    uint32_t status;
    TRY(write_reg(bus, REG(ctrl), MAE_PERIPHERAL__CTRL__WIPE_bm));
    return wait_clear(bus, REG(status), MAE_PERIPHERAL__STATUS__WIPING_bm, &status);
}

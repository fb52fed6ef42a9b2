/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The register-level part: freestanding, see maeslant_peripheral.h. Structures are not copied or
 * cleared as a whole here, so that the compiler has no reason to call memcpy or memset.
 */
#include "maeslant_peripheral.h"

#include "generated/mae_peripheral_regs.h"
#include "generated/mae_stream_card_regs.h"

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

/* What serves both devices stands at the same offsets in both maps. */
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

enum {
    SUPPORTED_MAJOR = MAE_PERIPHERAL__VERSION__MAJOR_reset,
    POLLS =
        10000, /* register reads before a device is taken for dead; a wipe takes < 4096 clocks */
    AHEAD = 2  /* blocks written before the first answer is read: XTS stealing needs two */
};

_Static_assert(MAE_PERIPHERAL__VERSION__MAJOR_reset == MAE_STREAM_CARD__VERSION__MAJOR_reset,
               "one version for both maps");

static mae_error_t read_reg(const struct mae_pio_bus *bus, uint32_t offset, uint32_t *value)
{
    return bus->read32(bus->bus, offset, value);
}

static mae_error_t write_reg(const struct mae_pio_bus *bus, uint32_t offset, uint32_t value)
{
    return bus->write32(bus->bus, offset, value);
}

static uint32_t load_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static void store_word(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

/* Reads a register until the bits of `mask` are 0. */
static mae_error_t wait_clear(const struct mae_pio_bus *bus, uint32_t offset, uint32_t mask,
                              uint32_t *value)
{
    for (int i = 0; i < POLLS; i++) {
        TRY(read_reg(bus, offset, value));
        if ((*value & mask) == 0)
            return MAE_OK;
    }
    return MAE_E_TIMEOUT;
}

/* The device's error codes (mae_error_e of regs/mae_common.rdl) in ours. */
static mae_error_t device_error(uint32_t code)
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
    info->key_slots = GET(CAPS, KEY_SLOTS, caps);
    info->key_banks = GET(CAPS, KEY_BANKS, caps);
    info->directions = GET(FEATURES, ENCRYPT, features) | GET(FEATURES, DECRYPT, features) << 1;
    info->key_sizes = GET(FEATURES, AES128, features) | GET(FEATURES, AES192, features) << 1 |
                      GET(FEATURES, AES256, features) << 2;
    return MAE_OK;
}

/* Carries out a command of the key window and waits for its end. */
static mae_error_t key_command(const struct mae_pio_bus *bus, uint32_t command)
{
    uint32_t status;
    TRY(write_reg(bus, REG(key_cmd), command | MAE_PERIPHERAL__KEY_CMD__GO_bm));
    TRY(wait_clear(bus, REG(key_status), MAE_PERIPHERAL__KEY_STATUS__BUSY_bm, &status));
    return device_error(GET(KEY_STATUS, ERROR, status));
}

mae_error_t mae_pio_key_load(const struct mae_pio_bus *bus, uint32_t slot, const uint8_t *key,
                             size_t bytes)
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
    for (uint32_t i = 0; i < bytes / 4; i++)
        TRY(write_reg(bus, REG_WORD(key, i), load_word(key + 4 * i)));
    return key_command(bus, FIELD(KEY_CMD, SLOT, slot) | FIELD(KEY_CMD, LEN, length) |
                                FIELD(KEY_CMD, OP, MAE_PERIPHERAL__KEY_CMD__OP__LOAD));
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

/* The first error noted since the last call, which this clears. */
static mae_error_t take_error(const struct mae_pio_bus *bus)
{
    uint32_t status;
    TRY(read_reg(bus, REG(status), &status));
    if (GET(STATUS, ERROR, status) == MAE_PERIPHERAL__STATUS__ERROR__NONE)
        return MAE_OK;
    TRY(write_reg(bus, REG(irq_status), MAE_PERIPHERAL__IRQ_STATUS__ERROR_bm));
    return device_error(GET(STATUS, ERROR, status));
}

static bool is_aead(const struct mae_pio_job *job)
{
    return job->mode == MAE_GCM || job->mode == MAE_CCM || job->mode == MAE_CMAC;
}

/* Whether the job's data goes in without coming out. */
static bool sinks(const struct mae_pio_job *job)
{
    return is_aead(job) && (job->phase != MAE_PHASE_DATA || job->mode == MAE_CMAC);
}

static mae_error_t write_words(const struct mae_pio_bus *bus, uint32_t offset, const uint8_t *bytes,
                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        TRY(write_reg(bus, offset + 4 * i, load_word(bytes + 4 * i)));
    return MAE_OK;
}

/* The IV; where GCM's has 12 bytes, the counter block that they begin. */
static mae_error_t write_iv(const struct mae_pio_bus *bus, const struct mae_pio_job *job)
{
    if (!job->init || !job->iv || (is_aead(job) && job->phase == MAE_PHASE_IV))
        return MAE_OK;
    TRY(write_words(bus, REG(iv), job->iv, job->mode == MAE_GCM ? 3 : 4));
    return job->mode == MAE_GCM ? write_reg(bus, REG_WORD(iv, 3), UINT32_C(1) << 24) : MAE_OK;
}

static mae_error_t start(const struct mae_pio_bus *bus, const struct mae_pio_job *job)
{
    uint32_t ctrl = FIELD(CTRL, MODE, job->mode) | FIELD(CTRL, DECRYPT, job->direction) |
                    FIELD(CTRL, INIT, job->init ? 1 : 0) | FIELD(CTRL, KEY_SLOT, job->key_slot) |
                    FIELD(CTRL, TWEAK_SLOT, job->tweak_slot) | MAE_PERIPHERAL__CTRL__START_bm;
    TRY(write_iv(bus, job));
    if (is_aead(job)) {
        ctrl |= FIELD(CTRL, PHASE, job->phase) | FIELD(CTRL, FINAL, job->final ? 1 : 0);
        if (job->final && job->direction == MAE_DECRYPT) {
            TRY(write_words(bus, REG(tag), job->tag, 4));
            TRY(write_reg(bus, REG(tag_bytes), job->tag_bytes));
        }
    }
    TRY(write_reg(bus, REG(length), job->length));
    TRY(write_reg(bus, REG(ctrl), ctrl));
    return take_error(bus); /* a refused job would swallow all its data first */
}

/* Writes the next block, `*left` bytes before the end of the job. */
static mae_error_t feed(const struct mae_pio_bus *bus, uint8_t *block, uint32_t *left,
                        mae_pio_get_t get, void *get_arg)
{
    uint32_t n = *left < 16 ? *left : 16;
    get(get_arg, block, n);
    for (uint32_t i = n; i < 16; i++)
        block[i] = 0;
    *left -= n;
    return write_words(bus, REG(data_in), block, 4);
}

/* Moves the data of a job of which nothing comes out. */
static mae_error_t sink(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                        uint8_t *block, mae_pio_get_t get, void *get_arg)
{
    uint32_t left = job->length, polls = 0;
    while (left > 0) {
        uint32_t status;
        TRY(read_reg(bus, REG(status), &status));
        uint32_t room = GET(STATUS, ROOM, status);
        if (room == 0 && ++polls == POLLS)
            return MAE_E_TIMEOUT;
        for (; room > 0 && left > 0; room--, polls = 0)
            TRY(feed(bus, block, &left, get, get_arg));
    }
    return MAE_OK;
}

/* The end of a job of GCM, CCM or CMAC, and the tag that it made. */
static mae_error_t end(const struct mae_pio_bus *bus, const struct mae_pio_job *job)
{
    uint32_t status, word;
    TRY(wait_clear(bus, REG(status), MAE_PERIPHERAL__STATUS__BUSY_bm, &status));
    TRY(take_error(bus));
    if (!job->final || job->direction == MAE_DECRYPT)
        return MAE_OK;
    for (int i = 0; i < 4; i++) {
        TRY(read_reg(bus, REG_WORD(tag, i), &word));
        store_word(job->tag + 4 * i, word);
    }
    return MAE_OK;
}

/* Moves the data of a job that has been started. */
static mae_error_t move(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                        uint8_t *block, mae_pio_get_t get, void *get_arg, mae_pio_put_t put,
                        void *put_arg)
{
    uint32_t to_write = job->length, to_read = job->length;
    while (to_read > 0) {
        /* Keep AHEAD blocks in the device, so that it works while we move data. */
        while (to_write > 0 && to_read - to_write <= (AHEAD - 1) * 16)
            TRY(feed(bus, block, &to_write, get, get_arg));
        uint32_t n = to_read < 16 ? to_read : 16;
        for (int i = 0; i < 4; i++) {
            uint32_t word;
            TRY(read_reg(bus, REG_WORD(data_out, i), &word));
            store_word(block + 4 * i, word);
        }
        put(put_arg, block, n);
        to_read -= n;
    }
    return is_aead(job) ? MAE_OK : take_error(bus);
}

mae_error_t mae_pio_run_with(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                             mae_pio_get_t get, void *get_arg, mae_pio_put_t put, void *put_arg)
{
    uint8_t block[16];
    TRY(start(bus, job));
    mae_error_t error = sinks(job) ? sink(bus, job, block, get, get_arg)
                                   : move(bus, job, block, get, get_arg, put, put_arg);
    if (error == MAE_OK && is_aead(job))
        error = end(bus, job);
    for (int i = 0; i < 16; i++)
        ((volatile uint8_t *)block)[i] = 0;
    return error;
}

/* The registers of a message are two runs. */
enum { IV_WORDS = 4, STATE_WORDS = 8 };

_Static_assert(offsetof(mae_peripheral_t, data_bytes) + 8 ==
                   offsetof(mae_peripheral_t, hash) + 4 * STATE_WORDS,
               "hash, aad_bytes and data_bytes in a row");

static uint32_t context_offset(uint32_t i)
{
    return i < IV_WORDS ? REG_WORD(iv, i) : REG_WORD(hash, i - IV_WORDS);
}

mae_error_t mae_pio_save(const struct mae_pio_bus *bus, struct mae_pio_context *context)
{
    for (uint32_t i = 0; i < IV_WORDS + STATE_WORDS; i++)
        TRY(read_reg(bus, context_offset(i), &context->words[i]));
    return MAE_OK;
}

mae_error_t mae_pio_restore(const struct mae_pio_bus *bus, const struct mae_pio_context *context)
{
    for (uint32_t i = 0; i < IV_WORDS + STATE_WORDS; i++)
        TRY(write_reg(bus, context_offset(i), context->words[i]));
    return MAE_OK;
}

struct flat {
    const uint8_t *src;
    uint8_t *dst;
};

static void get_flat(void *arg, uint8_t *block, uint32_t n)
{
    struct flat *flat = arg;
    for (uint32_t i = 0; i < n; i++)
        block[i] = *flat->src++;
}

static void put_flat(void *arg, const uint8_t *block, uint32_t n)
{
    struct flat *flat = arg;
    for (uint32_t i = 0; i < n; i++)
        *flat->dst++ = block[i];
}

mae_error_t mae_pio_run(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                        const void *src, void *dst)
{
    struct flat flat = {src, dst};
    mae_error_t error = mae_pio_run_with(bus, job, get_flat, &flat, put_flat, &flat);
    if (error == MAE_E_AUTH && !sinks(job))
        for (uint32_t i = 0; i < job->length; i++)
            ((volatile uint8_t *)dst)[i] = 0;
    return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a job on the peripheral, whose data the CPU moves through registers. Structures are not
 * copied or cleared as a whole here, so that the compiler has no reason to call memcpy or memset.
 */
#include "peripheral.h"

/* Sets how many blocks the peripheral takes before the first result is read. XTS stealing needs
   two. */
enum { AHEAD = 2 };

/* Returns the error in a value of the device's status register, and clears it. */
static ALWAYS_INLINE mae_error_t take_error(const struct mae_pio_bus *bus, uint32_t status)
{
    if (GET(STATUS, ERROR, status) == MAE_PERIPHERAL__STATUS__ERROR__NONE)
        return MAE_OK;
    TRY(write_reg(bus, REG(irq_status), MAE_PERIPHERAL__IRQ_STATUS__ERROR_bm));
    return mae_pio_error(GET(STATUS, ERROR, status));
}

/* Reads the error in the device's status register, and clears it. */
static ALWAYS_INLINE mae_error_t read_error(const struct mae_pio_bus *bus)
{
    uint32_t status;
    TRY(read_reg(bus, REG(status), &status));
    return take_error(bus, status);
}

/* Returns true if a job of the peripheral takes data and gives none, such as AAD. */
static bool sinks(const struct mae_pio_job *job)
{
    return is_aead(job) && (job->phase != MAE_PHASE_DATA || job->mode == MAE_CMAC);
}

/*
 * Writes the IV of a job to the peripheral's registers. A GCM IV of 12 bytes becomes the counter
 * block that starts with it.
 */
static ALWAYS_INLINE mae_error_t write_iv(const struct mae_pio_bus *bus,
                                          const struct mae_pio_job *job)
{
    if (!job->init || !job->iv || (is_aead(job) && job->phase == MAE_PHASE_IV))
        return MAE_OK;
    TRY(write_words(bus, REG(iv), job->iv, job->mode == MAE_GCM ? 3 : 4));
    return job->mode == MAE_GCM ? write_reg(bus, REG_WORD(iv, 3), UINT32_C(1) << 24) : MAE_OK;
}

/* Writes a job's registers and starts it, inlined for the kind of register access. */
static ALWAYS_INLINE mae_error_t start(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                       uint32_t more)
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
    TRY(write_reg(bus, REG(ctrl), ctrl | more));
    return read_error(bus); /* a refused job would swallow all its data first */
}

/* Starts a job of the peripheral through memory-mapped registers. */
static NEVER_INLINE mae_error_t start_mmio(void *base, const struct mae_pio_job *job, uint32_t more)
{
    return start(&MMIO(base), job, more);
}

/* Starts a job of the peripheral by the caller's register functions. */
static NEVER_INLINE mae_error_t start_any(const struct mae_pio_bus *bus,
                                          const struct mae_pio_job *job, uint32_t more)
{
    return start(bus, job, more);
}

mae_error_t mae_pio_start(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                          uint32_t more)
{
    return is_mmio(bus) ? start_mmio(bus->bus, job, more) : start_any(bus, job, more);
}

/* Reads the tag of a job from the peripheral, if the job made one. */
static mae_error_t read_tag(const struct mae_pio_bus *bus, const struct mae_pio_job *job)
{
    uint32_t word;
    if (!job->final || job->direction == MAE_DECRYPT)
        return MAE_OK;
    for (int i = 0; i < 4; i++) {
        TRY(read_reg(bus, REG_WORD(tag, i), &word));
        store_word(job->tag + 4 * i, word);
    }
    return MAE_OK;
}

mae_error_t mae_pio_result(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                           uint32_t status)
{
    TRY(take_error(bus, status));
    return is_aead(job) ? read_tag(bus, job) : MAE_OK;
}

/* Waits for the end of a GCM, CCM or CMAC job on the peripheral and reads its tag. */
static mae_error_t end(const struct mae_pio_bus *bus, const struct mae_pio_job *job)
{
    uint32_t status;
    TRY(wait_clear(bus, REG(status), MAE_PERIPHERAL__STATUS__BUSY_bm, &status));
    return mae_pio_result(bus, job, status);
}

/*
 * Holds the functions that supply a job's input and take its output, block by block. The loops
 * below stand here once and are compiled for each of the two ways to use them, with what is known
 * there in place of the pointers: over any bus by the caller's functions, and straight from words
 * in memory to registers.
 */
struct mover {
    void (*get)(void *arg, uint32_t words[4], uint32_t n); /* words beyond n bytes are 0 */
    void (*put)(void *arg, const uint32_t words[4], uint32_t n);
    void *arg;
};

/* Writes the next input block of a job, of n bytes, to the peripheral. */
static ALWAYS_INLINE mae_error_t feed(const struct mae_pio_bus *bus, const struct mover *mover,
                                      uint32_t n)
{
    uint32_t words[4];
    mover->get(mover->arg, words, n);
    for (uint32_t i = 0; i < 4; i++)
        TRY(write_reg(bus, REG_WORD(data_in, i), words[i]));
    return MAE_OK;
}

/* Returns the length of a job's next block, if that many bytes are left. */
static ALWAYS_INLINE uint32_t block_of(uint32_t bytes)
{
    return bytes < 16 ? bytes : 16;
}

/* Writes the data of a job without output, such as AAD, to the peripheral. */
static ALWAYS_INLINE mae_error_t sink(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                      const struct mover *mover)
{
    uint32_t left = job->length, polls = 0;
    while (left > 0) {
        uint32_t status;
        TRY(read_reg(bus, REG(status), &status));
        uint32_t room = GET(STATUS, ROOM, status);
        if (room == 0 && ++polls == MAE_PIO_POLLS)
            return MAE_E_TIMEOUT;
        for (; room > 0 && left > 0; room--, polls = 0) {
            TRY(feed(bus, mover, block_of(left)));
            left -= block_of(left);
        }
    }
    return MAE_OK;
}

/* Reads the next output block of a job from the peripheral. */
static ALWAYS_INLINE mae_error_t fetch(const struct mae_pio_bus *bus, uint32_t words[4])
{
    for (uint32_t i = 0; i < 4; i++)
        TRY(read_reg(bus, REG_WORD(data_out, i), &words[i]));
    return MAE_OK;
}

/* Writes a job's input to the peripheral and reads its output, block by block. AHEAD blocks are in
   the device, so that it works while we move data; block k + 1 is asked for before block k is
   given. */
static ALWAYS_INLINE mae_error_t pass(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                      const struct mover *mover)
{
    uint32_t to_write = job->length, to_read = job->length, words[4];
    for (uint32_t i = 0; i < AHEAD && to_write > 0; i++) {
        TRY(feed(bus, mover, block_of(to_write)));
        to_write -= block_of(to_write);
    }
    for (; to_write >= 16; to_write -= 16, to_read -= 16) { /* nearly all of the time is here */
        TRY(fetch(bus, words));
        TRY(feed(bus, mover, 16));
        mover->put(mover->arg, words, 16);
    }
    for (; to_read > 0; to_read -= block_of(to_read)) {
        TRY(fetch(bus, words));
        if (to_write > 0)
            TRY(feed(bus, mover, to_write));
        to_write = 0;
        mover->put(mover->arg, words, block_of(to_read));
    }
    return is_aead(job) ? MAE_OK : read_error(bus);
}

/* Runs a job on the peripheral from start to end, with functions that move its data. */
static ALWAYS_INLINE mae_error_t run(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                                     const struct mover *mover)
{
    TRY(start(bus, job, 0));
    mae_error_t error = sinks(job) ? sink(bus, job, mover) : pass(bus, job, mover);
    return error == MAE_OK && is_aead(job) ? end(bus, job) : error;
}

/* Holds the caller's functions that supply and take a job's data as bytes. */
struct bytes {
    mae_pio_get_t get;
    mae_pio_put_t put;
    void *get_arg, *put_arg;
    uint8_t block[16];
};

/* Gets a job's next input block from the caller's function, padded with zeros. */
static void get_bytes(void *arg, uint32_t words[4], uint32_t n)
{
    struct bytes *bytes = arg;
    bytes->get(bytes->get_arg, bytes->block, n);
    for (uint32_t i = n; i < 16; i++)
        bytes->block[i] = 0;
    for (uint32_t i = 0; i < 4; i++)
        words[i] = load_word(bytes->block + 4 * i);
}

/* Gives a job's next output block to the caller's function. */
static void put_bytes(void *arg, const uint32_t words[4], uint32_t n)
{
    struct bytes *bytes = arg;
    for (uint32_t i = 0; i < 4; i++)
        store_word(bytes->block + 4 * i, words[i]);
    bytes->put(bytes->put_arg, bytes->block, n);
}

mae_error_t mae_pio_run_with(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                             mae_pio_get_t get, void *get_arg, mae_pio_put_t put, void *put_arg)
{
    struct bytes bytes;
    bytes.get = get;
    bytes.put = put;
    bytes.get_arg = get_arg;
    bytes.put_arg = put_arg;
    mae_error_t error = run(bus, job, &(const struct mover){get_bytes, put_bytes, &bytes});
    for (int i = 0; i < 16; i++)
        ((volatile uint8_t *)bytes.block)[i] = 0;
    return error;
}

/* Gives the numbers of registers that hold a GCM, CCM or CMAC message's state. */
enum { IV_WORDS = 4, STATE_WORDS = 8 };

_Static_assert(offsetof(mae_peripheral_t, data_bytes) + 8 ==
                   offsetof(mae_peripheral_t, hash) + 4 * STATE_WORDS,
               "hash, aad_bytes and data_bytes in a row");

/* Returns the register offset of a word of a GCM, CCM or CMAC message's state. */
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

/* Holds pointers to a job's next input and output in the CPU's memory. */
struct flat {
    const uint8_t *src;
    uint8_t *dst;
};

/* Copies a job's next input block from the CPU's memory. */
static void get_flat(void *arg, uint8_t *block, uint32_t n)
{
    struct flat *flat = arg;
    for (uint32_t i = 0; i < n; i++)
        block[i] = *flat->src++;
}

/* Copies a job's next output block to the CPU's memory. */
static void put_flat(void *arg, const uint8_t *block, uint32_t n)
{
    struct flat *flat = arg;
    for (uint32_t i = 0; i < n; i++)
        *flat->dst++ = block[i];
}

/* Loads the last, partial input block of a job from the CPU's memory. */
static NEVER_INLINE void get_part(const uint8_t *src, uint32_t words[4], uint32_t n)
{
    for (uint32_t i = 0; i < 4; i++)
        words[i] = 0;
    for (uint32_t i = 0; i < n; i++)
        words[i / 4] |= (uint32_t)src[i] << 8 * (i % 4);
}

/* Stores the last, partial output block of a job to the CPU's memory. */
static NEVER_INLINE void put_part(uint8_t *dst, const uint32_t words[4], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        dst[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

/* Loads a job's next input block from word-aligned memory. */
static ALWAYS_INLINE void get_words(void *arg, uint32_t words[4], uint32_t n)
{
    struct flat *flat = arg;
    if (n == 16) {
        for (uint32_t i = 0; i < 4; i++)
            words[i] = load_aligned(flat->src + 4 * i);
    } else {
        uint32_t part[4];
        get_part(flat->src, part, n);
        for (uint32_t i = 0; i < 4; i++)
            words[i] = part[i];
    }
    flat->src += n;
}

/* Stores a job's next output block to word-aligned memory. */
static ALWAYS_INLINE void put_words(void *arg, const uint32_t words[4], uint32_t n)
{
    struct flat *flat = arg;
    if (n == 16) {
        for (uint32_t i = 0; i < 4; i++)
            store_aligned(flat->dst + 4 * i, words[i]);
    } else {
        uint32_t part[4];
        for (uint32_t i = 0; i < 4; i++)
            part[i] = words[i];
        put_part(flat->dst, part, n);
    }
    flat->dst += n;
}

/* Runs a job on word-aligned memory through memory-mapped registers of the peripheral. */
static NEVER_INLINE mae_error_t run_words(void *base, const struct mae_pio_job *job,
                                          const void *src, void *dst)
{
    struct flat flat = {src, dst};
    return run(&MMIO(base), job, &(const struct mover){get_words, put_words, &flat});
}

mae_error_t mae_pio_run(const struct mae_pio_bus *bus, const struct mae_pio_job *job,
                        const void *src, void *dst)
{
    struct flat flat = {src, dst};
    mae_error_t error = is_mmio(bus) && is_aligned(src) && is_aligned(dst)
                            ? run_words(bus->bus, job, src, dst)
                            : mae_pio_run_with(bus, job, get_flat, &flat, put_flat, &flat);
    if (error == MAE_E_AUTH && !sinks(job))
        for (uint32_t i = 0; i < job->length; i++)
            ((volatile uint8_t *)dst)[i] = 0;
    return error;
}

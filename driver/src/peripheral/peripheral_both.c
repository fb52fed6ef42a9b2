/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs two jobs of a small peripheral at once, one in each of its sets of job registers. Built like
 * peripheral.c: nothing here makes a compiler call memcpy or memset.
 */
#include "peripheral.h"

#include "generated/mae_small_window_regs.h"

/* Asserts that a job's register has the same offset in both register maps. */
#define SAME(name) \
    _Static_assert(offsetof(mae_peripheral_t, name) == offsetof(mae_small_window_t, name), #name)
SAME(ctrl);
SAME(status);
SAME(irq_status);
SAME(length);
SAME(iv);
SAME(data_in);
SAME(data_out);

/* Sets where the second job's registers are, above those of the first. */
enum { SECOND = 0x100 };

/* Reads a register of the second job by the bus of the first one. */
static mae_error_t read_second(void *bus, uint32_t offset, uint32_t *value)
{
    const struct mae_pio_bus *first = bus;
    return read_reg(first, offset + SECOND, value);
}

/* Writes a register of the second job by the bus of the first one. */
static mae_error_t write_second(void *bus, uint32_t offset, uint32_t value)
{
    const struct mae_pio_bus *first = bus;
    return write_reg(first, offset + SECOND, value);
}

void mae_pio_second(const struct mae_pio_bus *bus, struct mae_pio_bus *second)
{
    bool mmio = is_mmio(bus);
    second->read32 = mmio ? bus->read32 : read_second;
    second->write32 = mmio ? bus->write32 : write_second;
    second->bus = mmio ? (void *)((uintptr_t)bus->bus + SECOND) : (void *)(uintptr_t)bus;
}

/* Holds the progress of one of two jobs: its next input and output, and the bytes left of both. */
struct progress {
    const uint8_t *src;
    uint8_t *dst;
    uint32_t to_write, to_read;
};

/* Loads a word of a job's input; bytes beyond its end are 0. */
static uint32_t next_word(const struct progress *side, uint32_t i)
{
    uint32_t word = 0;
    if (side->to_write >= 16 && is_aligned(side->src))
        return load_aligned(side->src + 4 * i);
    for (uint32_t b = 0; b < 4; b++)
        if (4 * i + b < side->to_write)
            word |= (uint32_t)side->src[4 * i + b] << 8 * b;
    return word;
}

/* Writes a job's next input block to its registers, unless there is none or two are ahead. */
static mae_error_t feed(const struct mae_pio_bus *bus, struct progress *side)
{
    if (side->to_write == 0 || side->to_read - side->to_write > 16)
        return MAE_OK;
    for (uint32_t i = 0; i < 4; i++)
        TRY(write_reg(bus, REG_WORD(data_in, i), next_word(side, i)));
    uint32_t n = side->to_write < 16 ? side->to_write : 16;
    side->src += n;
    side->to_write -= n;
    return MAE_OK;
}

/* Reads a job's next output block from its registers, if it has one, then writes its next input
   block; stores the output after that, so that src == dst is allowed. */
static mae_error_t exchange(const struct mae_pio_bus *bus, struct progress *side)
{
    uint32_t words[4], n = side->to_read < 16 ? side->to_read : 16;
    if (n == 0)
        return MAE_OK;
    for (uint32_t i = 0; i < 4; i++)
        TRY(read_reg(bus, REG_WORD(data_out, i), &words[i]));
    side->to_read -= n;
    TRY(feed(bus, side));
    bool whole = n == 16 && is_aligned(side->dst);
    for (uint32_t i = 0; whole && i < 4; i++)
        store_aligned(side->dst + 4 * i, words[i]);
    for (uint32_t i = 0; !whole && i < n; i++)
        side->dst[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    side->dst += n;
    return MAE_OK;
}

/* Moves the data of two started jobs, a block of each by turns, two blocks ahead. */
static mae_error_t move(const struct mae_pio_bus *bus, struct progress *first,
                        struct progress *second)
{
    struct mae_pio_bus two;
    mae_pio_second(bus, &two);
    for (int i = 0; i < 2; i++) {
        TRY(feed(bus, first));
        TRY(feed(&two, second));
    }
    while (first->to_read > 0 || second->to_read > 0) {
        TRY(exchange(bus, first));
        TRY(exchange(&two, second));
    }
    return MAE_OK;
}

/* Writes a block of word-aligned memory to the memory-mapped registers of a job. */
static ALWAYS_INLINE void feed_mmio(void *base, const uint8_t *src)
{
    for (uint32_t i = 0; i < 4; i++)
        (void)mae_pio_mmio_write32(base, REG_WORD(data_in, i), load_aligned(src + 4 * i));
}

/* Reads a block from the memory-mapped registers of a job to word-aligned memory. */
static ALWAYS_INLINE void fetch_mmio(void *base, uint8_t *dst)
{
    uint32_t word;
    for (uint32_t i = 0; i < 4; i++) {
        (void)mae_pio_mmio_read32(base, REG_WORD(data_out, i), &word);
        store_aligned(dst + 4 * i, word);
    }
}

/* Counts whole blocks of a job as moved. */
static void advance(struct progress *side, uint32_t bytes)
{
    side->src += bytes;
    side->dst += bytes;
    side->to_write -= bytes;
    side->to_read -= bytes;
}

/* Reads a block from the memory-mapped registers of a job, then writes its next one. */
static ALWAYS_INLINE void exchange_mmio(void *base, const uint8_t *src, uint8_t *dst)
{
    uint32_t words[4];
    for (uint32_t i = 0; i < 4; i++)
        (void)mae_pio_mmio_read32(base, REG_WORD(data_out, i), &words[i]);
    feed_mmio(base, src);
    for (uint32_t i = 0; i < 4; i++)
        store_aligned(dst + 4 * i, words[i]);
}

/*
 * Moves the whole blocks that two started jobs both have, in word-aligned memory, through
 * memory-mapped registers. Nearly all of the time is here.
 */
static NEVER_INLINE void move_mmio(void *base, struct progress *first, struct progress *second)
{
    void *base_two = (void *)((uintptr_t)base + SECOND);
    const uint8_t *src = first->src, *src_two = second->src;
    uint8_t *dst = first->dst, *dst_two = second->dst;
    uint32_t bytes = first->to_write < second->to_write ? first->to_write : second->to_write;
    if (bytes < 16)
        return;
    bytes &= ~UINT32_C(15);
    const uint8_t *end = src + bytes;
    feed_mmio(base, src);
    feed_mmio(base_two, src_two);
    for (src += 16, src_two += 16; src != end; src += 16, src_two += 16) {
        exchange_mmio(base, src, dst);
        exchange_mmio(base_two, src_two, dst_two);
        dst += 16;
        dst_two += 16;
    }
    fetch_mmio(base, dst);
    fetch_mmio(base_two, dst_two);
    advance(first, bytes);
    advance(second, bytes);
}

/* Begins the progress of a job; with `runs` false, it has nothing to do. */
static void begin(struct progress *progress, const struct mae_pio_side *side, bool runs)
{
    progress->src = side->src;
    progress->dst = side->dst;
    progress->to_write = progress->to_read = runs ? side->job->length : 0;
}

/* Returns true if the data of a job begin at multiples of 4. */
static bool side_is_aligned(const struct mae_pio_side *side)
{
    return is_aligned(side->src) && is_aligned(side->dst);
}

mae_error_t mae_pio_run_both(const struct mae_pio_bus *bus, const struct mae_pio_side *first,
                             const struct mae_pio_side *second)
{
    struct mae_pio_bus two;
    struct progress progress[2];
    uint32_t status;
    if (is_aead(first->job) || is_aead(second->job))
        return MAE_E_MODE;
    mae_pio_second(bus, &two);
    TRY(mae_pio_start(bus, first->job, 0));
    mae_error_t refused = mae_pio_start(&two, second->job, 0);
    if (refused == MAE_E_BUS)
        return refused;
    begin(&progress[0], first, true);
    begin(&progress[1], second, refused == MAE_OK);
    bool words = is_mmio(bus) && side_is_aligned(first) && side_is_aligned(second);
    if (words)
        move_mmio(bus->bus, &progress[0], &progress[1]);
    TRY(move(bus, &progress[0], &progress[1]));
    if (refused != MAE_OK)
        return refused;
    TRY(read_reg(bus, REG(status), &status));
    TRY(mae_pio_result(bus, first->job, status));
    TRY(read_reg(&two, REG(status), &status));
    return mae_pio_result(&two, second->job, status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Implements block_host.h. */
#include "block_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/mae_block_card_regs.h"
#include "vfio.h"

enum {
    REQUEST_BYTES = 64,
    COMPLETION_BYTES = 32,
    RING_BYTES = BLOCK_ENTRIES * (REQUEST_BYTES + COMPLETION_BYTES),
    RINGS_BYTES = 1 << 14, /* of all queues, whole pages */
    MEMORY_BYTES = RINGS_BYTES + BLOCK_BUFFERS * BLOCK_BUFFER_BYTES,
    PAGE = 4096,
    FLAG_PLAIN = 1,
    FLAG_IRQ = 16,
    WAITS = 100 /* of WAIT_NS each for a completion */
};
static const uint64_t WAIT_NS = 100000000;

#define AT(field) ((uint32_t)offsetof(mae_block_card_t, field))
#define RING(queue, field) \
    (AT(rings) + (queue) * sizeof(mae_block_card__ringsx__stride40_t) + \
     (uint32_t)offsetof(mae_block_card__ringsx__stride40_t, field))

/* Ends the program with the backend's message. */
static void must(const char *what, mae_error_t error)
{
    if (error == MAE_OK)
        return;
    printf("%s: %s: %s\n", what, mae_strerror(error), mae_error_detail());
    exit(1);
}

static _Noreturn void must_not(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

static uint32_t read_reg(const struct block_card *card, uint32_t offset)
{
    uint32_t value;
    must("reading a register", card->ops->read32(card->backend, offset, &value));
    return value;
}

static void write_reg(const struct block_card *card, uint32_t offset, uint32_t value)
{
    must("writing a register", card->ops->write32(card->backend, offset, value));
}

/* Waits until bits of a register have a value; lets the card's time pass meanwhile. */
static void wait_reg(const struct block_card *card, uint32_t offset, uint32_t mask, uint32_t value)
{
    for (int i = 0; (read_reg(card, offset) & mask) != value; i++) {
        if (i == 100000)
            must_not("a register does not change in time");
        if (card->ops->run_clocks)
            must("running", card->ops->run_clocks(card->backend, 64));
    }
}

static uint8_t *ring_of(const struct block_card *card, unsigned queue)
{
    return card->memory + queue * RINGS_BYTES / BLOCK_QUEUES;
}

static void set_ring(const struct block_card *card, unsigned queue)
{
    uint64_t requests = block_address(card, ring_of(card, queue));
    uint64_t completions = requests + BLOCK_ENTRIES * REQUEST_BYTES;
    write_reg(card, RING(queue, sub_base_lo), (uint32_t)requests);
    write_reg(card, RING(queue, sub_base_hi), (uint32_t)(requests >> 32));
    write_reg(card, RING(queue, sub_log2), BLOCK_LOG2);
    write_reg(card, RING(queue, comp_base_lo), (uint32_t)completions);
    write_reg(card, RING(queue, comp_base_hi), (uint32_t)(completions >> 32));
    write_reg(card, RING(queue, comp_log2), BLOCK_LOG2);
}

void block_open(struct block_card *card, const char *uri)
{
    static const struct mae_backend *const backends[] = {&mae_backend_vfio, &mae_backend_sim};
    char name[64];
    const char *colon = strchr(uri, ':');
    const struct mae_backend *found = NULL;
    memset(card, 0, sizeof *card);
    for (size_t i = 0; colon && i < sizeof backends / sizeof backends[0]; i++) {
        const char *known = backends[i]->ops->name;
        if (strlen(known) == (size_t)(colon - uri) && strncmp(uri, known, strlen(known)) == 0)
            found = backends[i];
    }
    if (!found)
        must_not("the device is vfio:ADDRESS or sim:BUILD");
    mae_vfio_device = MAE_PCI_BLOCK_DEVICE;
    card->ops = found->ops;
    must(uri, found->open(colon + 1, &card->backend, name, sizeof name));
    if (read_reg(card, AT(id)) != MAE_BLOCK_CARD__ID__MAGIC_reset)
        must_not("this is no block card");
    uint32_t caps = read_reg(card, AT(caps));
    card->lanes = caps & MAE_BLOCK_CARD__CAPS__LANES_bm;
    card->key_slots = (caps & MAE_BLOCK_CARD__CAPS__KEY_SLOTS_bm) >> 8;
    card->sectors = (uint64_t)read_reg(card, AT(capacity_hi)) << 32;
    card->sectors |= read_reg(card, AT(capacity_lo));
    if ((caps & MAE_BLOCK_CARD__CAPS__QUEUES_bm) >> 16 < BLOCK_QUEUES)
        must_not("the card has too few queues");

    _Static_assert(RING_BYTES <= RINGS_BYTES / BLOCK_QUEUES, "the rings fit");
    card->memory = aligned_alloc(PAGE, MEMORY_BYTES);
    if (!card->memory)
        must_not("no memory");
    memset(card->memory, 0, MEMORY_BYTES);
    must("mapping memory",
         card->ops->dma_map(card->backend, card->memory, MEMORY_BYTES, true, &card->address));
    wait_reg(card, AT(status), MAE_BLOCK_CARD__STATUS__WIPING_bm, 0);
    for (unsigned queue = 0; queue < BLOCK_QUEUES; queue++)
        set_ring(card, queue);
    write_reg(card, AT(irq_enable), (1u << BLOCK_QUEUES) - 1);
    write_reg(card, AT(ctrl), MAE_BLOCK_CARD__CTRL__ENABLE_bm);
}

void block_close(struct block_card *card)
{
    card->ops->close(card->backend);
    free(card->memory);
    memset(card, 0, sizeof *card);
}

uint8_t *block_buffer(const struct block_card *card, unsigned index)
{
    return card->memory + RINGS_BYTES + (size_t)index * BLOCK_BUFFER_BYTES;
}

uint64_t block_address(const struct block_card *card, const uint8_t *place)
{
    return card->address + (uint64_t)(place - card->memory);
}

uint32_t block_key_command(struct block_card *card, uint32_t command, uint32_t slot,
                           const uint8_t *key)
{
    for (unsigned i = 0; key && i < 16; i++) {
        uint32_t word;
        memcpy(&word, key + 4 * i, sizeof word);
        write_reg(card, AT(mek) + 4 * i, word);
    }
    write_reg(card, AT(metd), slot);
    write_reg(card, AT(lock_ctrl),
              command << MAE_BLOCK_CARD__LOCK_CTRL__CMD_bp | MAE_BLOCK_CARD__LOCK_CTRL__EXE_bm);
    const uint32_t done = MAE_BLOCK_CARD__LOCK_CTRL__DN_bm;
    wait_reg(card, AT(lock_ctrl), done, done);
    uint32_t error = read_reg(card, AT(lock_ctrl)) & MAE_BLOCK_CARD__LOCK_CTRL__ERR_bm;
    write_reg(card, AT(lock_ctrl), done);
    return error >> MAE_BLOCK_CARD__LOCK_CTRL__ERR_bp;
}

uint32_t block_keys(const struct block_card *card)
{
    return read_reg(card, AT(key_valid));
}

void block_submit(struct block_card *card, unsigned queue, const struct block_request *request)
{
    uint8_t *entry = ring_of(card, queue) + card->sent[queue] % BLOCK_ENTRIES * REQUEST_BYTES;
    if (card->sent[queue] - card->taken[queue] == BLOCK_ENTRIES)
        must_not("the ring is full");
    memset(entry, 0, REQUEST_BYTES);
    memcpy(entry, &card->sent[queue], 4);
    entry[4] = (uint8_t)request->op;
    entry[5] = request->key ? FLAG_IRQ : FLAG_IRQ | FLAG_PLAIN;
    memcpy(entry + 0x08, &request->sectors, 4);
    memcpy(entry + 0x10, &request->sector, 8);
    memcpy(entry + 0x18, &request->address, 8);
    if (request->key) {
        entry[6] = request->key->slot;
        entry[7] = request->key->unit_log2;
        memcpy(entry + 0x20, &request->key->unit, 8);
    }
    card->sent[queue]++;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    write_reg(card, RING(queue, sub_tail), card->sent[queue] & 0xffff);
}

static const volatile uint8_t *next_completion(const struct block_card *card, unsigned queue)
{
    return ring_of(card, queue) + BLOCK_ENTRIES * REQUEST_BYTES +
           card->taken[queue] % BLOCK_ENTRIES * COMPLETION_BYTES;
}

bool block_completed(const struct block_card *card, unsigned queue)
{
    unsigned phase = 1 - (card->taken[queue] >> BLOCK_LOG2) % 2;
    bool there = (next_completion(card, queue)[0x1c] & 1) == phase;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return there;
}

uint32_t block_take(struct block_card *card, unsigned queue)
{
    for (int waits = 0; !block_completed(card, queue); waits++) {
        if (waits == WAITS)
            must_not("a request does not complete in time");
        mae_error_t error = card->ops->wait(card->backend, WAIT_NS);
        if (error != MAE_E_TIMEOUT)
            must("waiting", error);
        /* Read back: the acknowledgement must not reach the card after a later look at the ring. */
        write_reg(card, AT(irq_status), (1u << BLOCK_QUEUES) - 1);
        (void)read_reg(card, AT(irq_status));
    }
    uint32_t status = next_completion(card, queue)[0x14];
    card->taken[queue]++;
    write_reg(card, RING(queue, comp_head), card->taken[queue] & 0xffff);
    return status;
}

uint32_t block_do(struct block_card *card, unsigned queue, const struct block_request *request)
{
    block_submit(card, queue, request);
    return block_take(card, queue);
}

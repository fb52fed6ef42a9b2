/* SPDX-License-Identifier: Apache-2.0 */
/* Models the host memory that the mock device accesses; included by mock.h. */
#ifndef MOCK_MEMORY_H
#define MOCK_MEMORY_H

static uint8_t *mock_reach(struct mock *mock, uint64_t iova, uint64_t bytes, bool write)
{
    for (int i = 0; i < MOCK_REGIONS; i++) {
        const struct mock_region *region = &mock->regions[i];
        if (region->memory && iova >= region->iova && iova - region->iova <= region->bytes &&
            bytes <= region->bytes - (iova - region->iova) && (region->writable || !write))
            return region->memory + (iova - region->iova);
    }
    return NULL;
}

static mae_error_t mock_map(void *backend, void *memory, size_t bytes, bool writable,
                            uint64_t *iova)
{
    struct mock *mock = backend;
    if (mock->fail_map == 0 || (mock->mapping_overlaps && bytes % 4096 != 0))
        return mae_detail(MAE_E_BUSY, "the mock does not map");
    mock->fail_map -= mock->fail_map > 0;
    mock->mapped_running |= mock->kind == MAE_KIND_STREAM && mock->words[CARD(ctrl) / 4] != 0;
    for (int i = 0; i < MOCK_REGIONS; i++) {
        struct mock_region *region = &mock->regions[i];
        if (region->memory)
            continue;
        mock->next_iova += 0x100000000;
        *region = (struct mock_region){mock->next_iova + (uintptr_t)memory % 4096, memory, bytes,
                                       writable};
        mock->next_iova += bytes;
        *iova = region->iova;
        return MAE_OK;
    }
    return MAE_E_MEMORY;
}

static mae_error_t mock_unmap(void *backend, uint64_t iova, size_t bytes)
{
    struct mock *mock = backend;
    for (int i = 0; i < MOCK_REGIONS; i++) {
        struct mock_region *region = &mock->regions[i];
        if (region->memory && region->iova == iova && region->bytes == bytes) {
            region->memory = NULL;
            return MAE_OK;
        }
    }
    CHECK(!"unmapped what was not mapped");
}

/* Copies between a job's buffer (or list of buffers) in host memory and `flat`. */
static bool mock_move(struct mock *mock, const struct mae_ring_desc *desc, bool write,
                      uint8_t *flat)
{
    bool list = desc->flags & (write ? MAE_DESC_DST_LIST : MAE_DESC_SRC_LIST);
    if (desc->length == 0)
        return true;
    uint32_t entries = list ? (write ? desc->dst_entries : desc->src_entries) : 1;
    uint64_t address = write ? desc->dst : desc->src, sum = 0;
    struct mae_ring_sg_entry single = {.addr = address, .length = desc->length};
    const struct mae_ring_sg_entry *at = &single;
    if (list)
        at = (void *)mock_reach(mock, address, entries * sizeof *at, false);
    CHECK(at && (!list || address % 16 == 0));
    for (uint32_t i = 0; i < entries; i++) {
        uint8_t *place = mock_reach(mock, at[i].addr, at[i].length, write);
        CHECK(at[i].reserved == 0);
        if (at[i].length == 0)
            continue;
        if (!place)
            return false;
        memcpy(write ? place : flat + sum, write ? flat + sum : place, at[i].length);
        sum += at[i].length;
    }
    CHECK(sum == desc->length);
    return true;
}

static bool mock_is_aead(const struct mae_ring_desc *desc)
{
    return desc->op >= MAE_GCM && desc->op <= MAE_CMAC;
}

static bool mock_sinks(const struct mae_ring_desc *desc)
{
    return mock_is_aead(desc) && desc->phase != MAE_PHASE_DATA;
}

#endif

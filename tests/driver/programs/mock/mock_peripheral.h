/* SPDX-License-Identifier: Apache-2.0 */
/* Models the peripheral's registers as part of the mock device; included by mock.h. */
#ifndef MOCK_PERIPHERAL_H
#define MOCK_PERIPHERAL_H

static void mock_load_state(const struct mock *mock, struct toy_state *state)
{
    memcpy(state->iv, &mock->words[PERIPH(iv) / 4], 16);
    memcpy(state->hash, &mock->words[PERIPH(hash) / 4], 16);
    memcpy(&state->aad_bytes, &mock->words[PERIPH(aad_bytes) / 4], 8);
    memcpy(&state->data_bytes, &mock->words[PERIPH(data_bytes) / 4], 8);
}

static void mock_store_state(struct mock *mock, const struct toy_state *state)
{
    memcpy(&mock->words[PERIPH(iv) / 4], state->iv, 16);
    memcpy(&mock->words[PERIPH(hash) / 4], state->hash, 16);
    memcpy(&mock->words[PERIPH(aad_bytes) / 4], &state->aad_bytes, 8);
    memcpy(&mock->words[PERIPH(data_bytes) / 4], &state->data_bytes, 8);
}

/*
 * Runs an authenticated job on the mock peripheral, whose registers hold the whole state. `last`:
 * the job ends with this part.
 */
static void mock_peripheral_aead(struct mock *mock, uint32_t ready, bool last)
{
    struct mae_ring_desc part = mock->job;
    struct toy_state state;
    uint8_t tag[16] = {0};
    part.length = ready - mock->produced;
    if (!last)
        part.flags &= (uint8_t)~MAE_DESC_FINAL;
    part.tag_bytes = (uint8_t)mock->words[PERIPH(tag_bytes) / 4];
    memcpy(part.iv, mock->tag, 16);
    mock_load_state(mock, &state);
    memcpy(mock->out + mock->produced, mock->in + mock->produced, part.length);
    if (mock_aead(mock, &part, &state, mock->out + mock->produced, tag) != MAE_STATUS_OK)
        mock->words[PERIPH(status) / 4] = MAE_PERIPHERAL__STATUS__ERROR__BAD_TAG << 16;
    mock_store_state(mock, &state);
    memcpy(&mock->words[PERIPH(tag) / 4], tag, 16);
    mock->job.flags &= (uint8_t)~MAE_DESC_INIT;
    mock->produced = ready;
}

/* Processes the blocks written to the mock peripheral so far; XTS's last two together. */
static void mock_peripheral_work(struct mock *mock)
{
    uint32_t ready = mock->written < mock->length ? mock->written : mock->length;
    if (mock_is_aead(&mock->job)) {
        if (ready == mock->length || (ready > mock->produced && !mock_sinks(&mock->job)))
            mock_peripheral_aead(mock, ready, ready == mock->length);
        return;
    }
    if (mock->job.op == MAE_XTS && mock->length % 16 != 0 && ready < mock->length &&
        ready / 16 == mock->length / 16)
        ready -= 16;
    if (ready > mock->produced) {
        struct mae_ring_desc part = mock->job;
        part.length = ready - mock->produced;
        mock_crypt(mock, &part, mock->in + mock->produced, mock->out + mock->produced);
        mock->job.flags &= (uint8_t)~MAE_DESC_INIT;
        mock->produced = ready;
    }
}

static void mock_peripheral_start(struct mock *mock, uint32_t value)
{
    uint32_t slot = value >> 8 & 63;
    mock->job = (struct mae_ring_desc){
        .op = value & 31,
        .key_slot = (uint8_t)slot,
        .tweak_slot = value >> 16 & 63,
        .phase = value >> 24 & 3,
        .flags = (uint8_t)((value >> 5 & 1 ? MAE_DESC_DECRYPT : 0) |
                           (value >> 6 & 1 ? MAE_DESC_INIT : 0) |
                           (value >> 26 & 1 ? MAE_DESC_FINAL : 0)),
    };
    memcpy(mock->job.iv, &mock->words[PERIPH(iv) / 4], 16);
    memcpy(mock->tag, &mock->words[PERIPH(tag) / 4], 16);
    memset(&mock->words[PERIPH(tag) / 4], 0, 16);
    mock->length = mock->words[PERIPH(length) / 4];
    mock->written = mock->read = mock->produced = 0;
    memset(mock->in, 0, sizeof mock->in);
    CHECK(mock->length <= sizeof mock->in - 16);
    CHECK(mock->length > 0 || mock_is_aead(&mock->job));
    if (mock_is_aead(&mock->job)) /* takes the place of a plain message */
        memset(mock->chains[0], 0xdd, 16);
    if (!mock->key_valid[slot])
        mock->words[PERIPH(status) / 4] = MAE_PERIPHERAL__STATUS__ERROR__BAD_KEY << 16;
    else if (mock->length == 0)
        mock_peripheral_work(mock);
}

static void mock_peripheral_write(struct mock *mock, uint32_t offset, uint32_t value)
{
    if (offset == PERIPH(ctrl) && (value & MAE_PERIPHERAL__CTRL__START_bm))
        mock_peripheral_start(mock, value);
    if (offset == PERIPH(irq_status))
        mock->words[PERIPH(status) / 4] = 0;
    if (offset >= PERIPH(data_in) && offset < PERIPH(data_out)) {
        memcpy(mock->in + mock->written + (offset - PERIPH(data_in)), &value, 4);
        if (offset == PERIPH(data_in) + 12) {
            mock->written += 16;
            mock_peripheral_work(mock);
        }
    }
}

static void mock_peripheral_read(struct mock *mock, uint32_t offset, uint32_t *value)
{
    if (offset == PERIPH(status))
        *value |= 2u << MAE_PERIPHERAL__STATUS__ROOM_bp;
    if (offset >= PERIPH(data_out) && offset < PERIPH(data_out) + 16) {
        CHECK(mock->read < (mock->produced + 15) / 16 * 16); /* an answer is there */
        memcpy(value, mock->out + mock->read + (offset - PERIPH(data_out)), 4);
        if (offset == PERIPH(data_out) + 12)
            mock->read += 16;
    }
}

#endif

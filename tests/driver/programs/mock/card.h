/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a mock stream card of the driver's C tests, ready for jobs. */
#ifndef CARD_H
#define CARD_H

#include "mock.h"

static const uint8_t key[16] = {1, 2, 3};

/* Opens a mock card with a loaded key, memory of given size and all contexts allocated. */
static inline mae_dev_t *open_card(struct mock *mock, size_t bytes, uint8_t **memory)
{
    mae_dev_t *dev;
    uint32_t context;
    CHECK_OK(mock_open(mock, &dev));
    CHECK_OK(mae_key_load(dev, 0, key, 16));
    CHECK_OK(mae_mem_alloc(dev, bytes, (void **)memory));
    for (uint32_t i = 0; i < mock->contexts; i++) {
        CHECK_OK(mae_context_alloc(dev, &context));
        CHECK(context == i);
    }
    return dev;
}

static inline struct mae_job simple_job(uint8_t *memory, uint64_t length)
{
    return (struct mae_job){
        .mode = MAE_CTR, .init = 1, .length = length, .src = memory, .dst = memory};
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes devices by their URI and returns their capabilities. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

static const struct mae_backend *const backends[] = {
    &mae_backend_sim,
    &mae_backend_vfio,
    &mae_backend_uio,
    &mae_backend_null,
};

enum {
    BACKENDS = sizeof backends / sizeof backends[0],
    /* Without a completion: 25 ms are 5 million clocks of a simulated device. */
    STALL_SIMULATED_NS = 25000000
};

static const uint64_t stall_real_ns = 10000000000; /* 10 s */

/* Reads a device's capabilities from its registers; fails if it is no Maeslant device. */
static mae_error_t ask(struct mae_dev *dev, const char *name)
{
    struct mae_pio_info info;
    mae_error_t error = mae_pio_probe(&dev->bus, &info);
    if (error == MAE_E_NOT_OURS)
        return mae_detail(error, "%s:%s does not identify itself as a device of register map 1",
                          dev->ops->name, name);
    MAE_TRY(error);
    if (info.contexts == 0 || info.contexts > MAE_MAX_CONTEXTS || info.key_slots > MAE_MAX_SLOTS)
        return mae_detail(MAE_E_DEVICE, "impossible capabilities: %u contexts, %u key slots",
                          info.contexts, info.key_slots);
    struct mae_caps *caps = &dev->caps;
    bool rings = info.kind != MAE_KIND_PERIPHERAL;
    bool aead = info.modes & (1u << MAE_GCM | 1u << MAE_CCM | 1u << MAE_CMAC);
    *caps = (struct mae_caps){
        .kind = info.kind,
        .version = (info.version >> 8 & 0xff00) | (info.version & 0xff),
        .modes = info.modes,
        .directions = info.directions,
        .lanes = info.lanes,
        .contexts = info.contexts,
        .aead_contexts = !aead   ? 0
                         : rings ? info.contexts
                                 : MAE_SAVED,
        .key_slots = info.key_slots,
        .key_banks = info.key_banks,
        .max_key_bytes = info.key_sizes & 4   ? 32
                         : info.key_sizes & 2 ? 24
                                              : 16,
        .data_width_bits = rings ? 128 * info.lanes : 0,
        .max_queue_depth = MAE_DEPTH,
        .max_list_entries = MAE_MAX_LIST,
        .max_job_bytes = UINT32_MAX - 15,
        .simulated = dev->ops->simulated,
        .clocks_per_us = dev->ops->clocks_per_us,
    };
    snprintf(caps->backend, sizeof caps->backend, "%s", dev->ops->name);
    snprintf(caps->name, sizeof caps->name, "%s", name);
    dev->key_sizes = info.key_sizes;
    dev->context_count = info.contexts + (rings ? 0 : caps->aead_contexts);
    dev->loaded = MAE_NO_CONTEXT;
    dev->engine = rings ? &mae_engine_ring : &mae_engine_pio;
    return MAE_OK;
}

mae_error_t mae_attach(const struct mae_ops *ops, void *backend, const char *name,
                       struct mae_dev **out)
{
    struct mae_dev *dev = calloc(1, sizeof *dev);
    *out = NULL;
    if (!dev) {
        ops->close(backend);
        return MAE_E_MEMORY;
    }
    dev->ops = ops;
    dev->backend = backend;
    dev->process = mae_process();
    dev->bus = (struct mae_pio_bus){ops->read32, ops->write32, backend};
    dev->stall_ns = ops->simulated ? STALL_SIMULATED_NS : stall_real_ns;
    mae_error_t error = ask(dev, name);
    if (error == MAE_OK) {
        mae_jobs_open(dev);
        error = dev->engine->start(dev);
    }
    if (error != MAE_OK) {
        mae_memory_close(dev);
        ops->close(backend);
        free(dev);
        return error;
    }
    *out = dev;
    return MAE_OK;
}

mae_error_t mae_open(const char *uri, mae_dev_t **dev)
{
    if (!dev)
        return MAE_E_ARGUMENT;
    *dev = NULL;
    mae_detail_clear();
    if (!uri)
        return MAE_E_ARGUMENT;
    const char *colon = strchr(uri, ':');
    size_t length = colon ? (size_t)(colon - uri) : 0;
    for (int i = 0; colon && i < BACKENDS; i++) {
        const struct mae_ops *ops = backends[i]->ops;
        if (strlen(ops->name) != length || memcmp(ops->name, uri, length) != 0)
            continue;
        void *backend = NULL;
        char name[sizeof(((struct mae_caps *)0)->name)] = "";
        MAE_TRY(backends[i]->open(colon + 1, &backend, name, sizeof name));
        return mae_attach(ops, backend, name, dev);
    }
    return mae_detail(
        MAE_E_URI,
        "'%.100s' should begin with sim:, vfio:, uio: or null:, as in sim:stream?lanes=4", uri);
}

void mae_close(mae_dev_t *dev)
{
    if (!dev || mae_check_process(dev) != MAE_OK) /* to stop the device would stop the parent's */
        return;
    dev->engine->stop(dev);
    dev->ops->stop(dev->backend);
    mae_memory_close(dev);
    mae_records_close(dev);
    dev->ops->close(dev->backend);
    mae_wipe(dev, sizeof *dev);
    free(dev);
}

mae_error_t mae_get_caps(const mae_dev_t *dev, struct mae_caps *caps)
{
    if (!dev || !caps)
        return MAE_E_ARGUMENT;
    *caps = dev->caps;
    return MAE_OK;
}

mae_error_t mae_device_list(struct mae_device_info *list, size_t max, size_t *count)
{
    if (!count || (max > 0 && !list))
        return MAE_E_ARGUMENT;
    *count = 0;
    for (int i = 0; i < BACKENDS; i++)
        backends[i]->list(list, max, count);
    return MAE_OK;
}

/* ---- statistics and registers ---- */

mae_error_t mae_get_stats(mae_dev_t *dev, struct mae_stats *stats)
{
    if (!dev || !stats)
        return MAE_E_ARGUMENT;
    mae_detail_clear();
    MAE_TRY(mae_check_process(dev));
    return dev->ops->stats ? dev->ops->stats(dev->backend, stats) : MAE_E_UNSUPPORTED;
}

mae_error_t mae_reset_stats(mae_dev_t *dev)
{
    MAE_TRY(mae_usable(dev));
    return dev->ops->reset_stats ? dev->ops->reset_stats(dev->backend) : MAE_E_UNSUPPORTED;
}

mae_error_t mae_run_clocks(mae_dev_t *dev, uint64_t clocks)
{
    MAE_TRY(mae_usable(dev));
    return dev->ops->run_clocks ? dev->ops->run_clocks(dev->backend, clocks) : MAE_OK;
}

mae_error_t mae_host_copy(mae_dev_t *dev, void *dst, const void *src, uint64_t bytes)
{
    uint64_t from = 0, to = 0;
    MAE_TRY(mae_usable(dev));
    if (!dst || !src)
        return MAE_E_ARGUMENT;
    if (bytes == 0)
        return MAE_OK;
    MAE_TRY(mae_translate(dev, src, bytes, false, &from));
    MAE_TRY(mae_translate(dev, dst, bytes, true, &to));
    if (dev->ops->host_copy && mae_has_dma(dev))
        return dev->ops->host_copy(dev->backend, to, from, bytes);
    memmove(dst, src, bytes);
    return MAE_OK;
}

mae_error_t mae_register_read(mae_dev_t *dev, uint32_t offset, uint32_t *value)
{
    MAE_TRY(mae_usable(dev));
    if (!value || offset % 4 != 0)
        return MAE_E_ARGUMENT;
    return dev->ops->read32(dev->backend, offset, value);
}

mae_error_t mae_register_write(mae_dev_t *dev, uint32_t offset, uint32_t value)
{
    MAE_TRY(mae_usable(dev));
    if (offset % 4 != 0)
        return MAE_E_ARGUMENT;
    return dev->ops->write32(dev->backend, offset, value);
}

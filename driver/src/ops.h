/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the functions of a backend, by which the library reaches a device. A backend is a
 * constant of this type and an open function; all other code is common to all backends.
 */
#ifndef MAE_OPS_H
#define MAE_OPS_H

#include "maeslant.h"

struct mae_ops {
    const char *name;
    /* The time that one mae_poll may advance where time passes only when asked; else 0. */
    uint64_t poll_ns;
    uint32_t clocks_per_us;
    bool simulated;
    /* Writes may reach the device after write32 has returned; a later read waits for them. */
    bool posted;

    mae_error_t (*read32)(void *backend, uint32_t offset, uint32_t *value);
    mae_error_t (*write32)(void *backend, uint32_t offset, uint32_t value);
    /* Maps memory for the device's DMA; *iova is its bus address. Unmapping names a whole
       mapping. */
    mae_error_t (*dma_map)(void *backend, void *memory, size_t bytes, bool writable,
                           uint64_t *iova);
    mae_error_t (*dma_unmap)(void *backend, uint64_t iova, size_t bytes);
    /* Allocate and free zeroed memory that dma_map takes, where it does not take all; NULL: any. */
    mae_error_t (*alloc)(void *backend, size_t bytes, void **memory);
    void (*free)(void *backend, void *memory);
    /* Waits until the device's interrupt line is high, at most max_ns. MAE_OK, or MAE_E_TIMEOUT. */
    mae_error_t (*wait)(void *backend, uint64_t max_ns);
    /* Returns the device's time in ns, from any origin. */
    uint64_t (*now_ns)(void *backend);
    /* Stops the device's DMA: it must not access memory any more. */
    void (*stop)(void *backend);
    void (*close)(void *backend);

    /* Reads the counters of a simulated device; NULL elsewhere. */
    mae_error_t (*stats)(void *backend, struct mae_stats *stats);
    mae_error_t (*reset_stats)(void *backend);
    mae_error_t (*run_clocks)(void *backend, uint64_t clocks);
    mae_error_t (*host_copy)(void *backend, uint64_t dst_iova, uint64_t src_iova, uint64_t bytes);
};

/*
 * Holds a backend's name, the start of its URIs, and its functions. `rest` is what follows "name:".
 * Sets `name` for mae_caps; on failure gives details by mae_detail.
 */
struct mae_backend {
    const struct mae_ops *ops;
    mae_error_t (*open)(const char *rest, void **backend, char *name, size_t name_size);
    /* Lists the devices of a backend that can be opened; NULL: nothing but "name:" itself. */
    void (*list)(struct mae_device_info *list, size_t max, size_t *count);
};

extern const struct mae_backend mae_backend_sim;
extern const struct mae_backend mae_backend_null;
extern const struct mae_backend mae_backend_vfio;
extern const struct mae_backend mae_backend_uio;

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Implements the C functions of mae_sim.h on the class Machine. No exception leaves it.
#include "include/mae_sim.h"

#include <cerrno>
#include <cstdio>
#include <exception>

#include "machine.h"

struct mae_sim {
    mae::Machine machine;
};

extern "C" {

mae_sim_t *mae_sim_create(const char *options, char *error, size_t error_size) {
    try {
        return new mae_sim{mae::Machine(options == nullptr ? "" : options)};
    } catch (const std::exception &problem) {
        if (error != nullptr && error_size != 0) {
            std::snprintf(error, error_size, "%s", problem.what());
        }
        return nullptr;
    }
}

void mae_sim_destroy(mae_sim_t *sim) { delete sim; }

int mae_sim_read32(mae_sim_t *sim, uint32_t offset, uint32_t *value) {
    return sim->machine.read32(offset, *value);
}

int mae_sim_write32(mae_sim_t *sim, uint32_t offset, uint32_t value) {
    return sim->machine.write32(offset, value);
}

int mae_sim_map(mae_sim_t *sim, uint64_t iova, void *host, uint64_t bytes, int writable) {
    return sim->machine.map(iova, host, bytes, writable != 0);
}

int mae_sim_unmap(mae_sim_t *sim, uint64_t iova, uint64_t bytes) {
    return sim->machine.unmap(iova, bytes);
}

int mae_sim_wait(mae_sim_t *sim, uint64_t max_clocks) { return sim->machine.wait(max_clocks); }

int mae_sim_run(mae_sim_t *sim, uint64_t clocks) { return sim->machine.run(clocks); }

int mae_sim_host_copy(mae_sim_t *sim, uint64_t dst_iova, uint64_t src_iova, uint64_t bytes) {
    return sim->machine.host_copy(dst_iova, src_iova, bytes);
}

int mae_sim_set_bus(mae_sim_t *sim, mae_sim_read_fn read, mae_sim_write_fn write, void *user) {
    return sim->machine.set_bus(read, write, user);
}

int mae_sim_install(mae_sim_t *sim, const uint8_t *secret, const uint8_t *session_id,
                    uint64_t clocks) {
    return sim->machine.install(secret, session_id, clocks);
}

int mae_sim_set_nonces(mae_sim_t *sim, mae_sim_nonce_fn nonce, void *user) {
    return sim->machine.set_nonces(nonce, user);
}

int mae_sim_signal(const mae_sim_t *sim, uint32_t index, struct mae_sim_signal *signal) {
    mae::Device::Signal found;
    if (!sim->machine.signal(index, found)) return -ENOENT;
    *signal = {found.name, found.data, found.bytes};
    return 0;
}

void mae_sim_set_notes(mae_sim_t *sim, int wanted) { sim->machine.want_notes(wanted != 0); }

int mae_sim_take_note(mae_sim_t *sim, struct mae_sim_note *note) {
    return sim->machine.take_note(*note);
}

void mae_sim_stats(const mae_sim_t *sim, struct mae_sim_stats *stats) {
    struct mae_sim_detail detail;
    sim->machine.stats(*stats, detail);
}

void mae_sim_detail(const mae_sim_t *sim, struct mae_sim_detail *detail) {
    struct mae_sim_stats stats;
    sim->machine.stats(stats, *detail);
}

void mae_sim_stats_reset(mae_sim_t *sim) { sim->machine.reset_stats(); }

const char *mae_sim_message(const mae_sim_t *sim) { return sim->machine.message().c_str(); }

}  // extern "C"

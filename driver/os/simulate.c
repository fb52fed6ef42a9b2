/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps a simulator library as the protected card that mae_os_serve serves. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../sim/include/mae_sim.h"
#include "serve.h"

enum { DEFAULT_STEP = 64, INSTALL_CLOCKS = 100000 };

struct simulated {
    struct mae_os_card card; /* first: its address is the whole's */
    void *library;
    mae_sim_t *machine;
    uint64_t step;
    __typeof__(mae_sim_create) *create;
    __typeof__(mae_sim_destroy) *destroy;
    __typeof__(mae_sim_read32) *read32;
    __typeof__(mae_sim_write32) *write32;
    __typeof__(mae_sim_map) *map;
    __typeof__(mae_sim_wait) *wait;
    __typeof__(mae_sim_run) *run;
    __typeof__(mae_sim_install) *install;
    __typeof__(mae_sim_stats) *stats;
};

/* Reads registers of the simulated card. */
static int read_registers(void *user, uint64_t offset, uint8_t *bytes, uint64_t size)
{
    struct simulated *sim = user;
    for (uint64_t at = 0; at < size; at += 4) {
        uint32_t word = UINT32_MAX;
        int error = sim->read32(sim->machine, (uint32_t)(offset + at), &word);
        if (error)
            return error;
        for (uint64_t i = 0; i < 4 && at + i < size; i++)
            bytes[at + i] = (uint8_t)(word >> 8 * i);
    }
    return 0;
}

/* Writes registers of the simulated card. */
static int write_registers(void *user, uint64_t offset, const uint8_t *bytes, uint64_t size)
{
    struct simulated *sim = user;
    for (uint64_t at = 0; at + 4 <= size; at += 4) {
        uint32_t word =
            bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | (uint32_t)bytes[at + 3] << 24;
        int error = sim->write32(sim->machine, (uint32_t)(offset + at), word);
        if (error)
            return error;
    }
    return 0;
}

/* Maps memory at a bus address of the simulated card, for its DMA. */
static int map(void *user, uint64_t *host, void *memory, uint64_t bytes)
{
    struct simulated *sim = user;
    return sim->map(sim->machine, *host, memory, bytes, 1);
}

/* Runs the simulated card until its interrupt, at most for a limited number of clocks. The
   interrupt is a pulse, so one that is still high is an old one. */
static int wait_a_while(void *user)
{
    struct simulated *sim = user;
    int error = sim->run(sim->machine, 1);
    if (!error && sim->step > 1)
        error = sim->wait(sim->machine, sim->step - 1);
    return error < 0 ? error : 0;
}

/* Installs a session's secret through the simulated card's provisioning port. */
static int install(void *user, const uint8_t *secret, const uint8_t *session_id)
{
    struct simulated *sim = user;
    return sim->install(sim->machine, secret, session_id, INSTALL_CLOCKS) == 1 ? 0 : -EBUSY;
}

/* Returns the number of bus clocks that the simulated card has run. */
static uint64_t clocks(void *user)
{
    struct simulated *sim = user;
    struct mae_sim_stats stats;
    sim->stats(sim->machine, &stats);
    return stats.bus_clocks;
}

/* Loads a simulator library and looks up the functions of mae_sim.h in it. */
static bool load(struct simulated *sim, const char *library, char *reason, size_t reason_size)
{
    const struct {
        const char *name;
        void *place;
    } symbols[] = {
        {"mae_sim_create", &sim->create}, {"mae_sim_destroy", &sim->destroy},
        {"mae_sim_read32", &sim->read32}, {"mae_sim_write32", &sim->write32},
        {"mae_sim_map", &sim->map},       {"mae_sim_wait", &sim->wait},
        {"mae_sim_run", &sim->run},       {"mae_sim_install", &sim->install},
        {"mae_sim_stats", &sim->stats},
    };
    sim->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!sim->library) {
        snprintf(reason, reason_size, "%s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(sim->library, symbols[i].name);
        if (!symbol) {
            snprintf(reason, reason_size, "%s has no %s: it is of another version", library,
                     symbols[i].name);
            return false;
        }
        memcpy(symbols[i].place, &symbol, sizeof symbol);
    }
    return true;
}

/* Reads the option "step=N" of a simulated card and removes it from the simulator's text. */
static void take_step(struct simulated *sim, const char *options, char *rest, size_t size)
{
    size_t used = 0;
    rest[0] = '\0';
    while (options && *options) {
        size_t length = strcspn(options, "&");
        if (strncmp(options, "step=", 5) == 0)
            sim->step = strtoull(options + 5, NULL, 10);
        else if (used + length + 2 < size)
            used += (size_t)snprintf(rest + used, size - used, "%s%.*s", used ? "&" : "",
                                     (int)length, options);
        options += length + (options[length] == '&');
    }
}

struct mae_os_card *mae_os_simulate(const char *library, const char *options, char *reason,
                                    size_t reason_size)
{
    char rest[1024];
    struct simulated *sim = calloc(1, sizeof *sim);
    if (!sim)
        return NULL;
    sim->step = DEFAULT_STEP;
    take_step(sim, options, rest, sizeof rest);
    if (load(sim, library, reason, reason_size))
        sim->machine = sim->create(rest, reason, reason_size);
    sim->card = (struct mae_os_card){.user = sim,
                                     .read = read_registers,
                                     .write = write_registers,
                                     .map = map,
                                     .pause = wait_a_while,
                                     .install = install,
                                     .clocks = clocks};
    if (!sim->machine) {
        mae_os_simulate_end(&sim->card);
        return NULL;
    }
    return &sim->card;
}

void mae_os_simulate_end(struct mae_os_card *card)
{
    struct simulated *sim = (struct simulated *)card;
    if (!sim)
        return;
    if (sim->machine)
        sim->destroy(sim->machine);
    if (sim->library)
        dlclose(sim->library);
    free(sim);
}

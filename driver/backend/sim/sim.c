/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements the driver's backend "sim", which loads a simulator library as a device. Its time
 * passes only inside our calls; a nanosecond of it is CLOCK_MHZ / 1000 bus clocks.
 */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../sim/include/mae_sim.h"
#include "device.h"

enum {
    CLOCK_MHZ = 200,
    NS_PER_CLOCK = 1000 / CLOCK_MHZ,
    POLL_CLOCKS = 256, /* that mae_poll lets pass when nothing has completed */
    PAGE = 4096,
    DEFAULT_LANES = 4
};

static const uint64_t first_iova = 0x100000000; /* beyond 32 bits, so that high halves count */

struct sim {
    void *library;
    mae_sim_t *machine;
    uint64_t next_iova;
    uint64_t clocks_before; /* counted before the last reset of the statistics */
    uint64_t dies;          /* at this clock the card is removed; UINT64_MAX: never */
    __typeof__(mae_sim_create) *create;
    __typeof__(mae_sim_destroy) *destroy;
    __typeof__(mae_sim_read32) *read32;
    __typeof__(mae_sim_write32) *write32;
    __typeof__(mae_sim_map) *map;
    __typeof__(mae_sim_unmap) *unmap;
    __typeof__(mae_sim_wait) *wait;
    __typeof__(mae_sim_run) *run;
    __typeof__(mae_sim_host_copy) *host_copy;
    __typeof__(mae_sim_stats) *stats;
    __typeof__(mae_sim_detail) *detail;
    __typeof__(mae_sim_stats_reset) *stats_reset;
    __typeof__(mae_sim_message) *message;
};

/* Converts a result code of the simulator to an error code of libmaeslant. */
static mae_error_t result(const struct sim *sim, int code)
{
    mae_error_t error;
    if (code >= 0)
        return MAE_OK;
    switch (-code) {
    case EIO:
        error = MAE_E_BUS;
        break;
    case ETIMEDOUT:
        error = MAE_E_TIMEOUT;
        break;
    case EPROTO:
        error = MAE_E_DEVICE;
        break;
    case ENOSYS:
        error = MAE_E_UNSUPPORTED;
        break;
    default:
        error = MAE_E_ARGUMENT;
    }
    return mae_detail(error, "%s", sim->message(sim->machine));
}

/* Returns the number of bus clocks that the simulated device has run. */
static uint64_t bus_clocks(const struct sim *sim)
{
    struct mae_sim_stats stats;
    sim->stats(sim->machine, &stats);
    return sim->clocks_before + stats.bus_clocks;
}

/* Returns an error once the clock of the option dies= has come: the simulated card is removed. */
static mae_error_t there(const struct sim *sim)
{
    if (sim->dies == UINT64_MAX || bus_clocks(sim) < sim->dies)
        return MAE_OK;
    return mae_detail(MAE_E_BUS, "the simulated card was removed at clock %llu, as dies= asks",
                      (unsigned long long)sim->dies);
}

/* Reads a 32-bit register of the simulated device. */
static mae_error_t sim_read32(void *backend, uint32_t offset, uint32_t *value)
{
    struct sim *sim = backend;
    MAE_TRY(there(sim));
    return result(sim, sim->read32(sim->machine, offset, value));
}

/* Writes a 32-bit register of the simulated device. */
static mae_error_t sim_write32(void *backend, uint32_t offset, uint32_t value)
{
    struct sim *sim = backend;
    MAE_TRY(there(sim));
    return result(sim, sim->write32(sim->machine, offset, value));
}

/* Maps memory for the simulated device, a page behind the last mapping, so that an overrun is
   detected. */
static mae_error_t sim_map(void *backend, void *memory, size_t bytes, bool writable, uint64_t *iova)
{
    struct sim *sim = backend;
    uint64_t at = sim->next_iova + (uintptr_t)memory % PAGE;
    MAE_TRY(result(sim, sim->map(sim->machine, at, memory, bytes, writable)));
    sim->next_iova = (at + bytes + 2 * PAGE - 1) / PAGE * PAGE;
    *iova = at;
    return MAE_OK;
}

/* Unmaps memory from the simulated device. */
static mae_error_t sim_unmap(void *backend, uint64_t iova, size_t bytes)
{
    struct sim *sim = backend;
    return result(sim, sim->unmap(sim->machine, iova, bytes));
}

/* Runs the simulator until the device's interrupt line is high, at most a given time. */
static mae_error_t sim_wait(void *backend, uint64_t max_ns)
{
    struct sim *sim = backend;
    uint64_t clocks = max_ns / NS_PER_CLOCK + 1;
    MAE_TRY(there(sim));
    if (sim->dies != UINT64_MAX && clocks > sim->dies - bus_clocks(sim))
        clocks = sim->dies - bus_clocks(sim);
    int code = sim->wait(sim->machine, clocks);
    MAE_TRY(there(sim)); /* with whatever it had begun to write */
    if (code == 0)
        return MAE_E_TIMEOUT;
    return result(sim, code);
}

/* Returns the simulated time in ns since the start of the simulator. */
static uint64_t sim_now(void *backend)
{
    return bus_clocks(backend) * NS_PER_CLOCK;
}

/* Does nothing, because the simulated device moves data only inside calls of this backend. */
static void sim_stop(void *backend)
{
    (void)backend; /* nothing moves unless it is run */
}

/* Destroys the simulated machine and unloads its library. */
static void sim_close(void *backend)
{
    struct sim *sim = backend;
    if (sim->machine)
        sim->destroy(sim->machine);
    if (sim->library)
        dlclose(sim->library);
    free(sim);
}

/* Copies the simulator's counters into the structure that mae_get_stats returns. */
static mae_error_t sim_stats(void *backend, struct mae_stats *out)
{
    struct sim *sim = backend;
    struct mae_sim_stats stats;
    struct mae_sim_detail detail;
    sim->stats(sim->machine, &stats);
    sim->detail(sim->machine, &detail);
    *out = (struct mae_stats){
        .core_clocks = stats.core_clocks,
        .bus_clocks = stats.bus_clocks,
        .read_beats = stats.read_beats,
        .write_beats = stats.write_beats,
        .read_bytes = stats.read_bytes,
        .write_bytes = stats.write_bytes,
        .first_data_clock = stats.first_data_clock,
        .last_data_clock = stats.last_data_clock,
        .host_copy_beats = stats.host_copy_beats,
        .register_reads = stats.register_reads,
        .register_writes = stats.register_writes,
        .errors_injected = stats.errors_injected,
        .data_width_bits = stats.data_width_bits,
        .one_way = stats.one_way,
        .payload_read_beats = detail.payload_read_beats,
        .payload_write_beats = detail.payload_write_beats,
        .both_ways_clocks = detail.both_ways_clocks,
        .overtakes = detail.overtakes,
        .interleaved = detail.interleaved,
        .max_reads_outstanding = detail.max_reads_outstanding,
        .max_writes_outstanding = detail.max_writes_outstanding,
        .decode_errors = detail.decode_errors,
        .read_latency_min = detail.read_latency_min,
        .read_latency_max = detail.read_latency_max,
        .write_latency_min = detail.write_latency_min,
        .write_latency_max = detail.write_latency_max,
    };
    return MAE_OK;
}

/* Resets the simulator's counters to zero; the simulated time continues. */
static mae_error_t sim_reset_stats(void *backend)
{
    struct sim *sim = backend;
    struct mae_sim_stats stats;
    sim->stats(sim->machine, &stats);
    sim->clocks_before += stats.bus_clocks;
    sim->stats_reset(sim->machine);
    return MAE_OK;
}

/* Runs the simulation for a number of clocks. */
static mae_error_t sim_run_clocks(void *backend, uint64_t clocks)
{
    struct sim *sim = backend;
    return result(sim, sim->run(sim->machine, clocks));
}

/* Copies data between two buffers as the simulated host's CPU does, in simulated time. */
static mae_error_t sim_host_copy(void *backend, uint64_t dst_iova, uint64_t src_iova,
                                 uint64_t bytes)
{
    struct sim *sim = backend;
    return result(sim, sim->host_copy(sim->machine, dst_iova, src_iova, bytes));
}

static const struct mae_ops sim_ops = {
    .name = "sim",
    .poll_ns = (uint64_t)POLL_CLOCKS * NS_PER_CLOCK,
    .clocks_per_us = CLOCK_MHZ,
    .simulated = true,
    .read32 = sim_read32,
    .write32 = sim_write32,
    .dma_map = sim_map,
    .dma_unmap = sim_unmap,
    .wait = sim_wait,
    .now_ns = sim_now,
    .stop = sim_stop,
    .close = sim_close,
    .stats = sim_stats,
    .reset_stats = sim_reset_stats,
    .run_clocks = sim_run_clocks,
    .host_copy = sim_host_copy,
};

/* ---- finding a build ---- */

/* Returns the folder in which to search for simulator libraries, by index; false after the last. */
static bool search_folder(int index, char *folder, size_t size)
{
    const char *path = getenv("MAESLANT_SIM_PATH");
    if (path && *path) {
        for (; index > 0 && path; index--)
            path = (path = strchr(path, ':')) ? path + 1 : NULL;
        if (!path)
            return false;
        snprintf(folder, size, "%.*s", (int)strcspn(path, ":"), path);
        return true;
    }
    if (index == 0) { /* build/driver/libmaeslant.so, build/sim/ */
        Dl_info info;
        char own[PATH_MAX], *slash;
        if (!dladdr(&sim_ops, &info) || !realpath(info.dli_fname, own) ||
            !(slash = strrchr(own, '/')))
            snprintf(folder, size, "build/sim");
        else
            snprintf(folder, size, "%.*s/../sim", (int)(slash - own), own);
        return true;
    }
    if (index == 1) {
        snprintf(folder, size, "build/sim");
        return true;
    }
    if (index == 2) { /* the user's cache, where an installed maeslant builds */
        const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
        bool given = cache && *cache;
        if (given || (home && *home)) {
            snprintf(folder, size, "%s%s/maeslant/sim", given ? cache : home,
                     given ? "" : "/.cache");
            return true;
        }
    }
    return false;
}

/* Finds the simulator library of a named build in the search folders; returns its path. */
static bool find_build(const char *build, char *file, size_t size)
{
    char folder[PATH_MAX / 2];
    /* A waveform build keeps its library's name: stream4-trace/libmae_sim_stream4.so. */
    const char *end = strstr(build, "-trace");
    int stem = (int)(end ? (size_t)(end - build) : strlen(build));
    for (int i = 0; search_folder(i, folder, sizeof folder); i++) {
        int length = snprintf(file, size, "%s/%s/libmae_sim_%.*s.so", folder, build, stem, build);
        if (length > 0 && (size_t)length < size && access(file, R_OK) == 0)
            return true;
    }
    return false;
}

/* Finds an option in the text of a simulator's options; returns its value and start, or NULL. */
static char *find_option(char *options, const char *name, char **start)
{
    size_t length = strlen(name);
    for (char *at = options; at; at = (at = strchr(at, '&')) ? at + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            *start = at;
            return at + length + 1;
        }
    }
    return NULL;
}

/* Reads a numeric option of a "sim:" URI and removes it from the simulator's text. *number stays if
   the option is missing. */
static mae_error_t take_number(char *options, const char *name, size_t most_digits,
                               uint64_t *number)
{
    char *start, *value = find_option(options, name, &start);
    if (!value)
        return MAE_OK;
    size_t digits = strspn(value, "0123456789");
    char *end = value + strcspn(value, "&");
    if (digits == 0 || digits > most_digits || value + digits != end)
        return mae_detail(MAE_E_URI, "%s= takes a number", name);
    *number = strtoull(value, NULL, 10);
    if (*end == '&')
        end++;
    else if (start > options)
        start--;
    memmove(start, end, strlen(end) + 1);
    return MAE_OK;
}

/* Splits a "sim:" URI into the build's name and the simulator's options. "stream?lanes=4&seed=1" is
   build "stream4" with option "seed=1". */
static mae_error_t parse(const char *rest, char *build, size_t build_size, char *options,
                         size_t options_size, uint64_t *dies)
{
    size_t length = strcspn(rest, "?");
    uint64_t lanes = UINT64_MAX;
    char *start;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)rest[i]) && rest[i] != '_' && rest[i] != '-')
            return mae_detail(MAE_E_URI, "a build's name has letters, digits, '_' and '-' only");
    if (length == 0 || length > 48)
        return mae_detail(MAE_E_URI, "sim: needs the name of a build, as in sim:stream?lanes=4");
    if (strlen(rest) - length >= options_size)
        return mae_detail(MAE_E_URI, "more than %zu characters of options", options_size);
    strcpy(options, rest[length] ? rest + length + 1 : "");
    MAE_TRY(take_number(options, "lanes", 3, &lanes));
    MAE_TRY(take_number(options, "dies", 18, dies));
    if (lanes == UINT64_MAX && ((length == 6 && memcmp(rest, "stream", 6) == 0) ||
                                (length == 4 && memcmp(rest, "copy", 4) == 0)))
        lanes = DEFAULT_LANES;
    if (lanes == UINT64_MAX)
        snprintf(build, build_size, "%.*s", (int)length, rest);
    else
        snprintf(build, build_size, "%.*s%u", (int)length, rest, (unsigned)lanes);
    if (find_option(options, "wave", &start) && !strstr(build, "-trace"))
        strncat(build, "-trace", build_size - strlen(build) - 1);
    return MAE_OK;
}

/* Returns 1 if this loaded object names a dynamic linker; a callback of dl_iterate_phdr. */
static int is_dynamic(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            return 1;
    return 0;
}

/* Loads a simulator library and looks up the functions of mae_sim.h in it. */
static mae_error_t load(struct sim *sim, const char *file)
{
    /* glibc's dlopen accepts a simulator in a static program, which then crashes. */
    if (!dl_iterate_phdr(is_dynamic, NULL))
        return mae_detail(MAE_E_UNSUPPORTED,
                          "a program linked with -static cannot load a simulated device");
    sim->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!sim->library)
        return mae_detail(MAE_E_SYSTEM, "%s", dlerror());
    const struct {
        const char *name;
        void *place;
    } symbols[] = {
        {"mae_sim_create", &sim->create},
        {"mae_sim_destroy", &sim->destroy},
        {"mae_sim_read32", &sim->read32},
        {"mae_sim_write32", &sim->write32},
        {"mae_sim_map", &sim->map},
        {"mae_sim_unmap", &sim->unmap},
        {"mae_sim_wait", &sim->wait},
        {"mae_sim_run", &sim->run},
        {"mae_sim_host_copy", &sim->host_copy},
        {"mae_sim_stats", &sim->stats},
        {"mae_sim_detail", &sim->detail},
        {"mae_sim_stats_reset", &sim->stats_reset},
        {"mae_sim_message", &sim->message},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(sim->library, symbols[i].name);
        if (!symbol)
            return mae_detail(MAE_E_NOT_OURS,
                              "%s has no %s: it is no device for data, or of another version", file,
                              symbols[i].name);
        memcpy(symbols[i].place, &symbol, sizeof symbol);
    }
    return MAE_OK;
}

/* Opens the simulated device that a "sim:" URI names, as mae_open calls it. */
static mae_error_t sim_open(const char *rest, void **backend, char *name, size_t name_size)
{
    char build[64], options[1024], file[PATH_MAX], reason[256] = "";
    uint64_t dies = UINT64_MAX;
    MAE_TRY(parse(rest, build, sizeof build, options, sizeof options, &dies));
    if (!find_build(build, file, sizeof file))
        return mae_detail(MAE_E_NO_DEVICE,
                          "there is no simulated build '%s'; make it with: maeslant build %s",
                          build, build);
    struct sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return MAE_E_MEMORY;
    sim->next_iova = first_iova;
    sim->dies = dies;
    mae_error_t error = load(sim, file);
    if (error == MAE_OK) {
        sim->machine = sim->create(options, reason, sizeof reason);
        if (!sim->machine)
            error = mae_detail(MAE_E_URI, "simulator: %s", reason);
    }
    if (error != MAE_OK) {
        sim_close(sim);
        return error;
    }
    snprintf(name, name_size, "%s", build);
    *backend = sim;
    return MAE_OK;
}

/* Lists the simulated devices whose libraries lie in the search folders. */
static void sim_list(struct mae_device_info *list, size_t max, size_t *count)
{
    char folder[PATH_MAX / 2], file[PATH_MAX];
    for (int i = 0; search_folder(i, folder, sizeof folder); i++) {
        struct dirent **names;
        int entries = scandir(folder, &names, NULL, alphasort);
        for (int j = 0; j < entries; j++) {
            const char *build = names[j]->d_name;
            struct mae_device_info info = {.summary = "simulated build", .available = 1};
            int length = snprintf(info.uri, sizeof info.uri, "sim:%s", build);
            /* An earlier folder's build of that name would be the one opened: it is listed. */
            if (build[0] != '.' && !strstr(build, "-trace") && length < (int)sizeof info.uri &&
                find_build(build, file, sizeof file) &&
                strncmp(file, folder, strlen(folder)) == 0) {
                if (*count < max)
                    list[*count] = info;
                ++*count;
            }
            free(names[j]);
        }
        if (entries >= 0)
            free(names);
    }
}

const struct mae_backend mae_backend_sim = {&sim_ops, sim_open, sim_list};

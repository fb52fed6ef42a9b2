/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares the C interface of a simulated GCM engine (mae_gcm_stream), which runs job lists. The
 * library is build/sim/gcm<lanes>/libmae_sim_gcm<lanes>.so: one call runs a list of jobs, clock by
 * clock.
 *
 * Jobs are in program order. Messages and keys are offered as early as that order lets them: a
 * message along with its key, a key of one bank while messages of the other one wait. Stalls and
 * rubbish follow from the seed. The harness checks lengths, ends and zeros of what comes out, and
 * that nothing comes that belongs to no message; bytes, tags and verdicts are for the caller.
 */
#ifndef MAE_SIM_GCM_H
#define MAE_SIM_GCM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MAE_SIM_API __attribute__((visibility("default")))
#else
#define MAE_SIM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* cdef begin */
enum mae_gcm_kind {
    MAE_GCM_KEY = 0,     /* load key_bytes at offset into a bank */
    MAE_GCM_MESSAGE = 1, /* the IV at offset, then AAD, then data */
    MAE_GCM_ABORT = 2,   /* `wait` clocks after all before it was announced */
    MAE_GCM_CLEAR = 3,   /* the same; all keys are gone too */
    MAE_GCM_STALL = 4    /* from here on: chances of a pause, n / 256, in tag[0..4] */
};
enum mae_gcm_odd {
    MAE_GCM_AGREES = 0,
    MAE_GCM_ODD_BYTES = 1, /* a beat has a number of bytes that was not announced */
    MAE_GCM_ODD_LAST = 2   /* a beat is marked last, or is not, against what was announced */
};
struct mae_gcm_job {
    uint8_t kind, bank, decrypt, tag_bytes;
    uint8_t odd, key_bytes, wait, rest;
    uint32_t iv_bytes, aad_bytes, data_bytes, more;
    uint64_t offset; /* in the buffer of inputs; data come out at the same place */
    uint8_t tag[16]; /* stalls: beats in, beats out, tags, messages, keys */
};
struct mae_gcm_result {
    uint8_t tag[16];
    uint8_t ended, ok, rest[6];
    uint64_t bytes; /* that came out */
};

typedef struct mae_sim_gcm mae_sim_gcm_t;

/*
 * Creates a simulated GCM engine out of reset; `held` beats fit behind its output. Null when there
 * is no memory.
 */
MAE_SIM_API mae_sim_gcm_t *mae_sim_gcm_create(uint64_t seed, uint32_t held);
MAE_SIM_API void mae_sim_gcm_destroy(mae_sim_gcm_t *gcm);
MAE_SIM_API uint32_t mae_sim_gcm_lanes(const mae_sim_gcm_t *gcm);
/*
 * Runs all jobs of a list on the simulated GCM engine; its keys stay for the next call. `in` and
 * `out` have the same size. 0, or -1 when the engine violated its protocol: mae_sim_gcm_message()
 * says how.
 */
MAE_SIM_API int mae_sim_gcm_run(mae_sim_gcm_t *gcm, const struct mae_gcm_job *jobs, size_t count,
                                const uint8_t *in, uint8_t *out, struct mae_gcm_result *results);
MAE_SIM_API uint64_t mae_sim_gcm_clocks(const mae_sim_gcm_t *gcm);
MAE_SIM_API const char *mae_sim_gcm_message(const mae_sim_gcm_t *gcm);
/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

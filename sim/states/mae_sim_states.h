/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares the C interface of the exhaustive exploration of the memory arbiter's states. The
 * library is build/sim/states/libmae_sim_states.so.
 */
#ifndef MAE_SIM_STATES_H
#define MAE_SIM_STATES_H

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
struct mae_states_job {
    uint8_t mode, decrypt, init, moves; /* mode_e; 7: GCM, by Ctr32 */
    uint8_t plain, bad_tag, key_each, source;
    uint8_t destination, keys, bytes, word; /* rows; length; the word of a row the CPU uses */
};

/* Explores every state that the memory arbiter can reach with the given jobs. With one toy
 * peripheral any of the jobs start repeatedly; with two, each has a job of its own that starts at
 * any clock, once until both have ended. Beside that any accesses of the CPU (at most `accesses` in
 * a job, if not 0), any pauses of the peripherals, wipes and resets. The report is JSON: counts and
 * longest waits, or with -1 an "error". Gives up beyond `limit` states. */
MAE_SIM_API int mae_sim_states_run(const struct mae_states_job *jobs, size_t count, unsigned toys,
                                   unsigned accesses, uint64_t limit, char *report, size_t size);
/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

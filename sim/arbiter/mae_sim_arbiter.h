/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares the C interface of the memory arbiter's torture test. The library is
 * build/sim/arbiter/libmae_sim_arbiter.so.
 */
#ifndef MAE_SIM_ARBITER_H
#define MAE_SIM_ARBITER_H

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
/* Runs random jobs beside random CPU accesses until a number of accesses is over. `jobs`: the
 * peripherals of the library, 1 or 2. The report is JSON: counts and holds, or with -1 an "error":
 * where memory or time was not as it must be. The same seed gives the same run. */
MAE_SIM_API int mae_sim_arbiter_torture(uint64_t seed, uint64_t accesses, unsigned jobs,
                                        char *report, size_t size);
/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

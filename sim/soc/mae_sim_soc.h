/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares the C interface of the simulated PicoRV32 system with the AES peripheral (mae_soc). The
 * library is build/sim/<build>/libmae_sim_<build>.so: the memory can be read and written, the clock
 * runs until the software ends the simulation.
 */
#ifndef MAE_SIM_SOC_H
#define MAE_SIM_SOC_H

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
enum mae_soc_end {
    MAE_SOC_RUNNING = 0,  /* the clocks of the call are over */
    MAE_SOC_FINISHED = 1, /* the software wrote `finish` */
    MAE_SOC_TRAP = 2,     /* the CPU stopped: an illegal instruction or access */
    MAE_SOC_FAILED = 3    /* the hardware did what it must not: mae_sim_soc_message() */
};

typedef struct mae_sim_soc mae_sim_soc_t;

/* Creates a simulated PicoRV32 system in reset, with zeros in its memory. Null when there is no
   memory. */
MAE_SIM_API mae_sim_soc_t *mae_sim_soc_create(void);
MAE_SIM_API void mae_sim_soc_destroy(mae_sim_soc_t *soc);
MAE_SIM_API uint32_t mae_sim_soc_memory_bytes(mae_sim_soc_t *soc);
/* Writes or reads memory of the simulated PicoRV32 system; returns 0, or -1 outside it. */
MAE_SIM_API int mae_sim_soc_write(mae_sim_soc_t *soc, uint32_t address, const uint8_t *from,
                                  uint32_t bytes);
MAE_SIM_API int mae_sim_soc_read(mae_sim_soc_t *soc, uint32_t address, uint8_t *to, uint32_t bytes);
/* Resets CPU and peripherals of the simulated PicoRV32 system; its memory stays. */
MAE_SIM_API void mae_sim_soc_reset(mae_sim_soc_t *soc);
/*
 * Runs the simulated PicoRV32 system for some clocks; returns why it ended (mae_soc_end). May be
 * called again after RUNNING.
 */
MAE_SIM_API int mae_sim_soc_run(mae_sim_soc_t *soc, uint64_t clocks);
MAE_SIM_API uint32_t mae_sim_soc_code(const mae_sim_soc_t *soc);   /* written to `finish` */
MAE_SIM_API uint64_t mae_sim_soc_clocks(const mae_sim_soc_t *soc); /* since the last reset */
/* Returns the text that the simulated software has printed since the last call. At most `room`
   bytes are returned, and their number. */
MAE_SIM_API size_t mae_sim_soc_console(mae_sim_soc_t *soc, char *text, size_t room);
MAE_SIM_API const char *mae_sim_soc_message(const mae_sim_soc_t *soc);
/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

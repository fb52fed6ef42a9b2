/* SPDX-License-Identifier: Apache-2.0
 *
 * Declares the C interface of every simulated device, build/sim/<name>/libmae_sim_<name>.so.
 *
 * A machine is a verilated device, its clocks, its reset and the host's memory, all in the
 * caller's process. Simulated time only passes inside the calls below; between them the device
 * stands still, so the caller may look at and change mapped memory freely.
 *
 * Conventions
 *   - Time is in bus clocks unless a name says otherwise. A build with one clock counts both alike.
 *   - Functions that return int give 0 (or more) for success, else a negative errno:
 *       -EIO        the device answered SLVERR or DECERR
 *       -ETIMEDOUT  the device did not answer within `timeout` clocks
 *       -EPROTO     the device broke the AXI protocol, failed an assertion or ended the simulation.
 *                   Final: every later call gives it too
 *       -EINVAL     an argument is wrong; -EEXIST: an IOVA range overlaps; -ENOENT: it is not mapped
 *       -ENOSYS     the device has no such port (a peripheral does no DMA)
 *     mae_sim_message() says the last failure in words.
 *   - Callbacks are made between two clocks, in the order of the bursts, never one inside another.
 *     They may read and write registers; time that passes then serves no other burst.
 *   - One machine is used by one thread at a time; different machines may run in different threads.
 *   - Everything random follows from the seed and the sequence of calls: the same seed and calls
 *     give the same clocks.
 *
 * Options of mae_sim_create(): "name=value" joined by '&', as in "latency=50-300&order=shuffled".
 * An unknown name or value is an error. Sizes are in clocks or percent as said:
 *   latency=MIN-MAX     bus clocks from a read address to its first data, and from the last write
 *                       data to its response, uniform (default 1-1; one number means both)
 *   order=in            answers come in the order of the requests (default)
 *   order=shuffled      answers of different IDs overtake each other and interleave beat by beat
 *   bus=two-way         a read beat and a write beat may share a clock (default)
 *   bus=one-way         memory moves one beat a clock, either way
 *   bandwidth=PERCENT   data clocks that the memory serves, 1-100 (default 100), evenly spread
 *   copy=PERCENT        rate of the host's copies, 1-10000 of a data word a clock, beside the bus
 *                       (default: they take a read and a write beat of the bus for each word)
 *   stall=PERCENT       chance that a channel pauses in a clock, 0-95 (default 0), each by itself
 *   outstanding=N       bursts that the memory holds in each direction, 1-4096 (default 1024)
 *   ratio=CORE:BUS      clock frequencies, 1-1000 each (default 1:1), of builds with two clocks
 *   error_read=RATE     read bursts per million that carry an error in one beat of theirs
 *   error_write=RATE    write bursts per million that are refused; SLVERR or DECERR by seed
 *   error_at=FIRST-LAST addresses that answer DECERR, both inclusive
 *   dram_delay=N        clocks of a card's device memory behind an AXI port, 2-10000 (default 40),
 *                       besides its DRAM's (sim/memory/dram.h); of its bursts per million fail
 *   error_memory_read=RATE, error_memory_write=RATE
 *   media=FILE          keep a card's device memory in this file, from address 0: a write is in it
 *                       before it is answered. Beyond the file's end the bus answers DECERR. One
 *                       machine has the file at a time, and takes the room of its holes on the disk
 *                       (default: 4 GiB, lost with the machine)
 *   hang=N              the memory goes silent for ever after it took N bursts
 *   hang_on=CHANNEL     what goes silent then: all (default), or only the read data, the write data
 *                       (never taken) or the write responses: read, write, response
 *   timeout=N           bus clocks that a register access or a host copy may take (default 100000)
 *   seed=N              of everything random (default 1)
 *   wave=FILE           write a waveform; needs the library's trace variant,
 *                       build/sim/<name>-trace/libmae_sim_<name>.so
 *
 * The memory: writes land as late as AXI allows, in the moment in which their response is sent, so
 * a completion that overtakes its data is seen. A read beat with no mapped byte, and a write beat
 * with a strobed byte that is unmapped or read-only, answer DECERR; unmapped bytes of a read beat
 * that is partly mapped read as 0xa5. On a bus narrower than a row of the device's lanes, the beats
 * of a row read as one.
 */
#ifndef MAE_SIM_H
#define MAE_SIM_H

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

#define MAE_SIM_BURST_ROOM 32768u /* bytes that a caller may answer a burst with */

/* cdef begin */
typedef struct mae_sim mae_sim_t;

/*
 * Counts what the simulated device did on its bus since its creation or the last reset. Beats are
 * handshakes of the device's AXI4 manager. Payload is every beat whose ID has its top bit clear;
 * the others are descriptors, lists and completions.
 */
struct mae_sim_stats {
    uint64_t core_clocks; /* of clk_i */
    uint64_t bus_clocks;  /* of bus_clk_i, or of clk_i where there is one clock */
    uint64_t read_beats;  /* payload and control */
    uint64_t write_beats;
    uint64_t read_bytes;       /* full beats */
    uint64_t write_bytes;      /* strobed bytes */
    uint64_t first_data_clock; /* bus clock of the first payload beat, either way, counted from */
    uint64_t last_data_clock;  /* the machine's first clock; the last one; 0 while there was none */
    uint64_t host_copy_beats;  /* beats that mae_sim_host_copy() took, reads and writes together */
    uint64_t register_reads;   /* AXI4-Lite accesses that were answered */
    uint64_t register_writes;
    uint64_t errors_injected; /* by error_read, error_write and error_at */
    uint32_t data_width_bits; /* of m_axi; 0 without one */
    uint32_t one_way;         /* 1 with bus=one-way */
};

/* Counts further details of the simulated bus over the same time, for tests and reports. */
struct mae_sim_detail {
    uint64_t payload_read_beats;
    uint64_t payload_write_beats;
    uint64_t first_read_clock; /* of payload beats; 0 while there was none */
    uint64_t last_read_clock;
    uint64_t first_write_clock;
    uint64_t last_write_clock;
    uint64_t read_bursts; /* addresses taken */
    uint64_t write_bursts;
    uint64_t max_reads_outstanding;
    uint64_t max_writes_outstanding;
    uint64_t overtakes;        /* bursts whose answer began before an older one's */
    uint64_t interleaved;      /* read beats that came between two beats of another burst */
    uint64_t both_ways_clocks; /* clocks with a read beat and a write beat */
    uint64_t decode_errors;    /* beats or bursts answered DECERR because nothing is mapped there */
    uint64_t read_latency_min; /* bus clocks, address taken to first data offered */
    uint64_t read_latency_max;
    uint64_t write_latency_min; /* bus clocks, last data taken to response offered */
    uint64_t write_latency_max;
    uint64_t memory_flushes; /* of a card's device memory: a file is on the disk then */
};

/*
 * Creates a simulated device with host memory, and releases its reset. NULL on failure, with the
 * reason in `error`.
 */
MAE_SIM_API mae_sim_t *mae_sim_create(const char *options, char *error, size_t error_size);
/* Destroys a simulated device and its host memory. */
MAE_SIM_API void mae_sim_destroy(mae_sim_t *sim);

/*
 * Reads or writes a register of the simulated device over AXI4-Lite; runs until it is answered.
 * `offset` is a multiple of 4.
 */
MAE_SIM_API int mae_sim_read32(mae_sim_t *sim, uint32_t offset, uint32_t *value);
MAE_SIM_API int mae_sim_write32(mae_sim_t *sim, uint32_t offset, uint32_t value);

/*
 * Maps the caller's memory at a bus address of the simulated device, with any alignment. The memory
 * must outlive its mapping. Unmapping names a whole mapping; responses still in flight then meet
 * unmapped memory.
 */
MAE_SIM_API int mae_sim_map(mae_sim_t *sim, uint64_t iova, void *host, uint64_t bytes,
                            int writable);
/* Removes a mapping of the caller's memory from the simulated device's bus. */
MAE_SIM_API int mae_sim_unmap(mae_sim_t *sim, uint64_t iova, uint64_t bytes);

/*
 * Runs the simulation until the device's interrupt line is high: 1, or 0 after max_clocks. Returns
 * at once when it is high already.
 */
MAE_SIM_API int mae_sim_wait(mae_sim_t *sim, uint64_t max_clocks);
/* Runs the simulation for exactly the given number of bus clocks. */
MAE_SIM_API int mae_sim_run(mae_sim_t *sim, uint64_t clocks);

/* Copies between mapped buffers as the host's CPU does, while the device continues. It uses the
 * same memory: a read and a write beat for each bus width. Runs until the copy is done. */
MAE_SIM_API int mae_sim_host_copy(mae_sim_t *sim, uint64_t dst_iova, uint64_t src_iova,
                                  uint64_t bytes);

/* Answers a burst of the simulated device by a function of the caller. The options latency, order
 * and stall apply too.
 *   read    gives the number of bytes at `data`, which has room for MAE_SIM_BURST_ROOM: fewer or more
 *           than `bytes` end the burst early or late (RLAST); a beat that is not whole, the only one
 *           of an empty answer too, carries SLVERR. Negative: all beats carry SLVERR
 *   write   takes a run of strobed bytes; not 0: the burst is answered SLVERR
 * A change applies to bursts whose address is taken from then on. */
typedef int64_t (*mae_sim_read_fn)(void *user, uint64_t address, uint32_t bytes, uint8_t *data);
typedef int (*mae_sim_write_fn)(void *user, uint64_t address, const uint8_t *data, uint32_t bytes);
/* Sets the functions that answer the simulated device's bursts; both NULL: mapped memory again. */
MAE_SIM_API int mae_sim_set_bus(mae_sim_t *sim, mae_sim_read_fn read, mae_sim_write_fn write,
                                void *user);

/*
 * Offers a secret and session ID to a simulated card's provisioning port: 1 if it took them. It
 * offers them for at most `clocks`; 0 when they were not accepted. The secret has 32 bytes, the
 * session id 16.
 */
MAE_SIM_API int mae_sim_install(mae_sim_t *sim, const uint8_t *secret, const uint8_t *session_id,
                                uint64_t clocks);
/* Random bytes of a nonce of the protected card, which a number goes before. */
enum { MAE_SIM_NONCE_BYTES = 24 };
/* Supplies these bytes of the card's next nonce, as a function of the caller. It is called at once
 * and each time that they were used. Without this callback they follow from the seed. */
typedef void (*mae_sim_nonce_fn)(void *user, uint8_t *nonce);
/* Sets the function that supplies the nonces of a simulated protected card. */
MAE_SIM_API int mae_sim_set_nonces(mae_sim_t *sim, mae_sim_nonce_fn nonce, void *user);

/* Describes a register, memory or wire of the simulated device: hierarchical name and bytes. They
 * are as the simulator stores them (words of 8, 16, 32 or 64 bits, little-endian; arrays one after
 * another). The bytes stay where they are and change with the clocks. */
struct mae_sim_signal {
    const char *name;
    const uint8_t *data;
    uint64_t bytes;
};
/* Returns a signal of the simulated device by its index; -ENOENT behind the last one. */
MAE_SIM_API int mae_sim_signal(const mae_sim_t *sim, uint32_t index, struct mae_sim_signal *signal);

/*
 * Holds an event that a bus monitor inside the simulated device has recorded. sim/bus_monitor
 * defines each kind.
 */
struct mae_sim_note {
    uint64_t kind;
    uint64_t a, b, c;
    uint8_t data[64];
};
/* Switches the recording of bus monitor events in the simulated device on or off. */
MAE_SIM_API void mae_sim_set_notes(mae_sim_t *sim, int wanted);
/* Removes the oldest recorded bus monitor event: 1, or 0 if there is none. */
MAE_SIM_API int mae_sim_take_note(mae_sim_t *sim, struct mae_sim_note *note);

/* Reads the counters of the simulated device's bus. */
MAE_SIM_API void mae_sim_stats(const mae_sim_t *sim, struct mae_sim_stats *stats);
/* Reads further counters of the simulated device's bus. */
MAE_SIM_API void mae_sim_detail(const mae_sim_t *sim, struct mae_sim_detail *detail);
/* Resets all counters of the simulated device's bus to zero. */
MAE_SIM_API void mae_sim_stats_reset(mae_sim_t *sim);

/*
 * Returns the text of the simulator's last failure, "" if there was none. Valid until the next
 * call.
 */
MAE_SIM_API const char *mae_sim_message(const mae_sim_t *sim);
/* cdef end */

#ifdef __cplusplus
}
#endif

#endif

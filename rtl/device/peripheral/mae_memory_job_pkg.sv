// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_job_pkg: defines the interface between the AES peripheral and the unit that moves its
// blocks in memory. It is used for memory jobs (`ctrl.memory` of regs/mae_peripheral.rdl).

package mae_memory_job_pkg;
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
  import mae_device_pkg::*;

  // A job, from the registers. Addresses are byte addresses.
  typedef struct packed {
    logic [31:0] source;
    logic [31:0] destination;
    // with key_each: address of the keys, one for each block, every 16 or 32 bytes
    logic [31:0] keys;
    logic [31:0] length;       // in bytes
    logic        moves;        // the job has output blocks, so it has a destination
    logic        plain;        // mode without authentication
    logic        verdict;      // do not use the output before the end of the job
    logic        key_each;     // a new key for each block, alternately in key_slot and tweak_slot
    key_len_e    key_len;      // of these keys
    mode_cfg_t   cfg;
  } memory_job_t;

  // A single block for the cipher, beside a job of a mode without authentication.
  typedef struct packed {
    key_slot_t slot;
    dir_e      dir;
    block_t    data;
  } memory_single_t;

  // From the peripheral, beside the memory_job_t that its registers describe at any time.
  typedef struct packed {
    logic      start;         // pulse: the job begins
    logic      clear;         // everything is erased, the job is dropped
    logic      part_ready;    // for memory_in_t.part
    logic      key_ready;
    logic      in_ready;
    logic      out_valid;     // always accepted
    auth_row_t out_row;
    logic      ended;         // pulse: the last result of the job, or of a part, is complete
    logic      bad_tag;       // valid with ended
    logic      single_taken;
    logic      single_done;   // pulse
    block_t    single;        // valid with single_done
  } memory_out_t;

  // To the peripheral, from registers only. The errors of the job's addresses are a separate
  // signal.
  typedef struct packed {
    logic           done;          // pulse: the job has ended and all of its output is in memory
    logic           part_valid;    // with key_each each block is a job of its own, a part
    mode_cfg_t      part;
    logic           want_valid;    // a key slot that is needed soon
    key_slot_t      want_slot;
    logic           key_valid;
    key_write_t     key;
    logic           in_valid;
    auth_row_t      in_row;
    logic           single_valid;
    memory_single_t single;
  } memory_in_t;

  // Checks a memory job, in addition to check_job, check_auth and the checks of its addresses.
  // Output of a decryption must not be used before the verdict, so the job must be the one that
  // gives the verdict.
  function automatic error_e check_memory_job(input memory_job_t job, input logic ends,
                                              input int unsigned key_slots,
                                              input key_len_e max_key_len);
    if (job.verdict && !ends) return ErrBadOp;
    if (!job.key_each) return ErrNone;
    if (!job.plain || job.cfg.mode == Xts) return ErrBadOp;
    if (job.cfg.key_slot == job.cfg.tweak_slot) return ErrBadKey;
    if (32'(job.cfg.key_slot) >= key_slots || 32'(job.cfg.tweak_slot) >= key_slots)
      return ErrBadKey;
    if (job.key_len > max_key_len) return ErrBadKey;
    return ErrNone;
  endfunction

endpackage

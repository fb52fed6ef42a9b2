// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_job_pkg: what passes between the peripheral and whoever carries its blocks from and to
// a memory (a memory job: `ctrl.memory` of regs/mae_peripheral.rdl).

package mae_memory_job_pkg;
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
  import mae_device_pkg::*;

  // A job as the registers state it. Addresses are in bytes.
  typedef struct packed {
    logic [31:0] source;
    logic [31:0] destination;
    logic [31:0] keys;         // with key_each: a key for each block, every 16 bytes, or 32
    logic [31:0] length;       // in bytes
    logic        moves;        // blocks come out of it: there is a destination
    logic        plain;        // no mode that authenticates
    logic        verdict;      // nothing of its output may be seen before its end
    logic        key_each;     // a new key for each block, in key_slot and tweak_slot by turns
    key_len_e    key_len;      // of these keys
    mode_cfg_t   cfg;
  } memory_job_t;

  // A block for the cipher alone, beside a plain mode's job.
  typedef struct packed {
    key_slot_t slot;
    dir_e      dir;
    block_t    data;
  } memory_single_t;

  // From the peripheral, beside the memory_job_t that its registers state at any time.
  typedef struct packed {
    logic      start;         // pulse: the job begins
    logic      clear;         // all is wiped, the job is dropped
    logic      part_ready;    // for memory_in_t.part
    logic      key_ready;
    logic      in_ready;
    logic      out_valid;     // always taken
    auth_row_t out_row;
    logic      ended;         // pulse: the last answer of the job, or of a part, has been made
    logic      bad_tag;       // with it
    logic      single_taken;
    logic      single_done;   // pulse
    block_t    single;        // with it
  } memory_out_t;

  // To the peripheral: from registers only. Beside it goes what is wrong with the job's addresses.
  typedef struct packed {
    logic           done;          // pulse: the job is over and all of it is in memory
    logic           part_valid;    // with key_each each block is a job of its own
    mode_cfg_t      part;
    logic           want_valid;    // a key slot that will be needed soon
    key_slot_t      want_slot;
    logic           key_valid;
    key_write_t     key;
    logic           in_valid;
    auth_row_t      in_row;
    logic           single_valid;
    memory_single_t single;
  } memory_in_t;

  // The rules of such a job beside check_job's, check_auth's and those of its addresses. What comes
  // of a decryption must not be seen before its verdict, so the job must be the one that has it.
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

// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_job_engine: runs the memory jobs of one peripheral, and tells which CPU accesses must
// wait for the running one.
//
// It contains the block mover, the unit that computes blocks out of order for held CPU accesses,
// their marks, and the hazard check of the CPU's access. Requests of the out-of-order unit come
// before those of the mover (urgent_o), because a held access waits for them.
// Latency: hazard check 0 clocks; others as its parts.
// Throughput: one memory access a clock, as granted by ask_taken_i; data_i in the clock after it.
// Reset and clear: core_i.clear drops the job. All data are erased at the end of the job, too.
// Parameters: RowBits: rows of the memory; Depth as mae_memory_block_mover. Legal: RowBits 1..27.
// Security: constant-time in data and keys; no masking.
// Source: Kale et al., section 3.1. Tested by tests/soc/test_memory_arbiter.py and
// tests/soc/test_memory_arbiter_states.py.

module mae_memory_job_engine
  import mae_aes_pkg::*;
  import mae_device_pkg::*;
  import mae_memory_job_pkg::*;
  import mae_soc_pkg::*;
#(
    parameter int unsigned RowBits = 13,
    parameter int unsigned Depth   = 4
) (
    input logic clk_i,
    input logic rst_ni,

    input  memory_job_t core_job_i,    // the next job
    output error_e      core_error_o,  // error of its addresses
    input  memory_out_t core_i,
    output memory_in_t  core_o,

    // The CPU's access.
    input  logic   look_i,      // it is there, and may be decided on in this clock
    input  logic   write_i,
    input  row_t   row_i,
    input  logic   go_i,        // it waits for no job that started later
    input  logic   give_i,      // it is made in this clock
    output logic   held_o,      // it must wait for this job
    output logic   pass_o,      // held_o is settled: the block is in memory
    output logic   peek_hit_o,  // a read: peek_o is the block of its row
    output block_t peek_o,      // in the next clock

    output memory_progress_t progress_o,

    output memory_ask_t ask_o,
    output logic        urgent_o,
    input  logic        ask_taken_i,
    input  block_t      data_i
);

  memory_place_t place;
  memory_in_t mover_out;
  memory_ask_t mover_ask, express_ask;
  logic clear, freeze, peek_valid, marks_ready, mark, can_go, pair;
  row_t target, peek_index;
  block_t kept;

  assign core_error_o = place.error;
  assign clear        = core_i.clear;
  assign place        = place_of(core_job_i, RowBits);
  assign peek_hit_o   = held_o && !write_i && peek_valid && target == peek_index;

  mae_memory_hazard_check u_hazard (
      .progress_i(progress_o),
      .write_i,
      .row_i,
      .held_o,
      .go_o      (can_go),
      .target_o  (target),
      .pair_o    (pair)
  );

  mae_memory_out_of_order u_express (
      .clk_i,
      .rst_ni,
      .clear_i       (clear),
      .progress_i    (progress_o),
      .go_i          (look_i && go_i && can_go && marks_ready && !peek_hit_o),
      .write_i,
      .target_i      (target),
      .pair_i        (pair),
      .freeze_o      (freeze),
      .pass_o,
      .passed_i      (give_i),
      .peek_valid_o  (peek_valid),
      .peek_index_o  (peek_index),
      .peek_o,
      .kept_o        (kept),
      .ask_o         (express_ask),
      .ask_taken_i   (ask_taken_i && express_ask.valid),
      .data_i,
      .mark_i        (mark),
      .single_valid_o(core_o.single_valid),
      .single_o      (core_o.single),
      .single_taken_i(core_i.single_taken),
      .single_done_i (core_i.single_done),
      .single_i      (core_i.single)
  );

  mae_memory_block_mover #(
      .Depth(Depth)
  ) u_mover (
      .clk_i,
      .rst_ni,
      .clear_i      (clear),
      .job_i        (core_job_i),
      .place_i      (place),
      .core_i,
      .core_o       (mover_out),
      .progress_o,
      .freeze_i     (freeze),
      .marks_ready_i(marks_ready),
      .ask_o        (mover_ask),
      .ask_taken_i  (ask_taken_i && !express_ask.valid),
      .data_i,
      .mark_i       (mark),
      .kept_i       (kept)
  );

  assign urgent_o = express_ask.valid;
  assign ask_o    = express_ask.valid ? express_ask : mover_ask;

  mae_memory_done_bits #(
      .RowBits(RowBits)
  ) u_marks (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .ready_o(marks_ready),
      .row_i  (ask_o.mark_row[RowBits-1:0]),
      .write_i(ask_taken_i && ask_o.mark_write),
      .mark_i (ask_o.mark),
      .mark_o (mark)
  );

  always_comb begin
    core_o.done       = mover_out.done;
    core_o.part_valid = mover_out.part_valid;
    core_o.part       = mover_out.part;
    core_o.want_valid = mover_out.want_valid;
    core_o.want_slot  = mover_out.want_slot;
    core_o.key_valid  = mover_out.key_valid;
    core_o.key        = mover_out.key;
    core_o.in_valid   = mover_out.in_valid;
    core_o.in_row     = mover_out.in_row;
  end

  logic unused;
  assign unused = ^{ask_o.mark_row, mover_out.single_valid, mover_out.single};

endmodule

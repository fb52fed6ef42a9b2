// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_arbiter: shares one memory between a CPU and the AES peripheral's memory jobs. The CPU
// sees every job as if it had been completed at its start.
//
// Software starts a job (`ctrl.memory`, regs/mae_peripheral.rdl) and continues at once.
// mae_memory_block_mover moves the blocks of the job. mae_memory_hazard_check holds CPU accesses to
// data that are not complete yet; mae_memory_out_of_order computes the block of a held access out
// of order if the mode allows it. All other accesses run at full speed: the CPU has priority, an
// access takes 2 clocks. The memory is one block wide, so a block is read or written at once and a
// CPU access comes before or after it. The amount of logic does not depend on the length of a job;
// only one bit a row (mae_memory_done_bits) grows with the memory. cpu_valid_i and its payload must
// hold until cpu_ready_o.
//
// Longest hold, in clocks from the access to its answer (R = Nr; n = blocks before the one of the
// access that are not in memory yet; T = clocks a block of the job):
//  ECB, CTR, CBC and CFB decryption  (Depth + 2) * R + 24, at any position in the job
//  XTS, whole blocks                 the same, and R + 22 + k / 128 for block k
//  all other modes, and accesses that cannot be served out of order: writes with CBC or CFB
//  decryption in place, a destination that overlaps its source, CTR and XTS without init, keys
//  for each block                    (n + 3) * T + 24: T = R, with keys for each block R + 5, in
//                                    GCM max(R, 128 / Digit + 1), in CCM 2 * R, in CMAC and AAD
//                                    of CCM R + 5; these three begin 2 * R + 10 later
//  authenticated decryption          until the end of the job, n = all, and one clock a block to
//                                    overwrite it
// These hold for a peripheral of two or more key banks: with one, a key is loaded for each
// alternation. Add R if a decryption is the first one with its key, and 2^RowBits within as many
// clocks of a reset or wipe, because the marks are cleared first.
// Latency: 2 clocks an access that is not held.
// Throughput: one access in 2 clocks.
// Reset and clear: a wipe drops the job, and held accesses continue. All data here are erased at
// the end of the job and by a wipe.
// Parameters: Legal: RowBits 1..27; Depth as mae_memory_block_mover.
// Security: constant-time in data and keys; no masking.
// Source: Kale et al., sections 3.1 and 3.2; docs/adr/0010.

`include "mae_assert.svh"

module mae_memory_arbiter
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

    input  logic               cpu_valid_i,
    output logic               cpu_ready_o,
    input  logic [RowBits+3:0] cpu_addr_i,   // byte address; bits 1:0 are ignored
    input  logic [        3:0] cpu_strb_i,   // 0: read
    input  logic [       31:0] cpu_wdata_i,
    output logic [       31:0] cpu_rdata_o,

    input  memory_job_t core_job_i,    // the next job, from the peripheral's registers
    output error_e      core_error_o,  // error of the job's addresses
    input  memory_out_t core_i,
    output memory_in_t  core_o,

    output logic               ram_valid_o,
    output logic               ram_write_o,
    output logic [RowBits-1:0] ram_row_o,
    output logic [       15:0] ram_strb_o,
    output logic [      127:0] ram_wdata_o,
    input  logic [      127:0] ram_rdata_i
);
  `MAE_PARAM(RowBitsLegal, RowBits >= 1 && RowBits < RowWidth)

  memory_progress_t progress;
  memory_place_t place;
  memory_in_t mover_out;
  memory_ask_t mover_ask, express_ask, ask;
  logic mover_taken, express_taken;
  logic clear, freeze, pass, peek_valid, peek_hit, marks_ready, mark;
  row_t row, target, peek_index;
  logic write, held, can_go, pair, look, give, peeked;
  logic ready_q, from_peek_q;
  logic [1:0] word_q;
  block_t data, peek, kept;
  logic [127:0] shown;

  assign core_error_o = place.error;
  assign clear = core_i.clear;
  assign place = place_of(core_job_i, RowBits);

  // The CPU: a job that starts in this clock affects the next access.
  assign write = cpu_strb_i != '0;
  assign row = row_t'(cpu_addr_i[RowBits+3:4]);
  assign look = cpu_valid_i && !ready_q && !core_i.start;
  assign peek_hit = held && !write && peek_valid && target == peek_index;
  assign give = look && (!held || pass);
  assign peeked = look && !give && peek_hit && !clear;  // a wipe erases the computed block

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_q     <= 1'b0;
      from_peek_q <= 1'b0;
      word_q      <= '0;
    end else begin
      ready_q     <= give || peeked;
      from_peek_q <= peeked;
      word_q      <= cpu_addr_i[3:2];
    end
  end

  assign cpu_ready_o = ready_q;
  assign shown = from_peek_q ? mae_bytes_pkg::swap_block(peek) : ram_rdata_i;
  assign cpu_rdata_o = shown[32*word_q+:32];

  mae_memory_hazard_check u_hazard (
      .progress_i(progress),
      .write_i   (write),
      .row_i     (row),
      .held_o    (held),
      .go_o      (can_go),
      .target_o  (target),
      .pair_o    (pair)
  );

  mae_memory_out_of_order u_express (
      .clk_i,
      .rst_ni,
      .clear_i       (clear),
      .progress_i    (progress),
      .go_i          (look && can_go && marks_ready && !peek_hit),
      .write_i       (write),
      .target_i      (target),
      .pair_i        (pair),
      .freeze_o      (freeze),
      .pass_o        (pass),
      .passed_i      (give),
      .peek_valid_o  (peek_valid),
      .peek_index_o  (peek_index),
      .peek_o        (peek),
      .kept_o        (kept),
      .ask_o         (express_ask),
      .ask_taken_i   (express_taken),
      .data_i        (data),
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
      .progress_o   (progress),
      .freeze_i     (freeze),
      .marks_ready_i(marks_ready),
      .ask_o        (mover_ask),
      .ask_taken_i  (mover_taken),
      .data_i       (data),
      .mark_i       (mark),
      .kept_i       (kept)
  );

  // The memory: first the CPU, then the block that it waits for, then the job.
  assign express_taken = express_ask.valid && !give;
  assign mover_taken   = mover_ask.valid && !express_ask.valid && !give;
  assign ask           = express_ask.valid ? express_ask : mover_ask;
  assign data          = mae_bytes_pkg::swap_block(ram_rdata_i);

  always_comb begin
    ram_valid_o = give || ask.valid;
    ram_write_o = give ? write : ask.write;
    ram_row_o   = give ? row[RowBits-1:0] : ask.row[RowBits-1:0];
    ram_strb_o  = give ? 16'(cpu_strb_i) << {cpu_addr_i[3:2], 2'b00} : ask.strb;
    ram_wdata_o = give ? {4{cpu_wdata_i}} : mae_bytes_pkg::swap_block(ask.data);
  end

  mae_memory_done_bits #(
      .RowBits(RowBits)
  ) u_marks (
      .clk_i,
      .rst_ni,
      .clear_i(clear),
      .ready_o(marks_ready),
      .row_i  (ask.mark_row[RowBits-1:0]),
      .write_i(ask.valid && !give && ask.mark_write),
      .mark_i (ask.mark),
      .mark_o (mark)
  );

  logic unused;
  assign unused = ^{row, ask.row, ask.mark_row, cpu_addr_i[1:0], mover_out.single_valid,
                    mover_out.single};

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

  `MAE_ASSERT(InMemory, !ask.valid || (ask.row >> RowBits) == '0)

endmodule

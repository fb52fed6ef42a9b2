// SPDX-License-Identifier: Apache-2.0
//
// mae_memory_arbiter: shares one memory between a CPU and the memory jobs of one or two AES
// peripherals. The CPU sees every job as if it had been completed at its start, and so does a job
// that starts while one of the other peripheral runs.
//
// Software starts a job (`ctrl.memory`, regs/mae_peripheral.rdl) and continues at once. A
// mae_memory_job_engine for each peripheral moves the blocks of its job, holds CPU accesses to data
// that are not complete yet, and computes the block of a held access out of order if the mode
// allows it. All other accesses run at full speed: the CPU has priority, an access takes 2 clocks.
// The memory is one block wide, so a block is read or written at once and another access comes
// before or after it. The amount of logic does not depend on the length of a job; only one bit a
// row and peripheral (mae_memory_done_bits) grows with the memory. cpu_valid_i and its payload must
// hold until cpu_ready_o.
//
// Each access of a job passes the hazard check of every job that started before it: it waits where
// the CPU would have to. Of jobs that start in one clock that of the lower index is the first. An
// earlier job never waits for a later one. The CPU waits for all jobs that hold its access, first
// for the last one: only then is a block of an earlier one computed for it out of order, which
// stops that one. The jobs have the memory by turns.
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
// clocks of a reset or wipe, because the marks are cleared first. With two jobs: the sum for all
// that hold the access, and for each job with another one beside it 12 clocks (after authenticated
// decryption twice the clocks to overwrite it); if it uses rows of an earlier one, also the bound
// of the last row of that one, in order. A job that starts during a hold can prolong it.
// Latency: 2 clocks an access that is not held.
// Throughput: one access in 2 clocks.
// Reset and clear: a peripheral's wipe drops its job, and held accesses continue. All data here are
// erased at the end of the job and by a wipe.
// Parameters: Jobs: the peripherals. Legal: RowBits 1..27; Depth as mae_memory_block_mover; Jobs 1
// or 2.
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
    parameter int unsigned Depth   = 4,
    parameter int unsigned Jobs    = 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic               cpu_valid_i,
    output logic               cpu_ready_o,
    input  logic [RowBits+3:0] cpu_addr_i,   // byte address; bits 1:0 are ignored
    input  logic [        3:0] cpu_strb_i,   // 0: read
    input  logic [       31:0] cpu_wdata_i,
    output logic [       31:0] cpu_rdata_o,

    // of each peripheral
    input  memory_job_t [Jobs-1:0] core_job_i,    // the next job, from its registers
    output error_e      [Jobs-1:0] core_error_o,  // error of the job's addresses
    input  memory_out_t [Jobs-1:0] core_i,
    output memory_in_t  [Jobs-1:0] core_o,

    output logic               ram_valid_o,
    output logic               ram_write_o,
    output logic [RowBits-1:0] ram_row_o,
    output logic [       15:0] ram_strb_o,
    output logic [      127:0] ram_wdata_o,
    input  logic [      127:0] ram_rdata_i
);
  `MAE_PARAM(RowBitsLegal, RowBits >= 1 && RowBits < RowWidth)
  `MAE_PARAM(JobsLegal, Jobs == 1 || Jobs == 2)

  localparam int unsigned IndexWidth = (Jobs > 1) ? $clog2(Jobs) : 1;

  memory_progress_t [Jobs-1:0] progress;
  memory_ask_t [Jobs-1:0] asks;
  memory_ask_t ask;
  logic [Jobs-1:0] starts, clears, urgent, blocked, held, pass, peek_hit, go, taken, from_peek_q;
  block_t [Jobs-1:0] peek;
  row_t row;
  logic write, look, give, peeked, ready_q;
  logic [1:0] word_q;
  block_t data;
  logic [127:0] shown;

  always_comb begin
    for (int unsigned i = 0; i < Jobs; i++) begin
      starts[i] = core_i[i].start;
      clears[i] = core_i[i].clear;
    end
  end

  // Order of the jobs: earlier_q[i][k] says that job i started before job k.
  logic [Jobs-1:0][Jobs-1:0] earlier_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) earlier_q <= '0;
    else begin
      for (int unsigned i = 0; i < Jobs; i++) begin
        for (int unsigned k = 0; k < Jobs; k++) begin
          if (i != k && starts[k] && !(starts[i] && k < i)) earlier_q[i][k] <= 1'b1;
          else if (i != k && starts[i]) earlier_q[i][k] <= 1'b0;
        end
      end
    end
  end

  // The CPU: a job that starts in this clock affects the next access. It waits for all jobs that
  // hold it, first for the one that started last: its result is what a read must give, and an
  // earlier job must not stop for an access that waits for one which waits for that job.
  assign write = cpu_strb_i != '0;
  assign row   = row_t'(cpu_addr_i[RowBits+3:4]);
  assign look  = cpu_valid_i && !ready_q && starts == '0;
  assign give  = look && (held & ~pass) == '0;

  always_comb begin
    go = '1;
    for (int unsigned i = 0; i < Jobs; i++) begin
      for (int unsigned k = 0; k < Jobs; k++) begin
        if (i != k && earlier_q[i][k] && held[k] && !pass[k]) go[i] = 1'b0;
      end
    end
  end

  // A wipe erases the computed block.
  logic [Jobs-1:0] shows;
  assign shows  = peek_hit & go & ~clears;
  assign peeked = look && !give && shows != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ready_q     <= 1'b0;
      from_peek_q <= '0;
      word_q      <= '0;
    end else begin
      ready_q     <= give || peeked;
      from_peek_q <= peeked ? shows : '0;
      word_q      <= cpu_addr_i[3:2];
    end
  end

  assign cpu_ready_o = ready_q;
  assign cpu_rdata_o = shown[32*word_q+:32];

  always_comb begin
    shown = ram_rdata_i;
    for (int unsigned i = 0; i < Jobs; i++) begin
      if (from_peek_q[i]) shown = mae_bytes_pkg::swap_block(peek[i]);
    end
  end

  for (genvar i = 0; i < Jobs; i++) begin : gen_job
    mae_memory_job_engine #(
        .RowBits(RowBits),
        .Depth  (Depth)
    ) u_engine (
        .clk_i,
        .rst_ni,
        .core_job_i  (core_job_i[i]),
        .core_error_o(core_error_o[i]),
        .core_i      (core_i[i]),
        .core_o      (core_o[i]),
        .look_i      (look),
        .write_i     (write),
        .row_i       (row),
        .go_i        (go[i]),
        .give_i      (give),
        .held_o      (held[i]),
        .pass_o      (pass[i]),
        .peek_hit_o  (peek_hit[i]),
        .peek_o      (peek[i]),
        .progress_o  (progress[i]),
        .ask_o       (asks[i]),
        .urgent_o    (urgent[i]),
        .ask_taken_i (taken[i]),
        .data_i      (data)
    );

    // A job's own accesses wait for every job that started before it, as the CPU's do.
    logic [Jobs-1:0] hold;
    assign blocked[i] = hold != '0;

    for (genvar k = 0; k < Jobs; k++) begin : gen_earlier
      if (k == i) begin : gen_self
        assign hold[k] = 1'b0;
      end else begin : gen_other
        logic meets, unused_go, unused_pair;
        row_t unused_target;
        assign hold[k] = earlier_q[k][i] && meets;

        mae_memory_hazard_check u_hazard (
            .progress_i(progress[k]),
            .write_i   (asks[i].write),
            .row_i     (asks[i].row),
            .held_o    (meets),
            .go_o      (unused_go),
            .target_o  (unused_target),
            .pair_o    (unused_pair)
        );
      end
    end
  end

  // The memory: first the CPU, then blocks that it waits for, then the jobs by turns.
  logic [Jobs-1:0] ready, requests, grant;
  logic grant_valid;
  logic [IndexWidth-1:0] unused_index;

  always_comb begin
    for (int unsigned i = 0; i < Jobs; i++) ready[i] = asks[i].valid && !blocked[i];
    requests = ((ready & urgent) != '0) ? ready & urgent : ready;
  end

  mae_rr_arb #(
      .N(Jobs)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .req_i    (requests),
      .advance_i(!give),
      .grant_o  (grant),
      .index_o  (unused_index),
      .valid_o  (grant_valid)
  );

  assign taken = give ? '0 : grant;
  assign data  = mae_bytes_pkg::swap_block(ram_rdata_i);

  always_comb begin
    ask = '0;
    for (int unsigned i = 0; i < Jobs; i++) if (grant[i]) ask |= asks[i];
  end

  always_comb begin
    ram_valid_o = give || grant_valid;
    ram_write_o = give ? write : ask.write;
    ram_row_o   = give ? row[RowBits-1:0] : ask.row[RowBits-1:0];
    ram_strb_o  = give ? 16'(cpu_strb_i) << {cpu_addr_i[3:2], 2'b00} : ask.strb;
    ram_wdata_o = give ? {4{cpu_wdata_i}} : mae_bytes_pkg::swap_block(ask.data);
  end

  logic unused;
  assign unused = ^{row, ask, progress, cpu_addr_i[1:0]};

  `MAE_ASSERT(InMemory, !grant_valid || (ask.row >> RowBits) == '0)
  `MAE_ASSERT(OneShows, $onehot0(shows))

endmodule

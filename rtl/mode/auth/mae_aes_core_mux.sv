// SPDX-License-Identifier: Apache-2.0
//
// mae_aes_core_mux: shares one mae_aes_core between the data rows of a job and single blocks to
// encrypt. The rows use context 0, the blocks context 1.
//
// Context 1 is configured for each single block, so that it is free in between. A single block has
// priority over rows. Hold single_valid_i and the fields that belong to it until single_taken_o.
// Results are always accepted and do not pass through this module.
// Latency: 0 clocks for the job, combinational in both directions. A single block has its result Nr
// + 4 clocks after single_valid_i if the cipher is free.
// Reset and clear: both drop a single block in progress; clear the core at the same time.
// Security: constant-time; no masking.

`include "mae_assert.svh"

module mae_aes_core_mux
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
  import mae_auth_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic      single_valid_i,
    input  block_t    single_i,
    input  key_slot_t single_slot_i,
    input  dir_e      single_dir_i,
    output logic      single_taken_o,
    output logic      single_done_o,   // the core outputs its result in this clock

    input  logic      job_valid_i,
    output logic      job_ready_o,
    input  mode_cfg_t job_i,
    input  logic      in_valid_i,
    output logic      in_ready_o,
    input  auth_row_t in_row_i,
    output logic      out_valid_o,  // the core outputs a row of the job

    output logic      cfg_valid_o,
    input  logic      cfg_ready_i,
    output ctx_t      cfg_ctx_o,
    output mode_cfg_t cfg_o,
    output logic      row_valid_o,
    input  logic      row_ready_i,
    output ctx_t      row_ctx_o,
    output auth_row_t row_o,
    input  logic      rsp_valid_i,
    input  ctx_t      rsp_ctx_i
);
  localparam ctx_t JobCtx = ctx_t'(0);
  localparam ctx_t SingleCtx = ctx_t'(1);

  typedef enum logic [1:0] {
    Free,
    Give,
    Wait
  } state_e;

  state_e state_q;
  logic configures, gives;

  assign configures = state_q == Free && single_valid_i;
  assign gives = state_q == Give;
  assign single_taken_o = gives && row_ready_i;
  assign single_done_o = rsp_valid_i && rsp_ctx_i == SingleCtx;
  assign out_valid_o = rsp_valid_i && rsp_ctx_i == JobCtx;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Free;
    else if (clear_i) state_q <= Free;
    else begin
      unique case (state_q)
        Free:    if (configures && cfg_ready_i) state_q <= Give;
        Give:    if (row_ready_i) state_q <= Wait;
        default: if (single_done_o) state_q <= Free;
      endcase
    end
  end

  assign job_ready_o = cfg_ready_i && !configures;
  assign cfg_valid_o = configures || job_valid_i;
  assign cfg_ctx_o   = configures ? SingleCtx : JobCtx;

  always_comb begin
    cfg_o = job_i;
    if (configures) begin
      cfg_o = '0;
      cfg_o.mode = Ecb;
      cfg_o.key_slot = single_slot_i;
      cfg_o.dir = single_dir_i;
    end
  end

  assign in_ready_o  = row_ready_i && !gives;
  assign row_valid_o = gives || in_valid_i;
  assign row_ctx_o   = gives ? SingleCtx : JobCtx;
  assign row_o       = gives ? '{last: 1'b1, bytes: 5'd16, data: single_i} : in_row_i;

  `MAE_ASSERT(SingleFits, !gives || row_ready_i)
  `MAE_ASSERT(OneSingle, !single_done_o || state_q == Wait)

endmodule

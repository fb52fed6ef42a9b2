// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_masks: stores J0 of each interleaved GCM message, and later the tag mask E(K, J0) in its
// place. The mask comes when the message's end is near.
//
// A message's last job (job_ends_i) asks for a mask when near_i has its context's bit. Blocks are
// encrypted by the mode engine in reserved contexts (mae_mode_side_blocks). ask_ctx_o names the
// context whose mask is asked for,
// ask_slot_i is its key slot. ready_o: contexts whose mask is there or which need none. look_ctx_i
// reads; in the same clock its value may be replaced by the hash of an IV, or erased. side_*: the
// engine's output is a block of this module. mask_set_o: the context whose mask it is.
// Combinational: job_j0_o in job_ctx_i; look_o in look_ctx_i; side_valid_o, mask_set_o in out_*.
// Latency, throughput: those of mae_mode_side_blocks, plus 1 clock.
// Reset and clear: J0 and masks are erased one a clock while clear_i is held (wipe_index_i).
// Parameters: Small = 1 keeps J0 and masks in two memories with one write port, for few LUTs of an
// FPGA: an erasure waits until nothing else is written. No job may begin while job_ready_o is low,
// in a clock with look_iv_i. Legal: Contexts + Lanes at most 256; Small 0 or 1.
// Source: SP 800-38D §7.1, steps 2 and 6.

`include "mae_assert.svh"

module mae_gcm_masks
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    parameter bit Small = 1'b0,
    localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic       clk_i,
    input logic       rst_ni,
    input logic       clear_i,
    input logic [7:0] wipe_index_i,

    output logic                    job_ready_o,
    input  logic                    job_valid_i,  // a job begins
    input  logic   [IndexWidth-1:0] job_ctx_i,
    input  logic                    job_init_i,
    input  logic                    job_ends_i,
    input  block_t                  job_j0_i,     // for job_init_i
    output block_t                  job_j0_o,

    input  logic      [  Contexts-1:0] near_i,
    output logic      [IndexWidth-1:0] ask_ctx_o,
    input  key_slot_t                  ask_slot_i,

    output logic                  cfg_valid_o,
    input  logic                  cfg_ready_i,
    output ctx_t                  cfg_ctx_o,
    output mode_cfg_t             cfg_o,
    input  logic      [Lanes-1:0] room_i,
    output logic                  row_valid_o,
    input  logic                  row_ready_i,
    output ctx_t                  row_ctx_o,
    output block_t                row_block_o,

    input  logic                  out_valid_i,
    input  ctx_t                  out_ctx_i,
    input  block_t                out_block_i,
    output logic                  side_valid_o,
    output logic   [Contexts-1:0] mask_set_o,

    output logic   [  Contexts-1:0] ready_o,
    input  logic   [IndexWidth-1:0] look_ctx_i,
    output block_t                  look_o,
    input  logic                    look_iv_i,    // J0 becomes the hash of an IV
    input  block_t                  look_hash_i,
    input  logic                    look_erase_i
);
  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [Contexts-1:0] set_t;

  set_t tags_q;  // the job ends a message: its report needs the mask
  set_t due_q;  // the mask was not yet requested
  set_t ask_q;  // it is to be requested now
  set_t masked_q;  // it is in the place of J0

  logic mask_valid, ask_ready, side_is;
  set_t mask_grant, job_set, asks_now;
  ctx_t row_id, answer_id, unused_row_id;

  mae_rr_arb #(
      .N(Contexts)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i    (ask_q),
      .advance_i(ask_ready),
      .grant_o  (mask_grant),
      .index_o  (ask_ctx_o),
      .valid_o  (mask_valid)
  );

  mae_mode_side_blocks #(
      .Blocks  (Lanes),
      .FirstCtx(Contexts)
  ) u_side (
      .clk_i,
      .rst_ni,
      .clear_i,
      .ask_valid_i   (mask_valid),
      .ask_ready_o   (ask_ready),
      .ask_slot_i,
      .ask_id_i      (ctx_t'(ask_ctx_o)),
      .cfg_valid_o,
      .cfg_ready_i,
      .cfg_ctx_o,
      .cfg_o,
      .room_i,
      .row_valid_o,
      .row_ready_i,
      .row_ctx_o,
      .row_id_o      (row_id),
      .out_ctx_i,
      .answer_is_o   (side_is),
      .answer_id_o   (answer_id),
      .answer_taken_i(side_valid_o)
  );

  assign side_valid_o  = out_valid_i && side_is;
  assign unused_row_id = row_id;  // its upper bits
  assign mask_set_o    = side_valid_o ? set_t'(1) << answer_id : '0;
  assign ready_o       = masked_q | ~tags_q;
  assign job_set       = job_valid_i ? set_t'(1) << job_ctx_i : '0;
  assign asks_now      = due_q & near_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {tags_q, due_q, ask_q, masked_q} <= '0;
    else if (clear_i) {tags_q, due_q, ask_q, masked_q} <= '0;
    else begin
      tags_q   <= (tags_q & ~job_set) | (job_ends_i ? job_set : '0);
      due_q    <= (due_q & ~asks_now) | (job_ends_i ? job_set : '0);
      ask_q    <= (ask_q & ~(ask_ready ? mask_grant : '0)) | asks_now;
      masked_q <= (masked_q & ~job_set) | mask_set_o;
    end
  end

  // Memories without reset; they are erased after reset (clear_i).
  logic   wipes;
  index_t wipe_index;

  assign wipes      = clear_i && 32'(wipe_index_i) < Contexts;
  assign wipe_index = index_t'(wipe_index_i);

  if (Small) begin : gen_memories
    block_t j0_q  [Contexts];
    block_t mask_q[Contexts];
    set_t j0_old_q, mask_old_q;  // still to be erased
    logic j0_set, j0_erase, mask_erase;
    index_t j0_old, mask_old, j0_ctx, mask_ctx;
    block_t j0;

    assign job_ready_o = !look_iv_i;
    assign j0_set      = job_valid_i && job_init_i;
    assign j0_erase    = j0_old_q != '0 && !look_iv_i && !j0_set;
    assign mask_erase  = mask_old_q != '0 && !side_valid_o;

    always_comb begin
      j0_old   = '0;
      mask_old = '0;
      for (int unsigned c = 0; c < Contexts; c++) begin
        if (j0_old_q[c]) j0_old = index_t'(c);
        if (mask_old_q[c]) mask_old = index_t'(c);
      end
      {j0_ctx, j0} = {j0_old, 128'd0};
      if (clear_i) j0_ctx = wipe_index;
      else if (look_iv_i) {j0_ctx, j0} = {look_ctx_i, look_hash_i};
      else if (j0_set) {j0_ctx, j0} = {job_ctx_i, job_j0_i};
      mask_ctx = mask_old;
      if (clear_i) mask_ctx = wipe_index;
      else if (side_valid_o) mask_ctx = index_t'(answer_id);
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) {j0_old_q, mask_old_q} <= '0;
      else if (clear_i) {j0_old_q, mask_old_q} <= '0;
      else begin
        if (j0_erase || j0_set) j0_old_q[j0_ctx] <= 1'b0;
        if (mask_erase || side_valid_o) mask_old_q[mask_ctx] <= 1'b0;
        if (look_erase_i) {j0_old_q[look_ctx_i], mask_old_q[look_ctx_i]} <= 2'b11;
      end
    end

    always_ff @(posedge clk_i) begin
      if (clear_i ? wipes : look_iv_i || j0_set || j0_erase) j0_q[j0_ctx] <= j0;
    end

    always_ff @(posedge clk_i) begin
      if (clear_i ? wipes : side_valid_o || mask_erase) begin
        mask_q[mask_ctx] <= (!clear_i && side_valid_o) ? out_block_i : '0;
      end
    end

    assign row_block_o = j0_q[index_t'(row_id)];
    assign job_j0_o    = j0_q[job_ctx_i];
    assign look_o      = mask_q[look_ctx_i];

    `MAE_ASSERT(JobReady, !job_valid_i || job_ready_o)
  end else begin : gen_regs
    block_t j0_q[Contexts];  // J0, then E(K, J0)

    assign job_ready_o = 1'b1;
    assign row_block_o = j0_q[index_t'(row_id)];
    assign job_j0_o    = j0_q[job_ctx_i];
    assign look_o      = j0_q[look_ctx_i];

    always_ff @(posedge clk_i) begin
      if (job_valid_i && job_init_i) j0_q[job_ctx_i] <= job_j0_i;
      if (mask_set_o != '0) j0_q[index_t'(answer_id)] <= out_block_i;
      if (look_iv_i) j0_q[look_ctx_i] <= look_hash_i;
      if (look_erase_i) j0_q[look_ctx_i] <= '0;
      if (wipes) j0_q[wipe_index] <= '0;
    end
  end

  `MAE_ASSERT(MaskOnce, (mask_set_o & ~tags_q) == '0)

endmodule

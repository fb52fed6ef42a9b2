// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_side_blocks: encrypts single blocks, E(K, block), by the mode engine, several at once.
// Each runs as a message of one block in a reserved context.
//
// A request names a key slot and a number by which the user knows the block: row_id_o asks for the
// block in the clock in which its row is offered, answer_id_o names the result at the engine's
// output. The reserved contexts are those from FirstCtx on. Give cfg_valid_o and row_valid_o
// priority over other requests to the engine. Outputs come from registers, row_valid_o from
// room_i, too; answer_* is combinational in out_ctx_i.
// Latency: that of the engine plus 3 clocks.
// Throughput: Blocks blocks in that latency, at most one a clock.
// Reset and clear: both drop everything by the next clock.
// Parameters: Legal: Blocks 1..16; FirstCtx + Blocks at most 256.
// Security: constant-time; no masking.

`include "mae_assert.svh"

module mae_mode_side_blocks
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
#(
    parameter int unsigned Blocks   = 4,
    parameter int unsigned FirstCtx = 64
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic      ask_valid_i,
    output logic      ask_ready_o,
    input  key_slot_t ask_slot_i,
    input  ctx_t      ask_id_i,

    output logic                   cfg_valid_o,
    input  logic                   cfg_ready_i,
    output ctx_t                   cfg_ctx_o,
    output mode_cfg_t              cfg_o,
    input  logic      [Blocks-1:0] room_i,
    output logic                   row_valid_o,
    input  logic                   row_ready_i,
    output ctx_t                   row_ctx_o,
    output ctx_t                   row_id_o,

    input  ctx_t out_ctx_i,      // the context at the engine's output
    output logic answer_is_o,    // it is a reserved one
    output ctx_t answer_id_o,
    input  logic answer_taken_i
);
  `MAE_PARAM(BlocksLegal, Blocks inside {[1 : 16]} && FirstCtx + Blocks <= 256)

  typedef enum logic [1:0] {
    Idle,
    Cfg,
    Row,
    Wait
  } state_e;

  state_e    state_q[Blocks];
  key_slot_t slot_q [Blocks];
  ctx_t      id_q   [Blocks];

  // The first entry in each state.
  logic [Blocks-1:0] free, takes, configures, offers, answers;

  always_comb begin
    takes      = '0;
    configures = '0;
    offers     = '0;
    cfg_o      = '0;
    cfg_ctx_o  = '0;
    row_ctx_o  = '0;
    row_id_o   = '0;
    for (int unsigned i = Blocks; i-- > 0;) begin
      free[i] = state_q[i] == Idle;
      if (free[i]) takes = Blocks'(1) << i;
      if (state_q[i] == Cfg) begin
        configures     = Blocks'(1) << i;
        cfg_ctx_o      = ctx_t'(FirstCtx + i);
        cfg_o.key_slot = slot_q[i];
      end
      if (state_q[i] == Row && room_i[i]) begin
        offers    = Blocks'(1) << i;
        row_ctx_o = ctx_t'(FirstCtx + i);
        row_id_o  = id_q[i];
      end
    end
    cfg_o.mode = Ecb;
    cfg_o.dir  = Encrypt;
    cfg_o.init = 1'b1;
  end

  always_comb begin
    answers     = '0;
    answer_id_o = '0;
    for (int unsigned i = 0; i < Blocks; i++) begin
      answers[i] = out_ctx_i == ctx_t'(FirstCtx + i);
      if (answers[i]) answer_id_o |= id_q[i];
    end
  end

  assign ask_ready_o = free != '0;
  assign cfg_valid_o = configures != '0;
  assign row_valid_o = offers != '0;
  assign answer_is_o = answers != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= '{default: Idle};
      slot_q  <= '{default: '0};
      id_q    <= '{default: '0};
    end else if (clear_i) begin
      state_q <= '{default: Idle};
      slot_q  <= '{default: '0};
      id_q    <= '{default: '0};
    end else begin
      for (int unsigned i = 0; i < Blocks; i++) begin
        if (takes[i] && ask_valid_i) begin
          state_q[i] <= Cfg;
          slot_q[i]  <= ask_slot_i;
          id_q[i]    <= ask_id_i;
        end
        if (configures[i] && cfg_ready_i) state_q[i] <= Row;
        if (offers[i] && row_ready_i) state_q[i] <= Wait;
        if (answers[i] && answer_taken_i) state_q[i] <= Idle;
      end
    end
  end

  for (genvar i = 0; i < Blocks; i++) begin : gen_check
    `MAE_ASSERT(Awaited, !answer_taken_i || !answers[i] || clear_i || state_q[i] == Wait)
  end

endmodule

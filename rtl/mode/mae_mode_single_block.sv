// SPDX-License-Identifier: Apache-2.0
//
// mae_mode_single_block: encrypts one block, E(K, block), by running it through the mode engine as
// a message of one block in a reserved context.
//
// One block at a time: it is accepted when ask_ready_o is high; busy_o is then high until the
// result was accepted, which the user does at the engine's output. Give cfg_valid_o and row_valid_o
// priority over other requests to the engine. Outputs come from registers, row_valid_o from room_i,
// too.
// Latency: that of the engine plus 3 clocks.
// Throughput: one block in that latency.
// Reset and clear: both drop everything by the next clock.
// Security: constant-time; no masking.

module mae_mode_single_block
  import mae_aes_pkg::*;
  import mae_mode_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input  logic      ask_valid_i,
    output logic      ask_ready_o,
    input  key_slot_t ask_slot_i,
    input  block_t    ask_block_i,

    output logic      cfg_valid_o,
    input  logic      cfg_ready_i,
    output mode_cfg_t cfg_o,
    input  logic      room_i,
    output logic      row_valid_o,
    input  logic      row_ready_i,
    output block_t    row_block_o,
    output logic      busy_o,       // waits for the result
    input  logic      taken_i       // the result was accepted
);
  typedef enum logic [1:0] {
    Idle,
    Cfg,
    Row,
    Wait
  } state_e;

  state_e state_q;
  key_slot_t slot_q;
  block_t block_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      slot_q  <= '0;
      block_q <= '0;
    end else if (clear_i) begin
      state_q <= Idle;
      slot_q  <= '0;
      block_q <= '0;
    end else begin
      unique case (state_q)
        Idle: begin
          if (ask_valid_i) begin
            state_q <= Cfg;
            slot_q  <= ask_slot_i;
            block_q <= ask_block_i;
          end
        end
        Cfg: if (cfg_ready_i) state_q <= Row;
        Row: if (row_valid_o && row_ready_i) state_q <= Wait;
        Wait: begin
          block_q <= '0;
          if (taken_i) state_q <= Idle;
        end
      endcase
    end
  end

  assign ask_ready_o = state_q == Idle;
  assign cfg_valid_o = state_q == Cfg;
  assign row_valid_o = state_q == Row && room_i;
  assign row_block_o = block_q;
  assign busy_o      = state_q == Wait;

  always_comb begin
    cfg_o          = '0;
    cfg_o.mode     = Ecb;
    cfg_o.dir      = Encrypt;
    cfg_o.init     = 1'b1;
    cfg_o.key_slot = slot_q;
  end

endmodule

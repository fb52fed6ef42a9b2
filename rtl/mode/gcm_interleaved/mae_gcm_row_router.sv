// SPDX-License-Identifier: Apache-2.0
//
// mae_gcm_row_router: routes rows through the mode engine or around it, and copies rows of GCM to
// the GHASH unit.
//
// Rows of contexts in sinks_i do not enter the core and are output as zeros. A row is given to the
// hash unit in the clock in which it is accepted: at the input for contexts in hash_in_i, at the
// core's output for contexts in hash_out_i; the output has priority, because it frees space.
// row_ready_o is combinational in row_ctx_i, core_row_ready_i, hash_ready_i and the core's output;
// out_* come from registers. hash_ready_i may depend combinationally on hash_ctx_o, hash_bytes_o and
// hash_offered_o, but not on hash_valid_o. room_o: see mae_mode_engine.
// Latency: 0 clocks to the core, 1 clock from the core.
// Throughput: one row a clock.
// Reset and clear: both drop all rows by the next clock.
// Parameters: Legal: Lanes 1..16; Contexts 1..256.

`include "mae_assert.svh"

module mae_gcm_row_router
  import mae_aes_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Contexts = 64,
    localparam int unsigned BytesWidth = $clog2(16 * Lanes + 1),
    localparam int unsigned IndexWidth = (Contexts > 1) ? $clog2(Contexts) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic [Contexts-1:0] sinks_i,
    input logic [Contexts-1:0] hash_in_i,
    input logic [Contexts-1:0] hash_out_i,

    input  logic                    row_valid_i,
    output logic                    row_ready_o,
    input  ctx_t                    row_ctx_i,
    input  block_t [     Lanes-1:0] row_data_i,
    input  logic   [BytesWidth-1:0] row_bytes_i,
    input  logic                    row_last_i,
    output logic   [  Contexts-1:0] room_o,

    output logic                    out_valid_o,
    input  logic                    out_ready_i,
    output ctx_t                    out_ctx_o,
    output block_t [     Lanes-1:0] out_data_o,
    output logic   [BytesWidth-1:0] out_bytes_o,
    output logic                    out_last_o,

    input  logic   [  Contexts-1:0] core_room_i,
    output logic                    core_row_valid_o,
    input  logic                    core_row_ready_i,
    output ctx_t                    core_row_ctx_o,
    output block_t [     Lanes-1:0] core_row_data_o,
    output logic   [BytesWidth-1:0] core_row_bytes_o,
    output logic                    core_row_last_o,
    input  logic                    core_out_valid_i,
    output logic                    core_out_ready_o,
    input  ctx_t                    core_out_ctx_i,
    input  block_t [     Lanes-1:0] core_out_data_i,
    input  logic   [BytesWidth-1:0] core_out_bytes_i,
    input  logic                    core_out_last_i,

    output logic                    hash_valid_o,
    input  logic                    hash_ready_i,
    output logic                    hash_offered_o,  // a row waits for the hash unit
    output logic   [IndexWidth-1:0] hash_ctx_o,
    output block_t [     Lanes-1:0] hash_data_o,
    output logic   [BytesWidth-1:0] hash_bytes_o
);
  typedef logic [IndexWidth-1:0] index_t;

  typedef struct packed {
    ctx_t                  ctx;
    logic [BytesWidth-1:0] bytes;
    logic                  last;
  } sunk_t;

  localparam int unsigned SunkRows = 8;  // one that fills up, two in flight, and reserve

  // Input: to the core or around it, and to the hash unit unless an output row needs it.
  logic sinks, hash_in, hash_out, hash_in_free, sunk_ready, sunk_valid, sunk_taken;
  sunk_t sunk;
  logic [$clog2(SunkRows+1)-1:0] sunk_count;

  assign sinks = sinks_i[index_t'(row_ctx_i)];
  assign hash_in = hash_in_i[index_t'(row_ctx_i)];
  assign hash_out = core_out_valid_i && hash_out_i[index_t'(core_out_ctx_i)];
  assign hash_in_free = !hash_in || (hash_ready_i && !hash_out);
  assign row_ready_o = hash_in_free && (sinks ? sunk_ready : core_row_ready_i);

  assign core_row_valid_o = row_valid_i && !sinks && hash_in_free;
  assign core_row_ctx_o = row_ctx_i;
  assign core_row_data_o = row_data_i;
  assign core_row_bytes_o = row_bytes_i;
  assign core_row_last_o = row_last_i;

  mae_fifo #(
      .Width($bits(sunk_t)),
      .Depth(SunkRows)
  ) u_sunk (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i (row_valid_i && sinks && hash_in_free),
      .in_ready_o (sunk_ready),
      .in_data_i  ({row_ctx_i, row_bytes_i, row_last_i}),
      .out_valid_o(sunk_valid),
      .out_ready_i(sunk_taken),
      .out_data_o (sunk),
      .count_o    (sunk_count)
  );

  assign room_o = (sinks_i & {Contexts{32'(sunk_count) <= SunkRows / 2}}) |
      (~sinks_i & core_room_i);

  // Output: alternates between both paths, through a register.
  logic core_ok, core_turn_q, take_core, merged_ready;

  assign core_ok = core_out_valid_i && (!hash_out || hash_ready_i);
  assign take_core = core_ok && (core_turn_q || !sunk_valid);
  assign core_out_ready_o = merged_ready && take_core;
  assign sunk_taken = merged_ready && !take_core;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) core_turn_q <= 1'b1;
    else core_turn_q <= !(merged_ready && take_core);
  end

  mae_stream_reg #(
      .Width($bits(ctx_t) + 128 * Lanes + BytesWidth + 1)
  ) u_out (
      .clk_i,
      .rst_ni,
      .clear_i,
      .in_valid_i(take_core || sunk_valid),
      .in_ready_o(merged_ready),
      .in_data_i  (take_core ?
                   {core_out_ctx_i, core_out_data_i, core_out_bytes_i, core_out_last_i} :
                   {sunk.ctx, {Lanes{128'd0}}, sunk.bytes, sunk.last}),
      .out_valid_o,
      .out_ready_i,
      .out_data_o({out_ctx_o, out_data_o, out_bytes_o, out_last_o})
  );

  // Hash.
  assign hash_valid_o = hash_out ? core_out_ready_o :
      row_valid_i && hash_in && (sinks ? sunk_ready : core_row_ready_i);
  assign hash_offered_o = hash_out || (row_valid_i && hash_in);
  assign hash_ctx_o = hash_out ? index_t'(core_out_ctx_i) : index_t'(row_ctx_i);
  assign hash_data_o = hash_out ? core_out_data_i : row_data_i;
  assign hash_bytes_o = hash_out ? core_out_bytes_i : row_bytes_i;

endmodule

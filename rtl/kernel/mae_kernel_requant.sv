// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_requant: requantizes sixteen int32 sums to a row of sixteen int8 values.
//
// value = clamp(floor((sum * multiplier + 2^(shift-1)) / 2^shift)), without the 2^(shift-1) if
// shift = 0: exact, rounded to nearest, ties upwards; clamped to -128...127, with relu to 0...127.
// A row that needs no requantization is loaded by load_i. row_valid_o comes from a register and
// holds. Give the next sums or row only after the row was accepted; this is not checked.
// Latency: 18 clocks from sums_valid_i to row_valid_o, 1 clock from load_i.
// Throughput: one row at a time (one multiplier).
// Reset and clear: both erase everything in one clock.
// Security: timing does not depend on data.

`include "mae_assert.svh"

module mae_kernel_requant
  import mae_kernel_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic [15:0] multiplier_i,
    input logic [ 5:0] shift_i,
    input logic        relu_i,

    input logic  sums_valid_i,
    input sums_t sums_i,
    input logic  load_i,
    input row_t  load_row_i,

    output logic row_valid_o,
    input  logic row_ready_i,
    output row_t row_o
);
  sums_t              sums_q;
  logic        [15:0] left_q;  // one bit for each sum that must still be multiplied
  logic signed [48:0] product_q;
  logic               product_valid_q;
  logic               product_last_q;
  row_t               row_q;
  logic               row_valid_q;

  logic signed [49:0] shifted;
  logic signed [49:0] rounded;
  logic signed [ 7:0] value;

  assign row_valid_o = row_valid_q;
  assign row_o = row_q;

  // Twice the shifted product, plus one, halved: rounds without adding a power of two.
  assign shifted = $signed({product_q, 1'b0}) >>> shift_i;
  assign rounded = (shifted + 50'sd1) >>> 1;

  always_comb begin
    value = rounded[7:0];
    if (rounded > 50'sd127) value = 8'sd127;
    if (rounded < -50'sd128) value = -8'sd128;
    if (relu_i && rounded < 0) value = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sums_q <= '0;
      left_q <= '0;
      product_q <= '0;
      product_valid_q <= 1'b0;
      product_last_q <= 1'b0;
      row_q <= '0;
      row_valid_q <= 1'b0;
    end else if (clear_i) begin
      sums_q <= '0;
      left_q <= '0;
      product_q <= '0;
      product_valid_q <= 1'b0;
      product_last_q <= 1'b0;
      row_q <= '0;
      row_valid_q <= 1'b0;
    end else begin
      if (sums_valid_i) begin
        sums_q <= sums_i;
        left_q <= '1;
      end else if (left_q[0]) begin
        sums_q <= sums_t'({32'd0, sums_q[LaneCount-1:1]});
        left_q <= left_q >> 1;
      end
      product_valid_q <= left_q[0];
      product_last_q  <= left_q == 16'd1;
      if (left_q[0]) product_q <= $signed(sums_q[0]) * $signed({1'b0, multiplier_i});
      if (row_ready_i) row_valid_q <= 1'b0;
      if (product_valid_q) row_q <= {value, row_q[127:8]};
      if (product_valid_q && product_last_q) row_valid_q <= 1'b1;
      if (load_i) begin
        row_q <= load_row_i;
        row_valid_q <= 1'b1;
      end
    end
  end

  `MAE_ASSERT(NotTwoAtOnce, !(sums_valid_i || load_i) || left_q == '0 && !product_valid_q)
  `MAE_ASSERT(NotBeforeTaken, !(sums_valid_i || load_i) || !row_valid_q || row_ready_i)
  `MAE_STREAM_HOLDS(RowHolds, row_valid_o, row_ready_i || clear_i, row_o)

endmodule

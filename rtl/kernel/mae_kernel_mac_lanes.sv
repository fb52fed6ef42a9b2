// SPDX-License-Identifier: Apache-2.0
//
// mae_kernel_mac_lanes: accumulates products of inputs and weights, or finds maxima for pooling, in
// sixteen lanes. Each lane is one output channel of a row.
//
// It accepts the memory's answers in order, each with a tag. A row of biases is stored; a row of
// input channels is stored or, in pooling, replaces smaller values; a row of weights is multiplied
// by one channel of the stored input and added to the sums, which begin with the biases. Sums are
// int32 and wrap modulo 2^32.
// Latency: an answer in clock t gives sums_valid_o or row_valid_o in clock t + 1, for one clock
// without backpressure.
// Throughput: one answer a clock, with 16 multiply-accumulates for a row of weights.
// Reset and clear: both erase everything in one clock.
// Security: timing does not depend on data.

module mae_kernel_mac_lanes
  import mae_kernel_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    input logic pool_i,
    input logic relu_i,

    input logic valid_i,
    input tag_t tag_i,
    input row_t data_i,

    output logic  sums_valid_o,
    output sums_t sums_o,
    output logic  row_valid_o,
    output row_t  row_o
);
  logic        valid_q;
  tag_t        tag_q;
  row_t        data_q;

  sums_t       biases_q;
  sums_t       sums_q;
  row_t        input_q;

  logic  [7:0] channel;
  sums_t       sums;
  row_t        maximum;

  assign channel = input_q[8*tag_q.index+:8];
  assign sums_valid_o = valid_q && tag_q.take == TakeWeights && tag_q.last;
  assign sums_o = sums;
  assign row_valid_o = valid_q && pool_i && tag_q.take == TakeInput && tag_q.last;
  assign row_o = maximum;

  for (genvar lane = 0; lane < int'(LaneCount); lane++) begin : gen_lane
    logic signed [ 7:0] data;
    logic signed [ 7:0] best;  // maximum of the values so far
    logic signed [15:0] product;
    assign data = data_q[8*lane+:8];
    assign best = !tag_q.first ? input_q[8*lane+:8] : relu_i ? 8'sd0 : -8'sd128;
    assign maximum[8*lane+:8] = data > best ? data : best;
    assign product = $signed(channel) * data;
    assign sums[lane] = (tag_q.first ? biases_q[lane] : sums_q[lane]) + 32'(product);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      tag_q    <= '0;
      data_q   <= '0;
      biases_q <= '0;
      sums_q   <= '0;
      input_q  <= '0;
    end else if (clear_i) begin
      valid_q  <= 1'b0;
      tag_q    <= '0;
      data_q   <= '0;
      biases_q <= '0;
      sums_q   <= '0;
      input_q  <= '0;
    end else begin
      valid_q <= valid_i;
      if (valid_i) begin
        tag_q  <= tag_i;
        data_q <= data_i;
      end
      if (valid_q && tag_q.take == TakeBias) biases_q[4*tag_q.index[1:0]+:4] <= data_q;
      if (valid_q && tag_q.take == TakeInput) input_q <= pool_i ? maximum : data_q;
      if (valid_q && tag_q.take == TakeWeights) sums_q <= sums;
    end
  end

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// mae_nn_requant: scales sums of the array kernel to int8, all lanes at once.
//
// A lane's result is sum x multiplier / 2^shift, rounded to nearest with ties to even, plus zero_i,
// limited to low_i...high_i; with bypass_i the sum's low byte. scales_i: multiplier in bits 23:0,
// shift in bits 29:24 (0...62). The parameters must hold while valid data are inside.
// Latency: 2 clocks. Throughput: a row of lanes each clock.
// Reset and clear: both erase everything.
// Parameters: Outputs is the number of lanes. Legal: Outputs >= 1.
// Security: constant-time.

`include "mae_assert.svh"

module mae_nn_requant #(
    parameter int unsigned Outputs = 64
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,

    // verilator lint_off UNUSEDSIGNAL  // two bits of a scale
    input logic        [Outputs-1:0][31:0] scales_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic signed [        7:0]       zero_i,
    input logic signed [        7:0]       low_i,
    input logic signed [        7:0]       high_i,
    input logic                            bypass_i,

    input  logic                     valid_i,
    input  logic                     ends_i,
    input  logic [Outputs-1:0][31:0] sums_i,
    output logic                     busy_o,
    output logic                     valid_o,
    output logic                     ends_o,
    output logic [Outputs-1:0][ 7:0] values_o
);
  `MAE_PARAM(OutputsLegal, Outputs >= 1)

  typedef logic signed [63:0] product_t;

  logic product_valid_q, product_ends_q;
  product_t [Outputs-1:0] products_q;
  logic [Outputs-1:0][7:0] values_q;

  assign busy_o   = product_valid_q || valid_o;
  assign values_o = values_q;

  function automatic logic [7:0] scaled(product_t product, logic [5:0] shift,
                                        logic signed [7:0] zero, logic signed [7:0] low,
                                        logic signed [7:0] high);
    product_t whole, rest, half, value;
    whole = product >>> shift;
    rest  = product - (whole <<< shift);
    half  = (64'sd1 <<< shift) >>> 1;
    if (shift != '0 && (rest > half || (rest == half && whole[0]))) whole = whole + 64'sd1;
    value = whole + 64'(zero);
    if (value < 64'(low)) value = 64'(low);
    if (value > 64'(high)) value = 64'(high);
    return value[7:0];
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {product_valid_q, product_ends_q, valid_o, ends_o} <= '0;
    end else if (clear_i) begin
      {product_valid_q, product_ends_q, valid_o, ends_o} <= '0;
    end else begin
      product_valid_q <= valid_i;
      product_ends_q <= ends_i;
      valid_o <= product_valid_q;
      ends_o <= product_ends_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      products_q <= '0;
      values_q   <= '0;
    end else begin
      if (valid_i) begin
        for (int unsigned o = 0; o < Outputs; o++) begin
          products_q[o] <= bypass_i ? 64'($signed(sums_i[o])) :
              64'($signed(sums_i[o])) * 64'($signed({1'b0, scales_i[o][23:0]}));
        end
      end
      if (product_valid_q) begin
        for (int unsigned o = 0; o < Outputs; o++) begin
          values_q[o] <= bypass_i ? products_q[o][7:0] :
              scaled(products_q[o], scales_i[o][29:24], zero_i, low_i, high_i);
        end
      end
    end
  end

endmodule

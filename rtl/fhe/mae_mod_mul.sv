// SPDX-License-Identifier: Apache-2.0
//
// mae_mod_mul: multiplies two numbers modulo a prime by Montgomery's method, a digit of b at a
// time. It computes product_o = a_i b_i / R modulo q, in 0...q - 1, with R = 2^(Digit Steps), Steps
// = ceil(Width / Digit).
//
// The prime is q = q_high_i 2^Digit + 1, so that -1 / q is -1 modulo 2^Digit and a step needs no
// multiplication to find its multiple of q. a_i may be any number below 2^Width, reduced or not;
// b_i < q. q_high_i must hold while products are under way.
//
// Latency: 2 Steps + 1 clocks. Throughput: one product a clock. No reset: registers of data only.
// Legal: Width > Digit. Time depends on no data.
// Source: P. Montgomery, Modular multiplication without trial division; word-level reduction for
// q = 1 modulo 2N as in A. Mert et al., IEEE TC 2022.

`include "mae_assert.svh"

module mae_mod_mul
  import mae_fhe_pkg::*;
#(
    parameter int unsigned Width = 37,
    parameter int unsigned Digit = 13
) (
    input  logic                   clk_i,
    input  logic [Width-Digit-1:0] q_high_i,
    input  logic [      Width-1:0] a_i,
    input  logic [      Width-1:0] b_i,
    output logic [      Width-1:0] product_o
);
  `MAE_PARAM(WidthLegal, Width > Digit)

  localparam int unsigned Steps = steps(Width, Digit);
  localparam int unsigned SumWidth = Digit * Steps + 2;  // of a partial sum, below a + q
  localparam int unsigned FullWidth = SumWidth + Digit;

  typedef logic [Digit-1:0] digit_t;
  typedef logic [SumWidth-1:0] sum_t;
  typedef logic [FullWidth-1:0] full_t;
  typedef logic [Digit*Steps-1:0] operand_t;

  logic [Width-1:0] a_q[2*Steps];
  operand_t b_q[2*Steps];  // the digit that is next stands lowest
  full_t product_q[Steps];
  sum_t sum_q[Steps];

  for (genvar i = 0; i < Steps; i++) begin : gen_step
    logic [Width-1:0] a;
    operand_t b;
    sum_t partial;
    digit_t low, multiple;

    if (i == 0) begin : gen_first
      assign a = a_i;
      assign b = operand_t'(b_i);
      assign partial = '0;
    end else begin : gen_next
      assign a = a_q[2*i-1];
      assign b = b_q[2*i-1];
      assign partial = sum_q[i-1];
    end
    assign low = product_q[i][Digit-1:0];
    assign multiple = -low;

    always_ff @(posedge clk_i) begin
      product_q[i] <= full_t'(partial) + full_t'(a) * full_t'(b[Digit-1:0]);
      a_q[2*i] <= a;
      b_q[2*i] <= b >> Digit;
      sum_q[i] <= sum_t'(product_q[i] >> Digit) + sum_t'(low != '0) +
          sum_t'(multiple) * sum_t'(q_high_i);
      a_q[2*i+1] <= a_q[2*i];
      b_q[2*i+1] <= b_q[2*i];
    end
  end

  logic [Width+1:0] sum, less;
  logic unused;
  assign sum  = sum_q[Steps-1][Width+1:0];
  assign less = sum - {2'b0, q_high_i, Digit'(1)};
  always_ff @(posedge clk_i) product_o <= less[Width+1] ? sum[Width-1:0] : less[Width-1:0];

  assign unused = ^{a_q[2*Steps-1], b_q[2*Steps-1], sum_q[Steps-1], less[Width]};

endmodule

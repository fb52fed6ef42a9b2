// SPDX-License-Identifier: Apache-2.0
//
// mae_clmul32_luts: multiplies two polynomials over GF(2) of 32 coefficients, without carries, in
// few six-input LUTs of an FPGA, by Karatsuba's method with three products of 16.
//
// The same function as clmul32 of mae_ghash_pkg, in 397 LUTs for 495 (Yosys, 7-series).
// Latency: 0 clocks (combinational).
// Security: constant-time; no masking.
// Source: SP 800-38D §6.3.

module mae_clmul32_luts (
    input  logic [31:0] a_i,
    input  logic [31:0] b_i,
    output logic [62:0] out_o
);

  logic [30:0] low, high, middle;
  // What stands in the bits of the middle product: the other halves of low and high, bit 15 of which
  // is in neither.
  logic [30:0] outer;
  assign outer = {high[14:0], 1'b0, low[30:16]};
  assign out_o = {high[30:15], middle, low[15:0]};

  mae_clmul16_luts u_low (
      .a_i    (a_i[15:0]),
      .b_i    (b_i[15:0]),
      .terms_i('0),
      .out_o  (low)
  );
  mae_clmul16_luts u_high (
      .a_i    (a_i[31:16]),
      .b_i    (b_i[31:16]),
      .terms_i('0),
      .out_o  (high)
  );
  mae_clmul16_luts #(
      .Terms(3)
  ) u_middle (
      .a_i    (a_i[31:16] ^ a_i[15:0]),
      .b_i    (b_i[31:16] ^ b_i[15:0]),
      .terms_i({low, high, outer}),
      .out_o  (middle)
  );

endmodule

// SPDX-License-Identifier: Apache-2.0
//
// mae_gf128_partial_products: computes the first stage of a product in GF(2^128), the field of GCM.
// It is nine products of 32 bits, in a register.
//
// The outputs of several instances may be added and reduced once (mae_ghash_pkg).
// Latency: 1 clock.
// Throughput: one product a clock.
// Reset: none; the output is 0 one clock after a factor was 0.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.3.

module mae_gf128_partial_products
  import mae_aes_pkg::*;
  import mae_ghash_pkg::*;
(
    input  logic           clk_i,
    input  block_t         a_i,
    input  block_t         b_i,
    output ghash_partial_t partial_o
);

  ghash_partial_t partial_q;
  always_ff @(posedge clk_i) partial_q <= ghash_partial(a_i, b_i);
  assign partial_o = partial_q;

endmodule

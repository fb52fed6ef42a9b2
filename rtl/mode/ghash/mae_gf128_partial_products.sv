// SPDX-License-Identifier: Apache-2.0
//
// mae_gf128_partial_products: computes the first stage of a product in GF(2^128), the field of GCM.
// It is nine products of 32 bits, in a register.
//
// The outputs of several instances may be added and reduced once (mae_ghash_pkg). Luts = 1 builds
// the products of mae_clmul32_luts, for FPGAs; the result is the same.
// Latency: 1 clock.
// Throughput: one product a clock.
// Reset: none; the output is 0 one clock after a factor was 0.
// Parameters: Legal: Luts 0 or 1.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.3.

module mae_gf128_partial_products
  import mae_aes_pkg::*;
  import mae_ghash_pkg::*;
#(
    parameter bit Luts = 1'b0
) (
    input  logic           clk_i,
    input  block_t         a_i,
    input  block_t         b_i,
    output ghash_partial_t partial_o
);

  ghash_partial_t partial, partial_q;
  if (Luts) begin : gen_luts
    logic [8:0][31:0] words_a, words_b;
    assign words_a = ghash_words(a_i);
    assign words_b = ghash_words(b_i);
    for (genvar i = 0; i < 9; i++) begin : gen_word
      mae_clmul32_luts u_product (
          .a_i  (words_a[i]),
          .b_i  (words_b[i]),
          .out_o(partial[i])
      );
    end
  end else begin : gen_logic
    assign partial = ghash_partial(a_i, b_i);
  end
  always_ff @(posedge clk_i) partial_q <= partial;
  assign partial_o = partial_q;

endmodule

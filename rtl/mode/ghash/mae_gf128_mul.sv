// SPDX-License-Identifier: Apache-2.0
//
// mae_gf128_mul: the field multiplier of GCM, Karatsuba, in two stages.
//
// Latency: 2 clocks (OutReg = 1): operands in clock t, product in clock t + 2 from a register. With
// OutReg = 0 the product comes combinationally in clock t + 1, for a user who puts it in a register
// of his own. Throughput: one product a clock; there is no stall and no ready.
// Stage 1: nine products of 32 bits, each from three of 16; a register; stage 2: the levels of 64
// and 128 bits and the reduction. A stage without a product holds 0 and costs a simulator nothing.
// Legal: OutReg 0, 1.
// clear_i: nothing is left in the next clock.
// Source: SP 800-38D §6.3, P0 §4.1. Constant-time: yes. Masked: no.

module mae_gf128_mul
  import mae_aes_pkg::*;
  import mae_ghash_pkg::*;
#(
    parameter bit OutReg = 1'b1
) (
    input  logic   clk_i,
    input  logic   rst_ni,
    input  logic   clear_i,
    input  logic   valid_i,
    input  block_t a_i,
    input  block_t b_i,
    output logic   valid_o,
    output block_t product_o
);

  logic valid_q;
  ghash_partial_t partial_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= 1'b0;
      partial_q <= '0;
    end else if (clear_i || !valid_i) begin
      valid_q   <= 1'b0;
      partial_q <= '0;
    end else begin
      valid_q   <= 1'b1;
      partial_q <= ghash_partial(a_i, b_i);
    end
  end

  block_t product;
  assign product = valid_q ? ghash_join(partial_q) : '0;

  if (OutReg) begin : gen_reg
    logic   out_valid_q;
    block_t product_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        out_valid_q <= 1'b0;
        product_q   <= '0;
      end else if (clear_i) begin
        out_valid_q <= 1'b0;
        product_q   <= '0;
      end else begin
        out_valid_q <= valid_q;
        product_q   <= product;
      end
    end
    assign valid_o   = out_valid_q;
    assign product_o = product_q;
  end else begin : gen_comb
    assign valid_o   = valid_q;
    assign product_o = product;
  end

endmodule

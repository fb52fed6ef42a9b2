// SPDX-License-Identifier: Apache-2.0
//
// mae_gf128_mul: multiplies two elements of GF(2^128), the field of GCM, with a Karatsuba
// multiplier of two stages.
//
// Stage 1 computes nine products of 32 bits, each from three of 16 bits; a register follows; stage
// 2 combines the levels of 64 and 128 bits and reduces. A stage without a product holds 0, at no
// cost in simulation.
// Latency: with OutReg = 1, operands in clock t give the product in clock t + 2, from a register.
// With OutReg = 0 the product comes combinationally in clock t + 1, for a user that registers it.
// Throughput: one product a clock; no stall, no ready.
// Reset and clear: both erase everything by the next clock.
// Parameters: Legal: OutReg 0 or 1.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.3; Ghosh et al., section 4.1.

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

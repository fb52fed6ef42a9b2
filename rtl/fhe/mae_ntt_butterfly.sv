// SPDX-License-Identifier: Apache-2.0
//
// mae_ntt_butterfly: computes one butterfly of a number-theoretic transform modulo a prime.
//
//   gs_i low (Cooley and Tukey)     upper = u + v w         lower = u - v w
//   gs_i high (Gentleman, Sande)    upper = (u + v) / 2     lower = (v - u) w / 2
//   halve_i low                     the same without the halving
//
// w is in Montgomery form, or products are divided by R (mae_mod_mul). Halving at each stage of the
// inverse transform leaves no division by N. u_i, w_i < q; v_i < q, but any number below 2^Width
// where gs_i is low. gs_i and halve_i must hold while butterflies are under way.
//
// Latency: mae_mod_mul's + 2. Throughput: one butterfly a clock. Registers of data only: no reset.

module mae_ntt_butterfly
  import mae_fhe_pkg::*;
#(
    parameter int unsigned Width = 37,
    parameter int unsigned Digit = 13
) (
    input  logic                   clk_i,
    input  logic [Width-Digit-1:0] q_high_i,
    input  logic                   gs_i,
    input  logic                   halve_i,
    input  logic [      Width-1:0] u_i,
    input  logic [      Width-1:0] v_i,
    input  logic [      Width-1:0] w_i,
    output logic [      Width-1:0] upper_o,
    output logic [      Width-1:0] lower_o
);
  localparam int unsigned Wait = multiply_clocks(Width, Digit);

  typedef logic [Width-1:0] value_t;

  value_t q, u_q[Wait+1], v_q, w_q, product, kept;
  assign q = {q_high_i, Digit'(1)};

  function automatic value_t add(value_t a, value_t b, value_t modulus);
    logic [Width:0] sum;
    sum = {1'b0, a} + {1'b0, b};
    return (sum >= {1'b0, modulus}) ? sum[Width-1:0] - modulus : sum[Width-1:0];
  endfunction

  function automatic value_t subtract(value_t a, value_t b, value_t modulus);
    value_t less;
    less = a - b;
    return (a < b) ? less + modulus : less;
  endfunction

  function automatic value_t half(value_t a, value_t modulus);
    // (modulus + 1) / 2 is one half; the lowest bit of a goes by its own.
    return (a >> 1) + (a[0] ? (modulus >> 1) + 1'b1 : '0);
  endfunction

  always_ff @(posedge clk_i) begin
    u_q[0] <= gs_i ? add(u_i, v_i, q) : u_i;
    v_q <= gs_i ? subtract(v_i, u_i, q) : v_i;
    w_q <= w_i;
    for (int unsigned i = 1; i <= Wait; i++) u_q[i] <= u_q[i-1];
  end

  mae_mod_mul #(
      .Width(Width),
      .Digit(Digit)
  ) u_mul (
      .clk_i,
      .q_high_i,
      .a_i(v_q),
      .b_i(w_q),
      .product_o(product)
  );

  assign kept = u_q[Wait];

  always_ff @(posedge clk_i) begin
    if (gs_i) begin
      upper_o <= halve_i ? half(kept, q) : kept;
      lower_o <= halve_i ? half(product, q) : product;
    end else begin
      upper_o <= add(kept, product, q);
      lower_o <= subtract(kept, product, q);
    end
  end

endmodule

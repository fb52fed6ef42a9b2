// SPDX-License-Identifier: Apache-2.0
//
// mae_preserved_products: adds (exclusive-or) products of two bits and further terms, bit by bit of
// Width, in one LUT of six inputs for each bit. The module boundary is preserved for that
// (keep_hierarchy).
//
// out_o = a_i[0] & b_i[0] ^ a_i[1] & b_i[1] ^ ... ^ the sum of terms_i. With Terms = 0 there are no
// terms and terms_i is ignored. mae_preserved_xor says what it is good for; a mapper takes a third
// more LUTs for a multiplier of polynomials than these boundaries do.
// Latency: 0 clocks (combinational).
// Parameters: Legal: Width >= 1; Products >= 1; 2 * Products + Terms <= 6.

`include "mae_assert.svh"

(* keep_hierarchy *)
module mae_preserved_products #(
    parameter  int unsigned Products = 3,
    parameter  int unsigned Terms    = 0,
    parameter  int unsigned Width    = 32,
    localparam int unsigned Given    = (Terms > 0) ? Terms : 1
) (
    input  logic [Products-1:0][Width-1:0] a_i,
    input  logic [Products-1:0][Width-1:0] b_i,
    input  logic [   Given-1:0][Width-1:0] terms_i,
    output logic [   Width-1:0]            out_o
);

  `MAE_PARAM(OneLut, Products >= 1 && 2 * Products + Terms <= 6)

  always_comb begin
    out_o = '0;
    for (int unsigned i = 0; i < Products; i++) out_o ^= a_i[i] & b_i[i];
    // verilator lint_off UNSIGNED  // Terms may be 0
    for (int unsigned i = 0; i < Terms; i++) out_o ^= terms_i[i];
    // verilator lint_on UNSIGNED
  end

  logic unused;
  assign unused = ^terms_i;

endmodule

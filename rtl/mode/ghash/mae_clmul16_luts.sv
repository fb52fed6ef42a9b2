// SPDX-License-Identifier: Apache-2.0
//
// mae_clmul16_luts: multiplies two polynomials over GF(2) of 16 coefficients, without carries, in
// few six-input LUTs of an FPGA, and adds Terms words to the product.
//
// out_o = a_i * b_i ^ the sum of terms_i. Three rows of the product (multiples of b_i) take one LUT
// for each bit: five such groups. Row 15 fills the places that are free in their highest two bits.
// What is left is one product in every third column, from 3 on: the lowest bit of a group, or a bit
// of row 15. The sum of all takes one LUT for each bit or, with Terms, two in the middle. It has 113
// LUTs in all, 139 with Terms = 3; clmul16 of mae_ghash_pkg takes a quarter more
// (mae_preserved_products says why).
// Latency: 0 clocks (combinational).
// Parameters: Legal: Terms 0 (terms_i is ignored) or 3.
// Security: constant-time; no masking.
// Source: SP 800-38D §6.3.

`include "mae_assert.svh"

module mae_clmul16_luts #(
    parameter  int unsigned Terms = 0,
    localparam int unsigned Given = (Terms > 0) ? Terms : 1
) (
    input  logic [     15:0]       a_i,
    input  logic [     15:0]       b_i,
    input  logic [Given-1:0][30:0] terms_i,
    output logic [     30:0]       out_o
);

  `MAE_PARAM(TermsLegal, Terms inside {0, 3})

  // Rows 3 g to 3 g + 2 are in bits 3 g to 3 g + 17, and row 15 in the highest two of these. Without
  // terms, bit 0 of the groups after the first is left for the sum.
  logic [4:0][30:0] group;
  for (genvar g = 0; g < 5; g++) begin : gen_group
    localparam int unsigned First = (Terms == 0 && g > 0) ? 1 : 0;
    logic [2:0][17:0] a, b;
    logic [2:0][17:First] used_a, used_b;
    logic [17:First] sum;
    assign a = {{18{a_i[3*g+2]}}, {18{a_i[3*g+1]}}, {2{a_i[15]}}, {16{a_i[3*g]}}};
    assign b = {b_i, 2'b0, 1'b0, b_i, 1'b0, b_i[3*g+1+:2], b_i};
    for (genvar i = 0; i < 3; i++) begin : gen_row
      assign used_a[i] = a[i][17:First];
      assign used_b[i] = b[i][17:First];
    end
    mae_preserved_products #(
        .Products(3),
        .Width   (18 - First)
    ) u_rows (
        .a_i    (used_a),
        .b_i    (used_b),
        .terms_i('0),
        .out_o  (sum)
    );
    assign group[g] = 31'(sum) << (3 * g + First);
  end

  // What is left in column k.
  // verilator lint_off UNUSEDSIGNAL  // without terms, two columns take group 4 as it is
  logic [30:3] left_a, left_b;
  // verilator lint_on UNUSEDSIGNAL
  for (genvar k = 3; k <= 30; k++) begin : gen_left
    localparam bit Left = k % 3 == 0 && (k >= 15 || Terms == 0);
    assign left_a[k] = Left && a_i[(k<15)?k : 15];
    assign left_b[k] = Left && b_i[(k<15)?0 : k-15];
  end

  // Group g is in columns 3 g to 3 g + 17 alone.
  if (Terms == 0) begin : gen_sum
    assign out_o[2:0] = group[0][2:0];
    mae_preserved_products #(
        .Products(1),
        .Terms   (4),
        .Width   (10)
    ) u_lower (
        .a_i    (left_a[12:3]),
        .b_i    (left_b[12:3]),
        .terms_i({group[0][12:3], group[1][12:3], group[2][12:3], group[3][12:3]}),
        .out_o  (out_o[12:3])
    );
    mae_preserved_xor #(
        .Terms(6),
        .Width(5)
    ) u_middle (
        .choose_i('0),
        .other_i('0),
        .terms_i({
          group[0][17:13],
          group[1][17:13],
          group[2][17:13],
          group[3][17:13],
          group[4][17:13],
          left_a[17:13] & left_b[17:13]
        }),
        .add_i('0),
        .out_o(out_o[17:13])
    );
    mae_preserved_products #(
        .Products(1),
        .Terms   (4),
        .Width   (10)
    ) u_upper (
        .a_i    (left_a[27:18]),
        .b_i    (left_b[27:18]),
        .terms_i({group[1][27:18], group[2][27:18], group[3][27:18], group[4][27:18]}),
        .out_o  (out_o[27:18])
    );
    assign out_o[30:28] = {left_a[30] & left_b[30], group[4][29:28]};
    logic unused;
    assign unused = ^terms_i;
  end else begin : gen_sum_terms
    logic [26:9] inner;
    mae_preserved_xor #(
        .Terms(6),
        .Width(9)
    ) u_lowest (
        .choose_i('0),
        .other_i('0),
        .terms_i({
          group[0][8:0],
          group[1][8:0],
          group[2][8:0],
          terms_i[0][8:0],
          terms_i[1][8:0],
          terms_i[2][8:0]
        }),
        .add_i('0),
        .out_o(out_o[8:0])
    );
    // In columns 9 to 17 there are all five groups, in 18 to 26 all but group 0.
    logic [26:9] fourth, rest;
    assign fourth = {group[4][26:18], group[0][17:9]};
    assign rest   = {9'h0, group[4][17:9]};
    mae_preserved_products #(
        .Products(1),
        .Terms   (4),
        .Width   (18)
    ) u_inner (
        .a_i    (left_a[26:9]),
        .b_i    (left_b[26:9]),
        .terms_i({group[1][26:9], group[2][26:9], group[3][26:9], fourth}),
        .out_o  (inner)
    );
    mae_preserved_xor #(
        .Terms(5),
        .Width(18)
    ) u_middle (
        .choose_i('0),
        .other_i ('0),
        .terms_i ({inner, rest, terms_i[0][26:9], terms_i[1][26:9], terms_i[2][26:9]}),
        .add_i   ('0),
        .out_o   (out_o[26:9])
    );
    mae_preserved_products #(
        .Products(1),
        .Terms   (4),
        .Width   (4)
    ) u_highest (
        .a_i    (left_a[30:27]),
        .b_i    (left_b[30:27]),
        .terms_i({group[4][30:27], terms_i[0][30:27], terms_i[1][30:27], terms_i[2][30:27]}),
        .out_o  (out_o[30:27])
    );
  end

endmodule
